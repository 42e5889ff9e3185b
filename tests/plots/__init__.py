def named(fig, name):
    return next(fig.select_traces(dict(name=name)))
