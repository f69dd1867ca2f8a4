# SPDX-License-Identifier: Apache-2.0
"""The kit for an assessor as plain pages in Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resil.record.assessor import AssessorKit

FIRST_PAGE = "README.md"
_SECTIONS = {
    "use": "What it is about",
    "scope": "Scope of the figures",
    "assumption": "Assumptions of use",
    "not modelled": "What is not modelled",
}
_CLAUSES = (
    "Levels are those of ISO 26262-8:2018, 11.4.5, as public texts give them; the standard itself could "
    "not be "
    "read. A use at TCL2 or TCL3 has to be qualified (11.4.6), or its result checked by other means."
)


def assessor_files(kit: AssessorKit) -> dict[str, str | bytes]:
    """Return the files of a kit by name: the first page, five others, and `kit.json`."""
    return {
        FIRST_PAGE: _first(kit),
        "safety-manual.md": _manual(kit),
        "tool-confidence.md": _uses(kit),
        "validation-evidence.md": _validation(kit),
        "dependent-failures.md": _dependent(kit),
        "change-history.md": _changes(kit),
        AssessorKit.FILE: kit.text(),
    }


def _first(kit: AssessorKit) -> str:
    lines = [f"# {_plain(kit.title)}", "", "## Reservations", ""]
    if not kit.usable:
        lines += ["**The results of this folder may not be used.**", ""]
    if kit.reservations:
        lines += [f"{len(kit.reservations)} things have to be known before any figure below.", ""]
        lines += [
            f"{n}. **{_plain(own.topic)}**: {_plain(own.text)}" for n, own in enumerate(kit.reservations, 1)
        ]
    else:
        lines.append("None was found. What is not modelled stands in the safety manual.")
    if kit.answers:
        lines += ["", "## Answers", "", "They hold with the reservations above, and not without.", ""]
        lines += _table(("question", "answer"), kit.answers.items())
    made = f"Made by resil {kit.resil} on {kit.made}"
    lines += [
        "",
        "## What is here",
        "",
        "- [safety manual](safety-manual.md): what the figures are about, assumptions of use, what is "
        "not modelled",
        "- [confidence in the tool](tool-confidence.md), by use",
        "- [validation evidence](validation-evidence.md)",
        "- [dependent failures](dependent-failures.md): what several parts share, and what of it was "
        "injected",
        "- [change history](change-history.md)",
        "- `kit.json`: the same for programs",
        "",
        f"{made}; identity of the run {kit.identity or 'not known'}; SHA-256 of its results "
        f"{kit.results or 'none'}.",
    ]
    return _page(lines)


def _manual(kit: AssessorKit) -> str:
    lines = [f"# Safety manual: {_plain(kit.title)}", "", *_reminder(kit)]
    for section, title in _SECTIONS.items():
        if own := [entry for entry in kit.manual if entry.section == section]:
            lines += ["", f"## {title}", ""]
            lines += [f"- **{_plain(entry.topic)}**: {_plain(entry.text)}" for entry in own]
    return _page(lines)


def _uses(kit: AssessorKit) -> str:
    lines = ["# Confidence in the tool", "", *_reminder(kit), "", _CLAUSES]
    for own in kit.uses:
        lines += [
            "",
            f"## {_plain(own.name)}: {own.level}",
            "",
            f"- **possible error**: {_plain(own.error)}",
            f"- **what would come of it**: {_plain(own.effect)} ({own.impact})",
            f"- **what notices it**: {_plain(own.detection)} ({own.detected}, by the evidence that is here)",
            f"- **evidence**: {_plain(own.evidence)}",
        ]
    if not kit.uses:
        lines += ["", "No use is judged, as the results may not be used."]
    return _page(lines)


def _validation(kit: AssessorKit) -> str:
    lines = ["# Validation evidence", "", *_reminder(kit), "", f"The evidence is **{kit.evidence}**.", ""]
    lines += _table(
        ("check", "state", "what was done and found"), ((v.name, v.state, v.text) for v in kit.validation)
    )
    return _page(lines)


def _dependent(kit: AssessorKit) -> str:
    lines = ["# Dependent failures", "", *_reminder(kit)]
    lines += ["", "What several parts of the design share, and what of it this run has injected.", ""]
    rows = (
        (own.initiator, own.effect, f"{own.answer} ({own.injections:,})", own.injected, own.left)
        for own in kit.dependent
    )
    lines += _table(("shared", "could do", "injected?", "what was", "what was not, and who shows it"), rows)
    return _page(lines)


def _changes(kit: AssessorKit) -> str:
    lines = ["# Change history", ""]
    rows = ((own.when or "not known", own.what, own.digest[:16]) for own in kit.changes)
    lines += _table(("when", "what", "digest"), rows)
    return _page(lines)


def _reminder(kit: AssessorKit) -> list[str]:
    count = len(kit.reservations)
    return [f"To be read with the {count} reservations of the [first page]({FIRST_PAGE})."] if count else []


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(_plain(cell) for cell in row)} |" for row in rows)]


def _plain(text: str) -> str:
    """Return text as one line that Markdown takes as it is."""
    flat = " ".join(text.split())
    for sign in "\\|`*_<>[]#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def _page(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
