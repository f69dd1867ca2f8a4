"""Connects the gates of a design with the storage of its compiled model, and faults with both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rtl_harness.engines.verilator_gates import Gates, UnsupportedError
from rtl_harness.engines.verilator_state import StateMap
from rtl_harness.errors import UnmappedSiteError
from rtl_harness.faults import Fault
from rtl_harness.verilated.campaign import Campaign
from rtl_harness.verilated.foresight import (
    FLIP_FLOP,
    GATE,
    MATTERS,
    MEMORY,
    PORT,
    Circuit,
    Foresight,
    Question,
)
from rtl_harness.verilated.library import Instance


class FaultForesight:
    """Tells of faults how long they stay alone, by the names that elaboration gave to storage.

    Args:
        campaign: Has had its golden pass.
        state_map: Where storage lies in the model.
        gates: The design as gates.

    Raises:
        UnsupportedError: If a flip-flop of the gates cannot be found in the model.
    """

    def __init__(self, campaign: Campaign, state_map: StateMap, gates: Gates) -> None:
        self._map = state_map
        places = _places(gates, campaign.origin)
        missing = [q for q in gates.flip_flops[:, 0].tolist() if q not in places]
        if missing:
            raise UnsupportedError(f"{len(missing)} flip-flops of the gates have no name in the model")
        self._flip_flops = {places[q]: i for i, q in enumerate(gates.flip_flops[:, 0].tolist())}
        self._memories: dict[str, int] = {}
        self._foresight = Foresight(campaign, self._circuit(gates, places, campaign.origin))

    def close(self) -> None:
        """Free it."""
        self._foresight.close()

    def first_cycles(self, faults: Sequence[Fault]) -> list[int | None]:
        """Return for each fault the cycle from which it has to be simulated, None if it leaves nothing."""
        answers = self._foresight.ask([self._question(fault) for fault in faults])
        return [
            int(cycle) if prospect == MATTERS else None
            for prospect, cycle in zip(answers["prospect"].tolist(), answers["cycle"].tolist(), strict=True)
        ]

    def _question(self, fault: Fault) -> Question:
        flip = self._map.flip(fault.site)
        if flip.storage.path in self._memories:
            return Question(-1, self._memories[flip.storage.path], flip.word, flip.bit, fault.cycle)
        place = (flip.storage.offset + flip.word * flip.storage.entry_bytes + flip.bit // 8, flip.bit % 8)
        return Question(self._flip_flops[place], -1, 0, 0, fault.cycle)

    def _circuit(self, gates: Gates, places: Mapping[int, tuple[int, int]], origin: Instance) -> Circuit:
        flip_flops = np.zeros(len(gates.flip_flops), FLIP_FLOP)
        for column, name in enumerate(("q", "d", "load", "active")):
            flip_flops[name] = gates.flip_flops[:, column]
        flip_flops["offset"] = [places[q][0] for q in gates.flip_flops[:, 0].tolist()]
        flip_flops["bit"] = [places[q][1] for q in gates.flip_flops[:, 0].tolist()]
        table = np.zeros(len(gates.gates), GATE)
        for column, name in enumerate(("operation", "a", "b", "s", "y")):
            table[name] = gates.gates[:, column]
        memories = np.zeros(len(gates.memories), MEMORY)
        for i, (path, first_word) in enumerate(gates.memories):
            storage = origin.find(path)
            self._memories[path] = i
            memories[i] = (storage.offset, storage.depth, storage.entry_bytes, first_word)
        lists: list[int] = []
        reads, writes = np.zeros(len(gates.reads), PORT), np.zeros(len(gates.writes), PORT)
        for i, (memory, address, data) in enumerate(gates.reads):
            reads[i] = (memory, len(address), len(data), len(lists))
            lists += [*address, *data]
        for i, (memory, address, data, enable) in enumerate(gates.writes):
            writes[i] = (memory, len(address), len(data), len(lists))
            lists += [*address, *data, *enable]
        return Circuit(
            gates.nets, table, flip_flops, memories, reads, writes, gates.ports, np.array(lists, np.int32)
        )


def _places(gates: Gates, origin: Instance) -> dict[int, tuple[int, int]]:
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
