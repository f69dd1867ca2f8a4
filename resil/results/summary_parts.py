# SPDX-License-Identifier: Apache-2.0
"""The parts of `summary.json` that runs and estimates have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resil.bench.bench import NetworkFacts
from resil.bench.site_list import STORAGE
from resil.campaign.campaign import Campaign
from resil.record.campaign_facts import (
    CampaignRecord,
    Figure,
    NetworkRecord,
    RecordedOperation,
    TechnologyRecord,
)
from resil.record.outcomes import OUTCOMES as OUTCOME_TEXTS
from resil.record.summary import Metrics, NotHazardous, Unaided, Verdict
from resil.results.evidence import Class, classes_of
from resil.results.figures import shown
from resil.results.views import Views
from resil.stats.evidence import Evidence
from resil.stats.intervals import Interval
from resil.stats.metrics import SafetyMetrics, fit_verdict
from resil.stats.rates import VISIBLE, BlockEstimate
from resil.stats.technology import RawRates

_PHRASES = {outcome.key: outcome.phrase for outcome in OUTCOME_TEXTS}


def campaign_record(
    campaign: Campaign,
    *,
    detection_cycles: int | None,
    injections: int,
    inputs: tuple[int, ...],
    engine: str,
    workers: int,
    seconds: float,
) -> CampaignRecord:
    """Return what is said of the campaign: its file's settings, and how it was answered."""
    return CampaignRecord(
        name=campaign.name,
        seed=campaign.seed,
        confidence=campaign.confidence,
        kinds=campaign.faults.kinds,
        fault_model=campaign.faults.model,
        timeout=campaign.execution.timeout,
        until=campaign.execution.until,
        detection_cycles=detection_cycles,
        clusters=campaign.faults.clusters,
        injections=injections,
        hazardous=campaign.hazardous,
        inputs=inputs,
        engine=engine,
        workers=workers,
        seconds=seconds,
    )


def network_record(facts: NetworkFacts, cycles: Sequence[int]) -> NetworkRecord:
    """Return what is said of the network; `cycles` are those of its first operations."""
    operations = tuple(
        RecordedOperation(
            index=operation.index,
            name=operation.name,
            kind=operation.kind,
            cycles=cycles[place] if place < len(cycles) else None,
            vela_cycles=operation.vela_cycles,
            work=operation.work,
        )
        for place, operation in enumerate(facts.operations)
    )
    return NetworkRecord(
        name=facts.name,
        path=facts.path,
        sha256=facts.sha256,
        operations=operations,
        macs=facts.macs,
        decision=facts.decision,
        remarks=tuple(facts.remarks),
    )


def technology_record(rates: RawRates) -> TechnologyRecord:
    """Return a technology with its figures."""
    entries = tuple(
        Figure(
            quantity=entry.quantity,
            value=entry.value,
            low=entry.low,
            high=entry.high,
            unit=entry.unit,
            status=entry.status,
            source=entry.source,
        )
        for entry in rates.entries
    )
    return TechnologyRecord(name=rates.name, node=rates.node, entries=entries)


def metrics_record(found: SafetyMetrics) -> Metrics:
    """Return the safety metrics of the injected faults."""
    return Metrics(
        spfm=None if found.spfm is None else shown(found.spfm),
        spfm_unaided=None if found.spfm_unaided is None else shown(found.spfm_unaided),
        pmhf_share=shown(found.pmhf_share),
        lfm=None if found.lfm is None else shown(found.lfm),
        notes=found.notes,
    )


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
    named = [name for kind, name in STORAGE.items() if kind in kinds and bits[kind]]
    return f"{_listed(named) or 'no storage'} only; {_listed(left)} {missing}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]] if len(parts) > 1 else parts)


def left_out(evidence: Evidence, hazardous: Sequence[str]) -> tuple[NotHazardous, ...]:
    """Return the visible outcomes that occurred and do not count as hazardous, each with its rate in FIT."""
    found = []
    for outcome in VISIBLE:
        names = {name for name in classes_of(evidence) if Class.of(name).outcome == outcome}
        if outcome not in hazardous and (injections := int(evidence.count(names))):
            rate = evidence.rate(names)
            own = NotHazardous(
                outcome=outcome, injections=injections, fit=rate.estimate, fit_lo=rate.lo, fit_hi=rate.hi
            )
            found.append(own)
    return tuple(found)


def hazards_text(hazardous: Sequence[str], left: Sequence[NotHazardous]) -> str:
    """Return which outcomes count as hazardous, and which others occurred at which rate, in sentences."""
    counted = f"Counted as hazardous: {_listed([_PHRASES[outcome] for outcome in hazardous])}."
    others = [f"{_PHRASES[own.outcome]} at {own.fit:.3g} FIT" for own in left]
    return f"{counted} Not counted, though found: {_listed(others)}." if others else counted


def _both_views(views: Views, campaign: Campaign, undecided: str) -> tuple[str, Unaided, str]:
    """Return the result at the centre, the unaided verdict, and both in sentences."""
    allowed = campaign.budget.fit if campaign.budget else None
    _, centre = views.aided.verdicts(allowed, campaign.confidence)
    alone, _ = views.unaided.verdicts(allowed, campaign.confidence)
    results = [str(centre.result), str(alone.result)]
    if undecided:
        results = ["none" if allowed is None else "not assessed"] * 2
    aided, bare = views.aided, views.unaided
    unaided = Unaided(
        result=results[1],
        fit=bare.fit.estimate,
        fit_lo=bare.fit.lo,
        fit_hi=bare.fit.hi,
        corner=bare.corner,
        corner_fit=shown(bare.worst),
    )
    named = ["no budget" if result == "none" else result for result in results]
    text = (
        f"That is with the error flag and a host that reacts, at the {aided.corner}: "
        f"{_range(aided.worst)}; at the centre {_range(aided.fit)} ({named[0]}). "
        f"Unaided, with nobody to react: {_range(bare.worst)}; at the centre {_range(bare.fit)} "
        f"({named[1]}). "
    )
    return results[0], unaided, text


def _range(fit: Interval) -> str:
    return f"{fit.estimate:.3g} [{fit.lo:.3g}, {fit.hi:.3g}] FIT"


def verdict_record(
    campaign: Campaign,
    total: BlockEstimate,
    scope: str,
    left: tuple[NotHazardous, ...] = (),
    undecided: str = "",
    views: Views | None = None,
    *,
    population: str = "",
) -> Verdict:
    """Return the verdict on the campaign's budget, its scope, and the figures that it rests on.

    Args:
        campaign: What was asked.
        total: What was found.
        scope: Which storage it is about, in words.
        left: As `left_out` gives it.
        undecided: Why the figures decide nothing of what is asked; "" if they may.
        views: Of the same total: with them the result is that at the worst corner of the raw rates. None of
            what is predicted.
        population: Networks, inputs and cycles that it is about, in words.
    """
    budget = campaign.budget
    allowed = budget.fit if budget else None
    verdict = fit_verdict(replace(total.fit, confidence=campaign.confidence), allowed)
    if views is not None:
        verdict, _ = views.aided.verdicts(allowed, campaign.confidence)
    result, reason = str(verdict.result), verdict.reason
    if undecided:
        result, reason = "not assessed" if budget else "none", f"No verdict: {undecided}"
    centre, unaided, text = (None, None, "") if views is None else _both_views(views, campaign, undecided)
    return Verdict(
        result=result,
        budget_fit=budget.fit if budget else None,
        rationale=budget.rationale if budget else "",
        fit=total.fit.estimate,
        fit_lo=total.fit.lo,
        fit_hi=total.fit.hi,
        reason=f"{reason} {text}{hazards_text(campaign.hazardous, left)}",
        left_out=left,
        centre=centre,
        corner=None if views is None else views.aided.corner,
        corner_fit=None if views is None else shown(views.aided.worst),
        unaided=unaided,
        scope=scope,
        population=population,
        predicted=None,
    )
