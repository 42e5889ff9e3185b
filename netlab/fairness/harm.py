"""Harm: how much worse somebody fares beside others than alone."""

import numpy as np
import pandas as pd


def harm(solo, contested, better):
    """The part of its performance alone that a flow loses beside others. [1]

    Parameters
    ----------
    solo, contested : float, array or Series
        What was measured of the flow alone, and beside the others, in the same unit: of throughput
        above 0 and finite alone, else at least 0; infinity is a delay without bound. NaN gives NaN.
        Two Series are matched by their index.
    better : {"more", "less"}
        Which is better: more, as of throughput, or less, as of delay, loss or completion time.

    Returns
    -------
    float, array or Series
        0: none; 1: nothing is left of the throughput, or the delay has grown without bound. Below
        0: the flow fares better than alone.

    Notes
    -----
    With x alone and y beside others, :math:`(x - y) / x` where more is better, :math:`(y - x) / y`
    where less is. If both are 0, or both infinite, where less is better, there is no harm.

    Unlike Jain's index, harm says who suffers, compares a flow with what it could have, and also
    counts delay and loss. Two flows that share a link evenly do each other a harm of 1/2. So a new
    algorithm is judged by what the present one does in its place: it may do no more harm to others
    than they do to each other.

    References
    ----------
    R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's fairness index: setting the bar
    for the deployment of congestion control algorithms", HotNets 2019. M. Duke, G. Fairhurst,
    "Specifying new congestion control algorithms", RFC 9743, 2025.

    Examples
    --------
    >>> harm(95e6, 38e6, better="more")
    0.6
    >>> harm(0.020, [0.020, 0.080], better="less")
    array([0.  , 0.75])
    """
    if better not in ("more", "less"):
        raise ValueError(f"better must be 'more' or 'less', not {better!r}")
    x, y = _measured("solo", solo), _measured("contested", contested)
    if isinstance(x, pd.Series) and isinstance(y, pd.Series) and not x.index.equals(y.index):
        raise ValueError("solo and contested must have the same index: select the same runs")
    if better == "more" and (np.isinf(np.asarray(x)) | (np.asarray(x) == 0)).any():
        raise ValueError("solo must be above 0, and finite, where more is better")
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (x - y) / x if better == "more" else (y - x) / y
    endless = (better == "less") & np.isinf(y)
    if isinstance(found, pd.Series):
        found = found.where(~endless, 1.0).where(x != y, 0.0)
    else:
        found = np.where(x == y, 0, np.where(endless, 1, found))
    return float(found) if np.ndim(found) == 0 else found


def _measured(name, value):
    numbers = value if isinstance(value, pd.Series) else np.asarray(value)
    if numbers.dtype.kind not in "iuf" or (np.asarray(numbers) < 0).any():
        raise ValueError(f"{name} must be numbers of at least 0, not {value!r}")
    return numbers.astype(float)
