"""How evenly throughputs are shared: Jain's index, and shares."""

from math import inf
from numbers import Real

import numpy as np
import pandas as pd


def jain_index(throughputs):
    """Jain's fairness index of an allocation. [1]

    Parameters
    ----------
    throughputs : 1-D array or Series
        Throughput of each flow, all in the same unit; at least one flow; finite, at least 0, and
        not all 0.

    Notes
    -----
    .. math:: I = \\frac{(\\sum_{i=1}^n T_i)^2}{n \\sum_{i=1}^n T_i^2}

    From 1/n (one of n flows has everything) to 1 (all flows have the same). If k of n flows share
    everything equally and the others get nothing, the index is k/n. It does not depend on the unit.
    It counts flows, not users, and ignores whether the link was full.

    Source: R. Jain, D.-M. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC Research Report TR-301, 1984.

    Examples
    --------
    >>> f"{jain_index([5e9, 3e9, 1e9]):.2f}"
    '0.77'
    """
    rates = np.asarray(_allocation(throughputs))
    return float(rates.sum() ** 2 / (rates.size * (rates**2).sum()))


def shares(throughputs):
    """Each flow's share of the sum of all throughputs. [1]

    Parameters
    ----------
    throughputs : 1-D array or Series
        As for `jain_index`. A Series gives a Series with the same index.

    Notes
    -----
    :math:`T_i / \\sum_j T_j`: a share of the data carried, not of the link's capacity.

    Examples
    --------
    >>> shares([6e9, 3e9, 1e9])
    array([0.6, 0.3, 0.1])
    """
    rates = _allocation(throughputs)
    return rates / rates.sum()


def per_stream_share(n, others=1):
    """Share of a host that opens n streams, if all *streams* at a bottleneck get the same. [1]

    :math:`n / (n + m)`: parallel streams take bandwidth from other hosts (T. Hacker, B. Athey, B.
    Noble, "The end-to-end performance effects of parallel TCP sockets on a lossy wide-area
    network", IPDPS 2002). Holds where all streams always have data to send, have the same RTT and
    algorithm, and are limited by nothing but the queue. Compare it with the measured `shares`.

    Parameters
    ----------
    n : int or array
        Streams of one host, at least 1. [1]
    others : int or array
        Streams m of all other hosts on the same bottleneck, at least 0. [1]

    Examples
    --------
    >>> per_stream_share(9)
    0.9
    """
    mine, theirs = _floats("n", n), _floats("others", others)
    whole = (mine == np.floor(mine)) & (theirs == np.floor(theirs)) & (mine + theirs < inf)
    if not (whole & (mine >= 1) & (theirs >= 0)).all():
        raise ValueError(
            f"n must be whole and at least 1, others whole and at least 0, not {n!r} and {others!r}"
        )
    share = mine / (mine + theirs)
    return float(share) if np.ndim(share) == 0 else share


def _allocation(throughputs):
    """Checked throughputs, scaled so that squares and sums neither overflow nor vanish."""
    rates = _floats("throughputs", throughputs)
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(
            f"throughputs must be a row of at least one flow, not of shape {rates.shape}"
        )
    bad = np.asarray(~np.isfinite(rates) | (rates < 0))
    if bad.any():
        flow = int(bad.argmax())
        has = f"flow {flow} (from 0) has {np.asarray(rates)[flow]:g}"
        raise ValueError(f"throughputs must be finite and at least 0; {has}")
    if not rates.any():
        raise ValueError("throughputs are all 0: at least one must be above 0")
    rates = np.ldexp(rates, -np.frexp(rates.max())[1])
    return rates.rename("share") if isinstance(rates, pd.Series) else rates


def _floats(name, value):
    numbers = value if isinstance(value, pd.Series) else np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be numbers, not {value!r}")
    return numbers.astype(float)


def positive(name, value):
    if not isinstance(value, Real) or not value > 0:
        raise ValueError(f"{name} must be a number above 0, not {value!r}")
