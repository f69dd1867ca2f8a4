# SPDX-License-Identifier: Apache-2.0
"""Flip-flops behind clock gates: what they store where their output has another value by a fault."""

from __future__ import annotations

from collections.abc import Mapping

from resil.rtl_harness.engine.logic.library import HeldPins, stored
from resil.rtl_harness.logic.expand import MUX
from resil.rtl_harness.logic.netlist import TO_GATE, LogicNetlist


def stored_again(netlist: LogicNetlist) -> Mapping[int, HeldPins]:
    """Return, by the net of a flip-flop whose clock is gated, that it takes what it stores and not that net.

    Of the gates the multiplexer in front of such a flip-flop takes its net; there is no such wire, so what a
    fault makes of the net is not stored. A multiplexer that is a cell has that wire, and a pin that gives out
    what it drives.
    """
    gates, pins = netlist.gates.gates, netlist.pins
    of_cells = {*pins["row"][(pins["output"] == 1) & (pins["consumer"] == TO_GATE)].tolist()}
    row_of = {
        int(y): row
        for row, (operation, *_, y) in enumerate(gates.tolist())
        if operation == MUX and row not in of_cells
    }
    found: dict[int, HeldPins] = {}
    for flip_flop, (q, d, *_) in enumerate(netlist.gates.flip_flops.tolist()):
        row = row_of.get(d)
        if row is not None and int(gates[row, 1]) == q:
            found[q] = (*found.get(q, ()), stored(flip_flop, row, 1))
    return found
