# SPDX-License-Identifier: Apache-2.0
"""Which bits of storage a difference came from in the cycle before, along the gates that differ between."""

from __future__ import annotations

from resil.rtl_harness.engine.fast.gates.logic import MUX
from resil.rtl_harness.engine.trace.window import GateNetlist, TraceWindow


def net_sources(window: TraceWindow, net: int, place: int, seen: set[int] | None = None) -> set[int]:
    """Return the bits of storage whose difference makes a net differ in a cycle of the window.

    Of a selection whose select does not differ, only what is selected counts. Of a word that is read at
    different addresses, the address counts. Nets that were `seen` are left out, and those that are gone
    through are added to them.
    """
    found: set[int] = set()
    seen = set() if seen is None else seen
    stack = [net]
    while stack:
        net = stack.pop()
        if net in seen or not window.net(net).differs(place):
            continue
        seen.add(net)
        if (number := window.netlist.stored.get(net)) is not None:
            found.add(number)
        elif (read := window.netlist.reads.get(net)) is not None:
            port, bit = read
            memory, golden, faulty = window.word_of(port, place)
            if golden == faulty:
                found.add(_memory_bit(window, memory, golden, bit))
            else:
                stack += window.netlist.address(port)
        else:
            stack += _inputs(window, net, place)
    return found


def bit_sources(
    window: TraceWindow, number: int, place: int, seen: set[int] | None = None
) -> set[int] | None:
    """Return the bits in a cycle that make a bit of storage differ in the next one.

    Args:
        window: Has both cycles.
        number: Of the bit.
        place: The first of the two cycles, counted from the window's.
        seen: As of `net_sources`.

    Returns:
        The bits; None if the gates do not say what the model did: at an edge of a derived clock, say.
    """
    found = window.bits.memory_of(number)
    if found is None:
        return _register_sources(window, number, place, seen, frozenset())
    return _memory_sources(window, number, found, place, seen)


def structural_sources(netlist: GateNetlist, nets: list[int]) -> tuple[set[int], set[int]]:
    """Return bits of registers, and read ports, that nets are computed from, whatever their values."""
    registers: set[int] = set()
    ports: set[int] = set()
    seen: set[int] = set()
    stack = list(nets)
    while stack:
        net = stack.pop()
        if net in seen:
            continue
        seen.add(net)
        if (number := netlist.stored.get(net)) is not None:
            registers.add(number)
            # An asynchronous load acts within a cycle, on what this bit feeds too.
            stack.append(netlist.flip_flops[number][1])
        elif (read := netlist.reads.get(net)) is not None:
            ports.add(read[0])
            stack += netlist.address(read[0])
        else:
            stack += netlist.inputs(net)
    return registers, ports


def is_held(window: TraceWindow, number: int, place: int) -> bool:
    """Whether a register's bit takes itself, through multiplexers whose selects do not differ."""
    flip_flop = window.netlist.flip_flops.get(number)
    if flip_flop is None:
        return False
    net = flip_flop[0]
    while (gate := window.netlist.drivers.get(net)) is not None:
        if gate.operation != MUX or window.net(gate.s).differs(place):
            return False
        net = gate.b if window.net(gate.s).golden >> place & 1 else gate.a
    return window.netlist.stored.get(net) == number


def loading_bits(window: TraceWindow, number: int, place: int) -> set[int]:
    """Return the bits whose difference makes an asynchronous load act on a bit in one run alone, in a cycle.

    The load acts at once: these bits differ in the same cycle.
    """
    flip_flop = window.netlist.flip_flops.get(number)
    return set() if flip_flop is None else net_sources(window, flip_flop[1], place)


def _register_sources(
    window: TraceWindow, number: int, place: int, seen: set[int] | None, loaded: frozenset[int]
) -> set[int] | None:
    flip_flop = window.netlist.flip_flops.get(number)
    if flip_flop is None:
        return None
    taken, load, active = flip_flop
    acts = [
        active in both for both in zip(*(window.net(load).at(at) for at in (place, place + 1)), strict=True)
    ]
    values = zip(acts, window.net(taken).at(place), window.bit(number, place + 1), strict=True)
    # What a load puts there is not known of the gates; what is taken without one is.
    if any(not loads and now != then for loads, now, then in values):
        return None
    if not any(acts):
        return net_sources(window, taken, place, seen)
    if number in loaded:
        return None
    found = net_sources(window, load, place)
    for other in loading_bits(window, number, place + 1):
        found |= _register_sources(window, other, place, None, loaded | {number}) or set()
    return found or None


def _memory_sources(
    window: TraceWindow,
    number: int,
    where: tuple[int, int, int],
    place: int,
    seen: set[int] | None,
) -> set[int] | None:
    memory, word, bit = where
    netlist = window.netlist
    own = netlist.memories[memory]
    if own is None:
        return None
    first_word = int(netlist.circuit.memories[own]["first_word"])
    effective: list[int | None] = [None, None]
    nets: dict[int, tuple[list[int], int, int]] = {}
    for port, write in enumerate(netlist.circuit.writes):
        if int(write["memory"]) != own:
            continue
        address, data, enable = netlist.write(port)
        nets[port] = (address, data[bit], enable[bit])
        both = window.addresses(address)
        enabled = window.net(enable[bit]).at(place)
        for side in (0, 1):
            if enabled[side] and int(both[side][place]) - first_word == word:
                effective[side] = port
    before, after = window.bit(number, place), window.bit(number, place + 1)
    for side, writer in enumerate(effective):
        new = before[side] if writer is None else window.net(nets[writer][1]).at(place)[side]
        if new != after[side]:
            return None
    golden, faulty = effective
    if golden == faulty:
        return {number} if golden is None else net_sources(window, nets[golden][1], place, seen)
    found: set[int] = set()
    for writing in (port for port in effective if port is not None):
        address, _, enable_net = nets[writing]
        for net in (*address, enable_net):
            found |= net_sources(window, net, place, seen)
    if None in effective and before[0] != before[1]:
        found.add(number)
    return found


def _inputs(window: TraceWindow, net: int, place: int) -> tuple[int, ...]:
    gate = window.netlist.drivers.get(net)
    if gate is not None and gate.operation == MUX and not window.net(gate.s).differs(place):
        return (gate.b if window.net(gate.s).golden >> place & 1 else gate.a,)
    return window.netlist.inputs(net)


def _memory_bit(window: TraceWindow, memory: int, word: int, bit: int) -> int:
    place = window.bits.memories[memory]
    return place.first + 8 * word * place.place.entry_bytes + bit
