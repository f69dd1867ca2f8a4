# SPDX-License-Identifier: Apache-2.0
"""From a choice to the plan of each run: the same choice, that run's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from resil.protection.assumptions import assumptions
from resil.protection.choose import Candidate, Choice, permanent_of
from resil.protection.effects import Effect
from resil.protection.items import NPU, Item, ProtectableDesign, covered_logic, item_area, whole_npu
from resil.protection.judge import JudgedSet, judge, judge_with_logic
from resil.protection.options import STATUSES, WATCHDOG
from resil.protection.risks import Network
from resil.protection.targets import Targets
from resil.protection.units import BoolArray, Granularity
from resil.record.protection import INFEASIBLE, NOT_NEEDED, OPTIMAL, Protection
from resil.record.protection_parts import (
    BlockChoice,
    BlockLeft,
    ChoosingModel,
    ChoosingRun,
    FrontPoint,
    JudgedNetwork,
    LogicLeft,
    NpuMechanism,
    PermanentLeft,
    PlanBasis,
    ProtectedGroup,
)
from resil.record.summary import Summary

_RESULTS = {(True, True): OPTIMAL, (False, True): INFEASIBLE, (True, False): NOT_NEEDED}


@dataclass(frozen=True, slots=True)
class Origin:
    """What a plan is called, and what it rests on.

    Attributes:
        name: Of the plan.
        runs: Results of each run, in the order of the networks.
        models: That helped to choose.
    """

    name: str
    runs: tuple[ChoosingRun, ...]
    models: tuple[ChoosingModel, ...] = ()


def unit_plan(
    design: ProtectableDesign,
    networks: Sequence[Network],
    targets: Targets,
    choice: Choice,
    granularity: Granularity,
    summaries: Sequence[Summary],
    origin: Origin,
    hold_out: Sequence[JudgedSet] = (),
    golden: tuple[str, ...] = (),
) -> list[Protection]:
    """Return the plan of each run, in their order.

    Figures of the totals are the run's own; `networks` has those of all. `choices` sums up each block, as the
    reports show it; `groups` names what is protected.

    Args:
        design: What was chosen for.
        networks: By which.
        targets: What was asked.
        choice: What was chosen.
        granularity: Of the units.
        summaries: Of all runs.
        origin: Name of the plan, and what it rests on.
        hold_out: What is left on networks that took no part.
        golden: What is to be said of the golden outputs of all runs.
    """
    chosen, summary = choice.chosen, summaries[0]
    copies = whole_npu(design, networks[0].hazardous)
    copied = () if chosen is None else _copied(design, chosen, permanent_of(networks[:1]))
    shared = {
        "schema_number": Protection.SCHEMA,
        "name": origin.name,
        "based_on": origin.runs,
        "models": origin.models,
        "from_estimate": summary.predicted,
        "golden": golden,
        "granularity": granularity.value,
        "budget_fit": targets.budget_fit,
        "spfm_target": targets.spfm,
        "fit_share_target": targets.fit_share,
        "due_fit_target": targets.due_fit,
        "permanent_fit_target": targets.permanent_fit,
        "permanent_spfm_target": targets.permanent_spfm,
        "waived": tuple(targets.waived),
        "result": _RESULTS[chosen is not None, choice.needed],
        "reason": choice.reason,
        "reserve": chosen.reserve if chosen else None,
        "area_unprotected": design.area,
        "area_added": chosen.area_added if chosen else None,
        "area_overhead": _part(chosen.area_added, design.area) if chosen else None,
        "area_overhead_lockstep": min((_part(area, design.area) for _, area in copies), default=None),
        "bound": chosen.bound if chosen else None,
        "gap": chosen.gap if chosen else None,
        "groups": () if chosen is None else _groups(design, chosen),
        "mechanisms": () if chosen is None else _mechanisms(design, chosen, networks),
        "networks": tuple(_network(judged, targets, copied) for judged in choice.judged),
        "hold_out": tuple(_network(judged, targets) for judged in hold_out),
        "pareto": _front(design, networks, choice),
        "assumptions": tuple(assumptions(design, networks, granularity, summary)),
        "build": None,
    }
    return [
        Protection.model_validate(
            {
                **shared,
                "basis": basis,
                **_own(design, network, choice, judged),
                "logic": _logic(design, network, chosen, judged),
            }
        )
        for basis, network, judged in zip(
            (PlanBasis(summary=run.summary, injections=run.injections) for run in origin.runs),
            networks,
            choice.judged,
            strict=True,
        )
    ]


def _logic(
    design: ProtectableDesign,
    network: Network,
    chosen: Candidate | None,
    judged: JudgedSet,
) -> LogicLeft | None:
    """Return what a set leaves of pulses in logic; None where nothing was chosen, or nothing is known."""
    if chosen is None or network.logic is None or judged.logic is None:
        return None
    before, left = network.logic.whole[chosen.mechanisms.error_flag is None], judged.logic
    lowest, highest = network.logic.ends
    return LogicLeft(
        copied=_copied(design, chosen, [network]),
        fit_before=before.fit,
        fit_hi_before=before.fit_hi * highest,
        raw=left.raw,
        fit=left.fit,
        fit_hi=left.fit_hi * highest,
        due=left.due,
        due_hi=left.due_hi * highest,
        lowest=lowest,
        highest=highest,
        with_storage=judged.fit.estimate + left.fit,
        with_storage_hi=judged.worst[1].most,
    )


def _copied(design: ProtectableDesign, chosen: Candidate, networks: Sequence[Network]) -> tuple[str, ...]:
    """Return the blocks whose logic is credited on any of some networks."""
    found = (covered_logic(design, chosen.items, network) for network in networks)
    return tuple(sorted({block for own in found for block, cover in own.items() if cover.residual < 1.0}))


def _own(design: ProtectableDesign, network: Network, choice: Choice, judged: JudgedSet) -> dict[str, object]:
    """Return the fields that are a run's own."""
    bare = [Effect()] * len(design.cells.bits)
    nothing = judge_with_logic(network, design.cells, bare, design.mechanisms()[0], {})
    found: dict[str, object] = {
        "fit_hi_unprotected": nothing.fit.hi,
        "fit_raw_before": nothing.fit_raw,
        "spfm_before": nothing.spfm,
        "spfm_lo_before": nothing.spfm_lo,
        "choices": (),
        **dict.fromkeys(("fit", "fit_hi", "fit_raw_after", "spfm", "spfm_lo", "due", "due_hi")),
    }
    if choice.chosen is None:
        return found
    return found | {
        "fit": judged.fit.estimate,
        "fit_hi": judged.fit.hi,
        "fit_raw_after": judged.fit_raw,
        "spfm": judged.spfm,
        "spfm_lo": judged.spfm_lo,
        "due": None if judged.due is None else judged.due.estimate,
        "due_hi": None if judged.due is None else judged.due.hi,
        "choices": _blocks(design, network, choice.chosen) if choice.needed else (),
    }


def _blocks(design: ProtectableDesign, network: Network, chosen: Candidate) -> tuple[BlockChoice, ...]:
    """Return a row for each block: what is chosen in it, and its rates by the half that judges."""
    _, judging = network.halves()
    effects = chosen.effects(design, network)
    rows = []
    for name, block in design.blocks.items():
        own = [i for i in chosen.items if i.option and design.units[i.units[0]].block == name]
        inside = _inside(design, name, effects)
        before, after = _in_block(design, judging, chosen, name, inside)
        base = min(1.0, after.fit_raw / before.fit_raw) if before.fit_raw > 0.0 else 1.0
        left = min(1.0, after.fit.estimate / before.fit.estimate) if before.fit.estimate > 0.0 else base
        titles = _titles(design, own)
        by_kind = _by_kind(design, judging, chosen, inside)
        added = _due_of_added(design, judging, own)
        status = max((i.option.status for i in own if i.option), key=STATUSES.index, default="measured")
        rows.append(
            BlockChoice(
                block=name,
                option="+".join(dict.fromkeys(i.option.name for i in own if i.option)) or "none",
                option_title=titles or "none",
                area=block.area,
                area_added=float(sum(item_area(design, item) for item in own)),
                fit_hi_before=before.fit.hi,
                fit_hi_after=min(after.fit.hi, before.fit.hi),
                fit_before=before.fit.estimate,
                fit_after=after.fit.estimate,
                fit_after_by_kind={kind: own.fit.estimate for kind, own in by_kind.items()},
                due_after_by_kind=_due_of(by_kind, added),
                due_added=sum(added.values()),
                base_factor=base,
                coverage=max(0.0, 1.0 - left / base) if base > 0.0 else 0.0,
                fit_raw_after=after.fit_raw,
                source="; ".join(dict.fromkeys(i.option.source for i in own if i.option))
                or design.options.options["none"].source,
                status=status,
            )
        )
    return tuple(rows)


def _inside(design: ProtectableDesign, name: str, effects: Sequence[Effect]) -> list[Effect]:
    """Return the effects of the cells of a block, and that all others do nothing."""
    cells = _cells_of(design, name)
    return [e if c in cells else Effect(0.0, 0.0, 0.0, 0.0) for c, e in enumerate(effects)]


def _cells_of(design: ProtectableDesign, name: str) -> set[int]:
    return {c for unit in design.units if unit.block == name for c in unit.cells}


def _in_block(
    design: ProtectableDesign, judging: Network, chosen: Candidate, name: str, inside: Sequence[Effect]
) -> tuple[JudgedSet, JudgedSet]:
    """Judge a block without protection, and with what a set has in it."""
    here = judging.where(_in(design, judging, _cells_of(design, name)))
    plain = _inside(design, name, [Effect()] * len(inside))
    before = judge(here, design.cells, plain, design.mechanisms()[0])
    return before, judge(here, design.cells, inside, chosen.mechanisms)


def _by_kind(
    design: ProtectableDesign, judging: Network, chosen: Candidate, inside: Sequence[Effect]
) -> dict[str, JudgedSet]:
    """Return what is left in the cells that have an effect, by kind of storage."""
    nothing = Effect(0.0, 0.0, 0.0, 0.0)
    kinds = design.cells.kind
    found = {}
    for kind in sorted({kind for kind, effect in zip(kinds, inside, strict=True) if effect != nothing}):
        own = [effect if has == kind else nothing for has, effect in zip(kinds, inside, strict=True)]
        here = judging.where(_in(design, judging, {c for c, has in enumerate(kinds) if has == kind}))
        found[kind] = judge(here, design.cells, own, chosen.mechanisms)
    return found


def _due_of(by_kind: Mapping[str, JudgedSet], added: Mapping[str, float]) -> dict[str, float] | None:
    """Return the detected failures of what was there, by kind; None if those of one are not known."""
    found = {
        kind: max(0.0, own.due.estimate - added.get(kind, 0.0))
        for kind, own in by_kind.items()
        if own.due is not None
    }
    return found if len(found) == len(by_kind) else None


def _due_of_added(design: ProtectableDesign, network: Network, items: Sequence[Item]) -> dict[str, float]:
    """Return the detected failures of the storage that items add, by the kind that it guards."""
    raw, cells = network.raw(design.cells), design.cells
    found: dict[str, float] = {}
    for item in items:
        if item.option is None:
            continue
        part = item.option.added_bits / (1.0 + item.option.added_bits)
        made = {
            kind: Effect.of(item.option, kind, network.hazardous, network.clusters).due_of_raw
            for kind in dict.fromkeys(cells.kind)
        }
        for unit in item.units:
            for cell in design.units[unit].cells:
                kind = cells.kind[cell]
                found[kind] = found.get(kind, 0.0) + float(raw[cell]) * made[kind] * part
    return found


def _in(design: ProtectableDesign, network: Network, cells: set[int]) -> BoolArray:
    return np.isin(design.cells.of_bit[network.bit], list(cells))


def _titles(design: ProtectableDesign, items: Sequence[Item]) -> str:
    bits: dict[str, int] = {}
    for item in items:
        if item.option:
            covered = sum(design.units[unit].all_bits for unit in item.units)
            bits[item.option.title] = bits.get(item.option.title, 0) + covered
    return ", ".join(f"{title} ({count:,} bits)" for title, count in bits.items())


def _groups(design: ProtectableDesign, chosen: Candidate) -> tuple[ProtectedGroup, ...]:
    rows = []
    for item in chosen.items:
        if item.option is None:
            continue
        units = [design.units[number] for number in item.units]
        rows.append(
            ProtectedGroup(
                unit=item.block or units[0].name,
                parts=(item.block,) if item.block else tuple(units[0].parts),
                block="" if item.block == NPU else units[0].block,
                bits=sum(unit.all_bits for unit in units),
                option=item.option.name,
                option_title=item.option.title,
                area_added=item_area(design, item),
            )
        )
    return tuple(rows)


def _mechanisms(
    design: ProtectableDesign, chosen: Candidate, networks: Sequence[Network]
) -> tuple[NpuMechanism, ...]:
    area = design.mechanisms_area(chosen.mechanisms)
    watched = tuple(network.name for network in networks if chosen.mechanisms.watches(network))
    return tuple(
        NpuMechanism(
            option=o.name,
            option_title=o.title,
            area_added=area if o.cells_area else 0.0,
            source=o.source,
            limit=chosen.mechanisms.limit if o.name == WATCHDOG else None,
            watched=watched if o.name == WATCHDOG else None,
        )
        for o in chosen.mechanisms.options
    )


def _permanent(judged: JudgedSet | None, copied: tuple[str, ...]) -> PermanentLeft | None:
    if judged is None:
        return None
    corner, worst = judged.worst
    logic, before = judged.logic, judged.logic_before
    return PermanentLeft(
        injections=judged.injections,
        population=judged.population,
        fit_before=judged.fit_before + before,
        fit=judged.fit.estimate + (0.0 if logic is None else logic.fit),
        fit_hi=judged.most,
        logic_fit=None if logic is None else logic.fit,
        logic_fit_hi=None if logic is None else logic.fit_hi,
        copied=copied,
        spfm=judged.spfm,
        spfm_lo=judged.spfm_lo,
        corner=corner,
        corner_fit_hi=worst.most,
        corner_spfm_lo=judged.least_spfm,
    )


def _network(judged: JudgedSet, targets: Targets, copied: tuple[str, ...] = ()) -> JudgedNetwork:
    corner, worst = judged.worst
    return JudgedNetwork(
        permanent=_permanent(judged.permanent, copied),
        unaided_hi=None if judged.unaided is None else judged.unaided.hi,
        corner=corner,
        corner_fit_hi=worst.most,
        logic_fit=None if judged.logic is None else judged.logic.fit,
        logic_fit_hi=None if worst.logic is None else worst.logic.fit_hi,
        corner_unaided_hi=None if worst.unaided is None else worst.unaided.hi,
        corner_spfm_lo=judged.least_spfm,
        network=judged.network,
        population=judged.population,
        injections=judged.injections,
        inputs=judged.inputs,
        fit_before=judged.fit_before,
        fit=judged.fit.estimate,
        fit_hi=judged.fit.hi,
        spfm=judged.spfm,
        spfm_lo=judged.spfm_lo,
        due=None if judged.due is None else judged.due.estimate,
        due_hi=None if judged.due is None else judged.due.hi,
        missed=tuple(judged.missed(targets)),
    )


def _front(design: ProtectableDesign, networks: Sequence[Network], choice: Choice) -> tuple[FrontPoint, ...]:
    """Return the sets that were judged, by area."""
    points = [_point(design, networks, candidate, judged) for candidate, judged in choice.tried]
    return tuple(sorted(points, key=lambda point: (point.area_added, point.fit_hi)))


def _point(
    design: ProtectableDesign,
    networks: Sequence[Network],
    candidate: Candidate,
    judged: Sequence[JudgedSet],
) -> FrontPoint:
    choices: dict[str, list[Item]] = {name: [] for name in design.blocks}
    for item in candidate.items:
        if item.option is not None:
            choices[design.units[item.units[0]].block].append(item)
    network, worst = max(zip(networks, judged, strict=True), key=lambda pair: pair[1].fit.hi)
    return FrontPoint(
        area_added=candidate.area_added,
        area_overhead=_part(candidate.area_added, design.area),
        reserve=candidate.reserve,
        gap=candidate.gap,
        fit_hi=worst.fit.hi,
        worst_hi=max(own.worst[1].most for own in judged),
        fit=worst.fit.estimate,
        claimed=max(candidate.claimed),
        choices={name: _titles(design, items) or "none" for name, items in choices.items()},
        blocks=dict(_left_in_blocks(design, network, candidate)),
    )


def _left_in_blocks(
    design: ProtectableDesign, network: Network, candidate: Candidate
) -> Iterator[tuple[str, BlockLeft]]:
    _, judging = network.halves()
    effects = candidate.effects(design, network)
    for name in design.blocks:
        before, after = _in_block(design, judging, candidate, name, _inside(design, name, effects))
        left = BlockLeft(
            fit_before=before.fit.estimate,
            fit_after=after.fit.estimate,
            fit_hi_before=before.fit.hi,
            fit_hi_after=min(after.fit.hi, before.fit.hi),
        )
        yield name, left


def _part(area: float, whole: float) -> float:
    return area / whole if whole > 0.0 else 0.0
