# SPDX-License-Identifier: Apache-2.0
"""Which cells of a netlist belong to which mechanism, and what each mechanism guards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from resil.campaign.safety import SafetyMechanism
from resil.errors import CampaignError
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.marked_cells import cells_below, cells_for_alarms
from resil.rtl_harness.logic.netlist import Ints, LogicNetlist
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.parts import ALARMS, LOCKSTEP, TIMER, MechanismPart, PartRole

NO_PART = -1
_CODES = (Mechanism.SECDED.value, Mechanism.MEMORY_PARITY.value)


@dataclass(frozen=True)
class GuardedPlaces:
    """Where second faults strike: what a mechanism guards.

    Attributes:
        cells: Of the netlist, ascending.
        memories: Places in `gates.memories`.
    """

    cells: Ints
    memories: tuple[int, ...] = ()


@dataclass(frozen=True)
class MarkedDesign:
    """The cells of a netlist by the mechanism that they belong to.

    Attributes:
        netlist: The design.
        parts: Of mechanisms.
        part_of: Place in `parts` of each cell, `NO_PART` of what belongs to none, (cells,).
        blocks: That mechanisms of the campaign guard, by their path; none for all.
    """

    netlist: LogicNetlist
    parts: tuple[MechanismPart, ...]
    part_of: Ints
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def kind(self, cell: int) -> str:
        """Return the kind of mechanism of a cell; "" if it belongs to none, or is what one guards."""
        part = int(self.part_of[cell])
        if part == NO_PART or self.parts[part].role is PartRole.GUARDED:
            return ""
        return self.parts[part].kind

    @cached_property
    def kinds(self) -> list[str]:
        """Kind of each cell."""
        return [self.kind(cell) for cell in range(self.netlist.cells)]

    def guarded(self, cell: int) -> GuardedPlaces:
        """Return what the mechanism of a cell guards.

        Of a triplicated register that is its other copies too: two wrong ones win the vote.
        """
        part = self.parts[int(self.part_of[cell])]
        return self._guarded(
            part.mechanism, int(self.part_of[cell]) if part.role is PartRole.COPY else NO_PART
        )

    def _guarded(self, mechanism: str, without: int) -> GuardedPlaces:
        key = (mechanism, without)
        if key not in self._places:
            self._places[key] = self._found(mechanism, without)
        return self._places[key]

    @cached_property
    def _places(self) -> dict[tuple[str, int], GuardedPlaces]:
        return {}

    def _found(self, mechanism: str, without: int) -> GuardedPlaces:
        own = [number for number, part in enumerate(self.parts) if part.mechanism == mechanism]
        kind = self.parts[own[0]].kind
        if kind in _CODES:
            return GuardedPlaces(np.zeros(0, np.int32), self._memories_of(own))
        if kind == ALARMS:
            guarded = [n for n, part in enumerate(self.parts) if part.role is PartRole.GUARDED]
            memories = self._memories_of([n for n, part in enumerate(self.parts) if part.kind in _CODES])
            return GuardedPlaces(self._cells(guarded), memories)
        if kind == TIMER or mechanism in self.blocks:
            blocks = self.blocks.get(mechanism, ())
            wanted = np.array([not blocks or name in blocks for name in self.netlist.blocks], bool)
            free = np.array([not kind for kind in self.kinds], bool)
            return GuardedPlaces(np.flatnonzero(wanted[self.netlist.block_of] & free).astype(np.int32))
        roles = (
            (PartRole.GUARDED, PartRole.COPY) if kind == Mechanism.TRIPLICATION.value else (PartRole.GUARDED,)
        )
        return GuardedPlaces(self._cells(n for n in own if self.parts[n].role in roles and n != without))

    def _cells(self, parts: Iterable[int]) -> Ints:
        return np.flatnonzero(np.isin(self.part_of, list(parts))).astype(np.int32)

    def _memories_of(self, parts: Sequence[int]) -> tuple[int, ...]:
        """Return the memories that encoders lead to and that feed decoders, through an output latch too."""
        gates, pins = self.netlist.gates, self.netlist.pins
        encoders = [number for number in parts if self.parts[number].role is PartRole.ENCODE]
        encode, decode = (
            np.isin(self.part_of, own)[pins["cell"]] for own in (encoders, sorted(set(parts) - set(encoders)))
        )
        writes = {net: memory for memory, _, data, _ in gates.writes for net in data}
        reads = {net: memory for memory, _, data in gates.reads for net in data}
        driver = {y: (a, b, s) for operation, a, b, s, y in gates.gates.tolist() if operation != READ}
        stored = {q: d for q, d, *_ in gates.flip_flops.tolist()}
        found = {writes[net] for net in pins["net"][encode & (pins["output"] == 1)].tolist() if net in writes}
        seen: set[int] = set()
        ahead = pins["net"][decode & (pins["output"] == 0)].tolist()
        while ahead:
            net = ahead.pop()
            if net in seen:
                continue
            seen.add(net)
            if net in reads:
                found.add(reads[net])
            elif net in stored:
                # The output latch of a macro.
                found.update(reads[own] for own in driver.get(stored[net], (stored[net],)) if own in reads)
            elif net in driver:
                ahead += driver[net]
        return tuple(sorted(found))


def marked_design(
    netlist: LogicNetlist, parts: Sequence[MechanismPart], declared: Sequence[SafetyMechanism], where: str
) -> MarkedDesign:
    """Return the cells by mechanism.

    Args:
        netlist: The design.
        parts: Of mechanisms that were built.
        declared: Mechanisms of the campaign file: what lies below their `storage` belongs to them.
        where: Campaign file, for messages.

    Raises:
        CampaignError: a mechanism has no cells in the netlist, or there is none.
    """
    whole = list(parts)
    blocks: dict[str, tuple[str, ...]] = {}
    for own in declared:
        for path in own.storage:
            if all(part.path != path for part in whole):
                whole.append(MechanismPart(path, own.alarm, own.alarm, PartRole.CHECK))
                blocks[own.alarm] = own.blocks
    if not whole:
        raise CampaignError(
            f"{where}: [safety] mechanism: expected a design with mechanisms, found none: neither instances "
            "that resil protect --build makes, nor [[safety.mechanism]] with storage; build it, or name it",
            "safety.mechanism",
        )
    part_of = cells_below(netlist, [part.path for part in whole])
    for number, part in enumerate(whole):
        declared_here = part.mechanism in blocks
        if not (part_of == number).any() and (declared_here or part.kind == LOCKSTEP):
            raise CampaignError(
                f"{where}: [safety] mechanism: expected cells below {part.path} in the netlist, found none: "
                "synthesis keeps the boundaries of blocks alone; make it a block of the target file",
                "safety.mechanism.storage",
            )
    collectors = [number for number, part in enumerate(whole) if part.kind == ALARMS]
    if collectors:
        leading = cells_for_alarms(netlist, np.isin(part_of, collectors)) & (part_of == NO_PART)
        part_of[leading] = collectors[0]
    return MarkedDesign(netlist, tuple(whole), part_of, blocks)
