# SPDX-License-Identifier: Apache-2.0
"""What holding a pin of a cell comes to along the gates; which pins come to the same by structure."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.logic.library import DATA, LOAD, NET, OPERAND, HeldPin, HeldPins
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.expand import DECIDED, operand_columns
from resil.rtl_harness.logic.gated import stored_again
from resil.rtl_harness.logic.netlist import NOWHERE, TO_FLIP_FLOP, TO_GATE, LogicNetlist

# Of each operation, how many operands its gate has; a read port has a list.
_OPERANDS = np.array([*(len(operand_columns(operation)) for operation in range(READ)), 0])


class PinHolder:
    """Says what holding a pin comes to.

    Args:
        netlist: The design.
        state: What each flip-flop of its gates holds at the release of reset, (flip_flops,).
    """

    of_pins: ClassVar[bool] = True

    def __init__(self, netlist: LogicNetlist, state: npt.NDArray[np.integer[Any]]) -> None:
        self._netlist = netlist
        self._state = state
        self._clock_cells = dict(netlist.clock_cells.tolist())
        self._pins = netlist.pins
        self._gates = netlist.gates.gates
        self._flip_flop = self._flip_flops()
        self._only = self._consumers()
        self._stored_again = stored_again(netlist)

    def held(self, pin: int, value: int) -> HeldPins:
        """Return what stands for a pin of a cell and for all that come to the same.

        Raises:
            HarnessError: If nothing is known of the pin.
        """
        own = self.along_gates(pin, value)
        return (self._forward(own[0]),) if len(own) == 1 else own

    def along_gates(self, pin: int, value: int) -> HeldPins:
        """Return what holding this very pin is along the gates; errors as of `held`."""
        cell, _, output, net, consumer, at, column = self._pins.item(pin)
        if cell in self._clock_cells and (output or consumer == NOWHERE):
            # A clock that stands still has no edge, at whichever level; nor has one without its own clock.
            return (HeldPin(NET, int(self._clock_cells[cell]), 0),)
        if output and consumer in (TO_GATE, TO_FLIP_FLOP):
            return (HeldPin(NET, net, value), *self._stored_again.get(net, ()))
        if consumer == TO_GATE:
            return (HeldPin(OPERAND, at, value, column),)
        if consumer == TO_FLIP_FLOP:
            return (HeldPin(DATA, at, value),) if column == 1 else self._load(at, value)
        if cell in self._flip_flop:
            # Without a clock a flip-flop keeps what it holds.
            at = self._flip_flop[cell]
            return (HeldPin(DATA, at, int(self._state[at])),)
        raise HarnessError(
            f"{self._netlist.pin_name(pin)}: expected a pin that gates take or a clock pin, found one of "
            "which nothing is made; leave its cell out",
            "fault.site",
        )

    def said(self, pin: int, value: int) -> str:
        """Return the fault in words."""
        return f"held pin at {self._netlist.pin_name(pin)}, held at {value}"

    def row_of(self, cell: int) -> int:
        """Return the row of the flip-flop that a cell is; KeyError if it is none."""
        return self._flip_flop[cell]

    def _flip_flops(self) -> dict[int, int]:
        """Return the row of the flip-flop that each cell is: of some only the inverted output is taken."""
        row_of = {net: row for row, net in enumerate(self._netlist.gates.flip_flops[:, 0].tolist())}
        stores, pins = self._netlist.stores, self._pins
        found = {}
        for pin in pins[pins["output"] == 1].tolist():
            cell, _, _, net, consumer, row, _ = pin
            if stores[cell]:
                found[cell] = row_of[net if consumer == TO_FLIP_FLOP else int(self._gates[row, 1])]
        return found

    def _load(self, at: int, value: int) -> HeldPins:
        """A load that acts for ever keeps what it sets, from the release of reset on."""
        if value != self._netlist.gates.flip_flops[at, 3]:
            return (HeldPin(LOAD, at, value),)
        sets = int(self._netlist.reset_values[at])
        own = HeldPin(DATA, at, sets)
        if sets == self._state[at]:
            return (own,)
        # Before the first edge it stores something else, which nothing sees.
        return (own, HeldPin(NET, int(self._netlist.gates.flip_flops[at, 0]), sets))

    def _forward(self, pin: HeldPin) -> HeldPin:
        """Go on to the output of a gate that the pin decides, as long as nothing else sees what is held."""
        while True:
            if pin.kind is OPERAND:
                output = DECIDED.get((self._gates.item(pin.at, 0), pin.column, pin.value))
                if output is None:
                    return self._backward(pin)
                pin = HeldPin(NET, self._gates.item(pin.at, 4), output)
            if pin.kind is NET and (only := self._only.get(pin.at)) is not None:
                row, column = only
                if (self._gates.item(row, 0), column, pin.value) in DECIDED:
                    pin = HeldPin(OPERAND, row, pin.value, column)
                    continue
            return pin

    def _backward(self, pin: HeldPin) -> HeldPin:
        """What feeds this input alone is the same as the input."""
        net = self._gates.item(pin.at, pin.column)
        if self._only.get(net) == (pin.at, pin.column):
            return HeldPin(NET, net, pin.value)
        return pin

    def _consumers(self) -> dict[int, tuple[int, int]]:
        """Return, of nets that one input of a gate takes and nothing else, that gate's row and column."""
        gates, all_of = self._gates, self._netlist.gates
        counts = np.zeros(all_of.nets, np.int64)
        at = np.zeros((all_of.nets, 2), np.int64)
        inputs = _OPERANDS[gates[:, 0]]
        for column in (1, 2, 3):
            rows = np.flatnonzero(inputs >= column)
            nets = gates[rows, column]
            np.add.at(counts, nets, 1)
            at[nets] = np.stack([rows, np.full(len(rows), column)], axis=1)
        others = [
            *all_of.flip_flops[:, 1].tolist(),
            *all_of.flip_flops[:, 2].tolist(),
            *all_of.ports.tolist(),
        ]
        others += [net for nets in all_of.alarms for net in nets]
        others += [*all_of.operation, *all_of.undefined]
        others += [net for _, address, _ in all_of.reads for net in address]
        others += [net for _, *words in all_of.writes for nets in words for net in nets]
        counts[others] += 2
        counts[:2] = 2
        return {int(net): (int(at[net, 0]), int(at[net, 1])) for net in np.flatnonzero(counts == 1)}
