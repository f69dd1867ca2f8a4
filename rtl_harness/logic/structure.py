# SPDX-License-Identifier: Apache-2.0
"""What the structure of a netlist says without any run: constants, and what leads where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.expand import GIVES, operand_columns
from resil.rtl_harness.logic.netlist import NOWHERE, TO_GATE, LogicNetlist


def constant_pins(netlist: LogicNetlist) -> Mapping[int, int]:
    """Return the value of each pin, by row, that has but one whatever the design is given and stores.

    A pin that the design under test ties to a constant has one, the output of a cell without inputs, and what
    gates make of these. What the bench ties, or the reset, which rests while a workload runs, is no constant
    here.
    """
    pins = netlist.pins
    tied = dict(netlist.tied.tolist())
    taken = {
        (int(pins["row"][pin]), int(pins["column"][pin])): value
        for pin, value in tied.items()
        if pins["consumer"][pin] == TO_GATE
    }
    sources = _without_inputs(netlist)
    known: dict[int, int] = {}
    for row, (operation, *operands, y) in enumerate(netlist.gates.gates.tolist()):
        if operation == READ:
            continue
        columns = operand_columns(operation)
        found = [taken.get((row, column), known.get(operands[column - 1])) for column in columns]
        if y in sources:
            found = [net if net < 2 else None for net in operands[: len(columns)]]
        if all(value is None for value in found):
            continue
        choices = [(0, 1) if value is None else (value,) for value in found]
        given = {GIVES[operation](*(*chosen, 0, 0)[:3]) for chosen in product(*choices)}
        if len(given) == 1:
            known[y] = given.pop()
    clocks = _of_clocks(netlist)
    on_nets = {pin: known[net] for pin, net in enumerate(pins["net"].tolist()) if net in known}
    return {pin: value for pin, value in {**on_nets, **tied}.items() if not clocks[pin]}


def _of_clocks(netlist: LogicNetlist) -> npt.NDArray[np.bool_]:
    """Return which pins a clock is on: the net of one is 1 while it runs, which is no level that it has."""
    pins = netlist.pins
    handing = netlist.on_clock_cells & (pins["output"] == 1)
    return np.asarray(handing | (pins["consumer"] == NOWHERE))


def _without_inputs(netlist: LogicNetlist) -> set[int]:
    """Return the nets of outputs of cells that have no inputs."""
    pins = netlist.pins
    taking = np.zeros(netlist.cells, bool)
    taking[pins["cell"][pins["output"] == 0]] = True
    return set(pins["net"][(pins["output"] == 1) & ~(taking | netlist.stores)[pins["cell"]]].tolist())


def leading_to(netlist: LogicNetlist, nets: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Return which nets any of some depends on, along gates, flip-flops and memories, itself included."""
    gates = netlist.gates
    # What each net is made of. A memory is a net behind them, of all that is written to it.
    made_of: dict[int, list[int]] = {}
    for operation, *operands, y in gates.gates.tolist():
        if operation != READ:
            made_of[y] = [operands[column - 1] for column in operand_columns(operation)]
    for q, d, load, *_ in gates.flip_flops.tolist():
        made_of[q] = [d, load]
    for memory, address, data in gates.reads:
        for net in data:
            made_of[net] = [*address, gates.nets + memory]
    for memory, *words in gates.writes:
        made_of.setdefault(gates.nets + memory, []).extend(net for own in words for net in own)
    found = np.zeros(gates.nets + len(gates.memories), bool)
    waiting = [*nets]
    while waiting:
        net = waiting.pop()
        if not found[net]:
            found[net] = True
            waiting += made_of.get(net, ())
    return found[: gates.nets]
