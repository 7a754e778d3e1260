"""How sure a mean is: percentile intervals of a paired bootstrap over the queries.

All rows of an evaluation are drawn with the same resamples, so a difference is judged query by
query, and the seed is fixed: the same scores always give the same interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 4
RESAMPLES = 5000  # the ends of a 95 % interval then move by less than .001 from seed to seed
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the range that holds 95 % of the resampled means."""

    mean: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether 0 lies outside: a difference that is more than chance."""
        return self.low > 0 or self.high < 0


class Bootstrap:
    """Resamples of so many queries; ask it for the interval of any row of scores."""

    def __init__(self, queries: int, seed: int = SEED, resamples: int = RESAMPLES) -> None:
        drawn = np.random.default_rng(seed).multinomial(
            queries, np.full(queries, 1 / queries), size=resamples
        )
        self._weights: NDArray[np.float64] = drawn / queries

    def interval(self, values: Sequence[float]) -> Interval:
        """The interval of a mean."""
        given = np.asarray(values, np.float64)
        tail = (1 - CONFIDENCE) / 2
        low, high = np.quantile(self._weights @ given, (tail, 1 - tail))
        return Interval(float(given.mean()), float(low), float(high))

    def difference(self, values: Sequence[float], baseline: Sequence[float]) -> Interval:
        """The interval of the mean difference, query by query, to a baseline."""
        return self.interval(np.subtract(values, baseline).tolist())
