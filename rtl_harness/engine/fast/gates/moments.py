# SPDX-License-Identifier: Apache-2.0
"""What the nets of a design are worth at moments of a cycle, as logic of the state that it begins with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from resil.rtl_harness.engine.fast.gates.logic import ONE, ZERO, Logic, Net
from resil.rtl_harness.engine.fast.gates.word_cells import Bit, made_of

LATCH, READ = "latch", "read"


class UnsupportedError(Exception):
    """The netlist has something that the evaluation of gates does not cover."""


@dataclass(eq=False, slots=True)
class Part:
    """A cell, or the part of one that does not depend on the rest of it.

    Attributes:
        kind: Of a cell of logic, else `LATCH` (of one bit) or `READ`.
        inputs: Bits by name of input; of a latch its gate E, D and asynchronous reset R, of a read its
            address A.
        parameters: Of the cell; of a latch the levels at which it is open (E) and reset (R), and to what
            (value); of a read the numbers of its port (number) and memory.
        driven: Bits that it drives.
    """

    kind: str
    inputs: Mapping[str, list[Bit]]
    parameters: Mapping[str, int]
    driven: list[Bit]


class Parts:
    """All logic and latches of a design.

    Attributes:
        logic: Gates that were made of them.
        stored: Nets of what latches hold when a cycle begins.
        reads: Number of the port, address and data nets of each reading of a memory.
    """

    def __init__(self) -> None:
        self.logic = Logic()
        self.stored: dict[Bit, Net] = {}
        self.reads: list[tuple[int, tuple[Net, ...], tuple[Net, ...]]] = []
        self._read: dict[tuple[int, tuple[Net, ...]], tuple[Net, ...]] = {}
        self._all: list[Part] = []
        self._drivers: dict[Bit, Part] = {}

    def add(self, part: Part) -> None:
        """Add a part that drives bits which nothing else drives."""
        self._all.append(part)
        for bit in part.driven:
            if isinstance(bit, int):
                self._drivers[bit] = part
        if part.kind == LATCH:
            self.stored[part.driven[0]] = self.logic.net()

    def driver(self, bit: Bit) -> Part | None:
        """Return what drives a bit; None for storage, constants, and what nothing drives."""
        return self._drivers.get(bit)

    def of_kind(self, kind: str) -> list[Part]:
        """Return all latches, or all reads."""
        return [part for part in self._all if part.kind == kind]

    def reached(self, bits: Iterable[Bit]) -> set[Bit]:
        """Return these bits, and all that can change when they do."""
        found = set(bits)
        waiting = list(found)
        while waiting:
            for part in self._feeds.get(waiting.pop(), ()):
                for bit in part.driven:
                    if bit not in found:
                        found.add(bit)
                        waiting.append(bit)
        return found

    def data(self, port: int, address: tuple[Net, ...], bits: int) -> tuple[Net, ...]:
        """Return the nets of what is read at an address."""
        key = (port, address)
        if key not in self._read:
            self._read[key] = tuple(self.logic.net() for _ in range(bits))
            self.logic.read(len(self.reads))
            self.reads.append((port, address, self._read[key]))
        return self._read[key]

    @cached_property
    def _feeds(self) -> Mapping[Bit, Sequence[Part]]:
        feeds: defaultdict[Bit, list[Part]] = defaultdict(list)
        for part in self._all:
            for word in part.inputs.values():
                for bit in word:
                    if isinstance(bit, int):
                        feeds[bit].append(part)
        return feeds


class Moment:
    """The nets of a design when all has settled.

    Args:
        parts: The design.
        known: Nets of what no part drives: constants, ports, flip-flops.
        before: The moment before this one; None for the beginning of a cycle.
        changed: What has changed since then by itself. All that does not depend on it is as it was.
        written: Memories that may have been written since the cycle began.
    """

    def __init__(
        self,
        parts: Parts,
        known: Mapping[Bit, Net],
        before: Moment | None = None,
        changed: Iterable[Bit] = (),
        written: Collection[int] = (),
    ) -> None:
        self._parts = parts
        self._known = dict(known)
        self._before = before
        self._changed = changed
        self._written = written

    def net(self, bit: Bit) -> Net:
        """Return the net of a bit; of what nothing drives, 0.

        Raises:
            UnsupportedError: If logic has a loop, or needs a memory that may have been written.
        """
        return self.nets([bit])[0]

    def nets(self, bits: Sequence[Bit]) -> tuple[Net, ...]:
        """Return the nets of bits; errors as `net`."""
        for bit in bits:
            if bit not in self._known:
                self._make(bit)
        return tuple(self._known.get(bit, ZERO) for bit in bits)

    @cached_property
    def _affected(self) -> set[Bit]:
        return self._parts.reached(self._changed)

    def _open_driver(self, bit: Bit) -> Part | None:
        """Return what drives a bit, unless its net is known."""
        if bit in self._known:
            return None
        part = self._parts.driver(bit)
        if part is not None and self._before is not None and bit not in self._affected:
            self._known[bit] = self._before.net(bit)
            return None
        return part

    def _make(self, bit: Bit) -> None:
        """Make gates for a bit and for all that it depends on, each part after those that it depends on."""
        part = self._open_driver(bit)
        stack = [part] if part is not None else []
        opened: set[Part] = set()
        while stack:
            part = stack[-1]
            waiting = [
                driver for needed in self._needed(part) if (driver := self._open_driver(needed)) is not None
            ]
            if not waiting:
                stack.pop()
                self._evaluate(part)
            elif part in opened and any(driver in opened for driver in waiting):
                raise UnsupportedError("the logic has a loop or a latch made of gates")
            else:
                opened.add(part)
                stack += waiting

    def _needed(self, part: Part) -> list[Bit]:
        """Return the inputs that decide; of a latch that is closed, not what it would take."""
        if part.kind != LATCH:
            return [bit for word in part.inputs.values() for bit in word]
        gate = part.inputs["E"][0]
        if self._open_driver(gate) is None and self._level(part, "E") == ZERO:
            return [gate, *part.inputs["R"]]
        return [gate, *part.inputs["R"], *part.inputs["D"]]

    def _level(self, part: Part, port: str) -> Net:
        """Return whether a latch is open (E) or reset (R)."""
        if not part.inputs[port]:
            return ZERO
        net = self._known.get(part.inputs[port][0], ZERO)
        return net if part.parameters[port] else self._parts.logic.not_(net)

    def _evaluate(self, part: Part) -> None:
        if part.driven and all(bit in self._known for bit in part.driven):
            return
        if part.kind == LATCH:
            made = [self._latched(part)]
        else:
            pins = {port: [self._known.get(b, ZERO) for b in bits] for port, bits in part.inputs.items()}
            if part.kind == READ:
                if part.parameters["memory"] in self._written:
                    raise UnsupportedError("a clock or a latch depends on a memory")
                number = part.parameters["number"]
                made = list(self._parts.data(number, tuple(pins["A"]), len(part.driven)))
            else:
                made = made_of(self._parts.logic, part.kind, pins, part.parameters)
        self._known.update(zip(part.driven, made, strict=True))

    def _latched(self, part: Part) -> Net:
        logic, bit = self._parts.logic, part.driven[0]
        held = self._before.net(bit) if self._before is not None else self._parts.stored[bit]
        taken = logic.mux(self._level(part, "E"), held, self._known.get(part.inputs["D"][0], ZERO))
        return logic.mux(self._level(part, "R"), taken, ONE if part.parameters["value"] else ZERO)

    def sensitive(self) -> list[Net]:
        """Return what decides of latches that are open at the beginning of a cycle what they hold then."""
        found = []
        for part in self._parts.of_kind(LATCH):
            self.nets(part.driven)
            if self._level(part, "E") != ZERO or self._level(part, "R") != ZERO:
                found += [self._level(part, "E"), self._level(part, "R"), self._parts.stored[part.driven[0]]]
                found += self.nets(part.inputs["D"])
        return found
