# SPDX-License-Identifier: Apache-2.0
"""What `summary.json` says of the sampling."""

from __future__ import annotations

from resil.campaign.campaign import Campaign
from resil.campaign.sampling_settings import INPUTS
from resil.faults.sampling import Sample
from resil.record.evidence import LookRecord, Pilot, SamplingRecord
from resil.results.estimates import Estimates
from resil.results.input_facts import over_inputs_record, spread_notes

_REASONS = {
    "margin": "when the total was known to the margin",
    "budget": "when the verdict was settled",
    "inputs": "since inputs differ too much for injections alone to bring the margin: draw more inputs",
    "maximum": "at the most injections allowed",
    "exhausted": "when no fault was left",
}


def sampling_record(campaign: Campaign, sample: Sample, found: Estimates) -> SamplingRecord:
    """Return plan, looks and stopping reason, and the total for inputs like those that were run."""
    settings = campaign.sampling
    return SamplingRecord(
        plan=settings.plan,
        margin=settings.margin,
        until_decided=settings.until_decided and campaign.budget is not None,
        strata=len(sample.strata),
        groups=sample.design.groups,
        guided=sample.guided,
        most=campaign.faults.injections,
        pilot=sample.pilot,
        pilots=tuple(
            Pilot(block=block, kind=kind, injections=n) for (block, kind), n in _pilots(sample).items()
        ),
        looks=tuple(
            LookRecord(
                injections=look.injections,
                fit=look.total.estimate,
                fit_lo=look.total.lo,
                fit_hi=look.total.hi,
                confidence=look.total.confidence,
            )
            for look in sample.looks
        ),
        reason=sample.reason,
        inputs=INPUTS[campaign.over_inputs],
        over_inputs=over_inputs_record(campaign, sample, found),
    )


def _pilots(sample: Sample) -> dict[tuple[str, str], int]:
    sums: dict[tuple[str, str], int] = {}
    for (block, kind, *_), number in zip(sample.strata.labels, sample.pilots.tolist(), strict=True):
        sums[block, kind] = sums.get((block, kind), 0) + number
    return sums


def beyond_sample(campaign: Campaign, inputs: int) -> str:
    """Return why nothing is decided of inputs like those that were run; "" if it is, or is not asked.

    Args:
        campaign: Says what is asked.
        inputs: How many were run.
    """
    if not campaign.over_inputs or inputs > 1:
        return ""
    return (
        'Expected several inputs, as the claim is about inputs "like these" ([sampling] inputs); found one, '
        'which says nothing of others. Run more inputs, or ask about "these" alone.'
    )


def sampling_notes(campaign: Campaign, sample: Sample, found: Estimates) -> list[str]:
    """Return what a reader of the intervals has to know of the sampling."""
    notes = []
    settings = campaign.sampling
    if settings.plan == "adaptive" or settings.margin is not None or settings.until_decided:
        notes.append(
            f"Sampling was {settings.plan} and stopped {_REASONS[sample.reason]}; the intervals allow for "
            f"each of the {len(sample.looks)} looks at the results."
        )
    if campaign.sampling.plan == "predicted":
        notes.append(
            "After a first batch, injections went where a sensitivity model foresees failures, as that batch "
            "agreed with it; the interval of the total's FIT is that of a sum over levels of predicted risk."
            if sample.guided
            else "The first batch of injections did not bear out the sensitivity model: all are even."
        )
    if sample.foreseen:
        notes.append(
            "The sensitivity model that ships decided where injections go, in place of a pilot; no figure "
            "rests on it."
        )
    if sample.pilot:
        notes.append(
            f"{sample.pilot:,} injections of a pilot decided where to inject and are not in these figures."
        )
    inputs = found.inputs
    count, over = len(sample.inputs), inputs.interval
    if count == 1:
        notes.append("One input was run: how the figures vary with the input is not in the intervals.")
    elif campaign.over_inputs:
        notes.append(
            f"Intervals are for inputs like the {count} that were run: the estimate varies "
            f"{inputs.design_effect:.2g} times as much as if inputs were alike, and more inputs narrow it."
        )
    else:
        notes.append(
            f"Intervals are for the {count} inputs that were run. For inputs like these, the total is "
            f"{over.lo:.3g} to {over.hi:.3g} FIT."
        )
    return [*notes, *spread_notes(over_inputs_record(campaign, sample, found), count)]
