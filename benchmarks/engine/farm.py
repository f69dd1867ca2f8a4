# SPDX-License-Identifier: Apache-2.0
"""What a farm costs: one and two local workers, and from that, many by simulation of the scheduler.

Each run carries out the same campaign in a new folder. Counted is the time of injecting, from the first
portion that a worker has answered to the last, so that starting and building are apart. Of the coordinator,
which all rows go through, the processor time is counted: that bounds what any number of workers can do.

    python -m benchmarks.engine.farm CAMPAIGN.toml [--injections N] [--workers 1 2] [--total 10000000]
                                     [--json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.farm_settings import LOCAL, FarmSettings
from resil.farm.cluster import Farm, open_farm
from resil.farm.crew import Job, Member
from resil.farm.executor import FarmExecutor
from resil.farm.order import Reply
from resil.progress import Loudness, Progress, set_loudness
from resil.run.campaign import run_campaign
from testkit.simulated_farm import WorkerPlan, simulated_farm


@dataclass
class Measured:
    """Of one run on a farm.

    Attributes:
        workers: Local worker processes.
        injections: That were made, those of audits aside.
        portions: Answers that brought them.
        preparing: Seconds of a worker before its first injection, the most.
        working: Seconds that workers spent on portions, all together.
        processor: Seconds of processor time of workers in that time.
        seconds: From the first answer to the last.
        counted: Injections in that time.
        coordinator: Seconds of processor time that this process spent on the rows: reading, comparing with
            the plan, choosing for the audit, writing.
        call: Seconds of processor time that it takes to have a worker make a call, scheduler included.
    """

    workers: int
    injections: int = 0
    portions: int = 0
    preparing: float = 0.0
    working: float = 0.0
    processor: float = 0.0
    seconds: float = 0.0
    counted: int = 0
    coordinator: float = 0.0
    call: float = 0.0

    @property
    def rate(self) -> float:
        """Injections a second."""
        return self.counted / self.seconds if self.seconds else float("nan")


def measure(campaign: Campaign, workers: int, folder: Path) -> Measured:
    """Carry a campaign out with local workers."""
    found = Measured(workers)
    began: list[float] = []
    judge = FarmExecutor._judge

    def watched(self: FarmExecutor, member: Member, job: Job, reply: object) -> None:
        busy = time.thread_time()
        judge(self, member, job, reply)
        busy = time.thread_time() - busy
        if not isinstance(reply, Reply) or isinstance(job.work, list) or job.work is None:
            return
        if began:
            found.counted += len(job.work.numbers)
            found.seconds = time.monotonic() - began[0]
        else:
            began.append(time.monotonic())
        found.coordinator += busy
        found.injections += len(job.work.numbers)
        found.portions += 1
        found.preparing = max(found.preparing, reply.preparing)
        found.working += reply.seconds
        found.processor += reply.processor

    farm = FarmSettings(cluster=LOCAL, workers=workers)
    FarmExecutor._judge = watched  # type: ignore[method-assign]
    try:
        execution = replace(campaign.execution, workers=None, farm=farm)
        with open_farm(farm, Progress(), folder) as there:
            assert there is not None
            run_campaign(replace(campaign, execution=execution), folder)
            found.call = cost_of_a_call(there)
    finally:
        FarmExecutor._judge = judge  # type: ignore[method-assign]
    return found


def cost_of_a_call(farm: Farm, calls: int = 300) -> float:
    """Return seconds of processor time of this process for a call that does nothing, with its answer."""
    (address, *_) = farm.workers()
    began = time.process_time()
    for future in [farm.submit(address, int, number) for number in range(calls)]:
        future.result(60.0)
    return (time.process_time() - began) / calls


def foretold(single: Measured, workers: int, total: int, folder: Path) -> dict[str, float]:
    """Return what so many workers take, each with a processor of its own, by simulation of the scheduler.

    Each has the rate of one, by its processor time, and prepares once. All rows go through the coordinator,
    at the cost of a row and of a call that `single` has.
    """
    rate = single.injections / single.processor
    plans = [WorkerPlan(preparing=single.preparing)] * workers
    costs = {"row": single.coordinator / single.injections, "call": single.call}
    with simulated_farm(folder, plans, lambda injections: injections / rate, **costs) as (
        now,
        _,
        coordinator,
    ):
        coordinator.make(total)
    return {
        "workers": workers,
        "seconds": round(now(), 1),
        "efficiency": round(total / rate / workers / now(), 3),
        "coordinator_busy": round(coordinator.busy / now(), 3),
    }


def main() -> None:
    """Print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("campaign", type=Path)
    parser.add_argument("--injections", type=int)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--total", type=int, default=10_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    set_loudness(Loudness.QUIET)
    campaign = load_campaign(options.campaign)
    if options.injections:
        faults = replace(campaign.faults, injections=options.injections)
        campaign = replace(campaign, faults=faults)
    with tempfile.TemporaryDirectory() as folder:
        runs = [measure(campaign, n, Path(folder) / str(n)) for n in options.workers]
        single = runs[0]
        simulated = [foretold(single, n, options.total, Path(folder) / f"of {n}") for n in (100, 1000)]
    told: list[dict[str, Any]] = [
        {
            "workers": run.workers,
            "injections": run.injections,
            "portions": run.portions,
            "per_second": round(run.rate, 1),
            "efficiency": round(run.rate / (run.workers * single.rate / single.workers), 3),
            "preparing_seconds": round(run.preparing, 1),
            "processor_us_an_injection": round(1e6 * run.processor / run.injections, 1),
            "portion_seconds": round(run.working / run.portions, 2),
            "coordinator_us_a_row": round(1e6 * run.coordinator / run.injections, 1),
            "ms_a_call": round(1e3 * run.call, 2),
        }
        for run in runs
    ]
    if options.json:
        print(json.dumps({"measured": told, "simulated": simulated}))
        return
    for line in (*told, *simulated):
        print(", ".join(f"{name} {value:,}" for name, value in line.items()))


if __name__ == "__main__":
    main()
