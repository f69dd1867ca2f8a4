"""From injections to `summary.json`: rates, FIT, metrics and verdict, with everything that they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from resil.bench import Area, AreaFacts, Bench
from resil.campaign import Campaign
from resil.clusters import clusters_text
from resil.estimates import estimates_of
from resil.sampling import Sample
from resil.sampling_facts import sampling_facts, sampling_notes
from resil.site_list import UNASSIGNED, block_bits
from rtl_harness.engines.base import GoldenRun
from stats.metrics import fit_verdict, safety_metrics
from stats.rates import OUTCOMES, BlockEstimate, StratumCounts
from stats.technology import Technology, load_technology

SCHEMA = 1
_UNTOUCHED = {
    **dict.fromkeys(("injections", *OUTCOMES), 0),
    **dict.fromkeys(("avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi"), 0.0),
    "rates": {outcome: [0.0, 0.0, 0.0] for outcome in OUTCOMES},
}


def technology_of(campaign: Campaign) -> Technology:
    """Return the campaign's raw upset rates.

    Raises:
        StatsError: there is no such technology, or it has no rate for a kind of storage that is injected.
    """
    settings = campaign.technology
    technology = load_technology(settings.name).with_overrides(
        settings.flip_flop_fit, settings.sram_fit_per_mbit, f"{campaign.file.name}, [technology]"
    )
    for kind in campaign.faults.kinds:
        technology.fit_per_bit(kind)
    return technology


def summarise(
    campaign: Campaign,
    bench: Bench,
    area: AreaFacts,
    goldens: Sequence[GoldenRun],
    sample: Sample,
    provenance: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the content of `summary.json`.

    Args:
        campaign: What was asked.
        bench: What was injected into.
        area: Its area.
        goldens: The run without a fault of each input.
        sample: The injections and how they were chosen.
        provenance: Content of `provenance.json`.
    """
    technology = technology_of(campaign)
    fit_per_bit = {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}
    bits = block_bits(bench.sites, bench.blocks)
    found = estimates_of(campaign, sample, bits, fit_per_bit)
    total = found.total
    blocks = [_row(name, n, found.blocks.get(name), area.of(name), area.unit) for name, n in bits.items()]
    everything = {kind: sum(n[kind] for n in bits.values()) for kind in ("ff", "sram")}
    return {
        "schema": SCHEMA,
        "campaign": _campaign(campaign, bench, sample, provenance),
        "sampling": sampling_facts(campaign, sample, found.inputs),
        "network": _network(bench, goldens[0]),
        "target": {
            "name": bench.target_name,
            "top": bench.top,
            "ff_bits": everything["ff"],
            "sram_bits": everything["sram"],
            "unmapped_sites": len(bench.unmapped),
            "area": area.total.total,
            "area_unit": area.unit,
        },
        "golden": {
            "cycles": [run.end.end_cycle for run in goldens],
            "vela_cycles": bench.network.vela_cycles,
            "output_hash": [run.end.output_hash for run in goldens],
        },
        "technology": technology.as_dict(),
        "verdict": _verdict(campaign, total),
        "blocks": blocks,
        "strata": [_stratum(counts, fit_per_bit[counts.kind]) for counts in found.strata],
        "total": _row("total", everything, total, area.total, area.unit),
        "metrics": safety_metrics(total).as_dict(),
        "notes": [
            *sampling_notes(campaign, sample, found.inputs),
            *_notes(campaign, bench, area, everything),
        ],
        "provenance": dict(provenance),
    }


def _row(
    name: str, bits: Mapping[str, int], estimate: BlockEstimate | None, area: Area, unit: str
) -> dict[str, Any]:
    row = _UNTOUCHED if estimate is None else estimate.as_row()
    return {
        **row,
        "block": name,
        "ff_bits": bits["ff"],
        "sram_bits": bits["sram"],
        "area": area.total,
        "sram_area": area.sram,
        "area_unit": unit,
    }


def _stratum(counts: StratumCounts, fit_per_bit: float) -> dict[str, Any]:
    return {
        "block": counts.block,
        "kind": counts.kind,
        "bits": counts.bits,
        "counts": dict(counts.counts),
        "share": counts.share,
        "fit_raw": counts.exposure * fit_per_bit,
    }


def _campaign(
    campaign: Campaign, bench: Bench, sample: Sample, provenance: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "name": campaign.name,
        "seed": campaign.seed,
        "confidence": campaign.confidence,
        "kinds": list(campaign.faults.kinds),
        "clusters": list(campaign.faults.clusters),
        "injections": sample.injections,
        "hazardous": list(campaign.hazardous),
        "inputs": list(bench.inputs),
        "engine": campaign.execution.engine,
        "workers": provenance["workers"],
        "seconds": provenance["seconds"],
    }


def _network(bench: Bench, golden: GoldenRun) -> dict[str, Any]:
    starts = (0, *golden.operation_ends)
    cycles = [end - start for start, end in zip(starts, golden.operation_ends, strict=False)]
    operations = [
        {
            "index": operation.index,
            "name": operation.name,
            "kind": operation.kind,
            "cycles": cycles[place] if place < len(cycles) else None,
            "vela_cycles": operation.vela_cycles,
            "work": None if operation.work is None else dict(operation.work),
        }
        for place, operation in enumerate(bench.network.operations)
    ]
    facts = bench.network
    return {
        "name": facts.name,
        "path": facts.path,
        "sha256": facts.sha256,
        "operations": operations,
        "macs": facts.macs,
    }


def _verdict(campaign: Campaign, total: BlockEstimate) -> dict[str, Any]:
    budget = campaign.budget
    fit = replace(total.fit, confidence=campaign.confidence)
    verdict = fit_verdict(fit, budget.fit if budget else None)
    return {
        "result": verdict.result,
        "budget_fit": budget.fit if budget else None,
        "rationale": budget.rationale if budget else "",
        "fit": total.fit.estimate,
        "fit_lo": total.fit.lo,
        "fit_hi": total.fit.hi,
        "reason": verdict.reason,
    }


def _notes(campaign: Campaign, bench: Bench, area: AreaFacts, bits: Mapping[str, int]) -> list[str]:
    names = {"ff": "flip-flops", "sram": "SRAM bits"}
    notes = [
        f"{bits[kind]:,} {names[kind]} were not injected into; their failures are not in these figures."
        for kind in ("ff", "sram")
        if kind not in campaign.faults.kinds and bits[kind]
    ]
    notes.append(f"{clusters_text(campaign.faults.clusters)} Transients in logic are not in these figures.")
    notes.append("FIT assumes that the NPU runs this network all the time.")
    if any(not element.block for element in bench.sites.elements):
        notes.append(f"Storage that the target's block map does not cover is the block {UNASSIGNED}.")
    return [*notes, *area.notes, *bench.warnings]
