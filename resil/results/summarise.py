# SPDX-License-Identifier: Apache-2.0
"""From injections to a summary: rates, FIT, metrics and verdict, with everything that they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resil.bench.bench import AreaFacts, Bench
from resil.bench.site_list import STORAGE, UNASSIGNED, block_bits, site_word, whole
from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN
from resil.campaign.technology_settings import BY
from resil.errors import ConsistencyError
from resil.faults.sampling import Sample
from resil.record.blocks import Block, RecordedStratum, StorageTotals, Total
from resil.record.campaign_facts import CampaignRecord, Golden, TargetRecord
from resil.record.evidence import Inferences
from resil.record.golden import GoldenComparison
from resil.record.provenance import Provenance
from resil.record.sanity import Sanity
from resil.record.summary import Summary
from resil.results.alarms import detection_of, usual_alarms
from resil.results.assumptions import assumptions_of_use
from resil.results.classes import class_rows
from resil.results.estimates import Estimates, estimates_of
from resil.results.evidence import evidence_record, sample_evidence
from resil.results.figures import block_fields, rated_figures, stored_bits
from resil.results.inferences import inference_note
from resil.results.logic_share import logic_shares
from resil.results.named_run import NamedRuns
from resil.results.population import population_text
from resil.results.safety_grounds import deciding_sizes, grounds_of, rate_variations
from resil.results.safety_rows import safety_verdict
from resil.results.sampling_facts import beyond_sample, sampling_notes, sampling_record
from resil.results.summary_parts import (
    campaign_record,
    left_out,
    metrics_record,
    network_record,
    scope_text,
    technology_record,
    verdict_record,
)
from resil.results.views import views_of
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.engine.contract import GoldenRun
from resil.stats.logic_rates import LogicRates, load_logic
from resil.stats.metrics import safety_metrics
from resil.stats.permanent import PermanentRates, load_permanent
from resil.stats.rates import BlockEstimate, StratumCounts
from resil.stats.technology import RawRates, Technology, load_technology


def technology_of(campaign: Campaign) -> RawRates:
    """Return the raw rates of the campaign's faults: of upsets, or of permanent faults.

    Raises:
        StatsError: there is no such technology, or it has no rate for a kind of storage that is injected.
    """
    if campaign.faults.permanent:
        return permanent_rates(campaign)
    return logic_rates(campaign) if campaign.faults.logic else upset_rates(campaign)


def logic_rates(campaign: Campaign) -> LogicRates:
    """Return the campaign's rates of transients in logic, derated; StatsError as `technology_of`."""
    settings = campaign.technology
    technology = load_technology(settings.name).with_overrides(
        settings.flip_flop_fit, None, _source(campaign), settings.flip_flop_range
    )
    return load_logic(technology).with_overrides(
        settings.logic_fit, settings.logic_range, settings.logic_factors, _source(campaign)
    )


def upset_rates(campaign: Campaign) -> Technology:
    """Return the campaign's raw upset rates; StatsError as `technology_of`."""
    settings = campaign.technology
    technology = load_technology(settings.name).with_overrides(
        settings.flip_flop_fit,
        settings.sram_fit_per_mbit,
        _source(campaign),
        settings.flip_flop_range,
        settings.sram_range,
    )
    for kind in campaign.faults.kinds:
        technology.fit_per_bit(kind)
    return technology


def permanent_rates(campaign: Campaign) -> PermanentRates:
    """Return the campaign's base rates of permanent faults; StatsError as `technology_of`."""
    settings = campaign.technology
    rates = load_permanent(settings.name).with_overrides(
        settings.permanent_flip_flop_fit,
        settings.permanent_sram_fit_per_mbit,
        _source(campaign),
        settings.permanent_logic_fit,
    )
    bridges = campaign.faults.model == BRIDGE
    rates = rates.of_bridges(settings.permanent_bridge_fit, _source(campaign)) if bridges else rates.of_pins()
    for kind in campaign.faults.kinds:
        rates.fit_per_bit(kind)
    return rates


def _source(campaign: Campaign) -> str:
    return f"{campaign.file.name}, [technology]"


def summarise(
    campaign: Campaign,
    bench: Bench,
    area: AreaFacts,
    goldens: Sequence[GoldenRun],
    sample: Sample,
    provenance: Provenance,
    sanity: Sanity,
    compared: GoldenComparison,
    runs: NamedRuns = NamedRuns(),  # noqa: B008
    inferences: Inferences | None = None,
) -> Summary:
    """Return the results of a run.

    Args:
        campaign: What was asked.
        bench: What was injected into.
        area: Its area.
        goldens: The run without a fault of each input.
        sample: The injections and how they were chosen.
        provenance: What made them.
        sanity: Whether what was watched could have shown a failure; if not, nothing is judged.
        compared: Whether the output without a fault is the network's.
        runs: What the runs that `[safety]` names say, or why they say nothing.
        inferences: What became of latent state in a second inference; None if there was none.
    """
    technology = technology_of(campaign)
    fit_per_bit = {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}
    bits = block_bits(bench.sites, bench.blocks)
    found = estimates_of(campaign, sample, bits, fit_per_bit)
    source = block_bits(bench.sites, bench.blocks, source=True)
    total, everything = found.total, whole(bits)
    stored = stored_bits(everything, whole(source))
    evidence = sample_evidence(campaign, sample, found)
    grounds = (
        None
        if campaign.safety is None
        else grounds_of(campaign, campaign.safety, evidence, sample, found, technology, everything, runs)
    )
    scope = "; ".join(
        [_verdict_scope(campaign, scope_text(campaign.faults.kinds, everything)), *bench.conditions]
    )
    left = left_out(evidence, campaign.hazardous)
    corners = rate_variations(technology, campaign.faults.kinds)
    sizes = {title: own for title, (own, _) in deciding_sizes(campaign, sample, found).items()}
    views = views_of(evidence, frozenset(campaign.hazardous), corners, total.fit, sizes)
    population = population_text(campaign, bench.network.name, bench.inputs, bench.network.sequence)
    if evidence.enumerated:
        population += "; every fault of it was injected: intervals are of an enumeration, not of a sample"
    undecided = sanity.reason or beyond_sample(campaign, len(goldens))
    return Summary(
        schema=Summary.SCHEMA,
        estimate=None,
        campaign=_campaign(campaign, bench, sample, provenance),
        sampling=sampling_record(campaign, sample, found),
        network=network_record(bench.network, _operation_cycles(goldens[0])),
        target=_target(bench, area, stored),
        golden=_golden(bench, goldens, compared),
        inferences=inferences,
        technology=technology_record(technology),
        sanity=sanity,
        verdict=verdict_record(campaign, total, scope, left, undecided, views, population=population),
        blocks=tuple(
            _block(name, area, stored_bits(own, source[name]), _estimate(campaign, found, name, own))
            for name, own in bits.items()
        ),
        strata=tuple(_stratum(counts, fit_per_bit[counts.kind]) for counts in found.strata),
        limits=found.limits,
        storage=tuple(_storage_totals(own, everything) for own in found.kinds),
        classes=class_rows(campaign, sample, bits, fit_per_bit),
        total=_total(area, stored, total),
        detection=detection_of(sample, bits, bench.alarms),
        metrics=metrics_record(safety_metrics(total, campaign.faults.permanent, views.unaided.fit)),
        evidence=evidence_record(evidence),
        safety=None if grounds is None else safety_verdict(grounds, undecided),
        logic=() if grounds is None or undecided else logic_shares(grounds, tuple(bits)),
        assumptions=assumptions_of_use(campaign, bench, technology, evidence, everything, goldens, runs),
        notes=(
            sanity.note,
            *sampling_notes(campaign, sample, found),
            *([] if inferences is None else [inference_note(inferences)]),
            *usual_alarms(goldens, bench.inputs),
            *_recalled(provenance),
            *_notes(campaign, bench, area, everything),
            compared.sentence,
        ),
        provenance=provenance,
    )


def _target(bench: Bench, area: AreaFacts, stored: Mapping[str, int]) -> TargetRecord:
    return TargetRecord.model_validate(
        {
            "name": bench.target_name,
            "top": bench.top,
            **stored,
            "unmapped_sites": len(bench.unmapped),
            "area": float(area.total.total),
            "area_unit": area.unit,
            "area_library": area.library,
            "titles": dict(bench.titles),
            "parameters": dict(bench.parameters),
            "logic_faults": bench.logic_faults(),
        }
    )


def _golden(bench: Bench, goldens: Sequence[GoldenRun], compared: GoldenComparison) -> Golden:
    return Golden(
        cycles=tuple(run.cycles for run in goldens),
        vela_cycles=bench.network.vela_cycles,
        output_hash=tuple(run.end.output_hash for run in goldens),
        longest_operation=_longest_operations(goldens),
        comparison=compared,
    )


def _block(name: str, area: AreaFacts, stored: Mapping[str, int], estimate: BlockEstimate | None) -> Block:
    own = area.of(name)
    return Block.model_validate(block_fields(name, stored, estimate, own.total, own.sram, area.unit))


def _total(area: AreaFacts, stored: Mapping[str, int], estimate: BlockEstimate) -> Total:
    own = area.total
    return Total.model_validate(block_fields("total", stored, estimate, own.total, own.sram, area.unit))


def _storage_totals(estimate: BlockEstimate, bits: Mapping[str, int]) -> StorageTotals:
    """Return what is said of a kind of storage in all blocks; the estimate bears its name for a block's."""
    kind = estimate.block
    return StorageTotals.model_validate({"kind": kind, "bits": bits[kind], **rated_figures(estimate)})


def _estimate(
    campaign: Campaign, found: Estimates, name: str, bits: Mapping[str, int]
) -> BlockEstimate | None:
    """Return what was found of a block; None if it holds nothing that the campaign injects into.

    Raises:
        ConsistencyError: it holds such bits, and yet nothing was found: its risk would read as none.
    """
    own = found.blocks.get(name)
    if own is None and (kinds := [kind for kind in campaign.faults.kinds if bits[kind]]):
        raise ConsistencyError(
            f"block {name} has {' and '.join(kinds)} bits and is in no stratum", f"blocks.{name}"
        )
    return own


def _stratum(counts: StratumCounts, fit_per_bit: float) -> RecordedStratum:
    return RecordedStratum(
        block=counts.block,
        kind=counts.kind,
        bits=counts.bits,
        counts={outcome: int(n) for outcome, n in counts.counts.items()},
        share=counts.share,
        fit_raw=counts.exposure * fit_per_bit,
    )


def _campaign(campaign: Campaign, bench: Bench, sample: Sample, provenance: Provenance) -> CampaignRecord:
    return campaign_record(
        campaign,
        detection_cycles=campaign.detection_cycles,
        injections=sample.injections,
        inputs=bench.inputs,
        engine=campaign.execution.engine,
        workers=provenance.workers,
        seconds=provenance.seconds,
    )


def _operation_cycles(golden: GoldenRun) -> list[int]:
    starts = (0, *golden.operation_ends)
    return [end - start for start, end in zip(starts, golden.operation_ends, strict=False)]


def _longest_operations(goldens: Sequence[GoldenRun]) -> tuple[int, ...]:
    """Return for each input how long no operation ended; nothing where none is counted."""
    if any(len(run.moves) < 2 for run in goldens):
        return ()
    return tuple(longest_operation(run.moves, run.end.end_cycle) for run in goldens)


def _verdict_scope(campaign: Campaign, scope: str) -> str:
    if campaign.faults.external:
        return f"memory outside the NPU alone, not the NPU; {scope}"
    if campaign.faults.pulses:
        return f"transients in logic alone; {scope}"
    scope = scope.replace(STORAGE[LOGIC], site_word(LOGIC, campaign.faults.model))
    return f"permanent faults alone; {scope}" if campaign.faults.permanent else scope


def _recalled(provenance: Provenance) -> list[str]:
    """Say how many injections the run did not simulate."""
    if not provenance.recalled:
        return []
    return [
        f"The outcomes of {provenance.recalled:,} injections were taken from earlier campaigns, which had "
        "simulated the same faults in the same thing; a sample of them was simulated again."
    ]


def _fault_note(campaign: Campaign) -> str:
    clusters = campaign.faults.clusters_text
    if campaign.faults.external:
        return (
            f"{clusters} The FIT are those of memory outside the NPU, by the "
            "raw rate of SRAM in this technology. They are no part of the NPU's FIT; its storage is not in "
            "these figures."
        )
    if campaign.faults.pulses:
        rates = logic_rates(campaign)
        return (
            "Every fault is a pulse at the output of a cell that lasts one cycle: logical masking is "
            f"simulated exactly. Timing and attenuation leave a part of {rates.derating:.3g} of the pulses, "
            f"which is in the rates; without it every FIT here is {1.0 / rates.derating:.3g} times as large. "
            "Clock and reset are ideal but for clock gates, buffers that the netlist has, and what drives "
            "resets: a pulse at a clock takes an edge away or lets one pass, and makes none within a cycle. "
            "Upsets of storage are not in these figures."
        )
    if campaign.faults.permanent:
        return _permanent_note(campaign)
    return f"{clusters} Transients in logic are not in these figures."


def _permanent_note(campaign: Campaign) -> str:
    if not campaign.faults.logic:
        return (
            "Every fault is a storage bit held at 0 or at 1 from reset on; the rate of a bit is of both. "
            "Permanent faults of the logic between registers are not in these figures."
        )
    if campaign.faults.model == OPEN:
        return (
            "Every fault is an input of a cell that is open at 0 or at 1 (stuck-open) from the release of "
            "reset on: where it decides, the cell keeps what it had. The rate of an input is of both. Clock "
            "and reset pins are left out; stuck pins, bridges and what flip-flops and memories store are not "
            "in these figures."
        )
    if campaign.faults.model == BRIDGE:
        return (
            "Every fault is a bridge between two nets of the list from the release of reset on; rates go by "
            "the list's weights, and say nothing of pairs that are not in it. Stuck pins, open inputs and "
            "what flip-flops and memories store are not in these figures."
        )
    storage = (
        "The pins of flip-flops are among them, and what flip-flops store has a rate of its own besides: a "
        "little is counted twice."
        if campaign.faults.kinds != (LOGIC,)
        else "What flip-flops and memories store is not in these figures."
    )
    return (
        "Every fault in logic is a pin of a cell held at 0 or at 1 from the release of reset on; the rate of "
        "a pin is of both. Pins that come to the same by the structure of the netlist are simulated once and "
        f"count each. {storage} Clock and reset trees, and shorted or open wires, are not in these figures."
    )


def _notes(campaign: Campaign, bench: Bench, area: AreaFacts, bits: Mapping[str, int]) -> list[str]:
    notes = [
        f"{bits[kind]:,} {STORAGE[kind]} were not injected into; their failures are not in these figures."
        for kind in STORAGE
        if kind not in campaign.faults.kinds and bits[kind]
    ]
    notes.append(_fault_note(campaign))
    if bench.relative and campaign.technology.logic_by != BY[0]:
        notes.append(
            f"Faults of cells come by their {campaign.technology.logic_by} (assumed), which their sites "
            f"share: {min(bench.relative.values()):.3g} to {max(bench.relative.values()):.3g} times the mean "
            "rate of a site, by type of cell. The AVF of a block is weighted so."
        )
    elif campaign.faults.logic and campaign.faults.model != BRIDGE:
        notes.append("Each site in logic has the same rate, whatever its cell's type and drive.")
    notes.append("FIT assumes that the NPU runs this network all the time.")
    if any(not element.block for element in bench.sites.elements):
        notes.append(f"Storage that the target's block map does not cover is the block {UNASSIGNED}.")
    return [*notes, *bench.network.remarks, *area.notes, *bench.warnings]
