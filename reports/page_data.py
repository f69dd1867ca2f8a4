# SPDX-License-Identifier: Apache-2.0
"""What the script of a report needs, compressed into the page; and the script with its hash."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from hashlib import sha256
from importlib.resources import files

from resil.record import numbers
from resil.record.detail import Detail
from resil.record.interval import RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.record.protection_parts import BlockLeft, FrontPoint
from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary


@cache
def script() -> str:
    """Return the script as it stands in the page, in a section that XML takes as text."""
    text = files("resil.reports").joinpath("explore.js").read_text(encoding="utf-8")
    return f"//<![CDATA[\n{text}//]]>"


@cache
def script_hash() -> str:
    """Return the hash by which the page's content security policy knows the script, and no other."""
    return base64.b64encode(sha256(script().encode()).digest()).decode()


def packed(summary: Summary, protection: ProtectionState | None, detail: Detail | None) -> str:
    """Return the data of the page as base64 of gzip of JSON; "" if there is nothing to be shown by it.

    Floats keep four digits: what is shown has three.
    """
    if detail is None and not (protection and protection.plan.pareto):
        return ""
    plain = {
        "detail": None
        if detail is None
        else _rounded(detail.model_dump(mode="json", exclude={"mix", "groups"})),
        "outcomes": [[outcome.key, outcome.short] for outcome in OUTCOMES],
        "areas": {block.name: block.area for block in summary.blocks},
        "top": summary.target.top,
        "front": [] if protection is None else front_points(protection),
    }
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    return [_rounded(own) for own in value] if isinstance(value, list) else value


def front_points(protection: ProtectionState) -> list[dict[str, object]]:
    """Return the points of the front in words: what each costs, leaves and holds."""
    plan = protection.plan
    chosen = plan.area_added
    nearest = min(
        range(len(plan.pareto)),
        key=lambda place: abs(plan.pareto[place].area_added - (chosen or 0.0)),
        default=-1,
    )
    return [
        {
            "overhead": point.area_overhead,
            "fit_hi": point.fit_hi,
            "area": f"+{numbers.pretty(numbers.percent(point.area_overhead))}",
            "left": numbers.pretty(f"{numbers.fit(point.fit)}, at most {numbers.fit(point.fit_hi)} FIT"),
            "rows": rows_held(protection, point),
            "set": [[block, option] for block, option in point.choices.items() if option != "none"],
            "chosen": chosen is not None and place == nearest,
            "blocks": [[block, *_block_words(left)] for block, left in point.blocks.items()],
            "measured": _measured(protection) if chosen is not None and place == nearest else "",
        }
        for place, point in enumerate(plan.pareto)
    ]


def _block_words(left: BlockLeft) -> list[object]:
    """Return what is left in a block before and after, in words, and both upper limits for bars."""
    before, after = (
        numbers.pretty(f"{numbers.fit(fit)}, at most {numbers.fit(hi)}")
        for fit, hi in ((left.fit_before, left.fit_hi_before), (left.fit_after, left.fit_hi_after))
    )
    return [before, after, float(f"{left.fit_hi_before:.4g}"), float(f"{left.fit_hi_after:.4g}")]


def _measured(protection: ProtectionState) -> str:
    """Return what injection into the chosen set, built, has said; "" if nothing was injected."""
    found = protection.confirmation
    if found is None:
        return ""
    words = "confirmed" if found.confirmed else "NOT confirmed"
    own = found.measured
    limits = numbers.fit_range(RecordedInterval(own.fit, own.fit_lo, own.fit_hi))
    return numbers.pretty(
        f"{numbers.fit(own.fit)} {limits} FIT by {numbers.count(own.injections)} new injections, where "
        f"{numbers.fit(found.predicted.fit)} was predicted: {words}"
    )


def rows_held(protection: ProtectionState, point: FrontPoint) -> list[tuple[bool, str]]:
    """Return which limits of the plan a point keeps by prediction, each with its words.

    The bound on FIT is compared here; what else was asked is known of a point by the part of all that is
    allowed which it uses, as the choice counted it.
    """
    plan = protection.plan
    rows: list[tuple[bool, str]] = []
    if plan.budget_fit is not None:
        bound, budget = numbers.fit(point.worst_hi), numbers.given(plan.budget_fit)
        text = f"FIT budget: at most {bound} of {budget} FIT, predicted"
        rows.append((point.worst_hi <= plan.budget_fit, numbers.pretty(text)))
    others = [plan.spfm_target, plan.fit_share_target, plan.due_fit_target]
    if any(own is not None for own in others):
        used = numbers.pretty(numbers.percent(point.reserve))
        text = f"all that is asked ({plan.target}): uses {used} of what is allowed, predicted"
        rows.append((point.reserve <= 1.0 and all(own for own, _ in rows), text))
    return rows
