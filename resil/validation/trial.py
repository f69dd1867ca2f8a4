# SPDX-License-Identifier: Apache-2.0
"""One check in a process of its own, of whatever package Python finds: this one, or one with a mutant.

Run as `python -m resil.validation.trial CHECK FOLDER [--faults N] [--seed N] [--plan P --injections N
--campaigns N]` by `resil validate`. FOLDER has the file of true answers. What was found is printed as JSON.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from resil.campaign.sampling_settings import PLANS, PlanName
from resil.progress import Loudness, Progress, set_loudness
from resil.rtl_harness.faults import Fault
from resil.validation.coverage import covered
from resil.validation.design import Truth, described, differing, tally_bench, write_design

TRUTH_FILE = "truth.npz"
# So many differences are named.
_NAMED = 3


@dataclass(frozen=True)
class TrialResult:
    """What a check found.

    Attributes:
        tried: Cases.
        wrong: Those that came out otherwise; of intervals those that miss the truth.
        is_bad: Whether the check fails.
        examples: Some of what is wrong, in words.
        outcomes: Faults by true outcome.
    """

    tried: int
    wrong: int
    is_bad: bool
    examples: list[str] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)


def engine_trial(folder: Path, engine: str, count: int | None, seed: int, workers: int) -> TrialResult:
    """Compare an engine with the truth on all faults, or on so many drawn at random.

    A third of a draw is of faults that are neither masked nor latent, which are few.
    """
    write_design(folder)
    _, bench = tally_bench(folder, engine, Progress())
    truth = Truth.load(folder / TRUTH_FILE)
    faults = truth.faults if count is None else _drawn(truth, count, seed)
    wrong = list(differing(bench, truth, faults, workers))
    outcomes: dict[str, int] = {}
    for fault in faults:
        name = truth.outcome(fault)
        outcomes[name] = outcomes.get(name, 0) + 1
    examples = [described(bench, *own) for own in wrong[:_NAMED]]
    return TrialResult(len(faults), len(wrong), bool(wrong), examples, outcomes)


def coverage_trial(folder: Path, plan: PlanName, injections: int, seeds: range) -> TrialResult:
    """Count how many intervals of campaigns miss the truth."""
    write_design(folder)
    campaign, bench = tally_bench(folder, "verilator", Progress())
    found = covered(campaign, bench, Truth.load(folder / TRUTH_FILE), plan, injections, seeds)
    text = (
        f"{found.below} below, {found.above} above of {found.campaigns} intervals of {injections} injections"
    )
    return TrialResult(found.campaigns, found.missed, found.is_bad, [text])


def _drawn(truth: Truth, count: int, seed: int) -> list[Fault]:
    faults, choose = truth.faults, np.random.default_rng(seed)
    visible = np.flatnonzero(truth.hazardous(("sdc_tolerable", "sdc_critical", "due", "hang")))
    chosen = set(choose.permutation(visible)[: count // 3].tolist())
    others = [at for at in choose.permutation(len(faults)).tolist() if at not in chosen]
    return [faults[at] for at in sorted([*chosen, *others[: count - len(chosen)]])]


def main() -> None:
    """Print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--faults", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--plan", choices=PLANS)
    parser.add_argument("--injections", type=int, default=0)
    parser.add_argument("--campaigns", type=int, default=0)
    given = parser.parse_args()
    set_loudness(Loudness.QUIET)
    if given.check == "coverage":
        seeds = range(given.seed, given.seed + given.campaigns)
        found = coverage_trial(given.folder, given.plan, given.injections, seeds)
    else:
        found = engine_trial(given.folder, given.check, given.faults, given.seed, given.workers)
    print(json.dumps(asdict(found)))


if __name__ == "__main__":
    main()
