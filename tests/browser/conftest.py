import random

from tests import cases

OTHERS = "notebook", "voila"


def pytest_generate_tests(metafunc):
    """JupyterLab and one of the other front ends, or all of them with --every."""
    if "front_end" in metafunc.fixturenames:
        options = metafunc.config.option
        others = OTHERS if options.every else [random.Random(options.seed).choice(OTHERS)]
        metafunc.parametrize("front_end", cases(["lab", *others]), scope="module")
