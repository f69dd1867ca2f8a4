# SPDX-License-Identifier: Apache-2.0
"""What may be chosen for units of storage, and what each item costs and leaves on every network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from resil.protection.blocks import UnprotectedBlock
from resil.protection.effects import Effect, Mechanisms, undetected
from resil.protection.logic import BlockLogic, LogicCover, PulseRates, narrower, together
from resil.protection.options import ERROR_FLAG, KINDS, WATCHDOG, OptionSet, ProtectionError, ProtectionOption
from resil.protection.risks import Network
from resil.protection.units import Cells, Unit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


# Stands for the name of a block where everything is copied.
NPU = "the whole NPU"


@dataclass(frozen=True)
class ProtectableDesign:
    """What is chosen for.

    Attributes:
        cells: Of its storage.
        units: Of choice.
        blocks: With their areas, by name.
        bits: Flip-flops and memory bits of each block, by block and kind: what areas of cells are shared by.
        unit: Of areas, "GE" or "um2".
        area: Of all blocks.
        options: That there are.
        buildable: Only what can be built is offered.
        copied: Blocks of which a copy as a whole can be built.
        limit: Of a watchdog on operations, in cycles; None if none can be offered.
        by_block: Units are all flip-flops, or all memories, of a block, and options of blocks are offered.
    """

    cells: Cells
    units: Sequence[Unit]
    blocks: Mapping[str, UnprotectedBlock]
    bits: Mapping[tuple[str, str], int]
    unit: str
    area: float
    options: OptionSet
    buildable: bool = False
    copied: frozenset[str] = frozenset()
    limit: int | None = None
    by_block: bool = False

    def cell_area(self, block: str, kind: str) -> float:
        """Return the area of a flip-flop or a memory bit of a block, which has to be known."""
        own = self.blocks[block]
        area, bits = (own.ff_area if kind == "ff" else own.sram_area), self.bits.get((block, kind), 0)
        assert area is not None
        return area / bits if bits else 0.0

    def offered(self, *places: str) -> list[ProtectionOption]:
        """Return the options of places (`options.UNITS`) that may be chosen."""
        found = [o for o in self.options.options.values() if o.name != "none" and set(places) & set(o.units)]
        return [o for o in found if not self.buildable or self.options.may_be_built(o)]

    def area_known(self, block: str, option: ProtectionOption) -> bool:
        """Whether the areas that an option is reckoned from are known of a block."""
        own = self.blocks[block]
        lacking = (option.ff_area and own.ff_area is None) or (option.sram_area and own.sram_area is None)
        return not lacking and not (option.block_area and not self.block_area(block))

    def block_area(self, block: str) -> float:
        """Return the area of a block; that of its storage where what it holds is not counted as its own."""
        own = self.blocks[block]
        return max(own.area, (own.ff_area or 0.0) + (own.sram_area or 0.0))

    def mechanisms_area(self, mechanisms: Mechanisms) -> float:
        """Return the area of mechanisms of the whole NPU."""
        cells = sum(option.cells_area for option in mechanisms.options)
        return cells * (self._flip_flop() or 0.0) if cells else 0.0

    def _flip_flop(self) -> float | None:
        """Return the mean area of a flip-flop, None if that of a block is not known."""
        known = [(b, n) for (b, kind), n in self.bits.items() if kind == "ff" and n and b in self.blocks]
        if any(self.blocks[block].ff_area is None for block, _ in known):
            return None
        return sum(n * self.cell_area(b, "ff") for b, n in known) / max(sum(n for _, n in known), 1)

    def mechanisms(self) -> list[Mechanisms]:
        """Return the sets of mechanisms of the whole NPU that there are, the error status declared first."""
        known = {o.name: o for o in self.options.options.values() if "npu" in o.units}
        # It is in the design: nothing has to be built.
        flags = [known.get(ERROR_FLAG), None] if ERROR_FLAG in known else [None]
        dog = known.get(WATCHDOG)
        unshown = self.buildable and dog is not None and not dog.builds
        if dog is None or self.limit is None or unshown or self._flip_flop() is None:
            return [Mechanisms(None, flag) for flag in flags]
        return [m for flag in flags for m in (Mechanisms(None, flag), Mechanisms(dog, flag, self.limit))]


@dataclass(frozen=True, slots=True)
class Item:
    """An option for a unit, for a block as a whole, or for the whole NPU.

    Attributes:
        option: None for no protection.
        units: Numbers of the units that it covers.
        block: That it copies as a whole, or `NPU`; "" if it is of a unit.
    """

    option: ProtectionOption | None
    units: tuple[int, ...]
    block: str = ""


@dataclass(frozen=True)
class Menu:
    """All that may be chosen.

    Attributes:
        items: In the order of all arrays.
        cost: Area that each adds, shape (items,).
        sets: Items of which exactly one is taken, one set a unit.
    """

    items: Sequence[Item]
    cost: FloatArray
    sets: Sequence[IntArray]


def menu_of_units(design: ProtectableDesign, hazardous: Sequence[str]) -> Menu:
    """Return what may be chosen for units and for whole blocks.

    A block that is copied as a whole has no option in its units; an option of a block that protects its
    flip-flops and its memories covers both units. Options that make detected failures are left out where
    those are hazardous themselves, and those of which the area is not known.

    Raises:
        ProtectionError: The file of options names storage that there is not.
    """
    bare = left_out(design)
    found = [Item(None, (number,)) for number in range(len(design.units))]
    found += _of_units(design, hazardous, bare)
    found += _of_blocks(design, hazardous, bare)
    items = sorted(found, key=lambda item: (item.units[0], len(item.units) > 1))
    sets: list[list[int]] = [[] for _ in design.units]
    for place, item in enumerate(items):
        for number in item.units:
            sets[number].append(place)
    cost = np.array([item_area(design, item) for item in items])
    return Menu(items, cost, [np.array(own, dtype=np.int64) for own in sets])


def _of_units(design: ProtectableDesign, hazardous: Sequence[str], bare: set[int]) -> list[Item]:
    more = ("block",) if design.by_block else ()
    options = {
        memory: [o for o in design.offered(place, *more) if _helps(o, hazardous)]
        for memory, place in ((False, "group"), (True, "memory"))
    }
    found: dict[Item, None] = {}
    for number, unit in enumerate(design.units):
        kinds = {kind for kind, _ in unit.bits}
        for option in () if number in bare else options[unit.memory]:
            useful = kinds & set(option.protects)
            if unit.memory and not design.by_block:
                useful &= {"sram"}
            if not useful or not design.area_known(unit.block, option):
                continue
            if "block" in more and "block" in option.units:
                found[Item(option, _reached(design, unit.block, option, bare))] = None
            else:
                found[Item(option, (number,))] = None
    return list(found)


def _reached(
    design: ProtectableDesign, block: str, option: ProtectionOption, bare: set[int]
) -> tuple[int, ...]:
    """Return the units of a block in which an option of blocks protects something."""
    own = [n for n, unit in enumerate(design.units) if unit.block == block and n not in bare]
    return tuple(n for n in own if {kind for kind, _ in design.units[n].bits} & set(option.protects))


def _of_blocks(design: ProtectableDesign, hazardous: Sequence[str], bare: set[int]) -> list[Item]:
    found = []
    for option in (o for o in design.offered("whole_block") if _helps(o, hazardous)):
        for block in dict.fromkeys(unit.block for unit in design.units):
            inside = tuple(n for n, unit in enumerate(design.units) if unit.block == block)
            shown = not design.buildable or block in design.copied
            if shown and not bare & set(inside) and design.area_known(block, option):
                found.append(Item(option, inside, block))
    return found


def left_out(design: ProtectableDesign) -> set[int]:
    """Return the numbers of units that are offered nothing, as the file of options asks.

    Raises:
        ProtectionError: It names what no unit is in.
    """
    found: set[int] = set()
    for path in design.options.leave_out:
        own = {
            number
            for number, unit in enumerate(design.units)
            if path == unit.block
            or any(
                name == path or name.startswith((f"{path}[", f"{path}.")) for name in (unit.name, *unit.parts)
            )
        }
        if not own:
            raise ProtectionError(
                f"leave_out names {path}, which no unit of choice is or lies in; `resil sites` lists them",
                "leave_out",
            )
        found |= own
    return found


def whole_npu(design: ProtectableDesign, hazardous: Sequence[str]) -> list[tuple[Item, float]]:
    """Return the options that copy the whole NPU, with their areas."""
    every = tuple(range(len(design.units)))
    named = (ERROR_FLAG, WATCHDOG)
    return [
        (item, item_area(design, item))
        for option in design.offered("npu")
        if option.name not in named and _helps(option, hazardous)
        for item in [Item(option, every, NPU)]
    ]


def _helps(option: ProtectionOption, hazardous: Sequence[str]) -> bool:
    return option.turns_into != "due" or "due" not in hazardous


def item_area(design: ProtectableDesign, item: Item) -> float:
    """Return the area that an item adds, which has to be known."""
    option = item.option
    if option is None:
        return 0.0
    if item.block:
        return option.block_area * (design.area if item.block == NPU else design.block_area(item.block))
    unit = design.units[item.units[0]]
    if design.by_block:
        own = design.blocks[unit.block]
        return option.area_added(design.block_area(unit.block), own.ff_area or 0.0, own.sram_area or 0.0)
    kind, factor = ("sram", option.sram_area) if unit.memory else ("ff", option.ff_area)
    bits = dict(unit.bits).get(kind, 0)
    return factor * bits * design.cell_area(unit.block, kind) if factor else 0.0


@dataclass(frozen=True)
class LogicOfItems:
    """What each item makes of faults in logic on one network, in FIT; shapes (items,).

    Attributes:
        fit: Upper limit of hazardous faults, less that without the item.
        due: The same of detected failures.
        copies: Whether it copies a block whose logic is known.
        blocks: What is there without protection, by limits that hold for any set.
        whole: The same by the narrower limits that hold where nothing is copied.
    """

    fit: FloatArray
    due: FloatArray
    copies: BoolArray
    blocks: PulseRates
    whole: PulseRates


@dataclass(frozen=True)
class Left:
    """What each item leaves on one network, in FIT; shapes (items,).

    Attributes:
        fit: Hazardous rate.
        raw: Upset rate, the denominator of SPFM.
        due: Detected failures.
        before: Hazardous rate of the design without protection, as the campaign counts it.
        highest: No corner of the raw rates has higher ones.
        logic: The same of faults in logic.
        stuck: All of this is of permanent faults.
    """

    fit: FloatArray
    raw: FloatArray
    due: FloatArray
    before: float
    highest: bool = True
    logic: LogicOfItems | None = None
    stuck: bool = False


@dataclass(frozen=True)
class Groups:
    """Groups of members, of which a member may be in several.

    Attributes:
        members: One group after the other.
        group: Of each of these.
        count: Of groups.
    """

    members: IntArray
    group: IntArray
    count: int

    @staticmethod
    def of(groups: Sequence[Sequence[int]]) -> Groups:
        """Return groups from the numbers of their members."""
        sizes = [len(own) for own in groups]
        members = np.fromiter(chain.from_iterable(groups), np.int64, sum(sizes))
        return Groups(members, np.repeat(np.arange(len(groups)), sizes), len(groups))

    def sums(self, of_members: FloatArray) -> FloatArray:
        """Return the sum of what the members of each group have, shape (groups,)."""
        return np.bincount(self.group, of_members[self.members], self.count).astype(np.float64)


def what_is_left(
    design: ProtectableDesign,
    menu: Sequence[Item],
    network: Network,
    risks: FloatArray,
    mechanisms: Mechanisms,
) -> Left:
    """Return what items leave, by risks of cells.

    Args:
        design: What is chosen for.
        menu: Items.
        network: Whose upset rates.
        risks: P(outcome | a bit of the cell flips), shape (cells, outcomes).
        mechanisms: Of the whole NPU.
    """
    cells = design.cells
    raw = network.raw(cells)
    rate = raw * (risks @ mechanisms.hazardous(network))
    detected = raw * (risks @ mechanisms.detected(network))
    before = float(raw @ (risks @ undetected()))
    units, items = Groups.of([unit.cells for unit in design.units]), Groups.of([item.units for item in menu])
    options = {item.option.name: item.option for item in menu if item.option is not None}
    place = {name: number for number, name in enumerate(options)}
    chosen = np.array(
        [len(place) if i.option is None else place[i.option.name] for i in menu], dtype=np.int64
    )
    fit, left, due = (np.zeros(len(menu)) for _ in range(3))
    # A code that corrects reports some clusters: hazardous where detected failures are.
    hurts = float("due" in network.hazardous)
    kinds = np.array(cells.kind)
    for kind in dict.fromkeys(cells.kind):
        own = kinds == kind
        hazards, upsets, failures = (
            items.sums(units.sums(np.where(own, part, 0.0))) for part in (rate, raw, detected)
        )
        effects = [
            *(
                Effect.of(option, kind, network.hazardous, network.clusters, permanent=network.stuck)
                for option in options.values()
            ),
            Effect(),
        ]
        residual, raw_left, due_of_raw, due_kept = np.array(
            [(e.residual, e.raw, e.due_of_raw, e.due_kept) for e in effects]
        )[chosen].T
        fit += residual * hazards + hurts * due_of_raw * upsets
        left += raw_left * upsets
        due += due_of_raw * upsets + due_kept * failures
    logic = None if network.logic is None else _logic(design, menu, network, network.logic, mechanisms)
    return Left(fit, left, due, before, logic=logic, stuck=network.stuck)


def _logic(
    design: ProtectableDesign,
    menu: Sequence[Item],
    network: Network,
    logic: BlockLogic,
    mechanisms: Mechanisms,
) -> LogicOfItems:
    own, whole = logic.counted(flagged=mechanisms.error_flag is not None, watched=mechanisms.watches(network))
    fit, due, copies = np.zeros(len(menu)), np.zeros(len(menu)), np.zeros(len(menu), dtype=bool)
    for number, item in enumerate(menu):
        for block, cover in covered_logic(design, [item], network).items():
            before, after = own[block], own[block].under(cover)
            fit[number] += after.fit_hi - before.fit_hi
            due[number] += after.due_hi - before.due_hi
            copies[number] = True
    blocks = together(own.values())
    return LogicOfItems(fit, due, copies, blocks, narrower(blocks, whole))


def covered_logic(
    design: ProtectableDesign, items: Sequence[Item], network: Network
) -> dict[str, LogicCover]:
    """Return what is made of the logic of each block that is copied as a whole and compared.

    What is left is what the copy leaves at the weak end of its coverage; its own logic is struck as well.
    Each pulse in either may be a detected failure. Hardened cells, parity, codes and copies of flip-flops
    alone guard what is stored: a pulse that they take in looks right to them, and so does what a held pin
    before them makes of a word, so they cover none. Nor is logic that no block claims, though a copy of
    everything may report it.
    """
    found: dict[str, LogicCover] = {}
    for item in items:
        option = item.option
        if option is None or not item.block or not set(KINDS) <= set(option.protects):
            continue
        if network.stuck and not option.permanent:
            continue
        cover = _cover(option, network.hazardous)
        for block in () if network.logic is None else network.logic.credited:
            if item.block == NPU and block not in design.blocks:
                found[block] = LogicCover(due_of_raw=cover.due_of_raw)
            elif item.block in (NPU, block):
                found[block] = cover
    return found


def _cover(option: ProtectionOption, hazardous: Sequence[str]) -> LogicCover:
    """Return what a copy makes of logic: its comparison counts, and nothing that makes cells upset less."""
    compared = replace(option, raw_factor=1.0, raw_factor_low=None, raw_factor_high=None)
    found = Effect.of(compared, KINDS[0], hazardous)
    return LogicCover(found.residual, found.due_of_raw, found.due_kept)
