# SPDX-License-Identifier: Apache-2.0
"""Why new injections into what was built refuse a plan of protection, in words."""

from __future__ import annotations

from collections.abc import Sequence

from resil.protection.observed import Observed
from resil.protection.predictions import predicted_fit
from resil.protection.sensitive import asked_text, can_refuse
from resil.record.golden import DIFFERS
from resil.record.protection import Protection
from resil.record.protection_confirmation import ConfirmingNetwork
from resil.stats.intervals import clopper_pearson


def refusals_on(plan: Protection, row: ConfirmingNetwork, found: Observed, confidence: float) -> list[str]:
    """Return why one network refuses a plan; nothing if it does not.

    Args:
        plan: That was built.
        row: What the network's injections say of it.
        found: These injections.
        confidence: With which limits of the network hold.
    """
    return [
        *_too_low(plan, row),
        *_limits(plan, row),
        *_unsound(found),
        *_mechanisms(found, confidence),
        *_hangs(found, confidence),
    ]


def _too_low(plan: Protection, row: ConfirmingNetwork) -> list[str]:
    fit = predicted_fit(plan)
    if fit >= row.fit_lo:
        return []
    return [
        f"predicted {fit:.3g} FIT is too low: measured {row.fit_lo:.3g} to {row.fit_hi:.3g} FIT on "
        f"{row.network}"
    ]


def too_high(least: float, rows: Sequence[ConfirmingNetwork]) -> list[str]:
    """Return what is wrong with the least that a plan predicts; nothing if a network has as little."""
    most = max(row.fit_hi for row in rows)
    if least <= most:
        return []
    return [f"predicted at least {least:.3g} FIT is too high: at most {most:.3g} FIT measured"]


def _unsound(found: Observed) -> list[str]:
    reasons = []
    if found.nothing_measured:
        reasons.append(f"on {found.network} nothing was measured: {found.nothing_measured}")
    if found.golden.state == DIFFERS:
        reasons.append(
            f"the outputs of {found.network} without a fault are not the network's: {found.golden.text}"
        )
    return reasons


def _limits(plan: Protection, row: ConfirmingNetwork) -> list[str]:
    budget, target, due = plan.budget_fit, plan.spfm_target, plan.due_fit_target
    asked = plan.fit_share_target
    reasons = []
    at = f", {row.corner}," if row.corner else ""
    if plan.logic is not None and row.logic_fit_hi is None:
        reasons.append(f"on {row.network} no pulses in logic were injected, with which the set was chosen")
    if not can_refuse(plan, row.missed_unprotected):
        reasons.append(
            f"on {row.network} nothing shows that it can refuse a set: expected {asked_text(plan)} "
            "without protection"
        )
    if budget is not None and row.corner_fit_hi > budget:
        reasons.append(
            f"on {row.network}{at} at most {row.corner_fit_hi:.3g} FIT, asked: {budget:g} FIT or less"
        )
    if target is not None and row.corner_spfm_lo < target:
        reasons.append(
            f"on {row.network} SPFM of at least {row.corner_spfm_lo:.3%}, asked: {target:.3%} or more"
        )
    if due is not None and row.corner_due_fit_hi > due:
        reasons.append(
            f"on {row.network}{at} at most {row.corner_due_fit_hi:.3g} FIT of detected failures, asked: "
            f"{due:g} FIT or less"
        )
    if asked is not None and (row.fit_share_hi is None or row.fit_share_hi > asked):
        left = "an unknown part" if row.fit_share_hi is None else f"at most {row.fit_share_hi:.3%}"
        reasons.append(
            f"on {row.network} {left} of its FIT without protection is left, asked: {asked:.3%} or less"
        )
    reasons += _permanent_limits(plan, row)
    if row.safety not in (None, "met"):
        reasons.append(f"on {row.network} the safety verdict is {row.safety}, asked: met")
    return reasons


def _permanent_limits(plan: Protection, row: ConfirmingNetwork) -> list[str]:
    most, target = plan.permanent_fit_target, plan.permanent_spfm_target
    fit, least = row.permanent_fit_hi, row.permanent_spfm_lo
    if not plan.asks_of_permanent:
        return []
    if fit is None or least is None:
        return [f"on {row.network} nothing is known of permanent faults, of which a limit was asked"]
    reasons = []
    if most is not None and fit > most:
        reasons.append(
            f"on {row.network} at most {fit:.3g} FIT of permanent faults, asked: {most:g} FIT or less"
        )
    if target is not None and least < target:
        reasons.append(
            f"on {row.network} SPFM of permanent faults of at least {least:.3%}, asked: {target:.3%} or more"
        )
    return reasons


def _hangs(found: Observed, confidence: float) -> list[str]:
    hangs = found.hangs
    if hangs is None or not hangs.seen:
        return []
    if clopper_pearson(hangs.reported, hangs.seen, confidence, "upper").hi >= hangs.promised:
        return []
    return [
        f"of {hangs.seen:,} hangs on {found.network} an alarm reported {hangs.reported:,}, of the watchdog "
        f"{hangs.promised:.1%} are expected: it does not detect them"
    ]


def _mechanisms(found: Observed, confidence: float) -> list[str]:
    reasons = []
    for own in found.copies:
        on = f"of {own.injections:,} upsets of {own.mechanism} on {found.network}"
        for count, what in (
            (own.hazardous, "were hazardous: the mechanism does not protect"),
            (own.unreported, "raised no alarm: the mechanism does not detect"),
        ):
            if not count:
                continue
            least = clopper_pearson(count, own.injections, confidence, "lower").lo
            if least > own.counted:
                reasons.append(
                    f"{count:,} {on} {what}; at least {least:.2%}, where the plan counts {own.counted:.2%}"
                )
        if own.wrong:
            reasons.append(
                f"{own.wrong:,} {on} were said to be corrected and showed: the mechanism does not correct"
            )
    return reasons
