# SPDX-License-Identifier: Apache-2.0
"""Puts gates into an order in which each comes after those that it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resil.rtl_harness.engine.fast.gates.logic import READ, Gate, Net
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError

Reads = Sequence[tuple[int, tuple[Net, ...], tuple[Net, ...]]]


def in_order(
    shared: Sequence[Gate], kept: Sequence[Gate], reads: Reads, roots: Iterable[Net]
) -> tuple[list[Gate], list[int]]:
    """Return gates in an order of evaluation, and the place of each of `kept` among them.

    Args:
        shared: Gates of which those that nothing needs are left out.
        kept: Gates that all stay.
        reads: Port, address and data nets of read ports, which `READ` gates name by their place.
        roots: Nets that are needed.

    Raises:
        UnsupportedError: If they depend on one another in a loop.
    """
    gates = [*shared, *kept]
    driver: dict[Net, int] = {}
    for number, gate in enumerate(gates):
        if gate[0] == READ:
            for net in reads[gate[1]][2]:
                driver[net] = number
        else:
            driver[gate[4]] = number

    def needs(number: int) -> list[int]:
        gate = gates[number]
        nets = reads[gate[1]][1] if gate[0] == READ else gate[1:4]
        return [driver[net] for net in nets if net in driver]

    done, begun = bytearray(len(gates)), bytearray(len(gates))
    order: list[int] = []
    wanted = [driver[net] for net in roots if net in driver]
    wanted += range(len(shared), len(gates))
    wanted += (number for number, gate in enumerate(shared) if gate[0] == READ)
    for root in wanted:
        stack = [root]
        while stack:
            number = stack[-1]
            if done[number]:
                stack.pop()
                continue
            waiting = [other for other in needs(number) if not done[other]]
            if not waiting:
                done[number] = 1
                order.append(number)
                stack.pop()
            elif begun[number] and any(begun[other] for other in waiting):
                raise UnsupportedError("the logic of the netlist has a loop")
            else:
                begun[number] = 1
                stack += waiting
    places = [0] * len(kept)
    for place, number in enumerate(order):
        if number >= len(shared):
            places[number - len(shared)] = place
    return [gates[number] for number in order], places
