import subprocess
import sys

import pytest

import netlab


def test_all_is_sorted_and_is_what_is_visible():
    assert netlab.__all__ == sorted(netlab.__all__) == dir(netlab)
    assert all(getattr(netlab, name) is not None for name in netlab.__all__)
    assert netlab.run.__module__ == "netlab.running.run"
    assert netlab.engines.pick, "a module that is not in __all__ is there, too"
    with pytest.raises(AttributeError, match="'runn'"):
        _ = netlab.runn


def test_importing_it_loads_nothing_before_it_is_used():
    heavy = {"mininet", "ipywidgets", "pandas", "numpy", "plotly", "networkx", "pydantic"}
    code = f"import sys, netlab; print({heavy} & {{*sys.modules}}, netlab.jain_index([1, 1]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set() 1.0\n", done.stderr
