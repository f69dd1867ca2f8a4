# SPDX-License-Identifier: Apache-2.0
"""The first screen: verdict with its population, worst block, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from resil.record import numbers
from resil.record.protection_state import ProtectionState
from resil.record.safety import Safety
from resil.record.settle import injections_to_settle
from resil.record.summary import Summary
from resil.reports.layout import fit_order
from resil.reports.narrative import heading
from resil.reports.safety import HEADINGS

_MARKS = {"met": "✓", "missed": "✕", "none": "\u2013"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reader is to know first.

    Attributes:
        tone: `met`, `missed`, `inconclusive` or `none`: the colour.
        mark: A sign of it.
        heading: The verdict in a few words.
        reason: Why.
        figure: The total with its interval and budget.
        worst: The block of the largest FIT, or why there is none.
        next: What to do, and the command for it; the command may be empty.
    """

    tone: str
    mark: str
    heading: str
    reason: str
    figure: str
    worst: str
    next: tuple[str, str]


def answer(summary: Summary, protection: ProtectionState | None) -> Answer:
    """Return the first screen of a report."""
    safety, verdict = summary.safety, summary.verdict
    result = verdict.result if safety is None else safety.result
    tone = "inconclusive" if result == "not assessed" else result
    said = heading(summary) if safety is None else HEADINGS[safety.result]
    fit = verdict.fit_interval
    against = "" if verdict.budget_fit is None else f", budget {numbers.given(verdict.budget_fit)}"
    what = "predicted" if summary.predicted else "unprotected"
    return Answer(
        tone=tone,
        mark=_MARKS.get(tone, "?"),
        heading=said,
        reason=verdict.reason if safety is None else safety.reason,
        figure=f"{numbers.fit(fit.estimate)} {numbers.fit_range(fit)} FIT {what}{against}",
        worst=worst_block(summary),
        next=next_step(summary, protection),
    )


def worst_block(summary: Summary) -> str:
    """Return the block of the largest FIT with its interval, and how much of FIT and area it is."""
    block = fit_order(summary.blocks)[0]
    if not block.sampled or not block.fit:
        found = "predicted" if summary.predicted else "found"
        return f"no block stands out: no hazardous outcome was {found}"
    title = summary.target.titles.get(block.name, "")
    named = f"{block.name} ({title})" if title else block.name
    share = numbers.percent(numbers.ratio(block.fit, summary.total.fit))
    area = numbers.ratio(block.area, summary.total.area)
    on = "" if not area else f" on {numbers.percent(area)} of the area"
    return (
        f"{named}: {numbers.fit(block.fit)} {numbers.fit_range(block.fit_interval)} FIT, {share} of all{on}"
    )


def next_step(summary: Summary, protection: ProtectionState | None) -> tuple[str, str]:
    """Return what to do next, and the command for it, which may be empty."""
    verdict = summary.verdict
    if summary.sanity is not None and summary.sanity.failed:
        return (
            "Nothing was measured: mend what the run watches, then inject again.",
            "resil run CAMPAIGN.toml",
        )
    if summary.predicted:
        return "Inject: a prediction decides nothing.", "resil run CAMPAIGN.toml"
    if protection is not None and protection.plan.result != "not_needed":
        return _of_protection(protection)
    if verdict.result == "missed":
        return "Find the protection of least area that meets the budget.", "resil protect RUN_DIR"
    if verdict.result == "inconclusive":
        return _more_injections(summary)
    if summary.safety is not None and summary.safety.result != "met":
        return _of_claims(summary.safety)
    if verdict.result == "none":
        return "Give a budget with its rationale ([budget] fit): without one nothing is decided.", ""
    if verdict.result == "not assessed":
        return "See below what was not assessed, and why.", ""
    return "See that the assumptions of use hold where this is integrated, and file fmeda.xlsx.", ""


def _of_claims(safety: Safety) -> tuple[str, str]:
    rows = [row for row in safety.rows if row.name in safety.claims and row.state != "met"]
    spfm = next((row for row in rows if row.name == "spfm_transient" and row.state == "missed"), None)
    if spfm is not None and spfm.target is not None:
        command = f"resil protect RUN_DIR --spfm-target {numbers.given(spfm.target)}"
        return f"Find the protection of least area with which {spfm.title} meets its target.", command
    titles = "; ".join(f"{row.title} ({row.state})" for row in rows)
    return f"See below what these claimed rows lack: {titles}.", ""


def _more_injections(summary: Summary) -> tuple[str, str]:
    verdict, made = summary.verdict, summary.total.injections
    fit = verdict.corner_fit or verdict.fit_interval
    wanted = None if verdict.budget_fit is None else injections_to_settle(fit, verdict.budget_fit, made)
    if wanted is None:
        return "The estimate is too near to the budget for injections to settle it: protect, or ask less.", ""
    count = numbers.count(wanted)
    command = f"resil run CAMPAIGN.toml --set faults.injections={wanted} --resume"
    return f"Inject more: about {count} would settle it if the estimate holds ({made:,} made).", command


def _of_protection(protection: ProtectionState) -> tuple[str, str]:
    plan = protection.plan
    if plan.result == "infeasible":
        return (
            "No known set reaches what is asked: give other options, more injections or another target.",
            "",
        )
    if plan.from_estimate:
        return "The set is predicted from an estimate: inject before building it.", "resil run CAMPAIGN.toml"
    if protection.build is None:
        return (
            "Build the protection that was found and inject into it.",
            "resil protect RUN_DIR --build DIR --verify",
        )
    if protection.confirmation is None:
        return (
            "Inject into what was built: it is not confirmed yet.",
            "resil protect RUN_DIR --build DIR --verify",
        )
    if not protection.confirmed:
        return "New injections do not confirm the set: choose again with their data.", "resil protect RUN_DIR"
    return "Confirmed by new injections: file fmeda.xlsx with its assumptions of use.", ""
