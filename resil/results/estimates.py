# SPDX-License-Identifier: Apache-2.0
"""From a sample to rates and FIT of blocks and total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from resil.campaign.campaign import Campaign
from resil.faults.plan import IntArray
from resil.faults.sampling import Sample
from resil.record.blocks import PartLimit
from resil.results.limits import part_limits
from resil.results.over_inputs import counts_over_inputs, fit_over_inputs, over_inputs
from resil.stats.clusters import OverInputs
from resil.stats.input_spread import InputSpread, ToleranceBound, each_input, spread_of, tolerance_bound
from resil.stats.intervals import Interval
from resil.stats.parts import StrataGroup, collapse
from resil.stats.rates import BlockEstimate, StratumCounts, estimate_blocks

# Of the inputs, that a bound is given for.
PART = 0.95


def stratum_counts(
    sample: Sample,
    counts: Mapping[str, IntArray],
    bits: Mapping[str, Mapping[str, int]],
    *,
    by_block: bool,
) -> list[StratumCounts]:
    """Return counts of the sample's groups, as blocks are estimated from, or as the total is.

    Args:
        sample: What was injected.
        counts: Of each outcome in each stratum: all, or those of one input.
        bits: Storage bits of each kind in each block.
        by_block: For blocks, not for the total.
    """

    def of(group: StrataGroup) -> StratumCounts:
        own = bits[group.block][group.kind] if group.block else sum(n[group.kind] for n in bits.values())
        relative = sample.relative.get((group.block, group.kind), 1.0)
        share = min(group.share, 1.0)
        return StratumCounts(group.block, group.kind, own, group.counts, share, relative, group.members)

    return [of(group) for group in collapse(sample.strata, sample.design, counts, by_block=by_block)]


@dataclass(frozen=True)
class Estimates:
    """What a sample says.

    Attributes:
        strata: Counts of the groups that blocks are estimated from.
        blocks: Estimate of each block that was sampled.
        total: Of all.
        inputs: The total hazardous FIT for inputs like those that were run.
        spread: Mean and variances of the same over the inputs.
        each_input: The same of each input, with limits that hold for all of them together.
        tolerance: A bound for the same of most inputs; None with too few.
        limits: Of each block and kind of storage, which hold together; see `part_limits`.
        kinds: Of each kind of storage in all blocks, its name for that of a block.
    """

    strata: list[StratumCounts]
    blocks: dict[str, BlockEstimate]
    total: BlockEstimate
    inputs: OverInputs
    spread: InputSpread
    each_input: tuple[Interval, ...]
    tolerance: ToleranceBound | None
    limits: tuple[PartLimit, ...]
    kinds: tuple[BlockEstimate, ...]


def estimates_of(
    campaign: Campaign, sample: Sample, bits: Mapping[str, Mapping[str, int]], rates: Mapping[str, float]
) -> Estimates:
    """Return the estimates that the campaign asks for.

    Args:
        campaign: Says what is hazardous, and what the intervals are about.
        sample: What was injected.
        bits: Storage bits of each kind in each block.
        rates: Raw rate of one bit, by kind.
    """
    strata = stratum_counts(sample, sample.counts, bits, by_block=True)
    whole = stratum_counts(sample, sample.counts, bits, by_block=False)
    hazardous, confidence = campaign.hazardous, sample.confidence
    blocks, total = estimate_blocks(strata, rates, hazardous, confidence, whole)
    if sample.guided:
        total = replace(total, fit=sample.looks[-1].total)
    by_input = [stratum_counts(sample, counts, bits, by_block=True) for counts in sample.inputs.values()]
    all_inputs = [stratum_counts(sample, counts, bits, by_block=False) for counts in sample.inputs.values()]
    over = fit_over_inputs(all_inputs, rates, hazardous, confidence)
    own = counts_over_inputs(all_inputs, rates, hazardous)
    bound = tolerance_bound(*own, PART, confidence)
    like_these = campaign.over_inputs
    limits = part_limits(strata, by_input if like_these else None, rates, hazardous, confidence)
    by_kind, _ = estimate_blocks([_named_by_kind(s) for s in whole], rates, hazardous, confidence)
    if like_these:
        by_kind = tuple(
            over_inputs(
                kind,
                [[s for s in counts if s.kind == kind.block] for counts in all_inputs],
                *(rates, hazardous, confidence),
            )
            for kind in by_kind
        )
        total = over_inputs(total, all_inputs, rates, hazardous, confidence)
        blocks = tuple(
            over_inputs(
                block,
                [[s for s in counts if s.block == block.block] for counts in by_input],
                *(rates, hazardous, confidence),
            )
            for block in blocks
        )
    return Estimates(
        strata,
        {block.block: block for block in blocks},
        total,
        over,
        spread_of(*own),
        tuple(each_input(*own, confidence)),
        bound,
        limits,
        by_kind,
    )


def _named_by_kind(counts: StratumCounts) -> StratumCounts:
    return replace(counts, block=counts.kind)
