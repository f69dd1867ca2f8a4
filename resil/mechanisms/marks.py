# SPDX-License-Identifier: Apache-2.0
"""Which cells of a netlist belong to which mechanism, and what each mechanism guards: cells and memories."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from resil.campaign.safety import SafetyMechanism
from resil.errors import CampaignError
from resil.rtl_harness.design.elaboration import Elaboration, block_of
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.fast.gates.logic import READ
from resil.rtl_harness.logic.marked_cells import cells_below, cells_for_alarms, innermost
from resil.rtl_harness.logic.netlist import Ints, LogicNetlist
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.parts import ALARMS, LOCKSTEP, TIMER, MechanismPart, PartRole

NO_PART = -1
_CODES = (Mechanism.SECDED.value, Mechanism.MEMORY_PARITY.value)


@dataclass(frozen=True, slots=True)
class StorageWithoutCells:
    """Storage of the design that no cell of the netlist stands for: a memory, or latches.

    Attributes:
        path: Below the top.
        block: That it lies in; "" for none.
        memory: Place in `gates.memories`; -1 of latches.
    """

    path: str
    block: str
    memory: int = -1


@dataclass(frozen=True)
class GuardedPlaces:
    """Where second faults strike: what a mechanism guards.

    Attributes:
        cells: Of the netlist, ascending.
        memories: Places in `gates.memories`.
        whole: Held pins, upsets and pulses there are all faults that there are. They are not where a memory
            is, whose bits may be stuck, and where latches or cells are out of reach.
    """

    cells: Ints
    memories: tuple[int, ...] = ()
    whole: bool = True


@dataclass(frozen=True)
class MarkedDesign:
    """The cells of a netlist by the mechanism that they belong to.

    Attributes:
        netlist: The design.
        parts: Of mechanisms.
        part_of: Place in `parts` of each cell, `NO_PART` of what belongs to none, (cells,).
        blocks: That mechanisms of the campaign guard, by their alarm; none for all.
        storage: What no cell stands for.
    """

    netlist: LogicNetlist
    parts: tuple[MechanismPart, ...]
    part_of: Ints
    blocks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    storage: tuple[StorageWithoutCells, ...] = ()

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
        # Alarms of the campaign may have any name, that of a kind too.
        if mechanism in self.blocks:
            return self._in_blocks(self.blocks[mechanism])
        own = [number for number, part in enumerate(self.parts) if part.mechanism == mechanism]
        built = [number for number, part in enumerate(self.parts) if part.mechanism not in self.blocks]
        kind = self.parts[own[0]].kind
        if kind in _CODES:
            return self._reached(np.zeros(0, np.int32), (), self._memories_of(own))
        if kind == TIMER or (kind == ALARMS and any(self.parts[n].kind == TIMER for n in built)):
            return self._in_blocks(())
        if kind == ALARMS:
            coded = self._memories_of([n for n in built if self.parts[n].kind in _CODES])
            return self._below([n for n in built if self.parts[n].role is PartRole.GUARDED], coded)
        roles = (
            (PartRole.GUARDED, PartRole.COPY) if kind == Mechanism.TRIPLICATION.value else (PartRole.GUARDED,)
        )
        return self._below([n for n in own if self.parts[n].role in roles and n != without])

    def _in_blocks(self, blocks: Collection[str]) -> GuardedPlaces:
        """Return what lies in blocks, in the whole design if there are none, and belongs to no mechanism."""
        wanted = np.array([not blocks or name in blocks for name in self.netlist.blocks], bool)
        free = np.array([not kind for kind in self.kinds], bool)
        cells = np.flatnonzero(wanted[self.netlist.block_of] & free).astype(np.int32)
        return self._reached(
            cells,
            [
                own
                for own, part in self._storage_parts
                if (not blocks or own.block in blocks)
                and (part == NO_PART or self.parts[part].role is PartRole.GUARDED)
            ],
        )

    def _below(self, parts: Collection[int], coded: Iterable[int] = ()) -> GuardedPlaces:
        """Return what lies in parts of mechanisms, and memories with a code."""
        cells = np.flatnonzero(np.isin(self.part_of, list(parts))).astype(np.int32)
        return self._reached(cells, [own for own, part in self._storage_parts if part in parts], coded)

    def _reached(
        self, cells: Ints, storage: Sequence[StorageWithoutCells], coded: Iterable[int] = ()
    ) -> GuardedPlaces:
        memories = {*coded, *(own.memory for own in storage if own.memory >= 0)}
        left_out = any(self.netlist.names[cell] in self.netlist.left_out for cell in cells.tolist())
        whole = not (memories or storage or left_out)
        return GuardedPlaces(cells, tuple(sorted(memories)), whole)

    @cached_property
    def _storage_parts(self) -> list[tuple[StorageWithoutCells, int]]:
        """Storage without cells, with the part that each belongs to; `NO_PART` of what belongs to none."""
        places = innermost((own.path for own in self.storage), [part.path for part in self.parts])
        return list(zip(self.storage, places, strict=True))

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


def storage_without_cells(
    target: Target, elaboration: Elaboration, netlist: LogicNetlist
) -> tuple[StorageWithoutCells, ...]:
    """Return the memories and latches of a design; of memories those that are never written too.

    Args:
        target: The target.
        elaboration: Its storage, with what is hardware.
        netlist: Its netlist.
    """
    found = [
        StorageWithoutCells(path, block_of(path, target.blocks), number)
        for number, (path, _) in enumerate(netlist.gates.memories)
        if path.startswith(f"{target.dut}.")
    ]
    found += [
        StorageWithoutCells(element.path, element.block)
        for number, element in enumerate(elaboration.sites.elements)
        if elaboration.clocking[element.path].latch and elaboration.sites.present(number)
    ]
    return tuple(found)


def marked_design(
    netlist: LogicNetlist,
    storage: Sequence[StorageWithoutCells],
    parts: Sequence[MechanismPart],
    declared: Sequence[SafetyMechanism],
    where: str,
) -> MarkedDesign:
    """Return the cells by mechanism.

    Args:
        netlist: The design.
        storage: What no cell of it stands for, from `storage_without_cells`.
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
    stored = set(innermost((own.path for own in storage), [part.path for part in whole]))
    for number, part in enumerate(whole):
        # What a mechanism stores in a memory or in latches has no cells, and is storage of its own.
        declared_here = part.mechanism in blocks and number not in stored
        if not (part_of == number).any() and (declared_here or part.kind == LOCKSTEP):
            raise CampaignError(
                f"{where}: [safety] mechanism: expected cells below {part.path} in the netlist, found none: "
                "synthesis keeps the boundaries of blocks alone; make it a block of the target file",
                "safety.mechanism.storage",
            )
    collectors = [
        number for number, part in enumerate(whole) if part.kind == ALARMS and part.mechanism not in blocks
    ]
    if collectors:
        leading = cells_for_alarms(netlist, np.isin(part_of, collectors)) & (part_of == NO_PART)
        part_of[leading] = collectors[0]
    return MarkedDesign(netlist, tuple(whole), part_of, blocks, tuple(storage))
