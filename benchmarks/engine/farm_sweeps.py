# SPDX-License-Identifier: Apache-2.0
"""What a farm of many workers would take, by calculation, where an engine makes many injections cheaper.

Of the engine it takes what sweeps over so many injections have taken, in seconds of processor time, with
straight lines of the logarithms between; of the coordinator the time of a row and of a portion, as
`benchmarks.engine.farm` measures them. Portions are sized as `resil.farm.ledger` does it.

    python -m benchmarks.engine.farm_sweeps --sweep 5000 64.2 --sweep 100000 477 --sweep 1000000 3102
        [--row 11.7e-6] [--call 4.38e-3] [--preparing 60] [--total 10000000] [--workers 1 2 100 1000]
        [--portion SECONDS]
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

from resil.farm.ledger import FIRST, LEAST, MOST, portion_seconds


@dataclass(frozen=True)
class Sweeps:
    """Seconds that sweeps have taken, by their injections, ascending; at least two."""

    measured: tuple[tuple[float, float], ...]

    def seconds(self, injections: float) -> float:
        """Return what a sweep over so many takes.

        Examples:
            >>> round(Sweeps(((100.0, 10.0), (10000.0, 100.0))).seconds(1000.0), 1)
            31.6
        """
        place = sum(own <= injections for own, _ in self.measured[1:-1])
        (few, short), (many, long) = self.measured[place : place + 2]
        return short * (injections / few) ** (math.log(long / short) / math.log(many / few))


def work(sweeps: Sweeps, injections: float, portion: float | None) -> tuple[float, int]:
    """Return the seconds and the portions in which one worker makes its share."""
    elapsed, left, rate, portions = 0.0, injections, 0.0, 0
    while left > 0:
        wanted = rate * (portion or portion_seconds(elapsed)) if rate else FIRST
        size = min(left, max(LEAST, min(wanted, MOST, left / 2)))
        took = sweeps.seconds(size)
        elapsed, left, rate, portions = elapsed + took, left - size, size / took, portions + 1
    return elapsed, portions


def main() -> None:
    """Print a row of a table for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sweep", type=float, nargs=2, action="append", required=True)
    parser.add_argument("--row", type=float, default=11.7e-6)
    parser.add_argument("--call", type=float, default=4.38e-3)
    parser.add_argument("--preparing", type=float, default=60.0)
    parser.add_argument("--total", type=float, default=1e7)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 100, 1000])
    parser.add_argument("--portion", type=float, help="seconds of each; default: as the run gets longer")
    options = parser.parse_args()
    sweeps = Sweeps(tuple((few, seconds) for few, seconds in sorted(options.sweep)))
    most, longest = sweeps.measured[-1]
    alone = options.preparing + work(sweeps, options.total, options.portion)[0]
    for workers in options.workers:
        seconds, portions = work(sweeps, options.total / workers, options.portion)
        coordinator = options.total * options.row + workers * portions * options.call
        whole = options.preparing + max(seconds, coordinator)
        parts = (
            coordinator / whole,
            alone / workers / whole,
            options.total / most * longest / workers / whole,
        )
        told = " | ".join(f"{100 * part:.1f} %" for part in parts)
        print(f"| {workers:,} | {whole:,.0f} | {portions:,} | {told} |")


if __name__ == "__main__":
    main()
