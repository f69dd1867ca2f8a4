# SPDX-License-Identifier: Apache-2.0
"""Whether the netlist is the RTL that runs: flip-flops, memories and alarms of whole golden runs."""

from __future__ import annotations

import re

from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.injector import Flip
from resil.rtl_harness.engine.fast.native.sweep import GatesError
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.expand import GIVES
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.pulses import NetPulses

# Asynchronous loads may set one another off this often.
_ROUNDS = 64
_BYTE = re.compile(r"at byte (\d+)(?:, bit (\d+))?")


def proven(netlist: LogicNetlist, model: CompiledModel) -> tuple[Circuit, NetPulses]:
    """Return the netlist in the places of a model, compared with it in every cycle of its golden run.

    Args:
        netlist: Of the model's target.
        model: Has had its golden run.

    Raises:
        HarnessError: If they differ; it names register, bit and cycle.
        UnsupportedError: If a flip-flop of the netlist cannot be found in the model.
    """
    _check_constants(netlist, model)
    circuit = circuit_of(netlist.gates, model.origin, model.memory_words)
    pulses = NetPulses(model.injector, circuit, netlist.reset_values, netlist.done_bits)
    try:
        pulses.verify()
    except GatesError as error:
        pulses.close()
        raise HarnessError(
            f"target {model.target.name} running {model.workload.name}: the synthesised netlist is not the "
            f"RTL that runs: {named(str(error), model)}; faults in its logic would be those of another "
            "design. Look for values that the RTL leaves undefined there",
            "faults.kinds",
        ) from error
    return circuit, pulses


def check_first_edge(netlist: LogicNetlist, circuit: Circuit, model: CompiledModel) -> None:
    """Raise HarnessError unless the first edge after the release of reset does what it does in the RTL.

    Along the gates a cycle begins after a rising edge, so the first one has a falling edge that the RTL has
    not: its clock is low when reset is released. It counts where a flip-flop takes what it would not hold.
    """
    if not netlist.left_out:
        return
    start = bytes(model.origin.state)
    places = [(int(f["offset"]), int(f["bit"])) for f in circuit.flip_flops]
    found = _after_an_edge(netlist, circuit, start, [start[at] >> bit & 1 for at, bit in places])
    with model.start() as instance:
        instance.run_to(1)
        now = bytes(instance.state)
    for value, (at, bit) in zip(found, places, strict=True):
        if value != now[at] >> bit & 1:
            where = named(f"at byte {at}, bit {bit}", model)
            raise HarnessError(
                f"target {model.target.name}: {where}: expected {1 - value} after the first edge, as in the "
                f"RTL, found {value} along the gates of the netlist: a flip-flop of the falling edge, or "
                "of another clock, would take something else before it than what reset has left; let it take "
                "that in reset",
                "faults.kinds",
            )


def _after_an_edge(netlist: LogicNetlist, circuit: Circuit, state: bytes, held: list[int]) -> list[int]:
    """Return what flip-flops hold after an edge of the clock, each gate evaluated by itself."""
    gates = netlist.gates
    rows = gates.flip_flops.tolist()
    value = [0, 1, *(0 for _ in range(gates.nets - 2))]

    def settled(stored: list[int]) -> list[int]:
        for _ in range(_ROUNDS):
            for row, bit in zip(rows, stored, strict=True):
                value[row[0]] = bit
            for operation, a, b, s, y in gates.gates.tolist():
                if operation == READ:
                    number, address, data = gates.reads[a]
                    memory = circuit.memories[number]
                    word = sum(value[net] << i for i, net in enumerate(address))
                    first = int(memory["offset"]) + word * int(memory["entry_bytes"])
                    there = word < int(memory["words"])
                    for i, net in enumerate(data):
                        value[net] = state[first + i // 8] >> i % 8 & 1 if there else 0
                else:
                    value[y] = GIVES[operation](value[a], value[b], value[s])
            forced = [
                int(reset) if value[row[2]] == row[3] and reset >= 0 else bit
                for row, bit, reset in zip(rows, stored, netlist.reset_values.tolist(), strict=True)
            ]
            if forced == stored:
                return stored
            stored = forced
        raise HarnessError("asynchronous loads set one another off without an end", "faults.kinds")

    stored = settled(held)
    taken = [value[row[1]] for row in rows]
    acting = [value[row[2]] == row[3] for row in rows]
    return settled([now if acts else next_ for now, next_, acts in zip(stored, taken, acting, strict=True)])


def named(message: str, model: CompiledModel) -> str:
    """Return a message of the gates with the register or memory in place of its byte in the state."""
    found = _BYTE.search(message)
    if found is None:
        return message
    offset = int(found[1])
    for path in model.map.paths:
        storage, low, width = model.map.place(path)
        at = offset - storage.offset
        if not 0 <= at < storage.size:
            continue
        word, byte = divmod(at, storage.entry_bytes)
        bit = 8 * byte + int(found[2] or 0)
        if storage.depth > 1:
            return message.replace(found[0], f"in {path}, word {word}")
        if low <= bit < low + width:
            return message.replace(found[0], f"in {path}, bit {bit - low}")
    return message


def _check_constants(netlist: LogicNetlist, model: CompiledModel) -> None:
    """Raise HarnessError unless what synthesis takes for constant has that value when the run ends."""
    cursor = model.injector.cursor
    for site, value in netlist.constants.tolist():
        bit: Flip = model.map.flip(site)
        if cursor.read(bit.storage, bit.word) >> bit.bit & 1 != value:
            raise HarnessError(
                f"target {model.target.name}: synthesis takes {model.elaboration.sites[site].name} for "
                f"constant {value}, but at the end of the golden run it is {1 - value}",
                "faults.kinds",
            )
