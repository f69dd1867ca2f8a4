# SPDX-License-Identifier: Apache-2.0
"""Which pins are held, which second faults follow, and what the first look at them says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.mechanisms.marks import GuardedPlaces, MarkedDesign
from resil.record.interval import NOTHING_KNOWN, RecordedInterval
from resil.rtl_harness.faults import Fault, Injection, Outcome, Reported
from resil.rtl_harness.logic.marked_cells import storing_cells
from resil.rtl_harness.logic.netlist import Ints, LogicNetlist
from resil.rtl_harness.logic.sites import struck_outputs
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.sampling import draw

Drawn = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Upset:
    """A second fault that strikes storage once: a flip-flop by its cell, or a bit of a memory.

    Attributes:
        cycle: As `Fault.cycle`.
        cell: Of the flip-flop; -1 of a memory.
        memory, word, bit: Of a memory, words counted from its first one.
    """

    cycle: int
    cell: int = -1
    memory: int = -1
    word: int = 0
    bit: int = 0


@dataclass(frozen=True, slots=True)
class Pulse:
    """A second fault at the output of a cell of logic.

    Attributes:
        pin: Row of the output.
        cycle: As `Fault.cycle`.
    """

    pin: int
    cycle: int


Second = tuple[int, int] | Upset | Pulse
"""A second fault; a pin that is held by its row, and the value."""


@dataclass(frozen=True)
class SecondFaults:
    """The second faults that follow one fault of a mechanism.

    Attributes:
        held: Row of the pin and value of each that is held.
        upsets: Of storage.
        pulses: In logic.
        complete: There are some, and they are all faults that can strike what the mechanism guards.
    """

    held: tuple[tuple[int, int], ...]
    upsets: tuple[Upset, ...]
    pulses: tuple[Pulse, ...]
    complete: bool

    @property
    def all(self) -> tuple[Second, ...]:
        """All of them, in this order."""
        return (*self.held, *self.upsets, *self.pulses)


class SecondFaultDraw:
    """Draws second faults, none twice for one first fault.

    Args:
        marked: The design.
        shapes: Words and bits of each memory of `gates.memories`; of those outside the design 0 and 0.
        cycles: Of the run without a fault.
        seed: Of the draws.
        most: Pins that are held, upsets, and pulses, each for a first fault.
    """

    def __init__(
        self, marked: MarkedDesign, shapes: Sequence[tuple[int, int]], cycles: int, seed: int, most: int
    ) -> None:
        self._marked = marked
        self._shapes = shapes
        self._cycles = cycles
        self._seed = seed
        self._most = most
        self._outputs = struck_outputs(marked.netlist)
        self._storing = np.array(storing_cells(marked.netlist), np.int32)
        self._pins: dict[int, tuple[Ints, Ints, Ints]] = {}

    def after(self, pin: int, value: int) -> SecondFaults:
        """Return what follows a pin of a mechanism that is held."""
        netlist = self._marked.netlist
        guarded = self._marked.guarded(int(netlist.pins["cell"][pin]))
        pins, flip_flops, outputs = self._places(guarded)
        bits = [(memory, *self._shapes[memory]) for memory in guarded.memories]
        struck = len(flip_flops) + sum(words * width for _, words, width in bits)
        name = f"{netlist.pin_name(pin)} at {value}"
        held = self._drawn(f"held after {name}", 2 * len(pins))
        upsets = self._drawn(f"upset after {name}", struck * self._cycles)
        pulses = self._drawn(f"pulse after {name}", len(outputs) * self._cycles)
        sizes = (2 * len(pins), struck * self._cycles, len(outputs) * self._cycles)
        drawn = (len(held), len(upsets), len(pulses))
        return SecondFaults(
            tuple((int(pins[number // 2]), number % 2) for number in held.tolist()),
            tuple(self._upset(number, flip_flops, bits) for number in upsets.tolist()),
            tuple(
                Pulse(int(outputs[number // self._cycles]), number % self._cycles)
                for number in pulses.tolist()
            ),
            guarded.whole and sum(sizes) > 0 and drawn == sizes,
        )

    def _places(self, guarded: GuardedPlaces) -> tuple[Ints, Ints, Ints]:
        """Return the rows of pins, the flip-flops, and the rows of outputs at which pulses strike."""
        key = id(guarded)
        if key not in self._pins:
            inside = np.isin(self._marked.netlist.pins["cell"], guarded.cells)
            stored = self._storing[np.isin(self._storing, guarded.cells)]
            struck = self._outputs[inside[self._outputs]]
            self._pins[key] = (np.flatnonzero(inside).astype(np.int32), stored, struck)
        return self._pins[key]

    def _drawn(self, name: str, size: int) -> Drawn:
        return draw(self._seed, name, size, min(self._most, size))

    def _upset(self, number: int, flip_flops: Ints, bits: Sequence[tuple[int, int, int]]) -> Upset:
        place, cycle = divmod(number, self._cycles)
        if place < len(flip_flops):
            return Upset(cycle, int(flip_flops[place]))
        place -= len(flip_flops)
        for memory, words, width in bits:
            if place < words * width:
                word, bit = divmod(place, width)
                return Upset(cycle, memory=memory, word=word, bit=bit)
            place -= words * width
        raise AssertionError(number)


def drawn_pins(netlist: LogicNetlist, cells: Collection[int], seed: int, name: str, most: int) -> list[Fault]:
    """Return pins of some cells, held, drawn evenly; the site of such a fault is the pin's row."""
    pins = np.flatnonzero(np.isin(netlist.pins["cell"], np.array(list(cells), np.int32)))
    chosen = draw(seed, name, 2 * len(pins), min(most, 2 * len(pins)))
    return [Fault(int(pins[number // 2]), 0, held=number % 2) for number in chosen.tolist()]


def class_of(found: Injection, hazardous: Collection[str], limit: int | None) -> str:
    """Return the class of an injection, one of `mechanism_faults.CLASSES`."""
    outcome = found.outcome_within(limit)
    if outcome is Outcome.DUE:
        return "detected" if found.seen.value in hazardous else "false_alarm"
    if outcome.value in hazardous:
        return "hazardous"
    return "corrected" if found.reported is Reported.CORRECTED else "quiet"


def share(events: int, trials: int, confidence: float, *, complete: bool) -> RecordedInterval:
    """Return a proportion with exact limits; of all that there are it is the figure itself."""
    if not trials:
        return NOTHING_KNOWN if complete else RecordedInterval(None, 0.0, 1.0)
    if complete:
        return RecordedInterval(events / trials, events / trials, events / trials)
    return recorded(clopper_pearson(events, trials, confidence))


def recorded(found: Interval) -> RecordedInterval:
    """Return an interval as documents hold it."""
    return RecordedInterval(found.estimate, found.lo, found.hi)


def counted(classes: Sequence[str]) -> Mapping[str, int]:
    """Return how often each class is there."""
    return {name: classes.count(name) for name in dict.fromkeys(classes)}
