# SPDX-License-Identifier: Apache-2.0
"""A beta variable that is matched to three moments: what limits of weighted sums are quantiles of."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from scipy.special import betainc, betaincinv


@dataclass(frozen=True, slots=True)
class MatchedBeta:
    """A beta variable on [top - span, top].

    Attributes:
        top: Its largest value.
        span: Length of its range.
        up: Its first parameter, counted from the lower end.
        down: Its second parameter.
    """

    top: float
    span: float
    up: float
    down: float

    @staticmethod
    def of(mean: float, variance: float, third: float, top: float) -> MatchedBeta | None:
        """Return the variable with these moments; None if there is none below `top`.

        The range begins at 0, or higher if that is needed to reach the third moment.

        Args:
            mean: Of the variable, >= 0.
            variance: Of the variable.
            third: Its third central moment, at least.
            top: Its largest value.
        """
        deviation = sqrt(max(variance, 0.0))
        if deviation <= 1e-12 * top or mean >= top:
            return None
        above, below = (top - mean) / deviation, mean / deviation
        skewness = third / deviation**3
        if (2.0 * (above - below)) < skewness * (1.0 + above * below):
            below = (2.0 * above - skewness) / (2.0 + skewness * above)
        concentration = above * below - 1.0
        if concentration <= 0.0:
            return None
        share = below / (above + below)
        return MatchedBeta(
            top, (above + below) * deviation, share * concentration, (1.0 - share) * concentration
        )

    def upper(self, alpha: float) -> float:
        """Return the value that is exceeded with probability `alpha`."""
        return self.top - self.span * float(betaincinv(self.down, self.up, alpha))

    def exceeds(self, value: float) -> float:
        """Return the probability of more than `value`."""
        share = min(max((self.top - value) / self.span, 0.0), 1.0)
        return float(betainc(self.down, self.up, share))
