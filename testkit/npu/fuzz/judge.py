# SPDX-License-Identifier: Apache-2.0
"""Runs trials, judges each by the rules, and counts what came of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.npu.model.status import ERRORS, Status
from testkit.npu.fuzz.bench import Bench, Outcome, stream_seen
from testkit.npu.fuzz.bound import stream_cycles
from testkit.npu.fuzz.cases import cases_of
from testkit.npu.fuzz.damage import DAMAGES, Trial, damaged
from testkit.npu.fuzz.model import Model, Prediction

SIZES = {"ethos-u55-32": 0.4, "ethos-u55-64": 0.35, "ethos-u55-128": 0.125, "ethos-u55-256": 0.125}
LIMIT = 120_000
STALLED_LIMIT = 480_000
PATIENCE = 1_000_000
LONGEST = 3_000_000
COLUMNS = ("completed", "bus", "cmd", "weight", "address", "scale", "long", "given up", "hangs")
_BITS = {
    "bus": Status.BUS_ERROR, "cmd": Status.CMD_ERROR, "weight": Status.WEIGHT_ERROR,
    "address": Status.ADDRESS_ERROR, "scale": Status.SCALE_ERROR,
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """A run that broke a rule.

    Attributes:
        run: Its number; with the seed it makes the run again.
        accelerator: The size.
        kind: The damage.
        case: What was damaged.
        rule: Which rule, and what was found.
    """

    run: int
    accelerator: str
    kind: str
    case: str
    rule: str


@dataclass
class Summary:
    """What came out of many runs.

    Attributes:
        table: Runs by (damage, outcome); a run with two error bits, or that took long, counts for each.
        runs: Runs by damage.
        accelerators: Runs by size.
        compared: How often STATUS and memory were compared with the model, by what.
        findings: Runs that broke a rule.
        cycles: Simulated.
        longest: The largest share of its bound that a run took.
    """

    table: Counter[tuple[str, str]]
    runs: Counter[str]
    accelerators: Counter[str]
    compared: Counter[str]
    findings: list[Finding]
    cycles: int = 0
    longest: float = 0.0


def trials(accelerators: list[str], runs: range, seed: int) -> Iterator[tuple[int, Trial]]:
    """Yield the runs of a seed, by their numbers; the size and the damage of a run hang on these alone."""
    for number in runs:
        rng = np.random.default_rng([seed, number])
        weights = np.array([SIZES[name] for name in accelerators])
        accelerator = str(rng.choice(accelerators, p=weights / weights.sum()))
        case, other = (cases_of(accelerator, rng) for _ in range(2))
        yield number, damaged(str(rng.choice(list(DAMAGES))), case, other, rng)


def broken_rules(trial: Trial, outcome: Outcome, bound: int, prediction: Prediction) -> list[str]:
    """Return the rules that a run broke, each with what was found."""
    broken = []
    if outcome.stuck:
        broken.append(f"hangs at word {outcome.qread} after {outcome.cycles} cycles")
    if outcome.stray:
        broken.append(f"wrote outside its region: {outcome.stray[:4]}")
    if not outcome.finished:
        return broken
    if outcome.cycles > bound:
        broken.append(f"took {outcome.cycles} cycles, the bound is {bound}")
    if not outcome.status & Status.IRQ or outcome.status & Status.RUNNING:
        broken.append(f"ended with STATUS {outcome.status:#010x}")
    if not outcome.status & (ERRORS | Status.CMD_END):
        broken.append(f"ended neither by STOP nor by an error: STATUS {outcome.status:#010x}")
    if prediction.status is not None and outcome.status != prediction.status:
        broken.append(f"STATUS is {outcome.status:#010x}, the model has {prediction.status:#010x}")
    elif prediction.ram is not None and not outcome.status & ERRORS:
        actual = outcome.region(trial)
        if actual != prediction.ram:
            wrong = [i for i, (a, b) in enumerate(zip(actual, prediction.ram, strict=True)) if a != b]
            broken.append(f"{len(wrong)} bytes differ from the model, the first at {wrong[0]}")
    return broken


def fuzz(accelerators: list[str], runs: range, seed: int, *, progress: bool = False) -> Summary:
    """Do the runs numbered `runs` of a seed."""
    benches = {name: Bench(name) for name in accelerators}
    models = {name: Model(name) for name in accelerators}
    summary = Summary(Counter(), Counter(), Counter(), Counter(), [])
    start = time.monotonic()
    for number, trial in trials(accelerators, runs, seed):
        bench = benches[trial.case.accelerator]
        limit = STALLED_LIMIT if trial.stalls else LIMIT
        outcome = bench.run(trial, limit, PATIENCE, LONGEST)
        plain = bench.run(trial.without_stalls(), limit, PATIENCE) if trial.kind == "bus stalls" else None
        _judge(summary, number, trial, outcome, plain, models[trial.case.accelerator])
        if progress and (number + 1) % 200 == 0:
            print(
                f"{number + 1 - runs.start} runs, {time.monotonic() - start:.0f} s, "
                f"{len(summary.findings)} findings", file=sys.stderr,
            )  # fmt: skip
    for bench in benches.values():
        bench.close()
    return summary


def _judge(
    summary: Summary, number: int, trial: Trial, outcome: Outcome, plain: Outcome | None, model: Model
) -> None:
    prediction = model.predict(trial) if outcome.finished else Prediction(None, None, "given up")
    faults = (trial.sram_faults, trial.flash_faults)
    bound = stream_cycles(stream_seen(trial), outcome.qread, trial.sizes, faults)
    if trial.bus_errs:
        bound = max(bound, LONGEST)  # what a failed read makes of the stream is not known here
    kind, accelerator = trial.kind, trial.case.accelerator
    summary.runs[kind] += 1
    summary.accelerators[accelerator] += 1
    summary.cycles += outcome.cycles
    for column in _outcomes(outcome):
        summary.table[kind, column] += 1
    if outcome.finished:
        summary.longest = max(summary.longest, outcome.cycles / bound)
        summary.compared["STATUS" if prediction.status is not None else f"not: {prediction.why}"] += 1
    rules = broken_rules(trial, outcome, bound, prediction)
    if outcome.finished and prediction.ram is not None:
        summary.compared["memory"] += 1
        if plain is not None:
            summary.compared["memory without stalls"] += 1
            if plain.sram != outcome.sram:
                rules.append("stalls change the memory")
    for rule in rules:
        finding = Finding(number, accelerator, kind, trial.case.name, rule)
        summary.findings.append(finding)
        print(finding, file=sys.stderr)


def _outcomes(outcome: Outcome) -> list[str]:
    """Return the columns of the table that a run counts in."""
    long = ["long"] if outcome.long else []
    if not outcome.finished:
        return [*long, "given up"] if long else ["hangs"]
    return long + ([name for name, bit in _BITS.items() if outcome.status & bit] or ["completed"])


def table_text(summary: Summary) -> str:
    """Return the table of damage by outcome."""
    lines = [f"{'damage':22}{'runs':>7}" + "".join(f"{column:>10}" for column in COLUMNS)]
    for kind in (*DAMAGES, "all"):
        kinds = DAMAGES if kind == "all" else [kind]
        cells = [sum(summary.table[k, column] for k in kinds) for column in COLUMNS]
        lines.append(f"{kind:22}{sum(summary.runs[k] for k in kinds):7}" + "".join(f"{c:10}" for c in cells))
    lines.append(", ".join(f"{name} {count}" for name, count in sorted(summary.accelerators.items())))
    lines.append(
        "compared with the model: " + ", ".join(f"{k} {n}" for k, n in sorted(summary.compared.items()))
    )
    lines.append(f"{summary.cycles} cycles; the longest run took {summary.longest:.1%} of its bound")
    lines.append(f"rules broken: {len(summary.findings)}")
    return "\n".join(lines)
