# SPDX-License-Identifier: Apache-2.0
"""The shortest way of a difference from the struck bit to where it was seen: a backward slice over cycles.

Every step takes one cycle: what a bit holds comes from bits of the cycle before. So all ways are equally
long in cycles, and the shortest is that with the fewest moves from one bit to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from resil.rtl_harness.engine.trace.fan_in import (
    bit_sources,
    is_held,
    loading_bits,
    net_sources,
    structural_sources,
)
from resil.rtl_harness.engine.trace.history import DifferenceHistory
from resil.rtl_harness.engine.trace.pair_run import PairRun
from resil.rtl_harness.engine.trace.storage_bits import StorageBits
from resil.rtl_harness.engine.trace.window import GateNetlist, TraceWindow
from resil.rtl_harness.errors import SimulationError

MOST_BITS = 256
"""Bits of a cycle that are followed backwards; of more, those with the fewest moves to the end."""
_EXACT = 48
"""So many are followed each by itself, so that no shorter way is missed."""
_PATIENCE = 40_000
_FEW_BITS = 12
"""So many are followed once bits of all cycles together have been followed `_PATIENCE` times."""


class PathGoal(NamedTuple):
    """Where a difference was seen.

    Attributes:
        cycle: In which cycle.
        bit: The bit of storage; None of an output.
        nets: Nets of the output; empty of a bit of storage.
    """

    cycle: int
    bit: int | None
    nets: tuple[int, ...] = ()


class PathStay(NamedTuple):
    """A bit that held the difference in consecutive cycles."""

    bit: int
    first: int
    last: int


@dataclass(frozen=True)
class CausalPath:
    """A way from the struck bit to a goal.

    Attributes:
        stays: Bits in the order of time; the first is a struck one. Empty if none was found.
        shortest: No way has fewer moves.
        problem: Why none was found.
    """

    stays: tuple[PathStay, ...]
    shortest: bool = True
    problem: str = ""


@dataclass
class _Search:
    """Goes backwards through the cycles from one goal."""

    goal: PathGoal
    frontier: dict[int, int] = field(default_factory=dict)  # moves from a bit to the goal
    later: dict[int, dict[int, int]] = field(default_factory=dict)  # by cycle: the bit a bit moves to
    followed: int = 0
    shortest: bool = True
    started: bool = False
    problem: str = ""


def causal_paths(
    run: PairRun,
    netlist: GateNetlist,
    bits: StorageBits,
    history: DifferenceHistory,
    struck: Sequence[int],
    goals: Sequence[PathGoal],
    arrivals: Sequence[tuple[int, int]] = (),
) -> tuple[list[CausalPath], list[tuple[int, ...]]]:
    """Return the shortest way from a struck bit to each goal, and where each arrival came from.

    Args:
        run: Both runs, which have been gone through once.
        netlist: The gates.
        bits: The storage.
        history: What differed.
        struck: The bits that were inverted.
        goals: Where differences were seen.
        arrivals: Bits, and cycles in which they differed, after that of the fault.

    Returns:
        The ways, and for each arrival bits of the cycle before; none if the gates do not say.

    Raises:
        SimulationError: A way that was found is none: a bit of it does not differ, or is not in the fan-in.
    """
    searches = [_Search(goal) for goal in goals]
    came_from: list[tuple[int, ...]] = [()] * len(arrivals)
    asked = [*(goal.cycle for goal in goals), *(cycle for _, cycle in arrivals)]
    end = max(asked, default=history.first) + 1
    for checkpoint in reversed([c for c in run.checkpoints if c.cycle < end]):
        # Windows overlap by a cycle: what a bit holds is compared with what it should take.
        window = TraceWindow(netlist, bits, checkpoint.cycle, end - checkpoint.cycle)
        run.again(checkpoint, end, window.take)
        for search in searches:
            _go_back(search, window)
            if checkpoint.cycle == history.first:
                _from_loads(search, window, struck)
        for i, (bit, cycle) in enumerate(arrivals):
            if checkpoint.cycle < cycle < end:
                came_from[i] = tuple(sorted(bit_sources(window, bit, cycle - 1 - window.first) or ()))
        end = checkpoint.cycle + 1
    paths = [_path(search, history.first, struck) for search in searches]
    for path, goal in zip(paths, goals, strict=True):
        check_path(path, goal, netlist, bits, history, struck)
    return paths, came_from


def check_path(
    path: CausalPath,
    goal: PathGoal,
    netlist: GateNetlist,
    bits: StorageBits,
    history: DifferenceHistory,
    struck: Sequence[int],
) -> None:
    """Raise SimulationError unless each step of a way is one: what holds it differs, and feeds the next.

    Values of gates are not looked at: only what differs by the comparison of the runs, and the netlist.
    """
    if not path.stays:
        return
    stays = path.stays
    connected = all(a.last + 1 == b.first for a, b in pairwise(stays))
    if stays[0].bit not in struck or stays[0].first != history.first or not connected:
        raise _no_path("a way that begins with the struck bit, in its cycle, and goes on without a gap", path)
    for stay in stays:
        for cycle in {stay.first, (stay.first + stay.last) // 2, stay.last}:
            if not history.differs(stay.bit, cycle):
                raise _no_path(f"{bits.site(stay.bit).name} to differ in cycle {cycle}", path)
    for before, after in pairwise(stays):
        if not _feeds(netlist, bits, before.bit, _next_nets(netlist, bits, after.bit)):
            names = bits.site(before.bit).name, bits.site(after.bit).name
            raise _no_path(f"{names[0]} in the fan-in of {names[1]}", path)
    if goal.bit is None:
        if stays[-1].last != goal.cycle or not _feeds(netlist, bits, stays[-1].bit, list(goal.nets)):
            raise _no_path("the last bit in the fan-in of the output", path)
    elif stays[-1].bit != goal.bit or stays[-1].last != goal.cycle:
        raise _no_path("the way to end where the difference was seen", path)


def _no_path(expected: str, path: CausalPath) -> SimulationError:
    return SimulationError(
        f"causal path: expected {expected}, found otherwise in {path.stays}; please report it", "path"
    )


def _go_back(search: _Search, window: TraceWindow) -> None:
    last = window.first + window.cycles - 1
    if search.problem or search.goal.cycle < window.first:
        return
    if not search.started:
        search.started, last = True, search.goal.cycle
        search.frontier = dict.fromkeys(_begin(search.goal, window), 0)
    for cycle in range(last - 1, window.first - 1, -1):
        _step(search, window, cycle)
        if not search.frontier:
            search.problem = (
                f"before cycle {cycle + 1} the gates do not say where the difference came from: a latch, "
                "an edge of a derived clock, or what an asynchronous load puts there"
            )
            return


def _begin(goal: PathGoal, window: TraceWindow) -> set[int]:
    if goal.bit is not None:
        return {goal.bit}
    place = goal.cycle - window.first
    return set().union(*(net_sources(window, net, place) for net in goal.nets))


def _step(search: _Search, window: TraceWindow, cycle: int) -> None:
    """Replace the bits of a cycle by those of the one before that they come from."""
    place = cycle - window.first
    reached: dict[int, int] = {}
    moves: dict[int, int] = {}
    # Of many, each net is gone through once, from the bit that is nearest to the goal.
    seen: set[int] | None = set() if len(search.frontier) > _EXACT else None
    search.shortest &= seen is None
    for bit, cost in sorted(search.frontier.items(), key=lambda item: (item[1], item[0])):
        sources = bit_sources(window, bit, place, seen) or set()
        if seen is not None and is_held(window, bit, place):
            sources.add(bit)
        for source in sources:
            new = cost + (source != bit)
            if new < reached.get(source, new + 1):
                reached[source], moves[source] = new, bit
    search.followed += len(search.frontier)
    most = MOST_BITS if search.followed < _PATIENCE else _FEW_BITS
    if len(reached) > most:
        kept = sorted(reached, key=lambda source: (reached[source], source))[:most]
        reached = {source: reached[source] for source in kept}
        search.shortest = False
    search.frontier = reached
    if other := {source: moves[source] for source in reached if moves[source] != source}:
        search.later[cycle] = other


def _from_loads(search: _Search, window: TraceWindow, struck: Sequence[int]) -> None:
    """In the cycle of the fault, let struck bits whose flip loads others stand for these."""
    if search.problem or not search.frontier.keys().isdisjoint(struck):
        return
    own = search.later.setdefault(window.first, {})
    for bit, cost in sorted(search.frontier.items(), key=lambda item: (item[1], item[0])):
        for source in loading_bits(window, bit, 0).intersection(struck):
            if source not in search.frontier:
                search.frontier[source] = cost + 1
                own[source] = own.get(bit, bit)


def _path(search: _Search, first: int, struck: Sequence[int]) -> CausalPath:
    if search.problem:
        return CausalPath((), False, search.problem)
    begins = [bit for bit in struck if bit in search.frontier]
    if not begins:
        return CausalPath(
            (), False, "the difference came from what changed with the struck bit in the cycle of the fault"
        )
    bit = min(begins, key=lambda found: (search.frontier[found], found))
    stays: list[PathStay] = []
    since = first
    for cycle in sorted(search.later):
        following = search.later[cycle].get(bit, bit)
        if following != bit:
            stays.append(PathStay(bit, since, cycle))
            bit, since = following, cycle + 1
    stays.append(PathStay(bit, since, search.goal.cycle))
    return CausalPath(tuple(stays), search.shortest)


def _next_nets(netlist: GateNetlist, bits: StorageBits, bit: int) -> list[int]:
    """Return the nets that decide what a bit of storage takes next."""
    if (found := bits.memory_of(bit)) is None:
        return _taken_nets(netlist, bit)
    memory, _, at = found
    nets: list[int] = []
    for port, write in enumerate(netlist.circuit.writes):
        if int(write["memory"]) == netlist.memories[memory]:
            address, data, enable = netlist.write(port)
            nets += [*address, data[at], enable[at]]
    return nets


def _taken_nets(netlist: GateNetlist, bit: int) -> list[int]:
    """Return what decides of a register's bit: its data, its load, and what those that load it take."""
    nets: list[int] = []
    known, waiting = {bit}, [bit]
    while waiting:
        taken, load, _ = netlist.flip_flops[waiting.pop()]
        nets += [taken, load]
        loading = structural_sources(netlist, [load])[0] - known
        known |= loading
        waiting += loading
    return nets


def _feeds(netlist: GateNetlist, bits: StorageBits, source: int, nets: list[int]) -> bool:
    registers, ports = structural_sources(netlist, nets)
    if (found := bits.memory_of(source)) is None:
        return source in registers
    own = netlist.memories[found[0]]
    return any(int(netlist.circuit.reads[port]["memory"]) == own for port in ports)
