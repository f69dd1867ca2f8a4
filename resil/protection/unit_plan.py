# SPDX-License-Identifier: Apache-2.0
"""From a choice to `protection.json`, one for each run: the same choice, that run's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from resil.protection.assumptions import assumptions
from resil.protection.choose import Candidate, Choice
from resil.protection.effects import Effect
from resil.protection.items import NPU, Design, Item, item_area, whole_npu
from resil.protection.judge import Judged, judge
from resil.protection.options import STATUSES, WATCHDOG
from resil.protection.risks import Network
from resil.protection.targets import Targets
from resil.protection.units import BoolArray, Granularity
from resil.record.protection import SCHEMA
from resil.record.summary import Summary

_RESULTS = {(True, True): "optimal", (False, True): "infeasible", (True, False): "not_needed"}


def unit_plan(
    design: Design,
    networks: Sequence[Network],
    targets: Targets,
    choice: Choice,
    granularity: Granularity,
    summary: Summary,
    strangers: Sequence[Judged] = (),
) -> list[dict[str, Any]]:
    """Return the content of `protection.json` for each run, in their order.

    Figures of the totals are the run's own; `networks` has those of all. `choices` sums up each block, as the
    reports show it; `groups` names what is protected.

    Args:
        design: What was chosen for.
        networks: By which.
        targets: What was asked.
        choice: What was chosen.
        granularity: Of the units.
        summary: Of the first run.
        strangers: What is left on networks that took no part.
    """
    common = _common(design, networks, targets, choice, granularity)
    common["from_estimate"] = summary.predicted
    common["assumptions"] = assumptions(design, networks, granularity, summary)
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
        "granularity": granularity.value,
        "budget_fit": targets.budget_fit,
        "spfm_target": targets.spfm,
        "fit_share_target": targets.fit_share,
        "due_fit_target": targets.due_fit,
        "waived": list(targets.waived),
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
        **_due(judged),
        "choices": _blocks(design, network, choice.chosen) if choice.needed else [],
    }


def _blocks(design: Design, network: Network, chosen: Candidate) -> list[dict[str, Any]]:
    """Return a row for each block: what is chosen in it, and its rates by the half that judges."""
    _, judging = network.halves()
    effects = chosen.effects(design, network)
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
        **_due(judged),
        "missed": judged.missed(targets),
    }


def _due(judged: Judged) -> dict[str, float | None]:
    due = judged.due
    return {"due": None, "due_hi": None} if due is None else {"due": due.estimate, "due_hi": due.hi}


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
