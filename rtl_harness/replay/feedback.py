# SPDX-License-Identifier: Apache-2.0
"""Buses of a replayed design that a part of the bench answers, so that what the design asks comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from resil.rtl_harness.design.target import TargetMemory
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.buses import Bus, find_buses
from resil.rtl_harness.replay.layout import (
    AnsweredBus,
    CheckedAnswer,
    ComparedOutput,
    Condition,
    Level,
    ReadAnswers,
)
from resil.rtl_harness.replay.parts import PARTS, BenchPart, memory_of, misfit, module_file
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.strobes import Ruled, Strobe

_PARAMETER = re.compile(r"^\s*parameter\s+(?:[^=\n]*\s)?(\w+)\s*=", re.MULTILINE)
_USED = re.compile(r"^\s*(resil_\w+)\s+#", re.MULTILINE)
_STREAM = "AXI4-Stream"


@dataclass(frozen=True)
class Answered:
    """A bus that a part of the bench answers, as it is asked for.

    Attributes:
        bus: How the names of its ports begin; an underscore at the end may be left out.
        memory: Name of its memory, by which images are given.
        words: Of the memory, each as wide as the bus.
        kind: Of the bus, where several begin with these letters; "" where one does.
        parameters: Of the part: latencies, base address.
        checked: The part has to answer as the recorded environment did, in a run without a fault.
    """

    bus: str
    memory: str
    words: int
    kind: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)
    checked: bool = True


def answered_buses(ports: Sequence[TopPort], asked: Sequence[Answered]) -> tuple[AnsweredBus, ...]:
    """Return the buses with their parts.

    Raises:
        HarnessError: There is no such bus, no part answers it, or the part has no such parameter.
    """
    buses = find_buses(ports)
    found: list[AnsweredBus] = []
    for number, own in enumerate(asked):
        bus, part = _bus(number, own, buses)
        if any(own.memory == other.memory or bus.prefix == other.prefix for other in found):
            raise HarnessError(
                f"closed[{number}]: expected buses and memories that are named once, found {own.bus} and "
                f"{own.memory} again; name each once",
                f"closed[{number}].bus",
            )
        _require_parameters(number, own, part, bus)
        found.append(_answered(own, part, bus))
    return tuple(found)


def _bus(number: int, own: Answered, buses: Sequence[Bus]) -> tuple[Bus, BenchPart]:
    key = f"closed[{number}].bus"
    fitting = [bus.title for bus in buses if memory_of(bus) is not None]
    named = [bus for bus in buses if bus.prefix.rstrip("_.") == own.bus.lower().rstrip("_.")]
    named = [bus for bus in named if own.kind in ("", bus.kind.name)]
    known = ", ".join(fitting) or "none that the design drives"
    if len(named) != 1:
        what = "none" if not named else ", ".join(bus.kind.name for bus in named)
        raise HarnessError(
            f"closed[{number}] bus: expected the beginning of the names of one bus of the top ({known}), "
            f'found "{own.bus}", with which {what} begins; correct it, or say the kind',
            key,
        )
    bus, part = named[0], memory_of(named[0])
    known_kind = bus.manager and bus.kind.name != _STREAM and bus.kind.name in PARTS
    reason = misfit(PARTS[bus.kind.name], bus) if known_kind else ""
    if reason:
        raise HarnessError(
            f"closed[{number}] bus: expected a bus with ports as {PARTS[bus.kind.name].module} has them, "
            f"found {bus.title} with {reason}; leave it to the recording, or put a module around the top "
            "that adapts it",
            key,
        )
    if part is None:
        raise HarnessError(
            f"closed[{number}] bus: expected a bus that the design drives and a part of the bench answers "
            f"({known}), found {bus.title}; leave it to the recording. Words of a stream are compared in "
            "their order by a strobe with stream = true",
            key,
        )
    return bus, part


def _require_parameters(number: int, own: Answered, part: BenchPart, bus: Bus) -> None:
    text = module_file(part.module).read_text(encoding="utf-8").partition(") (")[0]
    known = set(_PARAMETER.findall(text)) - {*part.parameters(bus), "Words", "PlusArg"}
    for name in own.parameters:
        if name not in known:
            raise HarnessError(
                f"closed[{number}] parameters: expected parameters of {part.module} "
                f"({', '.join(sorted(known))}), found {name}; correct the name",
                f"closed[{number}].parameters",
            )


def part_files(buses: Sequence[AnsweredBus]) -> list[Path]:
    """Return the files of the parts, and of what they are made of."""
    found: dict[Path, None] = {}
    waiting = [own.module for own in buses]
    while waiting:
        file = module_file(waiting.pop())
        if file not in found:
            found[file] = None
            waiting += _USED.findall(file.read_text(encoding="utf-8"))
    return sorted(found)


def _answered(own: Answered, part: BenchPart, bus: Bus) -> AnsweredBus:
    inside = replace(
        bus, ports={key: replace(port, name=f"out_{port.symbol}") for key, port in bus.ports.items()}
    )
    pins = part.pins(inside)
    driven = {name for pin, name in pins.items() if pin.endswith("_o") and name}
    inputs = [port for port in bus.ports.values() if port.direction == "input"]
    values = {**part.parameters(bus), "Words": str(own.words)}
    values |= {key: f"64'd{value}" for key, value in own.parameters.items()}
    return AnsweredBus(
        title=bus.title,
        prefix=bus.prefix,
        memory=own.memory,
        module=part.module,
        array=part.memory,
        word_bytes=part.word_bytes(bus),
        words=own.words,
        parameters=tuple(values.items()),
        pins=tuple(pins.items()),
        answers=tuple(inputs),
        tied=tuple(port.name for port in inputs if f"out_{port.symbol}" not in driven),
        asks=tuple(port for port in bus.ports.values() if port.direction == "output"),
        checks=tuple(_checks(bus, inputs, _reads(bus, own))) if own.checked else (),
    )


def _checks(
    bus: Bus, inputs: Sequence[TopPort], reads: tuple[str, ReadAnswers] | None
) -> Iterator[CheckedAnswer]:
    """Yield what the part drives and has to be as recorded, and when that counts."""
    when = {name: names for names, own in bus.conditions(answers=True).items() for name in own}
    by_name = {port.name: port for port in bus.ports.values()}
    signals = {port.name: signal for signal, port in bus.ports.items()}
    handshakes = bus.handshakes()
    for port in inputs:
        if reads is not None and signals[port.name] == reads[0]:
            yield CheckedAnswer(port, reads=reads[1])
        elif signals[port.name] in bus.kind.unused:
            continue
        elif port.name in when or port.name in handshakes:
            names = when.get(port.name) or handshakes[port.name]
            yield CheckedAnswer(
                port,
                tuple(Condition(by_name[n.removeprefix("!")], not n.startswith("!")) for n in names),
            )


def _reads(bus: Bus, own: Answered) -> tuple[str, ReadAnswers] | None:
    """Return the signal with the data of reads, and which answers have them; None if conditions say it."""
    kind = bus.kind.reads
    if kind is None or kind.data not in bus.ports or (kind.where and kind.where not in bus.ports):
        return None

    def levels(texts: Sequence[str]) -> tuple[Level, ...]:
        found = []
        for text in texts:
            name, _, bit = text.removeprefix("!").partition("[")
            if name in bus.ports:
                found.append(Level(bus.ports[name], int(bit.rstrip("]") or 0), not text.startswith("!")))
        return tuple(found)

    return kind.data, ReadAnswers(
        taken=levels(kind.taken),
        read=levels(kind.read),
        ended=tuple(row for row in map(levels, kind.ended) if row),
        good=levels(kind.good),
        given_up=levels(kind.given_up),
        latency=own.parameters.get(kind.latency, 1) if kind.latency else 0,
    )


def check_rules(buses: Sequence[AnsweredBus], reset: Level | None) -> list[Ruled]:
    """Return the rules by which answers are compared with the recording where no fault is.

    Args:
        buses: Their parts.
        reset: In which the parts forget what they were asked.
    """
    forget = () if reset is None else (reset,)
    found = []
    for check in (check for own in buses for check in own.checks):
        reads = check.reads and replace(check.reads, given_up=(*check.reads.given_up, *forget))
        strobe = Strobe((check.port.name,))
        found.append(Ruled(strobe, (ComparedOutput(check.port),), check.when, answer=True, reads=reads))
    return found


def part_memories(buses: Sequence[AnsweredBus]) -> dict[str, TargetMemory]:
    """Return the memories of the parts; what lies in them at the end is part of the state."""
    return {
        own.memory: TargetMemory(f"{own.instance}.{own.array}", own.word_bytes, own.plusarg) for own in buses
    }
