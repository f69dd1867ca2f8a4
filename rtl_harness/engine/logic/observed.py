# SPDX-License-Identifier: Apache-2.0
"""What is observed of a circuit: outputs, alarms, and the storage that is compared when a run has ended."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.engine.fast.gates.gates_file import Gates
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.logic.library import OUTPUT, LogicObserved


def observed_of(
    gates: Gates,
    circuit: Circuit,
    model: CompiledModel,
    reset: npt.NDArray[np.int8] | None = None,
    done_bits: int = 1,
) -> LogicObserved:
    """Return what is observed of a circuit in the runs of a model.

    Args:
        gates: The design.
        circuit: The same, with the places of its storage in the model.
        model: What runs, just out of reset.
        reset: What asynchronous loads set of each flip-flop; -1 where that is not known. By default what the
            flip-flops hold at the release of reset: while a reset lasts they hold what it sets.
        done_bits: How many of the circuit's ports say that a run is done, the first ones.

    Raises:
        UnsupportedError: If a memory that is compared has words that are no hardware, or holds outputs and is
            no memory of the gates.
    """
    state = np.array(model.origin.state, np.uint8)
    flip_flops = circuit.flip_flops
    places = flip_flops["offset"].astype(np.int64) * 8 + flip_flops["bit"]
    counted = np.isin(places, _compared_bits(model))
    held = (state[flip_flops["offset"].astype(np.int64)] >> flip_flops["bit"].astype(np.uint8)) & 1
    numbers = {path: i for i, (path, _) in enumerate(gates.memories)}
    memories = np.zeros(len(numbers), np.uint8)
    sites = {e.path for e in model.elaboration.sites.elements if e.kind == "sram"}
    observed = {memory.path for memory in model.target.memories.values() if memory.observed}
    for path in sites | observed:
        if path in numbers:
            memories[numbers[path]] = 1
    _check_whole(model.elaboration)
    outputs = []
    for spec in model.workload.outputs:
        memory = model.target.memories[spec.memory]
        if memory.path not in numbers:
            raise UnsupportedError(f"{memory.path} holds outputs and is no memory of the gates")
        for at in range(spec.offset, spec.offset + spec.size):
            outputs.append((numbers[memory.path], at // memory.word_bytes, at % memory.word_bytes))
    return LogicObserved(
        state,
        held.astype(np.int8) if reset is None else reset,
        counted.astype(np.uint8),
        memories,
        np.array(outputs, OUTPUT),
        done_bits,
        _mask(model.alarms.detects),
        _mask(model.alarms.corrects),
    )


def _mask(places: list[int]) -> int:
    return sum(1 << place for place in places)


def _check_whole(elaboration: Elaboration) -> None:
    sites = elaboration.sites
    for run in sites.absent:
        for site in (run.first, run.end - 1):
            if sites[site].element.kind == "sram":
                raise UnsupportedError(f"words of {sites[site].element.path} are no hardware")


def _compared_bits(model: CompiledModel) -> npt.NDArray[np.int64]:
    """Return the bits of the state, 8 times the byte plus the bit in it, of registers with fault sites."""
    sites = model.elaboration.sites
    absent = {site for run in sites.absent for site in range(run.first, run.end)}
    found, first = [], 0
    for element in sites.elements:
        if element.kind != "sram":
            storage, low, width = model.map.place(element.path)
            for word in range(element.depth):
                base = 8 * (storage.offset + word * storage.entry_bytes) + low
                at = first + word * width
                found += [base + bit for bit in range(width) if at + bit not in absent]
        first += element.bits
    return np.array(found, np.int64)
