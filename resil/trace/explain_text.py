# SPDX-License-Identifier: Apache-2.0
"""What faults have in common, as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from resil.record.explanation import Explanation, FaultGroup
from resil.record.interval import RecordedInterval
from resil.record.numbers import fit, fit_range
from resil.record.outcomes import OUTCOMES

WIDTH = 80
_GROUPS = 12
_REGISTERS = 3
_STEPS = 3


def explanation_text(found: Explanation) -> str:
    """Return an explanation as text, no line longer than 80 characters but for names."""
    phrases = {outcome.key: outcome.phrase for outcome in OUTCOMES}
    what = " and ".join(phrases[name] for name in found.outcomes)
    lines = wrap(
        f"{found.injections:,} injections that came out {what}: {_fit(found.fit)} FIT. "
        f"{found.traced:,} of them were traced{_left_out(found)}.",
        WIDTH,
    )
    for index, group in enumerate(found.groups[:_GROUPS]):
        lines += ["", *_group(index + 1, group, found)]
    if len(found.groups) > _GROUPS:
        lines += ["", f"{len(found.groups) - _GROUPS} more groups: --json has all"]
    for note in found.notes:
        lines += ["", *wrap(f"note: {note}", WIDTH)]
    return "\n".join(lines)


def _group(number: int, group: FaultGroup, found: Explanation) -> Iterator[str]:
    route = " -> ".join([*group.route, group.to]) if group.to else f"{group.block}, no path: {group.problem}"
    yield from wrap(
        f"{number}. {group.traced} of {found.traced} ({group.share:.0%} by weight): "
        f"{group.register_class} of {route}",
        WIDTH,
        subsequent_indent="   ",
    )
    yield f"   {_fit(group.fit)} FIT"
    if group.to:
        moves = f"{group.fewest_moves}" if group.traced == 1 else f"{group.median_moves:g} in the median"
        yield f"   {moves} moves, {group.median_cycles:g} cycles from the fault to there in the median"
    for register in group.registers[:_REGISTERS]:
        yield f"   {register.traced:>4}  {register.name}"
    if (more := len(group.registers) - _REGISTERS) > 0:
        yield f"   {'..':>4}  {more} more registers"
    yield f"   for example: resil trace RUN_DIR {group.example}"
    if group.example_path:
        yield f"      {group.example_path[0]}"
    yield from _path(group.example_path)


def _fit(interval: RecordedInterval) -> str:
    return f"{fit(interval.estimate)} {fit_range(interval)}"


def _path(names: tuple[str, ...]) -> Iterator[str]:
    """Yield the registers of a path, one a line; of a long one its beginning and its end."""
    shown = names if len(names) <= 2 * _STEPS else (*names[:_STEPS], "..", *names[-_STEPS:])
    yield from (f"      -> {name}" for name in shown[1:])


def _left_out(found: Explanation) -> str:
    if found.stopped == "all":
        return ""
    why = "--limit" if found.stopped == "limit" else "the time of --seconds"
    return (
        f", drawn at random; {found.injections - found.traced:,} were left out by {why}, and limits of "
        "groups allow for what these may be"
    )
