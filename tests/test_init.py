import subprocess
import sys
import types

import netlab


def test_all_is_sorted_and_is_what_is_visible():
    assert netlab.__all__ == sorted(netlab.__all__)
    visible = {
        name
        for name, value in vars(netlab).items()
        if not name.startswith("_")
        and not (isinstance(value, types.ModuleType) and name not in netlab.__all__)
    }
    assert visible == set(netlab.__all__)


def test_importing_it_needs_neither_mininet_nor_widgets():
    code = (
        "import sys, netlab; print([name for name in ('mininet', 'ipywidgets') if name in"
        " sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
