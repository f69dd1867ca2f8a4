# SPDX-License-Identifier: Apache-2.0
"""Flip-flops that take what they store again where their clock does not run."""

from __future__ import annotations

from collections.abc import Mapping

from resil.rtl_harness.engine.logic.library import HeldPins, stored
from resil.rtl_harness.logic.expand import MUX
from resil.rtl_harness.logic.netlist import LogicNetlist


def stored_again(netlist: LogicNetlist) -> Mapping[int, HeldPins]:
    """Return, by the net of a flip-flop whose clock is gated, that it takes what it stores and not that net.

    Of the gates the multiplexer in front of such a flip-flop takes its net; there is no such wire, so what a
    fault makes of the net is not stored.
    """
    gates = netlist.gates.gates
    row_of = {int(y): row for row, (operation, *_, y) in enumerate(gates.tolist()) if operation == MUX}
    found: dict[int, HeldPins] = {}
    for flip_flop, (q, d, *_) in enumerate(netlist.gates.flip_flops.tolist()):
        row = row_of.get(d)
        if row is not None and int(gates[row, 1]) == q:
            found[q] = (*found.get(q, ()), stored(flip_flop, row, 1))
    return found
