# SPDX-License-Identifier: Apache-2.0
"""Which limits of a plan a network is shown to miss without protection: by these it can refuse a set."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from resil.protection.corners import CENTRE, Corners
from resil.protection.observed import STATED, ObservedStratum, evidence_of
from resil.record.protection import Protection

CRITICAL = "sdc_critical"
FIT, SPFM, FIT_SHARE, DUE = LIMITS = ("fit", "spfm", "fit_share", "due")


def missed_limits(
    plan: Protection,
    strata: Sequence[ObservedStratum],
    hazardous: Collection[str],
    confidence: float,
    corners: Corners,
) -> tuple[str, ...]:
    """Return the limits that are missed, out of `LIMITS`.

    Shown is a miss by the favourable limit, at the corner of the raw rates where the limit is hardest to
    keep: a set has to keep it there too. A share of a network's own FIT is missed by any FIT that is shown.

    Args:
        plan: Says what is asked.
        strata: What was found without protection.
        hazardous: Outcomes that count as failures.
        confidence: Of the limits.
        corners: Of raw rates and sizes of upsets.
    """
    if not strata:
        return ()
    at = [evidence_of(strata, STATED, confidence, own) for own in (CENTRE, *corners.values())]
    rates = [own.rate(hazardous) for own in at]
    fit, target = max(rate.lo for rate in rates), plan.spfm_target
    missed = {
        FIT: plan.storage_budget is not None and fit > plan.storage_budget,
        SPFM: target is not None
        and any(
            rate.lo > plan.storage_within(target, own.fit_raw) for rate, own in zip(rates, at, strict=True)
        ),
        FIT_SHARE: plan.fit_share_target is not None and fit > 0.0,
        DUE: plan.storage_due is not None and max(own.rate({"due"}).lo for own in at) > plan.storage_due,
    }
    return tuple(name for name in LIMITS if missed[name])


def can_refuse(plan: Protection, missed: Collection[str]) -> bool:
    """Whether a network that misses these limits without protection can refuse a set.

    Where a limit of hazardous failures is asked, one of these has to be missed: detected failures alone show
    nothing of what protection is for.
    """
    return bool(set(missed) - {DUE}) or (DUE in missed and not asks_of_hazards(plan))


def asks_of_hazards(plan: Protection) -> bool:
    """Whether a plan has a limit of hazardous failures, and not of detected ones alone."""
    asked = (plan.budget_fit, plan.spfm_target, plan.fit_share_target)
    return any(own is not None for own in asked)


def asked_text(plan: Protection) -> str:
    """Return what a network has to miss without protection, in words."""
    beside = "" if plan.logic is None else " beside the limit of logic"
    asked = [] if plan.budget_fit is None else [f"more than {plan.storage_budget:g} FIT"]
    asked += [] if plan.spfm_target is None else [f"SPFM below {plan.spfm_target:.3%}{beside}"]
    asked += [] if plan.fit_share_target is None else ["hazardous failures"]
    if not asked and plan.storage_due is not None:
        asked.append(f"more than {plan.storage_due:g} FIT of detected failures")
    return " or ".join(asked)
