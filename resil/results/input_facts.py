# SPDX-License-Identifier: Apache-2.0
"""How the total differs from input to input, for `summary.json` and its notes."""

from __future__ import annotations

from resil.campaign.campaign import Campaign
from resil.faults.sampling import Sample
from resil.record.evidence import InputFit, OverInputsRecord, ToleranceRecord
from resil.results.estimates import PART, Estimates
from resil.stats.input_spread import fewest_inputs, worst

_WORST = 5


def over_inputs_record(campaign: Campaign, sample: Sample, found: Estimates) -> OverInputsRecord:
    """Return the total for inputs like those that were run, and how inputs differ.

    Args:
        campaign: Says where the inputs come from.
        sample: The injections.
        found: Their estimates.
    """
    labels, source = list(sample.inputs), campaign.data_set
    drawn = source is not None and source.drawn
    bound = found.tolerance if drawn else None
    several = len(labels) > 1
    return OverInputsRecord(
        fit_lo=found.inputs.interval.lo,
        fit_hi=found.inputs.interval.hi,
        design_effect=found.inputs.design_effect,
        data_set=source.title if source is not None and source.drawn else "",
        searched=source is not None and not drawn,
        variation=found.spread.variation if several else None,
        within=found.spread.within,
        tolerance=None
        if bound is None
        else ToleranceRecord(part=bound.part, confidence=campaign.confidence, fit=bound.bound),
        tolerance_from=fewest_inputs(PART, sample.confidence),
        worst=tuple(
            InputFit(
                input=labels[place],
                fit=found.each_input[place].estimate,
                fit_lo=found.each_input[place].lo,
                fit_hi=found.each_input[place].hi,
            )
            for place in (worst(found.each_input, _WORST) if several else [])
        ),
    )


def spread_notes(over: OverInputsRecord, count: int) -> list[str]:
    """Return how inputs differ, in sentences.

    Args:
        over: As `over_inputs_record` gives it.
        count: Of the inputs that were run.
    """
    notes = []
    if over.variation is not None:
        notes.append(
            f"The FIT of single inputs varies by {100 * over.variation:.0f} % of its mean (standard "
            "deviation, noise of few injections aside)."
        )
    if over.tolerance is not None:
        bound = over.tolerance
        notes.append(
            f"For {100 * bound.part:g} % of inputs like these the total is below {bound.fit:.3g} FIT, with "
            f"{100 * bound.confidence:g} % confidence; nothing is assumed of how inputs are distributed."
        )
    elif over.data_set:
        notes.append(
            f"A bound for {100 * 0.95:g} % of the inputs needs {over.tolerance_from} inputs or more; "
            f"{count} were run."
        )
    if over.worst:
        named = ", ".join(
            f"{own.input}: {own.fit:.3g} [{own.fit_lo:.3g}, {own.fit_hi:.3g}]" for own in over.worst
        )
        notes.append(f"Worst inputs, FIT with limits that allow for having looked at all {count}: {named}.")
    return notes
