# SPDX-License-Identifier: Apache-2.0
"""Intervals for the plan "predicted" on populations made to break them.

    python -m benchmarks.statistics.guided_made [--repeats N]

For each population of `testkit/guided_populations.py`: coverage at 95 %, and the share of campaigns in
which the truth is above and below the interval, for the interval in use and for others that were considered,
with the width as a multiple of that of the one in use. All are for the campaigns in
which predictions were followed; in the others the sample is a plain one, with the limits of Clopper and
Pearson.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from resil.stats.intervals import clopper_pearson_limits
from resil.stats.matched import MatchedBeta
from resil.stats.weighted import weighted_sum
from resil.stats.zero_events import ZeroEvents
from testkit.guided_populations import POPULATIONS, Made

Limits = tuple[float, float]
DRAWS = 4000


def in_use(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Sum over the levels, mid-p as far as other levels smear the steps."""
    found = weighted_sum(x, n, w, level, mid_p=True)
    return found.lo, found.hi


def whole_event(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Sum over the levels with one event more."""
    found = weighted_sum(x, n, w, level)
    return found.lo, found.hi


def effective(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Korn and Graubard's: exact for the effective number, half an event added in each level."""
    p = (x + 0.5) / (n + 1.0)
    centre, variance = w @ p, float((w**2 * p * (1.0 - p) / n).sum())
    size = max(float(n.sum()), centre * (1.0 - centre) / variance)
    found = weighted_sum([float(w @ (x / n)) * size], [size], [1.0], level)
    return found.lo, found.hi


def mid_p(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Mid-p gamma limits in the manner of Fay and Kim (2017), for binomial counts."""
    error = (1.0 - level) / 2.0
    return 1.0 - _mid_p_upper(w, n - x, n, error), _mid_p_upper(w, x, n, error)


def _mid_p_upper(w: np.ndarray, x: np.ndarray, n: np.ndarray, error: float) -> float:
    p = x / n
    room = x < n
    if not room.any():
        return 1.0
    plain = np.array([w @ p, (w**2 * p * (1 - p) / n).sum(), 0.0])
    extra = np.array(ZeroEvents.of((w * (1 - p))[room], n[room]).cumulants())
    found = [MatchedBeta.of(*(plain + part * extra), 1.0) for part in (1.0, 0.0)]

    def excess(limit: float) -> float:
        return sum(own.exceeds(limit) if own else 0.0 for own in found) / 2.0 - error

    least = float(w @ p)
    return float(brentq(excess, least, 1.0)) if excess(least) > 0.0 else least


def jeffreys(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Quantiles of the sum of the levels' posteriors under Jeffreys' prior."""
    drawn = np.random.default_rng(1).beta(x + 0.5, n - x + 0.5, (DRAWS, len(w))) @ w
    lo, hi = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(lo), float(hi)


def melded(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Fay, Proschan and Brittain's (2015): sums of the levels' confidence distributions."""
    generator, least = np.random.default_rng(1), 1e-9
    below = generator.beta(np.maximum(x, least), n - x + 1, (DRAWS, len(w))) @ w
    above = generator.beta(x + 1, np.maximum(n - x, least), (DRAWS, len(w))) @ w
    return float(np.quantile(below, (1.0 - level) / 2.0)), float(np.quantile(above, (1.0 + level) / 2.0))


def each_level(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Sum of the levels' own exact limits, the error divided by their number."""
    lo, hi = clopper_pearson_limits(x, n, 1.0 - (1.0 - level) / len(w))
    return float(w @ lo), float(w @ hi)


def bernstein(w: np.ndarray, x: np.ndarray, n: np.ndarray, level: float) -> Limits:
    """Sum of the levels' empirical Bernstein limits (Maurer and Pontil 2009)."""
    log = np.log(4.0 * len(w) / (1.0 - level))
    p, more = x / n, np.maximum(n - 1, 1)
    half = float(w @ np.minimum(np.sqrt(2 * p * (1 - p) * log / more) + 7 * log / (3 * more), 1.0))
    return float(w @ p) - half, float(w @ p) + half


CANDIDATES: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray, float], Limits]] = {
    "in use": in_use,
    "one event more": whole_event,
    "mid-p": mid_p,
    "effective number": effective,
    "Jeffreys": jeffreys,
    "melded": melded,
    "each level": each_level,
    "Bernstein": bernstein,
}


def row(made: Made, repeats: int) -> tuple[float, dict[str, tuple[float, float, float]]]:
    """Return how often predictions were followed; of each candidate misses above and below, and width."""
    weights = np.array(made.weights)
    played = [made.play(seed) for seed in range(repeats)]
    guided = [(x, n, step.confidence) for step, x, n in played if step.design.groups > 1]
    found = {}
    for name, limits in CANDIDATES.items():
        ends = np.array([limits(weights, *own) for own in guided])
        above, below = ends[:, 1] < made.truth, ends[:, 0] > made.truth
        found[name] = above.mean(), below.mean(), float(np.diff(ends, axis=1).mean())
    return len(guided) / repeats, found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000)
    options = parser.parse_args()
    print(f"| population | guided in | {' | '.join(CANDIDATES)} |\n{'|---' * (len(CANDIDATES) + 2)}|")
    for name, made in POPULATIONS.items():
        share, found = row(made, options.repeats)
        width = found["in use"][2]
        cells = [
            f"{100 * (1 - a - b):.1f} % ({100 * a:.1f}, {100 * b:.1f}), {own / width:.2f}"
            for a, b, own in found.values()
        ]
        print(f"| {name} | {100 * share:.0f} % | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
