# SPDX-License-Identifier: Apache-2.0
"""What a sampling plan costs: RTL cycles and CPU time to the same interval of the total hazardous FIT.

Run as `python -m benchmarks.statistics.sampling [--models DIR] [--margin 0.1] [--seeds 3] [--json]` from the
root of the project. For the network `digits`, or for each .tflite file in DIR instead:

- *adaptive*, *predicted*: campaigns with this plan, simulated until the interval's half width is `margin`
  times the estimate. Pilot and all looks are paid for. The plan "predicted" goes by the model that ships,
  and is left out for a network that this has learnt from.
- *known rate*: uniform sampling that stops at the half width that these campaigns reached, with the interval
  of Clopper and Pearson and the number of injections known beforehand. Nobody knows that number; it is the
  best that uniform sampling could do.
- *Leveugle*: uniform sampling with the number of injections that is fixed before anything is known,
  `n = N / (1 + e^2 (N - 1) / (t^2 / 4))`, e that half width as a probability (R. Leveugle et al., DATE 2009).

Uniform sampling is measured on `--uniform` injections, and its cost scaled to these numbers. All run on the
fast engine. At the end, the wall clock from nothing but compiled models to a verdict is compared: the
adaptive plan against restarting the simulation for each of Leveugle's injections. What a restart takes is
measured on `--restarts` faults of the uniform sample, each simulated from the end of reset to its end in the
same compiled model; their outcomes must be those of the fast engine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign, parse_campaign
from resil.campaign.rules import Budget
from resil.campaign.sampling_settings import PlanName, SamplingSettings
from resil.faults.content import Content
from resil.faults.population import make_population
from resil.faults.sampling import Sampling
from resil.networks.compile import compile_network
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.results.summarise import technology_of
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import NEVER
from resil.run.campaign import run_campaign
from resil.sensitivity.guided_population import campaign_population
from resil.sensitivity.model import SHIPPED, load_model
from resil.stats.intervals import clopper_pearson
from resil.stats.rates import OUTCOMES
from testkit.plain_runner import PlainRunner

MOST = 10**6
T_95 = 1.959964

# Faults times cycles after which the engine has made all that it makes once for a workload.
ENGINE_READY = 110_000_000


@dataclass(frozen=True)
class Cost:
    """What a campaign took.

    Attributes:
        injections: All of them, the pilot too.
        cycles: RTL cycles simulated.
        seconds: CPU time in this process, planning included.
        fit: Estimate of the total hazardous FIT.
        half_width: Of its interval, as part of the estimate.
    """

    injections: int
    cycles: float
    seconds: float
    fit: float
    half_width: float

    def scaled(self, injections: int) -> Cost:
        """Return the cost of another number of injections of this kind."""
        factor = injections / self.injections
        return replace(
            self, injections=injections, cycles=self.cycles * factor, seconds=self.seconds * factor
        )


@contextmanager
def campaign_for(model: Path | None, npu: str, margin: float) -> Iterator[Campaign]:
    """Give an adaptive campaign on `digits` or on a .tflite file with one fixed random input."""
    with tempfile.TemporaryDirectory(prefix="resil-sampling-") as folder:
        network: dict[str, Any] = {"path": "zoo:digits", "inputs": [0]}
        if model is not None:
            slot = compile_network(model, npu).inputs[0]
            tensor = np.random.default_rng(0).integers(-128, 128, slot.shape, dtype=np.int8)
            np.save(Path(folder) / "input.npy", tensor.reshape(1, *slot.shape[1:]))
            network = {"path": str(model.absolute()), "inputs": "input.npy"}
        tables = {
            "campaign": {"name": "sampling", "seed": 1},
            "network": network,
            "target": {"name": npu},
            "faults": {"kinds": ["ff"], "injections": MOST},
            "sampling": {"plan": "adaptive", "margin": margin},
            "execution": {"engine": "verilator", "workers": 1},
            "technology": {"name": "finfet-16nm"},
        }
        yield parse_campaign(Path(folder) / "sampling.toml", tables)


def play(campaign: Campaign, bench: Bench, engine: VerilatorEngine, golden: GoldenRun) -> Cost:
    """Carry a campaign through without writing anything."""
    technology = technology_of(campaign)
    began, before, made = time.process_time(), engine.simulated, 0
    population = campaign_population(campaign, bench, [golden])
    rates = {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}
    sampling = Sampling(campaign, population, rates)
    while (plan := sampling.wanted) is not None:
        row = {plan.fault(i): i for i in range(plan.size)}
        columns = np.zeros((5, plan.size), dtype=np.int64)
        alarms = np.zeros((2, plan.size), dtype="<U16")
        for injection in engine.run(tuple(row), 1):
            words = [OUTCOMES.index(word) for word in (injection.outcome.value, injection.seen.value)]
            rises = injection.detected, injection.corrected
            cycles = injection.fault.cycle, injection.end_cycle, rises[0].cycle if rises[0] else NEVER
            columns[:, row[injection.fault]] = *words, *cycles
            alarms[:, row[injection.fault]] = ["" if rise is None else rise.alarm for rise in rises]
        made += plan.size
        outcomes, seen = columns[:2].astype(np.int8)
        told = alarms[0], columns[4], alarms[1], np.full(plan.size, -1, np.int8)
        sampling.record(Content(plan.injection, outcomes, seen, *told, columns[2], columns[3], plan.input))
    total = sampling.sample.looks[-1].total
    seconds = time.process_time() - began
    return Cost(
        made,
        engine.simulated - before,
        seconds,
        total.estimate,
        total.width / 2 / max(total.estimate, 1e-300),
    )


def leveugle(population: int, margin: float) -> int:
    """Return the planned number of injections for a half width `margin` of a probability."""
    return round(population / (1 + margin**2 * (population - 1) / (T_95**2 * 0.25)))


def known_rate(rate: float, half_width: float) -> int:
    """Return the injections after which the interval of Clopper and Pearson has that half width, relative."""
    low, high = 1, 10**9
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        found = clopper_pearson(round(rate * middle), middle)
        low, high = (middle, high) if found.width / 2 > half_width * rate else (low, middle)
    return high


def measure(
    model: Path | None, npu: str, margin: float, seeds: int, uniform: int, restarts: int
) -> dict[str, Any]:
    """Return the costs of the plans and the times to a verdict."""
    with campaign_for(model, npu, margin) as campaign:
        bench = prepare(campaign, Progress())
        with bench.engine(0) as engine:
            assert isinstance(engine, VerilatorEngine)
            golden = engine.golden()
            sites = sum(e.bits for e in bench.sites.elements if e.kind in campaign.faults.kinds)
            population = sites * golden.end.end_cycle
            plain = replace(campaign, sampling=SamplingSettings("uniform"))
            plain = replace(plain, faults=replace(plain.faults, injections=uniform))
            ready = max(uniform, ENGINE_READY // golden.end.end_cycle)
            warm = replace(plain, seed=0, faults=replace(plain.faults, injections=ready))
            play(warm, bench, engine, golden)
            sample = play(plain, bench, engine, golden)
            runs = {
                plan: [
                    play(replace(with_plan(campaign, plan), seed=1 + i), bench, engine, golden)
                    for i in range(seeds)
                ]
                for plan in plans(bench)
            }
            restart = restart_seconds(plain, bench, engine, golden, restarts)
        raw = sites * technology_of(campaign).fit_per_bit("ff")
        rate = float(np.mean([run.fit for own in runs.values() for run in own])) / raw
        costs = {}
        for plan, own in runs.items():
            reached = mean(own)
            costs[plan] = {
                "plan": asdict(reached),
                "known rate": asdict(sample.scaled(known_rate(rate, reached.half_width))),
                "Leveugle": asdict(sample.scaled(leveugle(population, reached.half_width * rate))),
                "runs": [asdict(run) for run in own],
            }
        verdicts = {
            plan: dict(
                zip(
                    ("seconds", "result", "injections"),
                    verdict(with_plan(campaign, plan), 2.0 * rate * raw),
                    strict=True,
                )
            )
            for plan in plans(bench)
        }
        needed = leveugle(population, rate)
    return {
        "network": bench.network.name,
        "cycles": golden.end.end_cycle,
        "rate": rate,
        "costs": costs,
        "verdict": {
            "plans": verdicts,
            "restart_injections": needed,
            "restart_seconds": needed * restart,
            "restarts_measured": restarts,
            "restart_seconds_each": restart,
        },
    }


def plans(bench: Bench) -> tuple[PlanName, ...]:
    """Return the plans that are compared for this network."""
    known = load_model(SHIPPED).source.networks
    return ("adaptive",) if bench.network.sha256 in known else ("adaptive", "predicted")


def with_plan(campaign: Campaign, plan: PlanName) -> Campaign:
    """Return the campaign with another sampling plan."""
    return replace(campaign, sampling=replace(campaign.sampling, plan=plan))


def mean(runs: list[Cost]) -> Cost:
    """Return the mean of costs."""
    fields = {name: float(np.mean([getattr(run, name) for run in runs])) for name in asdict(runs[0])}
    return Cost(round(fields.pop("injections")), **fields)


def restart_seconds(
    campaign: Campaign, bench: Bench, engine: VerilatorEngine, golden: GoldenRun, count: int
) -> float:
    """Return the mean CPU time of simulating a fault of a uniform sample from the end of reset to its end.

    Raises:
        SystemExit: an outcome is not that of the fast engine.
    """
    population = make_population(campaign, bench.sites, [golden])
    sizes = np.array([stratum.population.size for stratum in population.strata], dtype=np.float64)
    chosen = np.random.default_rng(campaign.seed).multinomial(count, sizes / sizes.sum())
    plan = population.faults(np.zeros(len(sizes), dtype=np.int64), chosen)
    faults = tuple(plan.fault(i) for i in range(plan.size))
    expected = {injection.fault: injection.outcome for injection in engine.run(faults, 1)}
    runner = PlainRunner(engine, 0)
    began = time.process_time()
    found = [runner.inject(fault) for fault in faults]
    took = time.process_time() - began
    runner.close()
    if any(injection.outcome != expected[injection.fault] for injection in found):
        raise SystemExit("restarting gave other outcomes than the fast engine")
    return took / count


def verdict(campaign: Campaign, budget: float) -> tuple[float, str, int]:
    """Return the wall clock of a whole `resil run` to a verdict, the verdict, and its injections."""
    settings = replace(campaign.sampling, margin=None, until_decided=True)
    asked = replace(campaign, sampling=settings, budget=Budget(budget, "twice the estimate"))
    with tempfile.TemporaryDirectory(prefix="resil-sampling-") as folder:
        run_campaign(replace(asked, seed=10**6), Path(folder) / "warm")
        began = time.perf_counter()
        summary = run_campaign(asked, Path(folder) / "run").summary
        seconds = time.perf_counter() - began
    made = summary.campaign.injections + summary.sampling.pilot
    return seconds, summary.verdict.result, made


def text(found: Mapping[str, Any]) -> str:
    """Return the figures for people, as Markdown."""
    lines = [
        f"**{found['network']}**, {found['cycles']:,} cycles, hazardous {100 * found['rate']:.2f} % of "
        "upsets; of uniform sampling its injections, RTL cycles and CPU time as multiples of the plan's",
        "",
        "| plan | half width | injections | RTL cycles | CPU s | known rate | Leveugle |",
        "|---|---|---|---|---|---|---|",
    ]
    spread = []
    for name, cost in found["costs"].items():
        own = cost["plan"]
        figures = [f"{100 * own['half_width']:.1f} %", f"{own['injections']:,}", f"{own['cycles']:,.0f}"]
        figures.append(f"{own['seconds']:.0f}")
        ratios = [
            ", ".join(f"{cost[other][key] / own[key]:.1f}x" for key in ("injections", "cycles", "seconds"))
            for other in ("known rate", "Leveugle")
        ]
        lines.append(f"| {' | '.join((name, *figures, *ratios))} |")
        spread += [
            f"{name} {run['injections']:,} ({100 * run['half_width']:.1f} %, {run['cycles'] / 1e6:.1f}M)"
            for run in cost["runs"]
        ]
    end = found["verdict"]
    lines += [
        "",
        f"Campaigns one by one (half width, RTL cycles): {', '.join(spread)}.",
        f"Restarting for each of Leveugle's {end['restart_injections']:,} injections takes "
        f"{end['restart_seconds']:,.0f} s for the simulation alone, {end['restart_seconds_each']:.2f} s "
        f"each, measured on {end['restarts_measured']}.",
    ]
    lines += [
        f"Verdict on twice the FIT as budget, {plan}: {own['result']} after {own['injections']:,} injections "
        f"in {own['seconds']:.1f} s from the command to the report, "
        f"{end['restart_seconds'] / own['seconds']:.1f}x."
        for plan, own in end["plans"].items()
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the figures of each network."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, help="a .tflite file, or a folder of them")
    parser.add_argument("--npu", default="ethos-u55-32")
    parser.add_argument("--margin", type=float, default=0.1)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--uniform", type=int, default=2000)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    models: list[Path | None] = [None]
    if options.models is not None:
        folder = options.models
        models = sorted(folder.glob("*.tflite")) if folder.is_dir() else [folder]
    found = []
    for model in models:
        found.append(
            measure(model, options.npu, options.margin, options.seeds, options.uniform, options.restarts)
        )
        if not options.json:
            print(text(found[-1]), end="\n\n", flush=True)
    if options.json:
        print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
