# SPDX-License-Identifier: Apache-2.0
"""How many upsets of which storage show what a plan of protection predicts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from resil.campaign.safety import SafetySettings
from resil.protection.observed import Observed
from resil.protection.predictions import predicted_fit
from resil.protection.sample_size import (
    ENDLESS,
    SIZES,
    ExpectedStorage,
    InjectionSpread,
    InputsLikeThese,
    spread_needed,
)
from resil.record.protection import Protection
from resil.stats.input_spread import spread_of

# Part of a limit up to which an estimate can be shown to keep it.
_NEAR = 0.9


@dataclass(frozen=True, slots=True)
class Allowed:
    """Most that upper limits may be, in FIT; None where nothing is asked.

    Attributes:
        fit: Of hazardous failures.
        due: Of detected failures.
    """

    fit: float | None
    due: float | None

    @staticmethod
    def by(
        plan: Protection,
        fit_raw: float,
        highest: float = 1.0,
        safety: SafetySettings | None = None,
        hazardous: Collection[str] = (),
    ) -> Allowed:
        """Return what a plan promises, and what a campaign claims of the same rates.

        Rows of a safety verdict that ask for more than rates of upsets are none of them: what a plan predicts
        says nothing of permanent faults, of the coverage of alarms that were there before, or of times.

        Args:
            plan: That was built.
            fit_raw: Upset rate of all storage of what was built.
            highest: Factor of the raw rates at the corner at which rates have to be kept.
            safety: Claims of its campaign; None without any.
            hazardous: Outcomes that count as failures: detected ones have no limit of their own among these.
        """
        claims = () if safety is None else safety.claims
        least = [plan.spfm_target]
        budgets, due = [plan.storage_budget], [plan.storage_due]
        if safety is not None:
            least.append(safety.spfm if "spfm_transient" in claims else None)
            budgets.append(safety.pmhf_fit if "pmhf_share" in claims else None)
            due.append(safety.due_fit if "due_rate" in claims and "due" not in hazardous else None)
        fit = [plan.storage_within(own, fit_raw) for own in least if own is not None]
        fit += [own / highest for own in budgets if own is not None]
        return Allowed(
            min(fit, default=None), min((own / highest for own in due if own is not None), default=None)
        )


def planned_upsets(
    plan: Protection,
    fit_raw: Mapping[tuple[str, str], float],
    fixed: Mapping[tuple[str, str], int],
    networks: int,
    confidence: float,
    size: int | None = None,
    allowed: Allowed | None = None,
    faults: Mapping[tuple[str, str], int] | None = None,
    drawn: InputsLikeThese | None = None,
) -> InjectionSpread:
    """Return how many upsets of which storage each of some networks needs to show what a plan predicts.

    They are judged as `confirmation` does: by the limits that the plan has to keep, and an interval over
    blocks and kinds of storage that has its part of the error. A network may be as unlike the plan's as the
    most unlike of these is the others: where a set chosen without it keeps the limits on it by estimate, as
    many are planned as show that.

    Args:
        plan: That was built.
        fit_raw: Upset rate of each kind of storage in each block of what was built, by both.
        fixed: Fewest injections into redundant storage, of which the plan expects no failure.
        networks: How many there are.
        confidence: Of the plan's campaign.
        size: Injections to be spread over the rest; None for as many as the plan's limits need.
        allowed: What is asked; None for what the plan promises, with raw rates at their centre.
        faults: How many there are in each storage on the network with the fewest; None for no bound.
        drawn: Inputs that are run, where it is about inputs like these; None if it is about these.
    """
    allowed = allowed or Allowed.by(plan, sum(fit_raw.values()))
    left = {
        (choice.block, kind): fit for choice in plan.choices for kind, fit in choice.fit_after_by_kind.items()
    }
    foreseen = [
        predicted_fit(plan),
        *(own.fit for own in plan.hold_out if allowed.fit is not None and own.fit < _NEAR * allowed.fit),
    ]
    scale, most = max(foreseen) / sum(left.values()) if sum(left.values()) > 0.0 else 1.0, faults or {}
    due = _detected(plan, fit_raw, fixed, allowed.due)
    expected = []
    for key, raw in fit_raw.items():
        if raw > 0.0:
            share = min(1.0, scale * left.get(key, 0.0) / raw)
            reported = min(1.0 - share, due.get(key, 0.0) / raw)
            expected.append(
                ExpectedStorage(*key, raw, share, fixed.get(key), most.get(key, ENDLESS), reported)
            )
    joint = 1.0 - (1.0 - confidence) / networks
    sizes = SIZES if size is None else (size,)
    return spread_needed(expected, allowed.fit, joint, sizes, networks, allowed.due, drawn)


def inputs_asked(unprotected: Sequence[Observed], hazardous: Collection[str]) -> InputsLikeThese | None:
    """Return what inputs a confirmation is about, where that is inputs like those that were run.

    How much inputs differ is taken from upsets without protection: of the network with the fewest inputs,
    and of that on which they differ most.
    """
    found = []
    for own in unprotected:
        counts = [stratum.inputs for stratum in own.strata]
        if not counts or not all(counts):
            return None
        events = [[sum(one.get(name, 0) for name in hazardous) for one in each] for each in counts]
        trials = [[sum(one.values()) for one in each] for each in counts]
        spread = spread_of(np.array(events).T, np.array(trials).T, [s.group.fit_raw for s in own.strata])
        found.append((spread.inputs, spread.variation or 0.0))
    inputs = min((number for number, _ in found), default=0)
    return InputsLikeThese(inputs, max(own for _, own in found)) if inputs > 1 else None


def _detected(
    plan: Protection,
    fit_raw: Mapping[tuple[str, str], float],
    fixed: Mapping[tuple[str, str], int],
    allowed: float | None,
) -> dict[tuple[str, str], float]:
    """Return the detected failures that are expected of each storage of what was built, in FIT.

    Those of the storage that options add are of the redundant one, of which they are spread evenly. Hold-out
    networks are taken as for hazardous failures.
    """
    if allowed is None or any(own.due_after_by_kind is None for own in plan.choices):
        return {}
    made = {
        (own.block, kind): due for own in plan.choices for kind, due in (own.due_after_by_kind or {}).items()
    }
    added, room = sum(own.due_added for own in plan.choices), sum(fit_raw.get(key, 0.0) for key in fixed)
    if room > 0.0:
        made |= {key: added * fit_raw[key] / room for key in fixed if key in fit_raw}
    whole, others = sum(made.values()), [own.due for own in plan.hold_out if own.due is not None]
    foreseen = [plan.due or 0.0, *(own for own in others if own < _NEAR * allowed)]
    foreseen += [sum(others) / len(others)] if others else []
    scale = max(foreseen) / whole if whole > 0.0 else 1.0
    return {key: scale * due for key, due in made.items()}
