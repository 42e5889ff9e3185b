from types import SimpleNamespace


def named(fig, name):
    return next(fig.select_traces(dict(name=name)))


def changed(result, **frames):
    return SimpleNamespace(**vars(result) | frames)
