# SPDX-License-Identifier: Apache-2.0
"""What the figures mean, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record import numbers
from resil.record.blocks import Block
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.summary import Summary
from resil.reports.layout import fit_order
from resil.reports.safety import beside_protection

HEADINGS = {
    "met": "FIT budget met",
    "missed": "FIT budget missed",
    "inconclusive": "FIT budget not decided yet",
    "not assessed": "FIT budget not assessed",
    "none": "No budget given",
}
PREDICTED = {
    "to meet": "Predicted to meet the FIT budget",
    "to miss": "Predicted to miss the FIT budget",
    "undecided": "Prediction undecided",
    None: "Predicted, no budget given",
}
_MOST_OF_IT = 0.75
_PROVEN = 1e-9


def heading(summary: Summary) -> str:
    """Return the verdict in a few words; what is predicted is called predicted."""
    verdict = summary.verdict
    if summary.predicted and (verdict.predicted or verdict.result == "none"):
        return f"{PREDICTED[verdict.predicted]}{caveats(summary)}"
    return f"{HEADINGS[verdict.result]}{caveats(summary)}"


def caveats(summary: Summary) -> str:
    """Return what has to stand behind a verdict: silent failures that it leaves out, a golden output that is
    not the network's; "" if there is nothing.
    """
    spared = summary.verdict.spared
    counted = f", {spared} not counted" if spared and summary.verdict.result != "none" else ""
    golden = summary.golden.comparison.caveat
    return f"{counted}, {golden}" if golden else counted


def meaning(summary: Summary) -> list[str]:
    """Return what the verdict means for the reader, one sentence or two for each point."""
    verdict = summary.verdict
    sure = numbers.confidence(summary.campaign.confidence)
    lo, hi = numbers.fit(verdict.fit_interval.lo), numbers.fit(verdict.fit_interval.hi)
    budget = verdict.budget_fit
    sentences: list[str] = []
    if summary.predicted and (verdict.predicted or verdict.result == "none"):
        sentences.append(
            f"Nothing was injected: a model foresees {lo} to {hi} FIT at {sure} confidence, from what it has"
            " seen of other networks. A prediction decides no budget: resil run injects and does."
        )
    elif verdict.result == "met":
        sentences.append(
            f"At {sure} confidence, faults in the injected bits lead to at most {hi} hazardous failures"
            f" in 10⁹ hours; the budget allows {numbers.given(budget)}."
        )
    elif verdict.result == "missed":
        times = numbers.ratio(verdict.fit_interval.lo, budget)
        factor = "" if times is None else f", {times:,.3g} times the budget"
        sentences.append(
            f"Even the lower limit is {lo} FIT{factor}. More injections will not change this answer:"
            " the design needs protection, or the budget another look."
        )
    elif summary.sanity is not None and summary.sanity.failed:
        sentences.append(f"The figures below are no measurement. {summary.sanity.reason}")
    elif verdict.result == "not assessed":
        sentences.append("The figures below decide nothing of what is asked.")
    elif verdict.result == "inconclusive":
        sentences.append(
            f"The interval from {lo} to {hi} FIT holds the budget of {numbers.given(budget)} FIT,"
            f" so these injections cannot decide. {_widest(summary.blocks)}"
        )
    else:
        sentences.append(
            f"The total lies between {lo} and {hi} FIT at {sure} confidence. Whether that is good enough"
            " takes a budget: the share of the item's target that this component may use, with a rationale."
        )
    if remark := summary.golden.comparison.remark:
        sentences.insert(0, remark)
    sentences += [text for text in (concentration(summary), _safe_share(summary)) if text]
    return [numbers.pretty(text) for text in sentences]


def _widest(blocks: Sequence[Block]) -> str:
    widths = {block.name: block.fit_interval.hi - block.fit_interval.lo for block in blocks}
    whole = sum(widths.values())
    if whole <= 0.0 or len(blocks) == 1:
        return "More injections narrow the interval."
    widest = sorted(widths, key=lambda name: -widths[name])[:2]
    share = sum(widths[name] for name in widest) / whole
    return (
        f"More injections in {' and '.join(widest)} narrow it most:"
        f" {numbers.percent(share)} of the blocks' uncertainty is there."
    )


def concentration(summary: Summary) -> str:
    """Return which few blocks cause most of the FIT, and on how much area; empty if none stand out."""
    blocks = fit_order(summary.blocks)
    whole = sum(block.fit or 0.0 for block in blocks)
    area = sum(block.area for block in blocks)
    if len(blocks) < 2 or area <= 0.0:
        return ""
    if whole <= 0.0:
        what = "is predicted" if summary.predicted else "was found"
        return f"No hazardous outcome {what}: every figure below is an upper limit, not an estimate."
    chosen: list[Block] = []
    reached = 0.0
    for block in blocks:
        chosen.append(block)
        reached += block.fit or 0.0
        if reached >= _MOST_OF_IT * whole:
            break
    if len(chosen) > max(1, len(blocks) // 2):
        return ""
    share = numbers.percent(sum(block.area for block in chosen) / area)
    names = _listed([block.name for block in chosen])
    verb = "causes" if len(chosen) == 1 else "together cause"
    verb = f"by prediction {verb}" if summary.predicted else verb
    return f"{names} {verb} {numbers.percent(reached / whole)} of the FIT on {share} of the area."


def _safe_share(summary: Summary) -> str:
    raw = summary.total.fit_raw
    if raw <= 0.0 or not summary.verdict.fit:
        return ""
    share = numbers.percent(summary.verdict.fit / raw)
    become = "are predicted to become" if summary.predicted else "become"
    return f"Of {numbers.fit(raw)} raw faults in 10⁹ hours, {share} {become} hazardous failures."


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]


def protection_meaning(summary: Summary, protection: ProtectionState) -> list[str]:
    """Return what the search for protection found, in sentences."""
    if protection.plan.result == "not_needed":
        bound = numbers.fit(protection.plan.fit_hi_unprotected)
        sentences = [
            f"Asked: {protection.plan.target}. Unprotected, the upper bound is {bound} FIT:"
            " that is enough, nothing is to be added."
        ]
    elif protection.plan.result == "infeasible":
        least = min((point.fit_hi for point in protection.plan.pareto), default=None)
        reach = "" if least is None else f" The best that they reach is {numbers.fit(least)} FIT."
        sentences = [
            f"No set of the known options reaches {protection.plan.target}.{reach}"
            " Give further options, more injections (they lower the bounds), or another target."
        ]
    else:
        sentences = [_optimal(summary, protection), *_spfm(protection)]
        sentences.append(
            "The bound is a prediction from the unprotected design's injections and each option's own"
            " figures; injecting into the protected design is the check."
        )
    sentences += protection.plan.golden
    sentences += filter(None, [beside_protection(summary.safety)])
    asked = summary.verdict.budget_fit
    if asked is not None and protection.plan.budget_fit != asked:
        sentences.append(
            f"Note: protection was planned for {protection.plan.target},"
            f" not for the campaign's budget of {numbers.given(asked)} FIT."
        )
    return [numbers.pretty(text) for text in sentences]


def _spfm(protection: ProtectionState) -> list[str]:
    """Return how SPFM changes, and why hardening moves it less than FIT."""
    before, after, raw = protection.plan.spfm_before, protection.plan.spfm, protection.plan.fit_raw_after
    if before is None or after is None or raw is None:
        return []
    text = (
        f"SPFM goes from {numbers.spfm(before)} (at least {numbers.spfm(protection.plan.spfm_lo_before)}) to"
        f" {numbers.spfm(after)} (at least {numbers.spfm(protection.plan.spfm_lo)})."
    )
    if raw < (1.0 - _PROVEN) * protection.plan.fit_raw_before:
        text += (
            f" Hardened cells lower the upset rate from {numbers.fit(protection.plan.fit_raw_before)} to"
            f" {numbers.fit(raw)} FIT, and SPFM divides by it: hardening shrinks its own denominator."
        )
    return [text]


def _optimal(summary: Summary, protection: ProtectionState) -> str:
    unit = numbers.unit(summary.total.area_unit)
    text = (
        f"For {numbers.percent(protection.area_overhead)} more area"
        f" ({numbers.area(protection.area_added)} {unit}{', measured' if protection.area_measured else ''})"
        f" the upper bound falls from {numbers.fit(protection.plan.fit_hi_unprotected)}"
        f" to {numbers.fit(protection.plan.fit_hi)} FIT, which meets {protection.plan.target}."
    )
    if protection.plan.area_overhead_lockstep is not None:
        lockstep = numbers.percent(protection.plan.area_overhead_lockstep)
        text += f" Duplicating everything would cost {lockstep}."
    if protection.plan.gap is not None and protection.plan.gap < _PROVEN:
        text += " No set of these options does it with less area; that is proven."
    elif protection.plan.gap is not None:
        text += f" The proven optimality gap is {numbers.percent(protection.plan.gap)}."
    return f"{text} {confirmation_line(protection)}".rstrip()
