# SPDX-License-Identifier: Apache-2.0
"""Cells of a netlist by where they lie, and those that do nothing but lead to alarms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.expand import BUFFER, MUX, NOT
from resil.rtl_harness.logic.netlist import TO_FLIP_FLOP, TO_GATE, Ints, LogicNetlist

Marks = npt.NDArray[np.bool_]


def cells_below(netlist: LogicNetlist, paths: Sequence[str]) -> Ints:
    """Return the place among `paths` of the innermost one that each cell lies below, -1 for none, (cells,).

    A cell whose name is a path, or that with an index, is taken to lie below it: a register by its name.
    """
    return np.array(innermost(netlist.names, paths), np.int32).reshape(netlist.cells)


def innermost(names: Iterable[str], paths: Sequence[str]) -> list[int]:
    """Return the place among `paths` of the innermost one that each name is or lies below, -1 for none."""
    place = {path: number for number, path in enumerate(paths)}
    found = []
    for name in names:
        around = name
        while around and around not in place:
            cut = max(around.rfind("."), around.rfind("["))
            around = around[:cut] if cut > 0 else ""
        found.append(place.get(around, -1))
    return found


def storing_cells(netlist: LogicNetlist) -> list[int]:
    """Return the cells that are flip-flops, those without sites left out."""
    has_pins = np.diff(netlist.first_pin) > 0
    found: list[int] = np.flatnonzero(netlist.stores & has_pins).tolist()
    return found


def cells_for_alarms(netlist: LogicNetlist, collectors: Marks) -> Marks:
    """Return which cells lead to collectors of alarms and to alarms alone, collectors included, (cells,).

    Args:
        netlist: The design.
        collectors: Cells that collect alarms, (cells,).
    """
    gates = netlist.gates
    pins = netlist.pins
    at_gates = (pins["consumer"] == TO_GATE) & collectors[pins["cell"]]
    own_gate = np.zeros(len(gates.gates), bool)
    own_gate[pins["row"][at_gates]] = True
    at_rows = (pins["consumer"] == TO_FLIP_FLOP) & collectors[pins["cell"]]
    own_row = np.zeros(len(gates.flip_flops), bool)
    own_row[pins["row"][at_rows]] = True
    used, elsewhere = np.zeros(gates.nets, bool), np.zeros(gates.nets, bool)
    for row, (_, d, load, *_) in enumerate(gates.flip_flops.tolist()):
        for net in (d, load):
            used[net] = True
            elsewhere[net] |= not own_row[row]
    others = [*gates.ports.tolist(), *gates.operation, *gates.undefined]
    others += [net for _, address, _ in gates.reads for net in address]
    others += [net for _, *words in gates.writes for nets in words for net in nets]
    elsewhere[others] = True
    used[[net for nets in gates.alarms for net in nets]] = True
    # Gates come after those that they depend on, so all that takes a net has been looked at.
    for row in range(len(gates.gates) - 1, -1, -1):
        operation, a, b, s, y = gates.gates[row].tolist()
        if operation == READ:
            continue
        leads = own_gate[row] or (used[y] and not elsewhere[y])
        for net in (
            a,
            *((b,) if operation not in (BUFFER, NOT) else ()),
            *((s,) if operation >= MUX else ()),
        ):
            used[net] = True
            elsewhere[net] |= not leads
    only = used & ~elsewhere
    outputs = pins["output"] == 1
    leading, driving = np.zeros(netlist.cells, np.int64), np.zeros(netlist.cells, np.int64)
    np.add.at(driving, pins["cell"][outputs], 1)
    np.add.at(leading, pins["cell"][outputs & only[pins["net"]]], 1)
    found: Marks = collectors | ((driving > 0) & (leading == driving))
    return found
