# SPDX-License-Identifier: Apache-2.0
"""What the plain injector is given to do, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.memories import check_workload, memory_element, watched_memories
from resil.rtl_harness.engine.state_hash import kept_mask, pack_words, state_hash
from resil.rtl_harness.engine.workload import Workload, memory_words
from resil.rtl_harness.errors import SimulationError


@dataclass(frozen=True)
class InjectorEnd:
    """How a run ended, as the injector says it.

    Attributes:
        finished: Before the time-out.
        cycles: From reset to the end.
        status: The design's status word.
        output: Bytes of all output tensors.
        rises: Cycle in which each alarm rose, in the target's order; -1 if it did not.
    """

    finished: bool
    cycles: int
    status: int
    output: bytes
    rises: tuple[int, ...]


@dataclass(frozen=True)
class FaultyEnd:
    """How a run with a fault ended.

    Attributes:
        end: Of the whole run.
        differs: Whether storage or an observed memory differs from the end of the golden run.
        first: How the first of two inferences ended; None if it did not, or if there is but one.
        first_differs: Whether they differed then from where the golden run's first inference ended.
    """

    end: InjectorEnd
    differs: bool
    first: InjectorEnd | None
    first_differs: bool


@dataclass(frozen=True)
class GoldenEnd:
    """How the run without a fault ended.

    Attributes:
        end: Of the whole run.
        first: How the first of two inferences ended.
        moves: Cycles run when the counter of operations moved, and its value from then on.
    """

    end: InjectorEnd
    first: InjectorEnd | None
    moves: tuple[tuple[int, int], ...]


Answer = GoldenEnd | tuple[int, FaultyEnd]


@dataclass(frozen=True)
class InjectorFault:
    """A fault as the injector takes it.

    Attributes:
        number: Of its line in the answers.
        cycle: In which it strikes.
        held: 0 or 1; None of an upset.
        places: Element, word and bit of each bit that changes.
        limit: Cycles from reset to the time-out.
        rest: Cycles that a second inference has; 0 if there is but one.
        allowed: Cycles for which the counter of operations may stand still; 0 if it may for ever.
        moved: Cycles run when it moved last before the fault.
        counter: Its value then.
    """

    number: int
    cycle: int
    held: int | None
    places: tuple[tuple[int, int, int], ...]
    limit: int
    rest: int = 0
    allowed: int = 0
    moved: int = 0
    counter: int = 0

    def line(self) -> str:
        """Return it as a line of the job."""
        numbers = [self.number, self.cycle, -1 if self.held is None else self.held]
        numbers += [self.limit, self.rest, self.allowed, self.moved, self.counter, len(self.places)]
        return " ".join(map(str, ["fault", *numbers, *(n for place in self.places for n in place)]))


def design_lines(target: Target, workload: Workload, elaboration: Elaboration) -> list[str]:
    """Return the lines of a job that say what the design is; HarnessError if the workload does not fit it."""
    check_workload(target, workload, elaboration)
    lines = [
        f"top {target.top}",
        f"clock {target.clock}",
        f"reset {target.reset} {int(target.reset_active_low)} {target.reset_cycles}",
        f"done {target.done}",
    ]
    for key in ("status", "operation", "inferences"):
        if port := getattr(target, key):
            lines.append(f"{key} {port}")
    lines += [f"alarm {alarm.output}" for alarm in target.alarms.values()]
    sites = elaboration.sites
    lines += [f"element {_element(element, elaboration)}" for element in sites.elements]
    for run in sites.absent:
        for site in range(run.first, run.end):
            lines.append(f"absent {sites.element_index(site)} {sites[site].word} {sites[site].bit}")
    watched = watched_memories(target, workload)
    names = list(watched)
    for name, memory in watched.items():
        element = memory_element(target, elaboration, name)
        words = memory_words(target, workload, name, element.depth)
        place = f"{_name(element, elaboration)} {memory.word_bytes} {int(memory.observed)}"
        lines.append(f"memory {name} {place} {words} {element.first_word}")
    lines += [f"output {names.index(o.memory)} {o.offset} {o.size}" for o in workload.outputs]
    return lines


def read_answer(line: str) -> Answer:
    """Return a line of the injector: the end of the golden run, or number and end of a run with a fault.

    Raises:
        SimulationError: it is damaged, or there is but a part of it.
    """
    words = line.removesuffix("\n").split(" ")
    try:
        if not line.endswith("\n"):
            raise ValueError("cut off")
        return _golden(words[1:]) if words[0] == "golden" else (int(words[1]), _faulty(words[2:]))
    except (ValueError, IndexError, StopIteration) as error:
        raise SimulationError(f"the plain injector has written no answer: {line[:80]!r}", "answer") from error


def golden_state(file: Path, workload: Workload, target: Target, elaboration: Elaboration) -> str:
    """Return the digest of the state that the injector has left of the end of the golden run.

    The file has 32-bit words, little endian: of each word of each element the variable that holds it, then
    the observed memories.
    """
    data, at = file.read_bytes(), 0

    def take(bits: int) -> int:
        nonlocal at
        size = 4 * ((bits + 31) // 32)
        at += size
        return int.from_bytes(data[at - size : at], "little")

    contents = bytearray()
    for element in elaboration.sites.elements:
        place = elaboration.locations[element.path]
        mask = (1 << element.width) - 1
        words = (take(place.packed_width) >> place.low & mask for _ in range(element.depth))
        contents += pack_words(words, element.width)
    kept = kept_mask(elaboration.sites) or b"\xff" * len(contents)
    elements = bytes(byte & mask for byte, mask in zip(contents, kept, strict=True))
    memories = {}
    for name, memory in watched_memories(target, workload).items():
        if memory.observed:
            count = memory_words(target, workload, name, memory_element(target, elaboration, name).depth)
            bits = 8 * memory.word_bytes
            memories[name] = pack_words((take(bits) for _ in range(count)), bits)
    return state_hash([elements], memories)


def _golden(words: Sequence[str]) -> GoldenEnd:
    moves = words.index("moves")
    end, rest = _end(words[:moves])
    numbers = list(map(int, words[moves + 1 :]))
    return GoldenEnd(end, _first(rest), tuple(zip(numbers[::2], numbers[1::2], strict=True)))


def _faulty(words: Sequence[str]) -> FaultyEnd:
    end, rest = _end(words)
    *rises, differs = end.rises
    first, first_differs = _first(rest), False
    if first is not None:
        *before, later = first.rises
        first, first_differs = replace(first, rises=tuple(before)), bool(later)
    return FaultyEnd(replace(end, rises=tuple(rises)), bool(differs), first, first_differs)


def _end(words: Sequence[str]) -> tuple[InjectorEnd, Sequence[str]]:
    """Return an end, with all numbers up to "-" or "+" as its alarms, and what follows it."""
    stop = next(at for at, word in enumerate(words) if word in ("-", "+") and at > 3)
    rises = tuple(map(int, words[4:stop]))
    return InjectorEnd(words[0] == "1", int(words[1]), int(words[2]), bytes.fromhex(words[3]), rises), words[
        stop:
    ]


def _first(words: Sequence[str]) -> InjectorEnd | None:
    if words[0] == "-":
        return None
    end, _ = _end([*words[1:], "-"])
    return end


def _element(element: StorageElement, elaboration: Elaboration) -> str:
    place = elaboration.locations[element.path]
    facts = (element.width, place.low, place.packed_width, int(elaboration.is_latch(element.path)))
    array = (int(element.kind == "sram"), element.depth, element.first_word)
    return " ".join(map(str, (_name(element, elaboration), *facts, *array)))


def _name(element: StorageElement, elaboration: Elaboration) -> str:
    place = elaboration.locations[element.path]
    return place.path + "".join(f"[{index}]" for index in place.indices)
