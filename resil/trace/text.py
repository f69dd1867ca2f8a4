# SPDX-License-Identifier: Apache-2.0
"""A trace as lines for a person, at most 80 characters each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from math import prod
from textwrap import wrap

from resil.record.trace import Trace, TraceCrossing, TracePath, TracePhase, TraceRegister, TraceTensor

WIDTH = 80
_ROWS = 16
_GAP = ".."


def trace_text(trace: Trace) -> str:
    """Return a trace as text."""
    scope = _scope(trace)
    parts = [
        _head(trace),
        _section("What differed, in order", _registers(trace.registers, scope)),
        _section("What became of the difference", _phases(trace)),
        _section("Where it crossed into other blocks", _crossings(trace.crossings, scope)),
        *(_section(_path_title(path), _path(path, scope)) for path in trace.paths),
        _section("Tensors written after the fault", _tensors(trace.tensors)),
        [line for note in trace.notes for line in wrap(f"note: {note}", WIDTH)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(trace: Trace) -> list[str]:
    number = "a fault" if trace.injection is None else f"injection {trace.injection}"
    more = f" and {trace.bits - 1} beside it" if trace.bits > 1 else ""
    said = [
        f"{number}: {trace.name}{more} ({trace.block}, {trace.register_class}), inverted in cycle "
        f"{trace.cycle} of {trace.golden_end}, input {trace.input} of {trace.workload} on {trace.target}",
        _outcome(trace),
        f"compared in cycles {trace.cycle} to {trace.compared_to}: {_left(trace)}",
    ]
    said += [
        f"alarm {alarm.name} ({alarm.reports}) rose in cycle {alarm.cycle}, {alarm.latency} after the fault"
        for alarm in trace.alarms
    ]
    if not trace.alarms:
        said.append("no alarm rose that does not without the fault")
    scope = _scope(trace)
    if scope:
        said.append(f"names below are those of {scope.rstrip('.')}, if they begin with a dot")
    return [line for one in said for line in wrap(one, WIDTH, subsequent_indent="  ")]


def _outcome(trace: Trace) -> str:
    stored = "equal to what is stored" if trace.stored is not None else "of no run"
    outcome, seen = trace.outcome["outcome"], trace.outcome["seen"]
    what = outcome if outcome == seen else f"{outcome} ({seen} if nobody had looked at the alarm)"
    return f"outcome: {what}, after {trace.end} cycles, {stored}"


def _left(trace: Trace) -> str:
    if not trace.registers:
        return "nothing ever differed"
    if trace.vanished is not None:
        return f"from cycle {trace.vanished} on nothing differs any more"
    last = trace.phases[-1].bits if not trace.phases_left_out else None
    return "storage differs to the last" if last is None else f"{last:,} bits differ in the last of them"


def _registers(registers: tuple[TraceRegister, ...], scope: str) -> Iterator[str]:
    yield f"{'cycles':>17}  {'bits':>5}  block     register, and words of a memory"
    for one in registers[:_ROWS]:
        span = f"{one.first_cycle}..{one.last_cycle}"
        gaps = "" if one.cycles == one.last_cycle - one.first_cycle + 1 else "*"
        words = f" ({one.words} words)" if one.words > 1 else ""
        head = f"{span + gaps:>17}  {one.bits:>5}  {one.block:8.8}  "
        yield head + _short(one.name, scope, WIDTH - len(head) - len(words)) + words
    if any(one.cycles != one.last_cycle - one.first_cycle + 1 for one in registers[:_ROWS]):
        yield f"{'*':>17}  not in all of these cycles"
    yield from _more(len(registers) - _ROWS, "registers or memories")


def _phases(trace: Trace) -> Iterator[str]:
    yield f"{'cycles':>17}  {'change':8}  {'held':>6}  {'bits':>6}  {'words':>6}"
    for phase in trace.phases[:_ROWS]:
        yield _phase(phase)
    yield from _more(len(trace.phases) + trace.phases_left_out - _ROWS, "changes")


def _phase(phase: TracePhase) -> str:
    span = f"{phase.first_cycle}..{phase.last_cycle}"
    return f"{span:>17}  {phase.change:8}  {phase.held:>6}  {phase.bits:>6}  {phase.words:>6}"


def _crossings(crossings: tuple[TraceCrossing, ...], scope: str) -> Iterator[str]:
    for one in crossings[:_ROWS]:
        source = ", ".join(one.from_blocks) or "?"
        yield f"{one.cycle:>9}  {source} -> {one.block}"
        if one.came_from:
            more = f" and {len(one.came_from) - 1} more" if len(one.came_from) > 1 else ""
            yield f"{'from':>9}  {_short(one.came_from[0], scope, WIDTH - 11 - len(more))}{more}"
        yield f"{'into':>9}  {_short(one.name, scope, WIDTH - 11)}"
    yield from _more(len(crossings) - _ROWS, "blocks")


def _path_title(path: TracePath) -> str:
    if path.problem:
        return f"No causal path to {path.to}, cycle {path.cycle}"
    shortest = "Shortest causal path" if path.shortest else "A causal path (not shown to be the shortest)"
    return (
        f"{shortest} to {path.to}, cycle {path.cycle}: {path.moves} {'move' if path.moves == 1 else 'moves'}"
    )


def _path(path: TracePath, scope: str) -> Iterator[str]:
    if path.problem:
        yield from wrap(path.problem, WIDTH)
    shown = path.steps
    if len(shown) > _ROWS:
        shown = (*path.steps[: _ROWS // 2], *path.steps[-_ROWS // 2 :])
    for index, step in enumerate(shown):
        if len(path.steps) > _ROWS and index == _ROWS // 2:
            yield f"{_GAP:>17}  {len(path.steps) - _ROWS} more: --json has all"
        head = f"{f'{step.first_cycle}..{step.last_cycle}':>17}  {step.block:8.8}  "
        yield head + _short(step.name, scope, WIDTH - len(head))


def _tensors(tensors: tuple[TraceTensor, ...]) -> Iterator[str]:
    for one in tensors:
        total = prod(one.shape)
        shape = "x".join(map(str, one.shape))
        number = "" if one.operation is None else f"operation {one.operation}, "
        yield _cut(f"{number}{one.name} ({shape}): {one.wrong:,} of {total:,} wrong", WIDTH)
        if one.first is not None:
            place = ",".join(map(str, one.first.index))
            yield f"    first [{place}]: {one.first.expected} became {one.first.found}"
            yield f"    error at most {one.largest_error:g}, mean {one.mean_error:.3g}"


def _section(title: str, lines: Iterable[str]) -> list[str]:
    found = list(lines)
    return [title, "", *found] if found else []


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"{_GAP:>17}  {count:,} more {what}: --json has all"


def _scope(trace: Trace) -> str:
    """Return what all names begin with, up to a dot."""
    names = [one.name for one in trace.registers] + [step.name for path in trace.paths for step in path.steps]
    inside = [name for name in names if name.startswith(trace.name.split(".")[0] + ".")]
    parts = zip(*(name.split(".")[:-1] for name in [*inside, trace.name]), strict=False)
    common = [part[0] for part in takewhile(lambda part: len(set(part)) == 1, parts)]
    return ".".join([*common, ""]) if common else ""


def _short(name: str, scope: str, room: int) -> str:
    """Return a name without the scope that most have, its middle left out if it is still too long."""
    short = f".{name.removeprefix(scope)}" if scope and name.startswith(scope) else name
    return (
        short
        if len(short) <= room
        else f"{short[: max(room // 3, 1)]}{_GAP}{short[-(room - room // 3 - 2) :]}"
    )


def _cut(line: str, room: int) -> str:
    return line if len(line) <= room else line[: room - 2] + _GAP
