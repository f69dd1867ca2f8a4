# SPDX-License-Identifier: Apache-2.0
"""What outcomes of earlier campaigns save, and what states that they came to could save besides.

    python -m benchmarks.engine.kept [CAMPAIGN.toml] [--injections 2000] [--folder DIR] [--json]
    python -m benchmarks.engine.kept --states [NETWORK] [--models DIR] [--injections 2000] [--kept 20000]

A campaign fills an empty store. Then others run without the store and with it: another budget, twice the
injections, another plan, another seed, a study of the same network twice. Told are seconds of processor
time of the whole command, set-up, audit and results in, and injections that were simulated. Rows must be
equal without and with the store: the exit code is 4 where they are not.

With `--states` one sweep takes the faults of two campaigns together. There every state that both come to in
the same cycle is simulated once, so no store of states could save the second campaign more cycles than this.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import resil.folder.outcomes
from benchmarks.engine.__main__ import timed, uniform_faults, workloads
from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.overrides import command_line
from resil.folder.store import recorded_provenance
from resil.progress import Loudness, set_loudness
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import NOTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault
from resil.run.campaign import run_campaign
from resil.study.run import run_study
from resil.study.study_file import load_study
from testkit.runs import EXAMPLE
from testkit.stored_rows import rows

_STUDY = """
[study]
name = "kept"
seed = {seed}
[[target]]
name = "ethos-u55-32"
[[network]]
path = "zoo:digits"
inputs = [0, 1]
[faults]
kinds = ["ff", "sram"]
injections = {injections}
[execution]
recall = {recall}
[technology]
name = "finfet-16nm"
[budget]
fit = {fit}
rationale = "of the benchmark"
[protection]
wanted = false
"""


@dataclass
class Measured:
    """One campaign without the store and with it.

    Attributes:
        injections: Of the campaign.
        simulated: Of these with the store.
        fresh: Seconds of processor time without it.
        taken: With it.
        equal: Whether the rows are the same.
    """

    injections: int
    simulated: int
    fresh: float
    taken: float
    equal: bool


@contextmanager
def own_store(folder: Path) -> Iterator[None]:
    """Keep outcomes in this folder; all else stays in the cache."""
    usual = resil.folder.outcomes.cache_root
    resil.folder.outcomes.cache_root = lambda: folder
    try:
        yield
    finally:
        resil.folder.outcomes.cache_root = usual


def measured(run: Callable[[Path, bool], object], folder: Path) -> Measured:
    """Carry something out in two folders, without the store and with it.

    Args:
        run: Carries it out in a folder, with the store or without.
        folder: For both.
    """
    seconds = [timed(lambda taken=taken: run(folder / str(taken), taken))[1] for taken in (False, True)]
    found = [(folder / str(taken)).rglob("provenance.json") for taken in (False, True)]
    runs = [sorted(file.parent for file in own) for own in found]
    pairs = list(zip(*runs, strict=True))
    of_each = [rows(fresh).num_rows for fresh, _ in pairs]
    recalled = sum(recorded_provenance(taken).recalled for _, taken in pairs)
    equal = bool(pairs) and all(rows(fresh).equals(rows(taken)) for fresh, taken in pairs)
    return Measured(sum(of_each), sum(of_each) - recalled, *(round(own, 1) for own in seconds), equal)


def campaigns(options: argparse.Namespace, folder: Path) -> dict[str, Measured]:
    """Return what the store saves each of several campaigns that follow the one which fills it."""

    def of(*settings: str) -> Callable[[Path, bool], object]:
        return lambda out, taken: run_campaign(campaign(options, *settings, recall=taken), out)

    grown = f"faults.injections={2 * options.injections}"
    changes = {
        "the first": of(),
        "another budget": of("budget.fit=7"),
        "twice the injections": of(grown),
        "the plan neyman": of('sampling.plan="neyman"'),
        "another seed": of("campaign.seed=5"),
    }
    found = {name: measured(run, folder / name) for name, run in changes.items()}
    for name, fit in (("a study", 0.1), ("a second study, of another budget", 1.0)):

        def study(out: Path, taken: bool, fit: float = fit) -> None:
            file = folder / "study.toml"
            recall = str(taken).lower()
            file.write_text(_STUDY.format(seed=5, injections=options.injections, recall=recall, fit=fit))
            run_study(load_study(file), out)

        found[name] = measured(study, folder / name)
    return found


def campaign(options: argparse.Namespace, *settings: str, recall: bool) -> Campaign:
    """Return the campaign with other values of keys."""
    wanted = [f"faults.injections={options.injections}", "faults.minimum_per_block=20", *settings]
    return load_campaign(options.what, command_line([*wanted, f"execution.recall={str(recall).lower()}"]))


def states(workload: Workload, kept: int, fresh: int) -> dict[str, float]:
    """Return what of the cycles of so many faults a store of all states of so many others could save."""
    target = load_target("ethos-u55-32")
    with VerilatorEngine(
        target, workload, elaborate(target, workload.parameters), sweep=True, lanes=False, audit=NOTHING
    ) as engine:
        engine.prepare()

        def cycles(faults: list[Fault]) -> tuple[int, int]:
            before, merged = engine.simulated, engine.ends["merged"]
            for _ in engine.run(faults):
                pass
            return engine.simulated - before, engine.ends["merged"] - merged

        first, second = (uniform_faults(engine, n, seed, ["ff"]) for n, seed in ((kept, 1), (fresh, 2)))
        both = sorted({*first, *second})
        (alone, merged), (own, _), (together, _) = (cycles(faults) for faults in (second, first, both))
    return {
        "kept": len(first),
        "fresh": len(second),
        "the_same_fault": len(first) + len(second) - len(both),
        "merged_alone": merged,
        "cycles_alone": alone,
        "cycles_saved": alone + own - together,
        "saved": round((alone + own - together) / alone, 3),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="?")
    parser.add_argument("--states", action="store_true")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--injections", type=int, default=2000)
    parser.add_argument("--kept", type=int, default=20000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    set_loudness(Loudness.QUIET)
    if options.states:
        named = [] if options.models else [options.what or "digits"]
        bounds = {
            name: states(workload, options.kept, options.injections)
            for name, workload in workloads(named, options.models, "ethos-u55-32")
            if (options.what or "") in name
        }
        print(json.dumps(bounds, indent=2))
        return 0
    options.what = Path(options.what or EXAMPLE)
    with tempfile.TemporaryDirectory(dir=options.folder) as place, own_store(Path(place) / "cache"):
        found = campaigns(options, Path(place))
    if options.json:
        print(json.dumps({name: asdict(own) for name, own in found.items()}, indent=2))
    else:
        print(
            "| campaign | injections | simulated | without, s | with, s | rows |",
            "|---|---|---|---|---|---|",
            sep="\n",
        )
        for name, own in found.items():
            same = "equal" if own.equal else "DIFFER"
            figures = f"{own.injections:,} | {own.simulated:,} | {own.fresh:.1f} | {own.taken:.1f} | {same}"
            print(f"| {name} | {figures} |")
    return 0 if all(own.equal for own in found.values()) else 4


if __name__ == "__main__":
    sys.exit(main())
