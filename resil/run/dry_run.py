# SPDX-License-Identifier: Apache-2.0
"""`resil run --dry-run`: what a campaign would inject, and how long that may take; nothing is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from resil.bench.bench import Bench
from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign
from resil.campaign.rules import TIMEOUTS, UNTIL
from resil.campaign.sampling_settings import BY_RESULTS
from resil.errors import ConsistencyError, StoreError
from resil.folder.earlier_results import require_as_many
from resil.folder.finished import finished_run, stored_injections
from resil.folder.store import check_run, recorded_provenance
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.record.typed import Amount, Count, Typed
from resil.reports.table import Column, Table
from resil.results.named_runs import named_runs
from resil.results.safety_grounds import check_safety
from resil.results.summarise import technology_of
from resil.run.campaign import require_all_mapped
from resil.run.input_plan import as_planned, planned_before


class RunPlan(Typed):
    """What a campaign would inject, and how long that may take."""

    campaign: str
    """The campaign file."""
    out: str
    """The run folder."""
    network: str
    """Its name."""
    target: str
    """Its name."""
    engine: str
    """Its name."""
    timeout: str
    """What is limited: the inference, or operations."""
    timeout_factor: Amount
    """Times the run without a fault."""
    until: str
    """Where an injection ends."""
    workers: Count
    """Simulator processes."""
    inputs: tuple[int, ...]
    """Labels of the inputs that would be run."""
    drawn_from: str | None
    """The data set of the inputs; null if they are listed."""
    planned_inputs: str
    """How many inputs are worth their cost and why, as far as that is known."""
    titles: Mapping[str, str]
    """Blocks in words."""
    plan: str
    """The sampling plan."""
    injections: Count
    """The most that would be made."""
    done: Count
    """How many of them lie in the folder."""
    sites: Mapping[str, Count]
    """Bits that would be injected into, by block."""
    unmapped: Count
    """Fault sites that no block claims."""
    cycles: Count | None
    """Of an inference, by the compiler; null if it says nothing."""
    faults: Count | None
    """The population; null if it is not known before the design runs."""
    budget_fit: Amount | None
    """Null if there is none."""
    claims: tuple[str, ...]
    """Safety rows that are claimed."""
    permanent: str | None
    """Why runs that `[safety]` names cannot be used; null if they can, or none is named."""
    seconds: Amount | None
    """How long it takes; null if there is nothing to go by."""
    basis: str
    """What `seconds` rests on."""


def plan_run(
    campaign: Campaign, out: Path, *, resume: bool = False, progress: Progress | None = None
) -> RunPlan:
    """Do what `resil run` does before it builds a simulator, and say what would follow.

    Raises:
        As `resil.run.campaign.run_campaign`.
    """
    progress = progress or Progress()
    technology_of(campaign)
    asked, campaign = campaign, as_planned(campaign, out)
    bench = prepare(campaign, progress)
    require_all_mapped(bench)
    check_safety(campaign, bench)
    check_run(out, bench.identity, resume=resume)
    require_as_many(out, campaign.faults.injections)
    sites = _sites(campaign, bench)
    cycles = bench.network.vela_cycles
    bits = sum(sites.values())
    values_each = 2 if campaign.faults.permanent else cycles
    done = len(stored_injections(out, bench.identity).injections) if out.exists() else 0
    left = max(0, campaign.faults.injections - done)
    workers = campaign.execution.processes
    found = planned_before(asked, out, bench.hashes)
    seconds, basis = _duration(campaign, bench, out, left, workers)
    return RunPlan(
        campaign=str(campaign.file),
        out=str(out),
        network=bench.network.name,
        target=bench.target_name,
        engine=campaign.execution.engine,
        timeout=campaign.execution.timeout,
        timeout_factor=campaign.execution.timeout_factor,
        until=campaign.execution.until,
        workers=workers,
        inputs=tuple(bench.inputs),
        drawn_from=campaign.data_set.title if campaign.data_set else None,
        planned_inputs=found if isinstance(found, str) else found.text,
        titles=dict(bench.titles),
        plan=campaign.sampling.plan,
        injections=campaign.faults.injections,
        done=done,
        sites=sites,
        unmapped=len(bench.unmapped),
        cycles=cycles,
        faults=None if values_each is None else bits * values_each * len(bench.inputs),
        budget_fit=campaign.budget.fit if campaign.budget else None,
        claims=tuple(campaign.safety.claims) if campaign.safety else (),
        permanent=" ".join(named_runs(campaign, bench).refusals) or None,
        seconds=seconds,
        basis=basis,
    )


def plan_text(plan: RunPlan, width: int | None = None) -> str:
    """Return the plan as lines for a person; `width` as of `Table.text`."""
    most = "" if plan.plan not in BY_RESULTS else "at most "
    cycles = "not known before it runs" if plan.cycles is None else f"{plan.cycles:,} by the compiler"
    faults = "" if plan.faults is None else f", out of {plan.faults:,} faults"
    done = f", {plan.done:,} of them are there" if plan.done else ""
    budget = "none" if plan.budget_fit is None else f"{plan.budget_fit:g} FIT"
    claims = ", ".join(plan.claims) or "none"
    rows = (*plan.sites.items(), ("total", sum(plan.sites.values())))
    cells = tuple((f"{name} {plan.titles.get(name, '')}".rstrip(), f"{bits:,}") for name, bits in rows)
    table = Table("Would inject into", (Column("block", numeric=False), Column("bits")), cells, totals=1)
    takes = "not known" if plan.seconds is None else f"about {_spoken(plan.seconds)}"
    lines = (
        f"{plan.network} on {plan.target}, inputs: {len(plan.inputs)}, cycles of one: {cycles}",
        *([f"inputs: from {plan.drawn_from}; {plan.planned_inputs}"] if plan.drawn_from else []),
        f"injections: {most}{plan.injections:,}, plan {plan.plan}{faults}{done}",
        f"engine: {plan.engine}, {plan.workers} workers",
        f"time-out: {_limits(plan.timeout, plan.timeout_factor)}",
        *(["each injection to the first alarm that reports a detection"] if plan.until != UNTIL[0] else []),
        f"budget: {budget}",
        f"safety claims: {claims}",
        *([f"warning: {plan.permanent}"] if plan.permanent else []),
        f"run folder: {plan.out}",
        f"time: {takes} ({plan.basis})",
    )
    return "\n".join([table.text(width), *lines])


def _sites(campaign: Campaign, bench: Bench) -> dict[str, int]:
    sites: dict[str, int] = {}
    for index, element in enumerate(bench.sites.elements):
        if element.kind in campaign.faults.kinds and (bits := bench.sites.present(index)):
            name = block_name(element.block)
            sites[name] = sites.get(name, 0) + bits
    return sites


def _duration(
    campaign: Campaign, bench: Bench, out: Path, left: int, workers: int
) -> tuple[float | None, str]:
    """Scale the time that the last finished run on this target beside `out` took to inject."""
    runs = [
        (path.stat().st_mtime, path.parent)
        for path in sorted(out.absolute().parent.glob("*/provenance.json"))
    ]
    for _, folder in sorted(runs, reverse=True):
        try:
            definition = recorded_provenance(folder).definition
            same = (definition.get("target"), definition.get("engine", campaign.execution.engine))
            if same != (bench.hashes["target"], campaign.execution.engine):
                continue
            other = finished_run(folder)
        except (StoreError, ConsistencyError):
            continue
        made = other.summary.campaign
        simulated = made.injections - other.provenance.recalled
        if simulated <= 0:
            continue
        share = left * made.workers / (simulated * workers)
        ours, theirs = bench.network.vela_cycles, other.summary.golden.vela_cycles
        if ours and theirs:
            share *= ours / theirs
        basis = (
            f"scaled by injections, workers and cycles from {folder.name}: {simulated:,} in "
            f"{_spoken(made.seconds)} with {made.workers} workers; what has to be built comes on top"
        )
        return round(share * made.seconds, 1), basis
    return None, f"no finished run on this target lies beside {out} to go by; the run itself shows it"


def _limits(timeout: str, factor: float) -> str:
    own = "" if timeout == TIMEOUTS[0] else f", of each operation {factor:g} times the longest"
    return f"of the inference {factor:g} times the run without a fault{own}"


def _spoken(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
