"""How sure a figure is: intervals for shares and for means."""

from collections.abc import Hashable, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

RESAMPLES = 2_000


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval | None:
    """Score interval of a share; None when nothing was counted.

    It stays within 0 and 1 and does not shrink to a point at 10 of 10 (there: 72 % to 100 %).

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    Journal of the American Statistical Association 22 (1927), 209-212.

    Raises:
        ValueError: more successes than trials, or fewer than none.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} trials cannot be.")
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # The formula gives exactly 0 and 1 at the ends; floating point does not.
    low = 0.0 if successes == 0 else max(0.0, (middle - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (middle + spread) / scale)
    return Interval(low, high)


def clustered_bootstrap(
    values: Sequence[float],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of a mean whose cases hang together in clusters, such as questions about one topic.

    Whole clusters are drawn with replacement, since cases of one cluster are no independent witnesses. Same
    values, clusters and seed give the same interval, whatever the order of the cases. Fewer than two clusters say
    nothing about the spread between clusters: None.

    B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), 1-26; percentile
    interval: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), ch. 13; clusters: Davison and
    Hinkley, "Bootstrap Methods and their Application" (1997), sec. 3.8.
    """
    grouped: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        grouped.setdefault(cluster, []).append(value)
    if len(grouped) < 2:
        return None
    members = sorted(sorted(group) for group in grouped.values())
    sums = np.array([sum(group) for group in members])
    sizes = np.array([len(group) for group in members])
    draws = np.random.default_rng(seed).integers(len(members), size=(resamples, len(members)))
    means = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    # A mean lies between the extremes; the sum of rounded numbers may not.
    lowest, highest = min(values), max(values)
    return Interval(min(max(float(low), lowest), highest), max(min(float(high), highest), lowest))
