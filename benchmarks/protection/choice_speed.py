# SPDX-License-Identifier: Apache-2.0
"""How long the exact choice takes: 2,000 groups, 8 options, 8 networks with three limits each.

    python -m benchmarks.protection.choice_speed [--seed N] [--seconds S]

Prints the time, the area, the bound that the solver proves, and the gap between them.
"""

from __future__ import annotations

import argparse
from time import monotonic

import numpy as np

from resil.protection.least_area import Programme

GROUPS, NETWORKS, BLOCKS = 2000, 8, 8
# Area a bit, residual share, upset rate left, detected failures as a share of the upset rate.
OPTIONS = (
    *((0.0, 1.0, 1.0, 0.0), (1.3, 0.5, 0.5, 0.0), (6.7, 0.02, 0.02, 0.0), (5.6, 0.011, 1.0, 1.1)),
    *((11.2, 0.02, 1.0, 2.0), (21.4, 0.03, 1.0, 0.0), (8.0, 0.05, 0.05, 0.0), (3.0, 0.3, 1.0, 0.7)),
)


def main() -> None:
    """Make an instance and solve it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=55.0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    bits = rng.integers(1, 9, GROUPS).astype(float)
    block = np.sort(rng.integers(0, BLOCKS, GROUPS))
    level = np.where(rng.random(GROUPS) < 0.15, rng.gamma(0.5, 0.2, GROUPS), 5e-4 * rng.random(GROUPS))
    risk = bits * np.minimum(level * rng.lognormal(0.0, 0.7, (NETWORKS, GROUPS)), 1.0)
    inside = [block == b for b in range(BLOCKS)]
    size = GROUPS * len(OPTIONS)

    def items(of_unit: np.ndarray, column: int, whole: float) -> np.ndarray:
        shares = [of_unit * option[column] for option in OPTIONS]
        return np.concatenate([*shares, [whole * of_unit[own].sum() for own in inside]])

    cost = items(bits, 0, 20.6)
    sets = [np.append(np.arange(g, size, GROUPS), size + block[g]) for g in range(GROUPS)]
    limits = []
    for own in risk:
        fit = items(own, 1, 0.02)
        limits += [(fit, 0.1 * own.sum()), (fit - 0.01 * items(bits, 2, 1.0), 0.0)]
        limits.append((items(bits, 3, 2.0), 0.2 * bits.sum()))
    programme = Programme(len(cost), sets, np.ones(len(cost), dtype=bool))
    for row, most in limits:
        programme.add_limit(row, most)
    started = monotonic()
    found = programme.least(
        cost,
        lambda chosen: all(float(row[chosen].sum()) <= most for row, most in limits),
        seconds=arguments.seconds,
        proposals=20,
    )
    assert found is not None
    area = float(cost[found.chosen].sum())
    gap = 1.0 - found.bound / area
    print(f"{monotonic() - started:.1f} s: area {area:,.1f}, bound {found.bound:,.1f}, gap {gap:.1e}")


if __name__ == "__main__":
    main()
