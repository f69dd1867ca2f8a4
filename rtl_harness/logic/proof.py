# SPDX-License-Identifier: Apache-2.0
"""Whether the netlist is the RTL that runs: flip-flops, memories and alarms of whole golden runs."""

from __future__ import annotations

import re

from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.injector import Flip
from resil.rtl_harness.engine.fast.native.sweep import GatesError
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.pulses import NetPulses

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
