# SPDX-License-Identifier: Apache-2.0
"""Longest paths through a netlist, for each pair of blocks that they lead from and to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.npu.timing.netlist import Netlist, Register

_NEVER = -1e9
Figures = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Path:
    """A path from a register to a register.

    Attributes:
        length: Its length, in the unit of the gates' costs.
        start: Where it begins.
        end: Where it ends.
        nets: The nets of it that bear a name of the source, in order.
    """

    length: float
    start: Register
    end: Register
    nets: tuple[str, ...]

    @property
    def blocks(self) -> tuple[str, ...]:
        """The blocks that it passes, in order, as its nets' names and its ends say."""
        found = [self.start.block]
        for net in self.nets:
            block = net.partition(".")[0].removeprefix("u_") if net.startswith("u_") else found[-1]
            if block != found[-1]:
                found.append(block)
        if self.end.block != found[-1]:
            found.append(self.end.block)
        return tuple(found)


class Timing:
    """Arrival times at every net.

    Args:
        netlist: Gates and storage.
        costs: Of each gate, what it adds to a path, its net's fan-out included.
        starting: Cost of a start's net, by net.
    """

    def __init__(self, netlist: Netlist, costs: Figures, starting: Figures) -> None:
        self.netlist = netlist
        self.costs = costs
        self.starting = starting
        self.order = list(_ranks(netlist))
        self.begins: dict[str, dict[int, Register]] = {}
        for net, register in netlist.starts:
            self.begins.setdefault(register.block, {})[net] = register
        self.driver = np.full(len(netlist.nets), -1, np.int64)
        self.driver[netlist.outputs] = np.arange(len(netlist.outputs))

    def arrivals(self, block: str) -> Figures:
        """Return when each net settles after the registers of `block`."""
        arrival = np.full(len(self.netlist.nets), _NEVER)
        nets = np.fromiter(self.begins.get(block, {}), np.int64)
        arrival[nets] = self.starting[nets]
        for gates in self.order:
            latest = arrival[self.netlist.gates[gates]].max(axis=1)
            arrival[self.netlist.outputs[gates]] = latest + self.costs[gates]
        return arrival

    def worst(self) -> dict[tuple[str, str], Path]:
        """Return the longest path for each pair of blocks that has one."""
        ends: dict[str, dict[int, Register]] = {}
        for net, register in self.netlist.ends:
            ends.setdefault(register.block, {})[net] = register
        found = {}
        for start in self.begins:
            arrival = self.arrivals(start)
            for end, registers in ends.items():
                nets = np.fromiter(registers, np.int64)
                last = int(nets[arrival[nets].argmax()])
                if arrival[last] >= 0:
                    found[start, end] = self._path(arrival, start, last, registers[last])
        return found

    def _path(self, arrival: Figures, start: str, last: int, end: Register) -> Path:
        nets = [last]
        while nets[-1] not in self.begins[start] or arrival[nets[-1]] > self.starting[nets[-1]]:
            inputs = self.netlist.gates[self.driver[nets[-1]]]
            nets.append(int(inputs[arrival[inputs].argmax()]))
        names = [self.netlist.nets[net] for net in reversed(nets)]
        named = tuple(name for name in names if "$" not in name)
        return Path(float(arrival[last]), self.begins[start][nets[-1]], end, named)


def _ranks(netlist: Netlist) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the gates rank by rank: all inputs of a rank's gates come from ranks before it.

    Raises:
        ValueError: If gates form a loop.
    """
    users: dict[int, list[int]] = {}
    waits = np.zeros(len(netlist.outputs), np.int64)
    driven = set(netlist.outputs.tolist())
    for gate, inputs in enumerate(netlist.gates.tolist()):
        for net in inputs:
            if net in driven:
                users.setdefault(net, []).append(gate)
                waits[gate] += 1
    rank = np.flatnonzero(waits == 0)
    done = 0
    while len(rank):
        yield rank
        done += len(rank)
        following = []
        for net in netlist.outputs[rank].tolist():
            for gate in users.get(net, ()):
                waits[gate] -= 1
                if not waits[gate]:
                    following.append(gate)
        rank = np.array(following, np.int64)
    if done != len(waits):
        raise ValueError(f"{len(waits) - done} gates lie on combinational loops")
