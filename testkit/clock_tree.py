# SPDX-License-Identifier: Apache-2.0
"""Netlists with trees of buffers and inverters that clocks and resets go through, as layout makes them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from resil.rtl_harness.design.area_library import library_text
from resil.rtl_harness.design.cells import CLOCK_GATE_PINS, cells_of
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.word_cells import Bit
from resil.rtl_harness.logic.build import built_netlist
from resil.rtl_harness.logic.joined import Cell, Joined
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.synthesis import joined_design, logic_netlist

NetlistMaker = Callable[[Target, Elaboration], tuple[LogicNetlist, Joined]]
"""Makes the netlist of a design, and what it is made of."""

TREE = "tree"
"""What cells of trees are called, with a number behind."""


def as_synthesised(target: Target, elaboration: Elaboration) -> tuple[LogicNetlist, Joined]:
    """Return the netlist as it is, without trees."""
    return logic_netlist(target, elaboration), joined_design(target, elaboration)


def with_trees(seed: int) -> NetlistMaker:
    """Return what makes the netlist with random trees in front of clock and reset pins."""

    def made(target: Target, elaboration: Elaboration) -> tuple[LogicNetlist, Joined]:
        design = joined_design(target, elaboration)
        _Gardener(design, target, seed).plant()
        return built_netlist(design, target, elaboration, library_text(None)), design

    return made


class _Gardener:
    def __init__(self, design: Joined, target: Target, seed: int) -> None:
        self._design = design
        self._target = target
        self._random = random.Random(seed)
        self._number = 0
        library = cells_of(library_text(None))
        self._kinds = [library["BUF"], library["INV"]]

    def plant(self) -> None:
        """Let clock pins, and pins of asynchronous resets, take what a tree gives of what they took."""
        design = self._design
        clock, reset = (design.ports[name][0] for name in (self._target.clock, self._target.reset))
        # Of the falling edge are those behind an inverter of their own.
        falling = {
            bit
            for cell in design.cells
            if cell.type.name == "INV" and cell.inputs["A"] == clock
            for bit in cell.outputs.values()
        }
        takers: defaultdict[Bit, list[tuple[Callable[[Bit], None], int]]] = defaultdict(list)
        for cell in design.cells:
            group = cell.type.flip_flop
            if cell.type.clock_gate:
                takers[cell.inputs[CLOCK_GATE_PINS[1]]].append((_setter(cell, CLOCK_GATE_PINS[1]), 0))
            elif group is not None:
                (pin,) = group.clock.pins
                bit = cell.inputs[pin]
                takers[clock if bit in falling else bit].append((_setter(cell, pin), int(bit in falling)))
                takers_of_loads = [
                    level.pins[0] for level in (group.clear, group.preset) if level is not None
                ]
                for own in takers_of_loads:
                    takers[cell.inputs[own]].append((_setter(cell, own), 0))
        inside = f"{self._target.dut}."
        for place, write in enumerate(design.writes):
            if design.memories[write.memory][0].startswith(inside):
                takers[write.clock].append((self._writer(place), 0))
        gated = {cell.outputs[CLOCK_GATE_PINS[2]] for cell in design.cells if cell.type.clock_gate}
        loads = {bit for bit in takers if bit not in gated | falling | {clock}}
        for bit in sorted((b for b in gated | loads | {clock} if b in takers), key=str):
            if bit == reset or self._random.random() < 0.8:
                self._tree(bit, takers[bit])

    def _tree(self, root: Bit, takers: list[tuple[Callable[[Bit], None], int]]) -> None:
        # By how often they are inverted, modulo 2.
        nodes: tuple[list[Bit], list[Bit]] = ([root], [])
        for _ in range(self._random.randint(2, 4 + len(takers) // 8)):
            inverted = self._random.choice([i for i in (0, 1) if nodes[i]])
            kind = self._random.randrange(2)
            # Mostly what was made last: trees are deep.
            source = nodes[inverted][-1 if self._random.random() < 0.6 else 0]
            nodes[inverted ^ kind].append(self._buffer(kind, source))
        for take, inverted in takers:
            if nodes[inverted]:
                take(self._random.choice(nodes[inverted][-3:]))

    def _buffer(self, kind: int, source: Bit) -> Bit:
        own, bit = self._kinds[kind], self._design.new_bit()
        (pin,), (output,) = own.inputs, own.outputs
        name = f"{self._target.dut}.{TREE}{self._number}"
        self._number += 1
        block = next(iter(self._target.blocks))
        self._design.cells.append(Cell(name, own, block, {pin: source}, {output: bit}))
        return bit

    def _writer(self, place: int) -> Callable[[Bit], None]:
        def take(bit: Bit) -> None:
            self._design.writes[place] = replace(self._design.writes[place], clock=bit)

        return take


def _setter(cell: Cell, pin: str) -> Callable[[Bit], None]:
    def take(bit: Bit) -> None:
        cell.inputs[pin] = bit

    return take
