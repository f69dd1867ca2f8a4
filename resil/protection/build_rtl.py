# SPDX-License-Identifier: Apache-2.0
"""`resil protect --build`: a plan as RTL, with proofs, a run without faults, and its measured area."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from resil.bench.bench import Bench
from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign, load_campaign
from resil.errors import ConsistencyError, StoreError
from resil.folder.kept_plans import keep_in_build, read_build
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.prepare.bench import prepare
from resil.prepare.targets import target_of
from resil.progress import Progress
from resil.protection.groups_to_build import groups_of, watchdog_of
from resil.protection.options import OptionSet, load_options
from resil.protection.wanted import ProtectionRequest
from resil.record.protection import Protection
from resil.record.protection_build import (
    AreaMeasured,
    AreaPredicted,
    BitExact,
    BlockAreaChange,
    Build,
    BuiltWatchdog,
    HardenedBits,
    RedundantBits,
    StorageLeftOut,
)
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.contract import GoldenRun, golden_once
from resil.rtl_harness.engine.fast.processes import run_chunks
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy import BuiltRtl, build_protection
from resil.rtl_harness.redundancy.build import RTL, TARGET, require_empty
from resil.rtl_harness.redundancy.code_proof import prove_codes
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.lockstep import check_locksteps
from resil.rtl_harness.redundancy.proof import check_alarms, check_copies, prove_mechanisms
from resil.rtl_harness.redundancy.watchdog import check_watched, prove_watchdog


def build_plan(
    run_dirs: Sequence[Path],
    plan: Protection,
    folder: Path,
    wanted: ProtectionRequest,
    progress: Progress,
) -> Build:
    """Build the protection of a plan into the target of a run, prove it and measure it.

    The folder is there in full or not at all.

    Args:
        run_dirs: The runs that the plan is for; without a fault the first is run.
        plan: As each of them keeps it, with the figures of one of them.
        folder: That is made.
        wanted: What was asked, with the file of options that the plan was chosen from, too.
        progress: For what goes on.

    Returns:
        What the folder records.

    Raises:
        ProtectionError: The plan holds what cannot be built.
        HarnessError: A register cannot be protected, or a proof fails.
        ConsistencyError: The protected design does not compute what the run's did.
        StoreError: The run was made with something else than what is here now.
    """
    require_empty(folder)
    run_dir = run_dirs[0]
    campaign = load_campaign(run_dir / CAMPAIGN).with_workers(wanted.workers)
    target = target_of(campaign)
    known = load_options(wanted.options).for_clusters(campaign.faults.clusters)
    groups, watchdog = groups_of(plan, known, target.blocks), watchdog_of(plan, known)
    bench = prepare(campaign, progress)
    if not plan.from_estimate:
        bench.identity.require(recorded_definition(run_dir), str(run_dir))
    parts = f"{len(groups)} protected groups" + (" and a watchdog" if watchdog else "")
    progress.stage(f"building {parts} into {target.name}")
    before = with_hardware(target, elaborate(target, bench.parameters))
    made = folder.resolve().with_name(f".{folder.name}.building")
    shutil.rmtree(made, ignore_errors=True)
    try:
        built = build_protection(target, before, groups, made, watchdog)
        command = f"resil protect {run_dir} --build {folder}"
        record = _judged(campaign, bench, plan, built, known, made, command, progress)
        keep_in_build(made, record)
        if folder.exists():
            folder.rmdir()
        made.replace(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return record


def built_before(folder: Path, plan: Protection) -> Build | None:
    """Return what a folder records if it holds what was built of just this plan, else None."""
    record = read_build(folder)
    return record if record is not None and record.choice == plan.choice_digest else None


def was_changed(record: Build, target: Target) -> bool:
    """Whether the RTL of a build is other than what was proven and measured."""
    return record.rtl_digest != rtl_digest(target)


def require_unchanged(folder: Path) -> None:
    """Raise StoreError unless the RTL of a build is what was proven and measured."""
    record = read_build(folder)
    if record is None or was_changed(record, load_target(folder / TARGET)):
        raise StoreError(
            f"{folder}: its RTL was changed since it was built: proofs, area and confirmation are of other "
            "RTL; restore it, or move the folder away and it is built again",
            "rtl",
        )


def _judged(
    campaign: Campaign,
    bench: Bench,
    plan: Protection,
    built: BuiltRtl,
    known: OptionSet,
    made: Path,
    command: str,
    progress: Progress,
) -> Build:
    """Prove and measure what was built, run it without a fault, and return what is to be recorded of it."""
    protected = load_target(made / TARGET)
    progress.stage("proving what the mechanisms do, and that no copy is merged and no alarm open")
    after = with_hardware(protected, elaborate(protected, bench.parameters))
    proofs = prove_mechanisms(made / RTL, built.registers) + prove_codes(made / RTL, built.memories)
    timer = built.timer
    if built.registers or built.memories or built.locksteps or timer is not None:
        watched, copied = timer is not None, built.locksteps
        check_alarms(protected, after, built.registers, built.memories, watchdog=watched, in_lockstep=copied)
        check_copies(after, built.registers)
    if built.locksteps:
        proofs += check_locksteps(protected, after, built.locksteps, built.instances)
    if timer is not None:
        proofs += prove_watchdog(made / RTL, timer.width, timer.limit)
        check_watched(protected, after)
    own = prepare(replace(campaign, target=made / TARGET), progress)
    runs, of_own = (runs_without_fault(each, progress, campaign.execution.processes) for each in (bench, own))
    require_same_runs(bench, runs, of_own, None if timer is None else timer.limit)
    longest = longest_of(runs)
    predicted, measured = _area(campaign, bench, plan, protected, after, built, known)
    bits: Counter[str] = Counter()
    for register in built.registers:
        bits[register.mechanism.value] += register.bits
    for memory in built.memories:
        bits[memory.mechanism.value] += memory.bits
    for block in built.locksteps:
        bits["lockstep"] += block.bits
    for piece in built.hardened:
        bits["hardened"] += piece.bits
    return Build(
        schema=Build.SCHEMA,
        plan=plan.name,
        choice=plan.choice_digest,
        rtl_digest=rtl_digest(protected),
        bits=dict(bits),
        netlists=dict(built.netlists),
        left_out=tuple(
            StorageLeftOut(path=found.path, bits=found.bits, reason=found.reason)
            for found in built.left_out
            if found.hardware
        ),
        hardened=tuple(
            HardenedBits(path=own.path, left=own.left, right=own.right, group=own.group)
            for own in built.constrained
        ),
        redundant=(
            *(RedundantBits(path=r.path, mechanism=r.mechanism, ways=r.ways) for r in built.registers),
            *(
                RedundantBits(path=path, mechanism=m.mechanism, ways=m.ways)
                for m in built.memories
                for path in m.storage
            ),
            *(RedundantBits(path=own.copy, mechanism=Mechanism.LOCKSTEP, ways=1) for own in built.locksteps),
        ),
        watchdog=None if timer is None else BuiltWatchdog(limit=timer.limit, longest_operation=longest),
        proofs=proofs,
        bit_exact=BitExact(networks=(bench.network.name,), inputs=len(bench.inputs), equal=True),
        area_predicted=predicted,
        area_measured=measured,
        commands=(command,),
    )


def require_same_runs(
    bench: Bench, before: Sequence[GoldenRun], after: Sequence[GoldenRun], limit: int | None = None
) -> None:
    """Compare the runs without a fault, of all inputs: the same outputs in the same cycles, and no alarm.

    Args:
        bench: What runs.
        before: On the design without protection.
        after: With it.
        limit: Of its watchdog in cycles, if it has one.

    Raises:
        ConsistencyError: One differs.
        HarnessError: An operation takes longer than the watchdog waits.
    """
    for label, old, new in zip(bench.inputs, before, after, strict=True):
        if limit is not None and (own := _longest(old)) >= limit:
            raise HarnessError(
                f"{bench.network.name}, input {label}: expected operations that end within the "
                f"watchdog's limit of {limit:,} cycles, found one of {own:,}: a false alarm; let this "
                "network take part in the choice, or leave the watchdog out"
            )
        for what, a, b in (
            ("output", old.end.output_hash, new.end.output_hash),
            ("cycles", old.end.end_cycle, new.end.end_cycle),
            ("status", old.end.status, new.end.status),
            ("alarms", [r.alarm for r in old.end.alarms], [r.alarm for r in new.end.alarms]),
        ):
            if a != b:
                raise ConsistencyError(
                    f"input {label}: expected the protected design to give the same {what} without a fault, "
                    f"{a}, found {b}: the folder was not written; please report it"
                )


def runs_without_fault(bench: Bench, progress: Progress, workers: int) -> list[GoldenRun]:
    """Simulate each input without a fault, for who injects nothing.

    The first is tried in full, with what injections take for granted, and builds what the others share.
    """

    def work(positions: Sequence[int]) -> Iterator[tuple[int, GoldenRun]]:
        for position in positions:
            with bench.engine(position) as engine:
                yield position, golden_once(engine)

    others = range(1, len(bench.inputs))
    with progress.working(f"{bench.target_name}: running {bench.network.name} without a fault"):
        with bench.engine(0) as engine:
            found = {0: engine.golden()}
        found.update(run_chunks([[position] for position in others], work, workers))
    return [found[position] for position in range(len(bench.inputs))]


def longest_of(runs: Iterable[GoldenRun]) -> int:
    """Return the most cycles for which no operation ends in runs without a fault."""
    return max(map(_longest, runs), default=0)


def _longest(run: GoldenRun) -> int:
    return longest_operation(run.moves or [(0, 0)], run.end.end_cycle)


def _area(
    campaign: Campaign,
    bench: Bench,
    plan: Protection,
    protected: Target,
    after: Elaboration,
    built: BuiltRtl,
    known: OptionSet,
) -> tuple[AreaPredicted, AreaMeasured]:
    """Return the plan's figure of area and what was measured; hardened cells have that of the plan alone."""
    old = bench.area()
    new = area_per_block(protected, after, campaign.liberty)
    added = new.total.total - old.total.total
    assert plan.area_added is not None
    assert plan.area_overhead is not None
    hardened = {name for name, option in known.options.items() if option.builds == Mechanism.HARDENED}
    return (
        AreaPredicted(
            added=plan.area_added,
            overhead=plan.area_overhead,
            unit=old.unit,
            in_rtl=plan.area_added - sum(g.area_added for g in plan.groups if g.option in hardened),
        ),
        AreaMeasured(
            added=added,
            overhead=added / old.total.total,
            unit=new.unit,
            hardened_included=False if built.hardened else None,
            blocks={
                block_name(name): BlockAreaChange(before=old.of(block_name(name)).total, after=area.total)
                for name, area in new.blocks.items()
            },
        ),
    )
