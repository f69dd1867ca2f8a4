# SPDX-License-Identifier: Apache-2.0
"""Open inputs of cells (stuck-open): where they are, and what they come to along the gates.

An input is open at a value: the transistors that conduct at the other one are cut off. Where the cell would
drive an output to something else if the input had that value, nothing drives it: it keeps what it had in the
cycle before, and a flip-flop keeps what it stores. So a test of one is a test of the pin held at that value,
after a cycle that has set the output to what it would be then (a two-pattern test).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.logic.library import HeldPins, opened, opened_data
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.expand import operand_columns
from resil.rtl_harness.logic.netlist import TO_FLIP_FLOP, TO_GATE, LogicNetlist
from resil.rtl_harness.logic.sites import LogicSites, sites_of_pins


def open_sites(storage: SiteTable, netlist: LogicNetlist) -> LogicSites:
    """Return the sites of open inputs: those of cells and of flip-flops, but for clocks and resets.

    Clock gates have none: what a clock that is not driven does is no matter of cycles.
    """
    pins = netlist.pins
    data = (pins["consumer"] == TO_FLIP_FLOP) & (pins["column"] == 1)
    taken = (pins["consumer"] == TO_GATE) | data
    chosen = np.flatnonzero((pins["output"] == 0) & taken & ~netlist.on_clock_cells)
    return sites_of_pins(storage, netlist, chosen.astype(np.int32), lambda own: own.data)


class OpenHolder:
    """Says what an open input comes to; see `resil.rtl_harness.logic.holders.Holder`.

    Args:
        netlist: The design.
        state: What each flip-flop holds at the release of reset; nothing here goes by it.
    """

    of_pins: ClassVar[bool] = True

    def __init__(self, netlist: LogicNetlist, state: npt.NDArray[np.integer[Any]]) -> None:
        del state
        self._netlist = netlist
        self._gates = netlist.gates.gates
        self._takers: dict[int, list[int]] = {}
        for row, (operation, *operands, _) in enumerate(self._gates.tolist()):
            for column in () if operation == READ else operand_columns(operation):
                self._takers.setdefault(operands[column - 1], []).append(row)
        pins = netlist.pins
        self._outputs = set(pins["net"][pins["output"] == 1].tolist())
        copies = set(netlist.copies.tolist())
        self._stores: dict[int, list[int]] = {}
        for row, d in enumerate(netlist.gates.flip_flops[:, 1].tolist()):
            if row not in copies:
                self._stores.setdefault(d, []).append(row)

    def held(self, place: int, value: int) -> HeldPins:
        """Return the fault: none stands for another."""
        return self.along_gates(place, value)

    def along_gates(self, place: int, value: int) -> HeldPins:
        """Return what an open input comes to.

        Raises:
            HarnessError: It is none that a gate or a flip-flop takes.
        """
        pin = self._netlist.pins[place]
        row, column = int(pin["row"]), int(pin["column"])
        if not pin["output"] and pin["consumer"] == TO_FLIP_FLOP and column == 1:
            return (opened_data(row, value),)
        if pin["output"] or pin["consumer"] != TO_GATE:
            raise HarnessError(
                f"{self._netlist.pin_name(place)}: expected an input that a gate or a flip-flop takes, found "
                "another pin; choose an input",
                "fault.site",
            )
        found: list[HeldPins] = []
        ahead = [row]
        for gate in ahead:
            net = int(self._gates[gate, 4])
            if net in self._outputs:
                found.append((opened(net, row, column, value),))
                continue
            found += [(opened_data(own, value, (row, column)),) for own in self._stores.get(net, ())]
            ahead += [other for other in self._takers.get(net, ()) if other not in ahead]
        return tuple(sorted(own for pins in found for own in pins))

    def said(self, place: int, value: int) -> str:
        """Return the fault in words."""
        return f"input {self._netlist.pin_name(place)}, open at {value}"
