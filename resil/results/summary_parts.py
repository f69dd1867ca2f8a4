# SPDX-License-Identifier: Apache-2.0
"""The parts of `summary.json` that runs and estimates have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from resil.bench.bench import NetworkFacts
from resil.bench.site_list import STORAGE
from resil.campaign.campaign import Campaign
from resil.record.outcomes import OUTCOMES as OUTCOME_TEXTS
from resil.results.evidence import Class, classes_of
from resil.stats.evidence import Evidence
from resil.stats.metrics import fit_verdict
from resil.stats.rates import LATENT, OUTCOMES, VISIBLE, BlockEstimate

SCHEMA = 5
_PHRASES = {outcome.key: outcome.phrase for outcome in OUTCOME_TEXTS}
# Of a block that the campaign says nothing about: its risk is not known, which is not zero.
_UNTOUCHED = {
    **dict.fromkeys(("injections", *OUTCOMES), 0),
    **dict.fromkeys(("avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi", *LATENT)),
    "rates": None,
}


def block_row(
    name: str,
    bits: Mapping[str, int],
    estimate: BlockEstimate | None,
    area: float,
    sram_area: float,
    unit: str,
) -> dict[str, Any]:
    """Return what is said of a block, or of the total.

    Args:
        name: Of the block.
        bits: Storage bits that are hardware, by kind.
        estimate: None if the campaign says nothing of the block; all its figures are then None.
        area: Of logic and memories together.
        sram_area: Of memories.
        unit: Of the areas.
    """
    row = _UNTOUCHED if estimate is None else estimate.as_row()
    return {
        **row,
        "block": name,
        **storage_bits(bits),
        "area": area,
        "sram_area": sram_area,
        "area_unit": unit,
    }


def source_bits(bits: Mapping[str, int]) -> dict[str, int]:
    """Return how many bits of each kind the source code has, those included that are no hardware."""
    return {f"{kind}_bits_source": bits[kind] for kind in STORAGE}


def storage_bits(bits: Mapping[str, int]) -> dict[str, int]:
    """Return how many bits of each kind are hardware."""
    return {f"{kind}_bits": bits[kind] for kind in STORAGE}


def storage_row(estimate: BlockEstimate) -> dict[str, Any]:
    """Return what is said of a kind of storage in all blocks; the estimate bears its name for a block's."""
    kind = estimate.block
    row = {key: value for key, value in estimate.as_row().items() if not key.endswith("_bits")}
    del row["block"]
    return {"kind": kind, "bits": estimate.bits.get(kind, 0), **row}


def network_summary(facts: NetworkFacts, cycles: Sequence[int]) -> dict[str, Any]:
    """Return what is said of the network; `cycles` are those of its first operations."""
    operations = [
        {
            "index": operation.index,
            "name": operation.name,
            "kind": operation.kind,
            "cycles": cycles[place] if place < len(cycles) else None,
            "vela_cycles": operation.vela_cycles,
            "work": None if operation.work is None else dict(operation.work),
        }
        for place, operation in enumerate(facts.operations)
    ]
    return {
        "name": facts.name,
        "path": facts.path,
        "sha256": facts.sha256,
        "operations": operations,
        "macs": facts.macs,
        "decision": facts.decision,
        "remarks": list(facts.remarks),
    }


def scope_text(kinds: Sequence[str], bits: Mapping[str, int], missing: str = "not injected") -> str:
    """Return which storage a verdict is about: "flip-flops only; 131,072 SRAM bits not injected".

    Args:
        kinds: Kinds of storage that are in the figures.
        bits: Storage bits of the target, by kind.
        missing: What became of the others.
    """
    left = [f"{bits[kind]:,} {name}" for kind, name in STORAGE.items() if kind not in kinds and bits[kind]]
    if not left:
        there = [f"{bits[kind]:,} {name}" for kind, name in STORAGE.items() if bits[kind]]
        return f"all storage: {_listed(there)}"
    told = [name for kind, name in STORAGE.items() if kind in kinds and bits[kind]]
    return f"{_listed(told) or 'no storage'} only; {_listed(left)} {missing}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]] if len(parts) > 1 else parts)


def left_out(evidence: Evidence, hazardous: Sequence[str]) -> list[dict[str, Any]]:
    """Return the visible outcomes that occurred and do not count as hazardous, each with its rate in FIT."""
    found = []
    for outcome in VISIBLE:
        names = {name for name in classes_of(evidence) if Class.of(name).outcome == outcome}
        if outcome not in hazardous and (injections := evidence.count(names)):
            rate = evidence.rate(names)
            figures = {"fit": rate.estimate, "fit_lo": rate.lo, "fit_hi": rate.hi}
            found.append({"outcome": outcome, "injections": injections, **figures})
    return found


def hazards_text(hazardous: Sequence[str], left: Sequence[Mapping[str, Any]]) -> str:
    """Return which outcomes count as hazardous, and which others occurred at which rate, in sentences."""
    told = f"Counted as hazardous: {_listed([_PHRASES[outcome] for outcome in hazardous])}."
    others = [f"{_PHRASES[own['outcome']]} at {own['fit']:.3g} FIT" for own in left]
    return f"{told} Not counted, though found: {_listed(others)}." if others else told


def verdict_summary(
    campaign: Campaign,
    total: BlockEstimate,
    scope: str,
    left: Sequence[Mapping[str, Any]] = (),
    undecided: str = "",
) -> dict[str, Any]:
    """Return the verdict on the campaign's budget, its scope, and the figures that it rests on.

    Args:
        campaign: What was asked.
        total: What was found.
        scope: Which storage it is about, in words.
        left: As `left_out` gives it.
        undecided: Why the figures decide nothing of what is asked; "" if they may.
    """
    budget = campaign.budget
    fit = replace(total.fit, confidence=campaign.confidence)
    verdict = fit_verdict(fit, budget.fit if budget else None)
    if undecided:
        verdict = replace(
            verdict, result="not assessed" if budget else "none", reason=f"No verdict: {undecided}"
        )
    return {
        "result": verdict.result,
        "budget_fit": budget.fit if budget else None,
        "rationale": budget.rationale if budget else "",
        "fit": total.fit.estimate,
        "fit_lo": total.fit.lo,
        "fit_hi": total.fit.hi,
        "reason": f"{verdict.reason} {hazards_text(campaign.hazardous, left)}",
        "left_out": list(left),
        "scope": scope,
    }
