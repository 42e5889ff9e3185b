"""How evenly flows share: numbers of the throughputs alone."""

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

__all__ = ["jain_index"]


def jain_index(throughputs):
    """Jain's fairness index of an allocation.

    Parameters
    ----------
    throughputs : 1-D array or Series
        What each flow got, in any one unit; at least one flow, all of them finite and at least 0, not all 0.

    Returns
    -------
    float
        From 1/n (one of n flows has everything) to 1 (all have the same). [1]

    Raises
    ------
    ValueError
        If a throughput is negative, missing or infinite, if all are 0, or if there are none.

    Notes
    -----
    .. math:: I = \\frac{(\\sum_{i=1}^n T_i)^2}{n \\sum_{i=1}^n T_i^2}

    If k of n flows share everything equally and the others get nothing, the index is k/n. It works for any number of
    flows, does not depend on the unit, and is continuous. It counts flows, not users, and is blind to whether the link
    was filled.

    References
    ----------
    R. Jain, D.-M. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for resource allocation in
    shared computer systems", DEC Research Report TR-301, 1984.

    Examples
    --------
    >>> f"{jain_index([5e9, 3e9, 1e9]):.2f}"
    '0.77'
    """
    series = isinstance(throughputs, pd.Series)
    if not (is_numeric_dtype(throughputs) if series else np.asarray(throughputs).dtype.kind in "iuf"):
        raise ValueError(f"throughputs must be numbers, not {throughputs!r}")
    shares = np.asarray(throughputs.astype(float) if series else throughputs, dtype=float)
    if shares.ndim != 1 or shares.size == 0:
        raise ValueError(f"throughputs must be one-dimensional with at least one flow, not of shape {shares.shape}")
    bad = ~np.isfinite(shares) | (shares < 0)
    if bad.any():
        flow = int(bad.argmax())
        raise ValueError(f"throughputs must be finite and at least 0; flow {flow} (from 0) has {shares[flow]:g}")
    if not shares.any():
        raise ValueError("throughputs are all 0: at least one must be above 0, or there is nothing to share")
    shares = np.ldexp(shares, -np.frexp(shares.max())[1])  # the unit does not matter; in this one nothing overflows
    return float(shares.sum() ** 2 / (shares.size * (shares**2).sum()))
