# SPDX-License-Identifier: Apache-2.0
"""The page of a run that is under way, as it is at one moment."""

from __future__ import annotations

from markupsafe import Markup

from resil.record import numbers
from resil.record.interim import ENDS, Interim
from resil.record.outcomes import OUTCOMES
from resil.reports.figure_intervals import Mark, interval_chart
from resil.reports.figures import NARROW, WIDE
from resil.reports.svg import clean
from resil.reports.table import Column, Table
from resil.reports.templates import page_style, page_template

REFRESH_SECONDS = 5
_HEADINGS = {
    "injecting": "Injecting",
    "ended": "The run has ended",
    "failed": "The run may not be used",
    "not injecting": "Nothing is being injected now",
}
_TONES = {"injecting": "inconclusive", "ended": "none", "failed": "missed", "not injecting": "none"}


def live_html(found: Interim, resil: str, *, still: bool = False) -> str:
    """Return the page. It loads nothing, runs no script, and escapes every text.

    Args:
        found: The run at this moment.
        resil: Version that looks.
        still: The server does not have it shown anew by itself: who reads slowly, or by ear, can.
    """
    page = page_template("live.html.j2").render(
        found=found,
        resil=resil,
        style=page_style(),
        heading=_HEADINGS[found.state],
        tone=_TONES[found.state],
        refresh=REFRESH_SECONDS,
        going_on=found.state not in ENDS,
        still=still,
        part=found.ended / found.planned if found.planned else 0.0,
        pace=_pace(found),
        blocks=_blocks(found),
        outcomes=[
            (outcome, numbers.count(count)) for outcome, count in zip(OUTCOMES, found.outcomes, strict=True)
        ],
        chart=_chart(found),
        sure="" if found.confidence is None else numbers.confidence(found.confidence),
    )
    return clean(page)


def _pace(found: Interim) -> str:
    if found.rate is None or found.seconds_left is None:
        return "no injection of this session has ended yet"
    rate = f"{found.rate:,.3g} injections a second"
    return f"{rate}; at that rate {numbers.duration(found.seconds_left)} left (the last ones take longer)"


def _blocks(found: Interim) -> Table:
    columns = (
        Column("block", numeric=False),
        *map(Column, ("planned", "ended", "hazardous so far", "limits of FIT at the end")),
    )
    rows = tuple(
        (
            own.block,
            *(numbers.count(count) for count in (own.planned, own.ended, own.hazardous)),
            numbers.NOT_KNOWN if own.limits is None else numbers.fit_range(own.limits),
        )
        for own in found.blocks
    )
    return Table("By block", columns, rows)


def _chart(found: Interim) -> Markup | None:
    if found.total is None:
        return None
    rows = [(own.block, own.limits) for own in found.blocks if own.limits is not None]
    marks = [Mark(block, limits) for block, limits in rows]
    marks.append(Mark("total", found.total, strong=True))
    drawn = [
        interval_chart(f"limits-{css}", "Limits of FIT at the end", marks, found.budget_fit, width,
                       "hazardous failures, FIT: limits of the figures at the end").inline(css)
        for css, width in (("wide", WIDE), ("narrow", NARROW))
    ]  # fmt: skip
    return Markup("".join(drawn))
