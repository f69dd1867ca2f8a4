# SPDX-License-Identifier: Apache-2.0
"""`resil check`: what a campaign would run, step by step, and what is refused and why."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from resil.bench.bench import Bench
from resil.bench.site_list import block_bits, counts_text, no_bits
from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.overrides import Override, parse_override
from resil.errors import ExitCode
from resil.prepare.bench import prepare
from resil.prepare.netlist import compared_cycles, logic_design
from resil.prepare.targets import target_of
from resil.progress import Progress
from resil.record.campaign_check import (
    COMPARED,
    FAILED,
    KNOWN,
    NETLIST,
    NOT_RUN,
    OPEN,
    PASSED,
    PROVEN,
    STEPS,
    BlockEquivalence,
    BlockStorage,
    CampaignCheck,
    CheckStep,
)
from resil.reports.table import Column, Table
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.engine.contract import CampaignEngine, GoldenRun
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Injection
from resil.run.campaign import compared_goldens, golden_runs, require_all_mapped
from resil.sensitivity.guided_population import campaign_population
from resil.user_errors import USER_ERRORS

FAST, JUDGE = "verilator", "plain"
TRIED = 10
# Names that a list of storage shows.
_NAMED = 8
_KNOWN = {"proven": PROVEN, "not tried": COMPARED, "open": OPEN}

T = TypeVar("T")
Injected = tuple[dict[Fault, Injection], list[str]]


def check_campaign(
    file: Path, overrides: Sequence[Override] = (), progress: Progress | None = None, *, prove: bool = False
) -> CampaignCheck:
    """Try what a campaign needs, up to its first injections on two engines; nothing is kept.

    Args:
        file: The campaign file.
        overrides: Keys that have other values.
        progress: Where stages go; None for lines on stderr.
        prove: Show of each block that its netlist, which faults of logic are injected into, is its RTL.
    """
    check = _Check(file, overrides, progress or Progress())
    check.run(prove=prove)
    names = (*STEPS, NETLIST) if prove else STEPS
    passed = len(check.steps) == len(names) and all(step.state == PASSED for step in check.steps)
    rest = [
        CheckStep(name=name, state=NOT_RUN, text="a step before it has failed")
        for name in names[len(check.steps) :]
    ]
    storage = () if check.bench is None else _storage(check.bench)
    return CampaignCheck(
        campaign=str(file),
        passed=passed,
        steps=(*check.steps, *rest),
        storage=storage,
        netlist=tuple(check.netlist),
    )


class _StepError(Exception):
    """A step has failed; it is noted."""


class _Check:
    def __init__(self, file: Path, overrides: Sequence[Override], progress: Progress) -> None:
        self.file = file
        self.overrides = overrides
        self.progress = progress
        self.steps: list[CheckStep] = []
        self.bench: Bench | None = None
        self.netlist: list[BlockEquivalence] = []

    def run(self, *, prove: bool) -> None:
        try:
            campaign = self._step(
                "campaign", lambda: load_campaign(self.file, self.overrides), _campaign_text
            )
            self._step("design", lambda: target_of(campaign), lambda target: (f"top {target.top}", ()))
            bench = self._step("storage", lambda: self._prepared(campaign), _storage_text)
            self.bench = bench
            goldens = self._step("golden run", lambda: self._goldens(campaign, bench), self._golden_text)
            faults = self._faults(campaign, bench, goldens)
            fast = self._step("fast engine", lambda: self._injected(FAST, faults, sweep=True), _fast_text)
            compared = self._replayed if campaign.faults.logic else self._compared
            self._step("both engines", lambda: compared(fast[0], faults), lambda text: (text, ()))
            if prove:
                found = self._step(NETLIST, lambda: self._equivalent(campaign), _netlist_text)
                self.netlist = list(found)
        except _StepError:
            return

    def _step(self, name: str, work: Callable[[], T], said: Callable[[T], tuple[str, Sequence[str]]]) -> T:
        self.progress.stage(name)
        try:
            found = work()
        except USER_ERRORS as error:
            self.steps.append(CheckStep(name=name, state=FAILED, text=str(error)))
            raise _StepError from None
        text, remarks = said(found)
        self.steps.append(CheckStep(name=name, state=PASSED, text=text, remarks=tuple(remarks)))
        return found

    def _loaded(self) -> Campaign:
        return load_campaign(self.file, self.overrides)

    def _prepared(self, campaign: Campaign) -> Bench:
        bench = prepare(campaign, self.progress)
        require_all_mapped(bench)
        return bench

    def _goldens(self, campaign: Campaign, bench: Bench) -> list[GoldenRun]:
        engines = [bench.engine(position) for position in range(len(bench.inputs))]
        for engine in engines:
            engine.__enter__()
        try:
            found = golden_runs(bench, engines)
            self._compared_text = compared_goldens(campaign, bench, found, self.progress).sentence
        finally:
            for engine in engines:
                engine.__exit__(None, None, None)
        return found

    def _golden_text(self, goldens: Sequence[GoldenRun]) -> tuple[str, Sequence[str]]:
        cycles = ", ".join(f"{run.cycles:,}" for run in goldens[:_NAMED])
        usual = sorted({rise.alarm for run in goldens for rise in run.end.alarms})
        remarks = (
            [f"alarms that rise without a fault and report nothing: {', '.join(usual)}"] if usual else []
        )
        return f"ends after {cycles} cycles. {self._compared_text}", remarks

    def _faults(self, campaign: Campaign, bench: Bench, goldens: Sequence[GoldenRun]) -> list[Fault]:
        """Return the first faults of the campaign on its first input."""
        population = campaign_population(campaign, bench, goldens)
        shares = np.full(len(population.strata), TRIED, dtype=np.int64)
        plan = population.faults(np.zeros_like(shares), shares)
        rows = [row for row in range(plan.size) if plan.input[row] == 0]
        return [plan.fault(row) for row in rows[:TRIED]]

    def _equivalent(self, campaign: Campaign) -> Sequence[BlockEquivalence]:
        """Compare the netlist with the RTL over the golden run, and prove of each block what can be."""
        from resil.rtl_harness.logic.equivalence import prove_blocks

        design = logic_design(campaign, self.progress)
        self.progress.stage("the netlist in the golden run, against the RTL")
        cycles = compared_cycles(campaign, design)
        proofs = prove_blocks(
            design.target,
            design.elaboration,
            campaign.liberty,
            begins=lambda path: self.progress.stage(f"proof of {path}"),
        )
        return [
            BlockEquivalence(
                block=own.path,
                state=_KNOWN[own.proof.value],
                cycles=cycles,
                text=own.why,
                points=own.points,
                unpaired=own.unpaired,
            )
            for own in proofs
        ]

    def _engine(self, name: str, *, sweep: bool = False) -> CampaignEngine:
        own = [*self.overrides, parse_override(f"execution.engine={name}")]
        own += [parse_override(f"engine.{FAST}.sweep=always")] if sweep else []
        campaign = load_campaign(self.file, own)
        return prepare(campaign, Progress(io.StringIO())).engine(0)

    def _injected(self, name: str, faults: Sequence[Fault], *, sweep: bool = False) -> Injected:
        with self._engine(name, sweep=sweep) as engine:
            rows = {row.fault: row for row in engine.run(faults)}
            return rows, list(engine.notes)

    def _replayed(self, fast: dict[Fault, Injection], faults: Sequence[Fault]) -> str:
        """Let all answers about logic be audited, which raises AuditError: no other engine strikes it."""
        with self._engine(FAST) as engine:
            engine.audit_kept([fast[fault] for fault in faults])
        return self._equal(fast, fast, "runs to the end")

    def _compared(self, fast: dict[Fault, Injection], faults: Sequence[Fault]) -> str:
        judged, _ = self._injected(JUDGE, faults)
        return self._equal(fast, judged, JUDGE)

    def _equal(self, fast: dict[Fault, Injection], judged: dict[Fault, Injection], judge: str) -> str:
        assert self.bench is not None
        sites, faults = self.bench.sites, list(judged)
        for fault in faults:
            if fast[fault] != judged[fault]:
                raise HarnessError(
                    f"{sites[fault.site].name}, cycle {fault.cycle}: expected one answer of both engines, "
                    f"found {fast[fault].outcome} of {FAST} and {judged[fault].outcome} of {judge}; one is "
                    "wrong: please report it, and use --engine cocotb meanwhile",
                    "engines",
                )
        outcomes = ", ".join(
            f"{sum(row.outcome == own for row in fast.values())} {own}"
            for own in sorted({row.outcome for row in fast.values()})
        )
        return f"{len(faults)} injections, equal on {FAST} and {judge}: {outcomes}"


def _campaign_text(campaign: Campaign) -> tuple[str, Sequence[str]]:
    return (
        f"{campaign.name}: {campaign.faults.injections:,} injections, engine {campaign.execution.engine}",
        (),
    )


def _storage(bench: Bench) -> tuple[BlockStorage, ...]:
    found = block_bits(bench.sites, bench.blocks)
    return tuple(BlockStorage(block=block, bits=bits) for block, bits in found.items())


def _storage_text(bench: Bench) -> tuple[str, Sequence[str]]:
    """Say what is there by kind, and name what is there in the source alone, and latches."""
    sites, remarks = bench.sites, []
    gone: dict[Hardware, list[tuple[str, int]]] = {}
    for run in sites.absent:
        path = sites.elements[sites.element_index(run.first)].path
        gone.setdefault(run.hardware, []).append((path, run.bits))
    for hardware, places in gone.items():
        remarks.append(
            f"{sum(bits for _, bits in places):,} bits are {_GONE[hardware]}: {_names(p for p, _ in places)}"
        )
    if bench.latches:
        remarks.append(f"latches: {_names(sorted(bench.latches))}")
    return counts_text(sites), [*remarks, *bench.warnings]


_GONE = {
    Hardware.CONSTANT: "constant, so no hardware",
    Hardware.UNUSED: "read by nothing that matters, so no hardware",
    Hardware.DUPLICATE: "equal to others at all times, whose flip-flops serve for them",
    Hardware.LATCH: "latches of the source that no hardware needs",
}


def _names(paths: Iterable[str]) -> str:
    names = [*dict.fromkeys(paths)]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _fast_text(found: Injected) -> tuple[str, Sequence[str]]:
    refused = [note for note in found[1] if note.startswith("simulated")]
    text = "takes no faults along the gates" if refused else "takes faults along the gates"
    return f"{len(found[0])} injections; {text}", found[1]


def _netlist_text(found: Sequence[BlockEquivalence]) -> tuple[str, Sequence[str]]:
    cycles = found[0].cycles if found else 0
    counts = {state: sum(own.state == state for own in found) for state in KNOWN}
    text = f"does as the RTL in all {cycles:,} cycles of the golden run: flip-flops, memories, alarms; "
    text += f"for all inputs {counts[PROVEN]} of {len(found)} blocks are proven, {counts[OPEN]} are open, "
    return f"{text}{counts[COMPARED]} were not tried", [_block_text(own) for own in found]


def _block_text(own: BlockEquivalence) -> str:
    why = [own.text] if own.text else []
    why += [f"not at {_names(own.points)}"] if own.points else []
    why += [f"registers without a pair: {_names(own.unpaired)}"] if own.unpaired else []
    state = own.state if own.state == PROVEN else f"{own.state}, compared over {own.cycles:,} cycles"
    if own.state == COMPARED:
        state = f"compared over {own.cycles:,} cycles"
    return f"{own.block}: {state}" + (f" ({'; '.join(why)})" if why else "")


def exit_code(check: CampaignCheck) -> ExitCode:
    """Return 0 if all passed and was proven, 3 if a block is not proven, 4 if engines disagree, else 2."""
    if check.passed:
        return ExitCode.INCONCLUSIVE if check.unproven else ExitCode.MET
    last = next(step for step in check.steps if step.name == STEPS[-1])
    return ExitCode.INTERNAL if last.state == FAILED else ExitCode.USAGE


def check_text(check: CampaignCheck, width: int | None = None) -> str:
    """Return the check as lines for a person."""
    lines = []
    for step in check.steps:
        lines.append(f"{step.state:>7}  {step.name}: {step.text}")
        lines += [f"         - {remark}" for remark in step.remarks]
    text = "\n".join(lines) + "\n"
    if not check.storage:
        return text
    kinds = [kind for kind in no_bits() if any(own.bits[kind] for own in check.storage)]
    columns = (Column("block", numeric=False), *(Column(f"{kind} bits") for kind in kinds))
    rows = [(own.block, *(f"{own.bits[kind]:,}" for kind in kinds)) for own in check.storage]
    return f"{text}\n{Table('Storage by block', columns, tuple(rows)).text(width)}"
