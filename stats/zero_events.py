# SPDX-License-Identifier: Apache-2.0
"""The largest weighted sum of proportions that no event at all is compatible with.

With `n_i` trials and no event in any stratum, a set of proportions is rejected at error `alpha` if
`prod (1 - p_i)^n_i < alpha`. The largest `sum w_i p_i` that is not rejected,

    S(alpha) = max sum w_i p_i  subject to  sum n_i log(1 - p_i) >= log alpha,

is the smallest valid upper limit there is for that observation. By the Lagrange condition
`1 - p_i = min(1, l / c_i)` with `c_i = w_i / n_i`: strata join in descending order of `c_i` as the level
`l` falls. With `z = -log alpha` the sum grows by `c_k N_k (1 - exp(-(z - z_k) / N_k))` after the k-th
stratum joined at `z_k`, where `N_k` is the number of trials of the strata in play.

Source of the principle: R. J. Buehler, J. Am. Stat. Assoc. 52 (1957) 482-493.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betainc

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ZeroEvents:
    """S as a function of the error probability, in segments between the joining of one stratum and the next.

    Attributes:
        start: S where the segment begins, shape (strata,).
        gain: `c_k N_k`, the most that S could grow beyond it.
        trials: `N_k`.
        z: `-log alpha` where the segment begins.
        ratio: `1 - c_{k+1} / c_k`: how far the segment goes on the scale `1 - exp(-(z - z_k) / N_k)`.
    """

    start: FloatArray
    gain: FloatArray
    trials: FloatArray
    z: FloatArray
    ratio: FloatArray

    @staticmethod
    def of(weights: FloatArray, trials: FloatArray) -> ZeroEvents:
        """Set up for strata with positive weights and at least one trial each."""
        levels = weights / trials
        order = np.argsort(-levels, kind="stable")
        level = levels[order]
        in_play = np.cumsum(trials[order])
        following = np.append(level[1:], 0.0)
        steps = in_play * (level - following)
        with np.errstate(divide="ignore"):
            lengths = in_play * np.log(level / following)
        return ZeroEvents(
            start=np.concatenate(([0.0], np.cumsum(steps)[:-1])),
            gain=level * in_play,
            trials=in_play,
            z=np.concatenate(([0.0], np.cumsum(lengths)[:-1])),
            ratio=1.0 - following / level,
        )

    def limit(self, alpha: float) -> float:
        """Return S(alpha)."""
        z = -np.log(alpha)
        k = int(np.searchsorted(self.z, z, side="right")) - 1
        return float(self.start[k] - self.gain[k] * np.expm1(-(z - self.z[k]) / self.trials[k]))

    def cumulants(self) -> tuple[float, float, float]:
        """Return mean, variance and third central moment of S(U) for U uniform on [0, 1]."""
        n, scale = self.trials, np.exp(-self.z)
        factor, moments = np.ones(n.shape), []
        for power in range(4):
            factor = factor * power / (n + power) if power else factor
            moments.append(factor * betainc(power + 1.0, n, self.ratio) * scale)
        s, g = self.start, self.gain
        mean = float(np.sum(s * moments[0] + g * moments[1]))
        second = float(np.sum(s**2 * moments[0] + 2 * s * g * moments[1] + g**2 * moments[2]))
        third = float(
            np.sum(
                s**3 * moments[0] + 3 * s**2 * g * moments[1] + 3 * s * g**2 * moments[2] + g**3 * moments[3]
            )
        )
        return mean, second - mean**2, third - 3 * mean * second + 2 * mean**3
