# SPDX-License-Identifier: Apache-2.0
"""`resil protect --build`: a plan as RTL, with proofs, a run without faults, and its measured area."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resil.bench.bench import Bench
from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign, load_campaign
from resil.errors import ConsistencyError, StoreError
from resil.files import json_text, read_json, write_text
from resil.folder.kept_plans import add_to_plan
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.prepare import prepare
from resil.progress import Progress
from resil.protection.groups_to_build import groups_of, watchdog_of
from resil.protection.options import load_options
from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy import Built, build_protection
from resil.rtl_harness.redundancy.build import RTL, TARGET, require_empty
from resil.rtl_harness.redundancy.code_proof import prove_codes
from resil.rtl_harness.redundancy.lockstep import check_locksteps
from resil.rtl_harness.redundancy.proof import check_alarms, check_copies, prove_mechanisms
from resil.rtl_harness.redundancy.watchdog import check_watched, prove_watchdog

SCHEMA = 1
RECORD = "build.json"


def build_plan(
    run_dirs: Sequence[Path], plan: Mapping[str, Any], folder: Path, *, options: Path | None = None
) -> dict[str, Any]:
    """Build the protection of a plan into the target of a run, prove it and measure it.

    The folder is there in full or not at all.

    Args:
        run_dirs: The runs that the plan is for; without a fault the first is run.
        plan: Content of `protection.json`.
        folder: That is made.
        options: The file of options that the plan was chosen from, too.

    Returns:
        The content of `build.json`.

    Raises:
        ProtectionError: The plan holds what cannot be built.
        HarnessError: A register cannot be protected, or a proof fails.
        ConsistencyError: The protected design does not compute what the run's did.
        StoreError: The run was made with something else than what is here now.
    """
    require_empty(folder)
    run_dir = run_dirs[0]
    progress = Progress()
    campaign = load_campaign(run_dir / CAMPAIGN)
    target = load_target(campaign.target)
    known = load_options(options)
    groups, watchdog = groups_of(plan, known, target.blocks), watchdog_of(plan, known)
    bench = prepare(campaign, progress)
    if not plan["from_estimate"]:
        bench.identity.require(recorded_definition(run_dir), str(run_dir))
    told = f"{len(groups)} protected groups" + (" and a watchdog" if watchdog else "")
    progress.stage(f"building {told} into {target.name}")
    before = with_hardware(target, elaborate(target, bench.parameters))
    made = folder.resolve().with_name(f".{folder.name}.building")
    shutil.rmtree(made, ignore_errors=True)
    try:
        built = build_protection(target, before, groups, made, watchdog)
        record = _judged(campaign, bench, plan, built, made, progress)
        record["rtl"] = str(folder)
        write_text(made / RECORD, json_text(record))
        if folder.exists():
            folder.rmdir()
        made.replace(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    keys = ("rtl", "area_predicted", "area_measured", "bit_exact", "confirmed")
    built_by = f"resil protect {run_dir} --build {folder}"
    for own in run_dirs:
        add_to_plan(own, plan["name"], {**{key: record[key] for key in keys}, "commands": [built_by]})
    return record


def built_before(folder: Path, plan: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the content of `build.json` if a folder holds what was built of just this plan, else None."""
    if not (folder / RECORD).is_file():
        return None
    record = read_json(folder / RECORD, "build into another folder")
    return record if record.get("choice") == _choice(plan) else None


def was_changed(record: Mapping[str, Any], target: Target) -> bool:
    """Whether the RTL of a build is other than what was proven and measured, as its `build.json` has it."""
    return bool(record.get("rtl_digest") != rtl_digest(target))


def require_unchanged(folder: Path) -> None:
    """Raise StoreError unless the RTL of a build is what was proven and measured."""
    if was_changed(read_json(folder / RECORD, "build it again"), load_target(folder / TARGET)):
        raise StoreError(
            f"{folder}: its RTL was changed since it was built: proofs, area and confirmation are of other "
            "RTL; restore it, or move the folder away and it is built again"
        )


def _choice(plan: Mapping[str, Any]) -> str:
    """Return a digest of what a plan rests on and protects."""
    return content_key(
        *(json_text(plan.get(key)) for key in ("name", "basis", "choices", "groups", "mechanisms"))
    )


def _judged(
    campaign: Campaign, bench: Bench, plan: Mapping[str, Any], built: Built, made: Path, progress: Progress
) -> dict[str, Any]:
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
    runs = same_runs(bench, own, progress, None if timer is None else timer.limit)
    longest = max(map(_longest, runs), default=0)
    area = _area(campaign, bench, plan, protected, after, built)
    bits: Counter[str] = Counter()
    for register in built.registers:
        bits[register.mechanism.value] += register.bits
    for memory in built.memories:
        bits[memory.mechanism.value] += memory.bits
    for block in built.locksteps:
        bits["lockstep"] += block.bits
    for piece in built.hardened:
        bits["hardened"] += piece.bits
    return {
        "schema": SCHEMA,
        "plan": plan["name"],
        "choice": _choice(plan),
        "rtl": "",
        "rtl_digest": rtl_digest(protected),
        "bits": dict(bits),
        "netlists": dict(built.netlists),
        "left_out": [
            {"path": found.path, "bits": found.bits, "reason": found.reason}
            for found in built.left_out
            if found.hardware
        ],
        "hardened": [
            {"path": own.path, "left": own.left, "right": own.right, "group": own.group}
            for own in built.constrained
        ],
        "watchdog": timer and {"limit": timer.limit, "longest_operation": longest},
        "proofs": proofs,
        "bit_exact": {"networks": [bench.network.name], "inputs": len(bench.inputs), "equal": True},
        **area,
        "confirmed": False,
    }


def same_runs(before: Bench, after: Bench, progress: Progress, limit: int | None = None) -> list[GoldenRun]:
    """Compare the runs without a fault, of all inputs: the same outputs in the same cycles, and no alarm.

    Args:
        before: The design without protection.
        after: With it.
        progress: Is told.
        limit: Of its watchdog in cycles, if it has one.

    Returns:
        Those of the design without protection.

    Raises:
        ConsistencyError: One differs.
        HarnessError: An operation takes longer than the watchdog waits.
    """
    runs = []
    for position, label in enumerate(before.inputs):
        with progress.working("running without a fault"):
            with before.engine(position) as engine:
                run = engine.golden()
            old, own = run.end, _longest(run)
            runs.append(run)
            if limit is not None and own >= limit:
                raise HarnessError(
                    f"{before.network.name}, input {label}: expected operations that end within the "
                    f"watchdog's limit of {limit:,} cycles, found one of {own:,}: a false alarm; let this "
                    "network take part in the choice, or leave the watchdog out"
                )
            with after.engine(position) as engine:
                new = engine.golden().end
        for what, a, b in (
            ("output", old.output_hash, new.output_hash),
            ("cycles", old.end_cycle, new.end_cycle),
            ("status", old.status, new.status),
            ("alarms", [r.alarm for r in old.alarms], [r.alarm for r in new.alarms]),
        ):
            if a != b:
                raise ConsistencyError(
                    f"input {label}: expected the protected design to give the same {what} without a fault, "
                    f"{a}, found {b}: the folder was not written; please report it"
                )
    return runs


def longest_operation_of(bench: Bench) -> int:
    """Return the most cycles for which no operation ends in the runs without a fault."""
    longest = 0
    for position in range(len(bench.inputs)):
        with bench.engine(position) as engine:
            longest = max(longest, _longest(engine.golden()))
    return longest


def _longest(run: GoldenRun) -> int:
    return longest_operation(run.moves or [(0, 0)], run.end.end_cycle)


def _area(
    campaign: Campaign,
    bench: Bench,
    plan: Mapping[str, Any],
    protected: Target,
    after: Elaboration,
    built: Built,
) -> dict[str, Any]:
    """Return the measured area beside the plan's figure; hardened cells have that of the plan alone."""
    old = bench.area()
    new = area_per_block(protected, after, campaign.liberty)
    added = new.total.total - old.total.total
    blocks = {
        block_name(name): {"before": old.of(block_name(name)).total, "after": area.total}
        for name, area in new.blocks.items()
    }
    return {
        "area_predicted": {
            "added": plan["area_added"],
            "overhead": plan["area_overhead"],
            "unit": old.unit,
        },
        "area_measured": {
            "added": added,
            "overhead": added / old.total.total,
            "unit": new.unit,
            "hardened_included": False if built.hardened else None,
            "blocks": blocks,
        },
    }
