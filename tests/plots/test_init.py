import types

from netlab import plots


def test_all_is_sorted_and_is_what_is_visible():
    assert plots.__all__ == sorted(plots.__all__)
    visible = {
        name
        for name, value in vars(plots).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert visible == set(plots.__all__)
