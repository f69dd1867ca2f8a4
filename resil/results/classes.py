# SPDX-License-Identifier: Apache-2.0
"""Estimates by register class, for plans whose strata are divided by it."""

from __future__ import annotations

from collections.abc import Mapping

from resil.campaign.campaign import Campaign
from resil.faults.sampling import Sample
from resil.record.blocks import RegisterClass
from resil.results.figures import figures
from resil.stats.parts import parts_of
from resil.stats.rates import StratumCounts, estimate_blocks

_DEPTH = 3  # block, kind, register class
DIVIDED = ("uniform", "stratified", "adaptive")


def class_rows(
    campaign: Campaign, sample: Sample, bits: Mapping[str, Mapping[str, int]], rates: Mapping[str, float]
) -> tuple[RegisterClass, ...]:
    """Return AVF and FIT of each register class over all blocks, for the inputs that were run.

    Injections of a group of strata are in proportion to the weights of these, so what of a group falls on a
    class is a sample of that class; a class is the weighted sum over its parts of groups.

    Args:
        campaign: Says what is hazardous.
        sample: What was injected.
        bits: Storage bits of each kind in each block.
        rates: Raw rate of one bit, by kind.

    Returns:
        Each class by its name; none for plans that do not divide faults by class.
    """
    if campaign.sampling.plan not in DIVIDED or campaign.faults.permanent:
        return ()
    strata = [
        StratumCounts(
            label[2],
            label[1],
            bits[label[0]][label[1]],
            part.counts,
            min(part.share, 1.0),
            members=part.members,
        )
        for label, part in parts_of(sample.strata, sample.design, sample.counts, _DEPTH)
    ]
    found, _ = estimate_blocks(strata, rates, campaign.hazardous, sample.confidence)
    exposures: dict[str, float] = {}
    for own in strata:
        exposures[own.block] = exposures.get(own.block, 0.0) + own.exposure
    return tuple(
        RegisterClass.model_validate(
            {
                "register_class": estimate.block,
                "bits": round(exposures[estimate.block]),
                **figures(estimate),
            }
        )
        for estimate in sorted(found, key=lambda estimate: estimate.block)
    )
