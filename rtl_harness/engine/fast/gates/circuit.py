# SPDX-License-Identifier: Apache-2.0
"""Connects the gates of a design with the storage of its compiled model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from resil.rtl_harness.engine.fast.gates.gates_file import Gates
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.native.circuit import (
    ALARM,
    FLIP_FLOP,
    GATE,
    MEMORY,
    PORT,
    Circuit,
)
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.errors import UnmappedSiteError


def circuit_of(gates: Gates, origin: ModelInstance, words: Mapping[str, int] | None = None) -> Circuit:
    """Return the gates with the places of their storage in the model of which `origin` is an instance.

    Args:
        gates: The design.
        origin: The instance.
        words: Words that memories have, by path, where these are fewer than were built.

    Raises:
        UnsupportedError: If a flip-flop of the gates cannot be found in the model.
    """
    places = _places(gates, origin)
    missing = [q for q in gates.flip_flops[:, 0].tolist() if q not in places]
    if missing:
        raise UnsupportedError(f"{len(missing)} flip-flops of the gates have no name in the model")
    flip_flops = np.zeros(len(gates.flip_flops), FLIP_FLOP)
    for column, name in enumerate(("q", "d", "load", "active", "sensitive")):
        flip_flops[name] = gates.flip_flops[:, column]
    flip_flops["offset"] = [places[q][0] for q in gates.flip_flops[:, 0].tolist()]
    flip_flops["bit"] = [places[q][1] for q in gates.flip_flops[:, 0].tolist()]
    table = np.zeros(len(gates.gates), GATE)
    for column, name in enumerate(("operation", "a", "b", "s", "y")):
        table[name] = gates.gates[:, column]
    memories = np.zeros(len(gates.memories), MEMORY)
    for i, (path, first_word) in enumerate(gates.memories):
        storage = origin.find(path)
        depth = min(storage.depth, (words or {}).get(path, storage.depth))
        memories[i] = (storage.offset, depth, storage.entry_bytes, first_word)
    lists: list[int] = []
    reads, writes = np.zeros(len(gates.reads), PORT), np.zeros(len(gates.writes), PORT)
    for i, (memory, address, data) in enumerate(gates.reads):
        reads[i] = (memory, len(address), len(data), len(lists))
        lists += [*address, *data]
    for i, (memory, address, data, enable) in enumerate(gates.writes):
        writes[i] = (memory, len(address), len(data), len(lists))
        lists += [*address, *data, *enable]
    bits = [(net, number) for number, nets in enumerate(gates.alarms) for net in nets]
    alarms = np.array(bits, ALARM)
    undefined = np.array(gates.undefined, np.int32)
    return Circuit(
        gates.nets,
        table,
        flip_flops,
        memories,
        reads,
        writes,
        gates.ports,
        alarms,
        np.array(gates.operation, np.int32),
        undefined,
        np.array(lists, np.int32),
    )


def _places(gates: Gates, origin: ModelInstance) -> dict[int, tuple[int, int]]:
    """Return byte and bit of the state for each net of a variable that holds storage."""
    places = {}
    for path, nets in gates.wires.items():
        try:
            storage = origin.find(path)
        except UnmappedSiteError:
            continue
        for position, net in enumerate(nets):
            word, bit = divmod(position, storage.width)
            if word >= storage.depth:
                break
            at = storage.word_from_right(word)
            places[net] = (storage.offset + at * storage.entry_bytes + bit // 8, bit % 8)
    return places
