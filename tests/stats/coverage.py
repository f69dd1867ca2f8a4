# SPDX-License-Identifier: Apache-2.0
"""Measured coverage of limits for weighted sums, by enumeration or simulation; plainer limits to compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import betaincinv, ndtri
from scipy.stats import binom, gamma

from resil.stats.weighted import weighted_sum

Upper = Callable[[np.ndarray, np.ndarray, np.ndarray, float], float]


def ours(x, n, w, alpha):
    return weighted_sum(x, n, w, 1.0 - alpha, "upper").hi


def normal(x, n, w, alpha):
    p = x / n
    return float((w * p).sum() - ndtri(alpha) * np.sqrt((w**2 * p * (1 - p) / n).sum()))


def fay_feuer(x, n, w, alpha):
    c = w / n
    mean, variance = (c * x).sum() + c.max(), (c**2 * x).sum() + c.max() ** 2
    return float(gamma.ppf(1.0 - alpha, mean**2 / variance, scale=variance / mean))


def fay_feuer_lower(x, n, w, alpha):
    c = w / n
    mean, variance = (c * x).sum(), (c**2 * x).sum()
    return float(gamma.ppf(alpha, mean**2 / variance, scale=variance / mean)) if mean else 0.0


def sum_of_limits(x, n, w, alpha):
    each = np.where(x < n, 1.0 - betaincinv(np.maximum(n - x, 1), x + 1, alpha / len(x)), 1.0)
    return float((w * each).sum())


@dataclass(frozen=True)
class Enumeration:
    """All samples of a small design with their upper limits."""

    n: np.ndarray
    w: np.ndarray
    alpha: float
    samples: np.ndarray
    limits: np.ndarray

    @staticmethod
    def of(n, w, alpha, upper: Upper = ours) -> Enumeration:
        n, w = np.array(n), np.array(w, dtype=float)
        samples = np.array(list(product(*(range(k + 1) for k in n))))
        return Enumeration(n, w, alpha, samples, np.array([upper(x, n, w, alpha) for x in samples]))

    def missed(self, p) -> float:
        """P(upper limit < truth) at proportions p."""
        truth = float((self.w * p).sum())
        below = self.samples[self.limits < truth]
        return float(np.prod(binom.pmf(below, self.n, p), axis=1).sum())

    def worst(self, rng, rays: int) -> tuple[float, np.ndarray]:
        """The largest such probability on random rays, each searched where it peaks: just above a limit."""
        found = (0.0, np.zeros(len(self.n)))
        levels = np.unique(self.limits)
        for _ in range(rays):
            a, b = rng.choice([0.2, 0.5, 1.0, 2.0, 10.0], 2)
            ray = np.clip(rng.beta(a, b, len(self.n)), 1e-6, 1.0)
            truth = float((self.w * ray).sum())
            for level in rng.choice(levels, min(len(levels), 25), replace=False):
                p = np.minimum(ray * (level * (1 + 1e-9) / truth), 1.0)
                if float((self.w * p).sum()) > level:
                    found = max(found, (self.missed(p), p), key=lambda f: f[0])
        return found


def worst_of_two(n, w, alpha, upper: Upper = ours, steps: int = 200) -> tuple[float, tuple[float, float]]:
    """The largest P(upper limit < truth) of a design of two strata, and where.

    For every limit, all pairs of proportions are tried (the second on a grid) whose truth lies just above it.
    """
    n, w = np.array(n), np.array(w, dtype=float)
    limits = Enumeration.of(n, w, alpha, upper).limits.reshape(n + 1)
    second = np.concatenate(([0.0, 1.0], np.linspace(0, 1, steps)))
    second_pmf = binom.pmf(np.arange(n[1] + 1)[:, None], n[1], second)
    found = (0.0, (0.0, 0.0))
    for truth in np.unique(limits) * (1 + 1e-9):
        first = (truth - w[1] * second) / w[0]
        possible = (first >= 0) & (first <= 1)
        if possible.any():
            first_pmf = binom.pmf(np.arange(n[0] + 1)[:, None], n[0], first[possible])
            missed = (first_pmf * ((limits < truth) @ second_pmf[:, possible])).sum(axis=0)
            at = int(missed.argmax())
            found = max(found, (float(missed[at]), (float(first[possible][at]), float(second[possible][at]))))
    return found


def both_of(upper: Upper, alpha: float = 0.05):
    """The two-sided interval: the upper limit, and the upper limit of the complements turned round."""
    if upper is ours:
        return lambda x, n, w: (lambda i: (i.lo, i.hi))(weighted_sum(x, n, w, 1.0 - alpha))
    if upper is fay_feuer:
        return lambda x, n, w: (fay_feuer_lower(x, n, w, alpha / 2), fay_feuer(x, n, w, alpha / 2))
    return lambda x, n, w: (w.sum() - upper(n - x, n, w, alpha / 2), upper(x, n, w, alpha / 2))


def simulate(n, w, p, interval, rng, runs: int) -> tuple[float, float]:
    """Share of runs whose interval covers the truth, and mean width as a multiple of the truth."""
    n, w, p = np.array(n), np.array(w, dtype=float), np.array(p, dtype=float)
    truth = float((w * p).sum())
    found = np.array([interval(x, n, w) for x in rng.binomial(n, p, (runs, len(n)))])
    slack = 1e-12 * truth
    inside = (found[:, 0] <= truth + slack) & (truth <= found[:, 1] + slack)
    return float(inside.mean()), float((found[:, 1] - found[:, 0]).mean() / truth)


_BLOCKS = (3, 1, 0.5, 4, 1, 8, 0.1)
REALISTIC = {
    "rare": ((170,) * 7, _BLOCKS, (0.02, 0.01, 0.005, 0.01, 0.02, 0.001, 0.03)),
    "20 a block, 0.001": ((20,) * 7, _BLOCKS, (0.001,) * 7),
    "60 a block, 0.05": ((60,) * 7, _BLOCKS, (0.05,) * 7),
    "half": ((170,) * 7, _BLOCKS, (0.5,) * 7),
    "zero but one": ((60, 500), (1, 100), (0.3, 0.0)),
    "60 strata of 3": ((3,) * 60, np.exp(np.linspace(-2, 2, 60)), np.linspace(0, 0.3, 60)),
    "heavy, hardly sampled": ((20, 2000), (1, 1), (0.05, 0.0005)),
}
METHODS = {"this": ours, "normal": normal, "gamma": fay_feuer, "sum of limits": sum_of_limits}


def table(runs: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Coverage and mean width of every method on every realistic design, at 95 % two-sided."""
    return {
        name: {
            method: simulate(*design, both_of(upper), np.random.default_rng(17), runs)
            for method, upper in METHODS.items()
        }
        for name, design in REALISTIC.items()
    }


def main() -> None:
    """Print the table of docs/results.md."""
    print("| design | " + " | ".join(METHODS) + " |")
    print("|---" * (len(METHODS) + 1) + "|")
    for name, row in table(4000).items():
        print(f"| {name} | " + " | ".join(f"{100 * c:.1f} %, {w:.2f}" for c, w in row.values()) + " |")


if __name__ == "__main__":
    main()
