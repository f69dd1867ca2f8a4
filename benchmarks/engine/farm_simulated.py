# SPDX-License-Identifier: Apache-2.0
"""What a farm of many workers takes, by simulation of the scheduler that ships, in simulated time.

`resil.farm.executor` chooses, hands out, checks across workers and collects portions as it does with dask:
clock, queue and workers are those of `testkit.simulated_farm`. What it is given was measured: of the
engine, the seconds of processor time of portions of so many injections, as
`benchmarks.engine.farm_portions` prints them, with straight lines of the logarithms between; of the
coordinator, the time of a row and of a call, as `benchmarks.engine.farm` prints them. Each worker has a
speed of its own, and each portion a spread besides. Of 100 workers so many have half the speed, and so many
are lost at random moments, for each of which another comes two minutes later. Rows are not made: nobody
waits for what is in them.

    python -m benchmarks.engine.farm_simulated --sweep 100 4.7 --sweep 5000 64.2 --sweep 100000 477
        [--first 30] [--row 11.7e-6] [--call 4.38e-3] [--preparing 40] [--total 10000000]
        [--workers 1 2 10 100 1000] [--speeds 0.1] [--spread 0.05] [--slow 2] [--lost 2] [--seed 1]
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from resil.progress import Loudness, set_loudness
from testkit.simulated_farm import WorkerPlan, simulated_farm


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


@dataclass(frozen=True)
class Simulated:
    """What came of one farm.

    Attributes:
        seconds: From the first look to the last row and the last audit.
        orders: That were begun, audits among them.
        last: Seconds from the beginning of the last order to the end.
        busy: Seconds of the coordinator with rows and calls.
        scheduling: Seconds of processor time of the scheduler itself, on this machine, the simulation with
        it.
    """

    seconds: float
    orders: int
    last: float
    busy: float
    scheduling: float


def simulated(options: argparse.Namespace, workers: int, folder: Path, *, calm: bool = False) -> Simulated:
    """Have so many workers make all injections; `calm` without those that are slow or lost."""
    chance = random.Random(options.seed * 1000 + workers)
    sweeps = Sweeps(tuple(map(tuple, sorted(options.sweep))))
    ideal = sweeps.seconds(options.total / workers)
    slow, lost = (0 if calm else math.ceil(share * workers / 100) for share in (options.slow, options.lost))
    plans = []
    drawn = [chance.lognormvariate(0.0, options.speeds) for _ in range(workers)]
    # All together are as fast as so many of what was measured, the slow ones aside.
    mean = workers / sum(1.0 / own for own in drawn)
    for place, own in enumerate(drawn):
        own *= (2.0 if place < slow else 1.0) / mean
        goes = chance.uniform(0.1, 0.9) * ideal if slow <= place < slow + lost else math.inf
        for comes, until in ((0.0, goes), (goes + 120.0, math.inf)):
            if comes < math.inf:
                spread = partial(_slowness, random.Random(chance.random()), own, options.spread)
                plans.append(WorkerPlan(comes, until, options.preparing * own, options.first, spread))
    began = time.process_time()
    costs = {"row": options.row, "call": options.call}
    with simulated_farm(folder, plans, sweeps.seconds, **costs) as (now, farm, coordinator):
        coordinator.make(options.total)
    assert coordinator.kept == options.total
    return Simulated(
        now(), len(farm.begun), now() - farm.begun[-1].at, coordinator.busy, time.process_time() - began,
    )  # fmt: skip


def _slowness(chance: random.Random, own: float, spread: float) -> float:
    return own * chance.lognormvariate(0.0, spread)


def main() -> None:
    """Print rows of a table for each number of workers, of many also with those that are slow or lost.

    They are: workers, slow or lost ones, seconds, orders, seconds from the last order to the end, part of
    the time in which the coordinator is busy, efficiency, ms of processor time of the scheduler an order.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sweep", type=float, nargs=2, action="append", required=True)
    parser.add_argument("--first", type=float, default=0.0, help="seconds more of a worker's first portion")
    parser.add_argument("--row", type=float, default=11.7e-6)
    parser.add_argument("--call", type=float, default=4.38e-3)
    parser.add_argument("--preparing", type=float, default=40.0)
    parser.add_argument("--total", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 10, 100, 1000])
    parser.add_argument(
        "--speeds", type=float, default=0.1, help="spread of the speeds of workers (log-normal)"
    )
    parser.add_argument(
        "--spread", type=float, default=0.05, help="of portions of one size and worker, likewise"
    )
    parser.add_argument("--slow", type=float, default=2.0, help="of 100 workers, those of half the speed")
    parser.add_argument("--lost", type=float, default=2.0, help="of 100 workers, those that are lost")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    set_loudness(Loudness.QUIET)
    with tempfile.TemporaryDirectory() as folder:
        alone = simulated(options, 1, Path(folder) / "alone", calm=True)
        for workers in options.workers:
            disturbed = workers > 2 and options.slow + options.lost > 0
            for calm in (True, False) if disturbed else (True,):
                where = Path(folder) / f"{workers}{calm}"
                found = alone if workers == 1 else simulated(options, workers, where, calm=calm)
                parts = (found.busy / found.seconds, alone.seconds / workers / found.seconds)
                shares = " | ".join(f"{100 * part:.1f} %" for part in parts)
                print(
                    f"| {workers:,} | {'no' if calm else 'yes'} | {found.seconds:,.0f} | {found.orders:,} | "
                    f"{found.last:.0f} | {shares} | {1e3 * found.scheduling / found.orders:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
