# SPDX-License-Identifier: Apache-2.0
"""From a choice over units to `protection.json`, one for each run: the same choice, that run's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from resil.protection.choose import Candidate, Choice
from resil.protection.effects import Effect
from resil.protection.items import NPU, Design, Item, item_area, whole_npu
from resil.protection.judge import Judged, Targets, judge
from resil.protection.options import STATUSES, WATCHDOG
from resil.protection.plan import SCHEMA
from resil.protection.risks import Network
from resil.protection.units import BoolArray, Granularity

_RESULTS = {(True, True): "optimal", (False, True): "infeasible", (True, False): "not_needed"}


def unit_plan(
    design: Design,
    networks: Sequence[Network],
    targets: Targets,
    choice: Choice,
    granularity: Granularity,
    strangers: Sequence[Judged] = (),
) -> list[dict[str, Any]]:
    """Return the content of `protection.json` for each run, in their order.

    Figures of the totals are the run's own; `networks` has those of all. `choices` sums up each block, as the
    reports show it; `groups` names what is protected.
    """
    common = _common(design, networks, targets, choice, granularity)
    common["strangers"] = [_network(judged, targets) for judged in strangers]
    return [
        {**common, **_own(design, network, choice, judged)}
        for network, judged in zip(networks, choice.judged, strict=True)
    ]


def _common(
    design: Design, networks: Sequence[Network], targets: Targets, choice: Choice, granularity: Granularity
) -> dict[str, Any]:
    chosen = choice.chosen
    copies = whole_npu(design, networks[0].hazardous)
    return {
        "schema": SCHEMA,
        "from_estimate": False,
        "granularity": granularity.value,
        "budget_fit": targets.budget_fit,
        "spfm_target": targets.spfm,
        "fit_share_target": targets.fit_share,
        "due_fit_target": targets.due_fit,
        "result": _RESULTS[chosen is not None, choice.needed],
        "reason": choice.reason,
        "reserve": chosen.reserve if chosen else None,
        "area_unprotected": design.area,
        "area_added": chosen.area_added if chosen else None,
        "area_overhead": _part(chosen.area_added, design.area) if chosen else None,
        "area_overhead_lockstep": min((_part(area, design.area) for _, area in copies), default=None),
        "bound": chosen.bound if chosen else None,
        "gap": chosen.gap if chosen else None,
        "groups": [] if chosen is None else _groups(design, chosen),
        "mechanisms": [] if chosen is None else _mechanisms(design, chosen, networks),
        "networks": [_network(judged, targets) for judged in choice.judged],
        "pareto": [_point(design, candidate, judged) for candidate, judged in reversed(choice.tried)],
        "assumptions": _assumptions(design, networks, granularity),
    }


def _own(design: Design, network: Network, choice: Choice, judged: Judged) -> dict[str, Any]:
    nothing = judge(network, design.cells, [Effect()] * len(design.cells.bits), design.mechanisms()[0])
    found: dict[str, Any] = {
        "fit_hi_unprotected": nothing.fit.hi,
        "fit_raw_before": nothing.fit_raw,
        "spfm_before": nothing.spfm,
        "spfm_lo_before": nothing.spfm_lo,
        "choices": [],
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
        "due": judged.due.estimate,
        "due_hi": judged.due.hi,
        "choices": _blocks(design, network, choice.chosen) if choice.needed else [],
    }


def _blocks(design: Design, network: Network, chosen: Candidate) -> list[dict[str, Any]]:
    """Return a row for each block: what is chosen in it, and its rates by the half that judges."""
    _, judging = network.halves()
    effects = chosen.effects(design, network.hazardous)
    rows = []
    for name, block in design.blocks.items():
        own = [i for i in chosen.items if i.option and design.units[i.units[0]].block == name]
        cells = {c for unit in design.units if unit.block == name for c in unit.cells}
        here = judging.where(_in(design, judging, cells))
        inside = [e if c in cells else Effect(0.0, 0.0, 0.0, 0.0) for c, e in enumerate(effects)]
        plain = [Effect() if c in cells else Effect(0.0, 0.0, 0.0, 0.0) for c in range(len(effects))]
        flag = design.mechanisms()[0]
        after = judge(here, design.cells, inside, chosen.mechanisms)
        before = judge(here, design.cells, plain, flag)
        base = min(1.0, after.fit_raw / before.fit_raw) if before.fit_raw > 0.0 else 1.0
        left = min(1.0, after.fit.estimate / before.fit.estimate) if before.fit.estimate > 0.0 else base
        titles = _titles(design, own)
        status = max((i.option.status for i in own if i.option), key=STATUSES.index, default="measured")
        rows.append(
            {
                "block": name,
                "option": "+".join(dict.fromkeys(i.option.name for i in own if i.option)) or "none",
                "option_title": titles or "none",
                "area": block.area,
                "area_added": sum(item_area(design, item) for item in own),
                "fit_hi_before": before.fit.hi,
                "fit_hi_after": min(after.fit.hi, before.fit.hi),
                "fit_before": before.fit.estimate,
                "fit_after": after.fit.estimate,
                "fit_after_by_kind": _by_kind(design, judging, chosen, inside),
                "base_factor": base,
                "coverage": max(0.0, 1.0 - left / base) if base > 0.0 else 0.0,
                "fit_raw_after": after.fit_raw,
                "source": "; ".join(dict.fromkeys(i.option.source for i in own if i.option))
                or design.options.options["none"].source,
                "status": status,
            }
        )
    return rows


def _by_kind(
    design: Design, judging: Network, chosen: Candidate, inside: Sequence[Effect]
) -> dict[str, float]:
    """Return what is left of the hazardous FIT in the cells that have an effect, by kind of storage."""
    nothing = Effect(0.0, 0.0, 0.0, 0.0)
    kinds = design.cells.kind
    found = {}
    for kind in sorted({kind for kind, effect in zip(kinds, inside, strict=True) if effect != nothing}):
        own = [effect if has == kind else nothing for has, effect in zip(kinds, inside, strict=True)]
        here = judging.where(_in(design, judging, {c for c, has in enumerate(kinds) if has == kind}))
        found[kind] = judge(here, design.cells, own, chosen.mechanisms).fit.estimate
    return found


def _in(design: Design, network: Network, cells: set[int]) -> BoolArray:
    return np.isin(design.cells.of_bit[network.bit], list(cells))


def _titles(design: Design, items: Sequence[Item]) -> str:
    bits: dict[str, int] = {}
    for item in items:
        if item.option:
            covered = sum(design.units[unit].all_bits for unit in item.units)
            bits[item.option.title] = bits.get(item.option.title, 0) + covered
    return ", ".join(f"{title} ({count:,} bits)" for title, count in bits.items())


def _groups(design: Design, chosen: Candidate) -> list[dict[str, Any]]:
    rows = []
    for item in chosen.items:
        if item.option is None:
            continue
        units = [design.units[number] for number in item.units]
        rows.append(
            {
                "unit": item.block or units[0].name,
                "parts": [item.block] if item.block else list(units[0].parts),
                "block": "" if item.block == NPU else units[0].block,
                "bits": sum(unit.all_bits for unit in units),
                "option": item.option.name,
                "option_title": item.option.title,
                "area_added": item_area(design, item),
            }
        )
    return rows


def _mechanisms(design: Design, chosen: Candidate, networks: Sequence[Network]) -> list[dict[str, Any]]:
    area = design.mechanisms_area(chosen.mechanisms)
    watched = [network.name for network in networks if chosen.mechanisms.watches(network)]
    return [
        {
            "option": o.name,
            "option_title": o.title,
            "area_added": area if o.cells_area else 0.0,
            "source": o.source,
            **({"limit": chosen.mechanisms.limit, "watched": watched} if o.name == WATCHDOG else {}),
        }
        for o in chosen.mechanisms.options
    ]


def _network(judged: Judged, targets: Targets) -> dict[str, Any]:
    return {
        "network": judged.network,
        "injections": judged.injections,
        "fit_before": judged.fit_before,
        "fit": judged.fit.estimate,
        "fit_hi": judged.fit.hi,
        "spfm": judged.spfm,
        "spfm_lo": judged.spfm_lo,
        "due": judged.due.estimate,
        "due_hi": judged.due.hi,
        "missed": judged.missed(targets),
    }


def _point(design: Design, candidate: Candidate, judged: Sequence[Judged]) -> dict[str, Any]:
    choices: dict[str, list[Item]] = {name: [] for name in design.blocks}
    for item in candidate.items:
        if item.option is not None:
            choices[design.units[item.units[0]].block].append(item)
    worst = max(judged, key=lambda found: found.fit.hi)
    return {
        "area_added": candidate.area_added,
        "area_overhead": _part(candidate.area_added, design.area),
        "reserve": candidate.reserve,
        "gap": candidate.gap,
        "fit_hi": worst.fit.hi,
        "fit": worst.fit.estimate,
        "claimed": max(candidate.claimed),
        "choices": {name: _titles(design, items) or "none" for name, items in choices.items()},
    }


def _part(area: float, whole: float) -> float:
    return area / whole if whole > 0.0 else 0.0


def _assumptions(design: Design, networks: Sequence[Network], granularity: Granularity) -> list[str]:
    percent = f"{50.0 + 50.0 * networks[0].confidence:.4g}"
    told = [
        "Half of each run's injections (by a hash of their numbers) chose, by risks shrunk over networks; "
        "every figure of what remains is from the other half, which had no part in the choice.",
        f"Each bound holds at {percent} %. Sets are judged from the strongest on, up to the first that "
        "fails, so they share that error; the verdict that none is needed is a look of its own.",
        "Options count at the weak ends of their ranges, and the denominator of SPFM at its least: hardened "
        "cells lower it by as much as they may.",
        "Storage that an option adds upsets too: it counts as as dangerous as what it guards, and as "
        "guarded. It does not enlarge the denominator of SPFM.",
        "Bounds are for the inputs that were run.",
        "Every upset under a mechanism that detects is a detected failure, also where it would do no harm.",
        f"Chosen by {granularity}: the options' areas are figures, not measured on this design.",
    ]
    if design.options.leave_out:
        told.append(f"Left out by the file of options: {', '.join(design.options.leave_out)}.")
    told += _watchdog(design, networks)
    if design.buildable:
        told.append("Only what can be built as RTL was offered.")
    if any(unit.memory for unit in design.units):
        told.append("Codes on a memory guard the flip-flops of its macro, too: they are checked behind it.")
    return told


def _watchdog(design: Design, networks: Sequence[Network]) -> list[str]:
    """Say on which networks a watchdog helps, and what is taken for granted of it."""
    if WATCHDOG not in design.options.options:
        return []
    if design.limit is None:
        return ["A watchdog was not offered: how long operations take is not in the results of all runs."]
    told = [n.name for n in networks if n.pace is not None and n.pace.tells(design.limit)]
    late = [n.name for n in networks if n.name not in told]
    text = (
        f"A watchdog waits {design.limit:,} cycles for the end of an operation. A hang is taken for one in "
    )
    text += "which no operation ends any more, but for the part that the option's coverage leaves."
    if late:
        text += f" On {', '.join(late)} it would tell only after the time-out: there it counts for nothing."
    return [text]


def parts_of(plan: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a plan over units protects: each part of each group, with the name of its option."""
    return [
        (part, str(group["option"])) for group in plan["groups"] for part in group["parts"] or [group["unit"]]
    ]
