# SPDX-License-Identifier: Apache-2.0
"""What may be chosen for units of storage, and what each item costs and leaves on every network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.protection.blocks import Block
from resil.protection.effects import Effect, Mechanisms, undetected
from resil.protection.options import ERROR_FLAG, WATCHDOG, Option, OptionSet, ProtectionError
from resil.protection.risks import Network
from resil.protection.units import Cells, Unit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


# Stands for the name of a block where everything is copied.
NPU = "the whole NPU"


@dataclass(frozen=True)
class Design:
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
    """

    cells: Cells
    units: Sequence[Unit]
    blocks: Mapping[str, Block]
    bits: Mapping[tuple[str, str], int]
    unit: str
    area: float
    options: OptionSet
    buildable: bool = False
    copied: frozenset[str] = frozenset()
    limit: int | None = None

    def cell_area(self, block: str, kind: str, option: Option) -> float:
        """Return the area of a flip-flop or a memory bit of a block.

        Raises:
            ProtectionError: It is not known.
        """
        own = self.blocks[block]
        area, bits = (own.ff_area if kind == "ff" else own.sram_area), self.bits.get((block, kind), 0)
        if area is None:
            name = "flip-flops" if kind == "ff" else "memories"
            raise ProtectionError(
                f"{option.name}: has no area for {block}: that of {name} in {self.unit} is not known; add a "
                f"[[cell]] of kind {kind} and unit {self.unit} to a file for --options, or exclude the option"
            )
        return area / bits if bits else 0.0

    def offered(self, place: str) -> list[Option]:
        """Return the options of a place (`options.UNITS`) that may be chosen."""
        found = [o for o in self.options.options.values() if o.name != "none" and place in o.units]
        return [o for o in found if o.builds or not self.buildable]

    def mechanisms_area(self, mechanisms: Mechanisms) -> float:
        """Return the area of mechanisms of the whole NPU."""
        area = 0.0
        for option in mechanisms.options:
            if option.cells_area:
                area += option.cells_area * self._flip_flop(option)
        return area

    def _flip_flop(self, option: Option) -> float:
        known = [(b, n) for (b, kind), n in self.bits.items() if kind == "ff" and n]
        return sum(n * self.cell_area(b, "ff", option) for b, n in known) / max(sum(n for _, n in known), 1)

    def mechanisms(self) -> list[Mechanisms]:
        """Return the sets of mechanisms of the whole NPU that there are, the error status declared first."""
        known = {o.name: o for o in self.options.options.values() if "npu" in o.units}
        # It is in the design: nothing has to be built.
        flags = [known.get(ERROR_FLAG), None] if ERROR_FLAG in known else [None]
        dog = known.get(WATCHDOG)
        if dog is None or self.limit is None or (self.buildable and not dog.builds):
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

    option: Option | None
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


def menu_of_units(design: Design, hazardous: Sequence[str]) -> Menu:
    """Return what may be chosen for units and for whole blocks.

    A block that is copied as a whole has no option in its units. Options that make detected failures are
    left out where those are hazardous themselves.

    Raises:
        ProtectionError: The area of an option is not known.
    """
    groups = [o for o in design.offered("group") if _helps(o, hazardous)]
    memories = [o for o in design.offered("memory") if _helps(o, hazardous)]
    items: list[Item] = []
    cost: list[float] = []
    sets: list[list[int]] = []
    bare = left_out(design)
    for number, unit in enumerate(design.units):
        own = [Item(None, (number,))]
        kinds = {kind for kind, _ in unit.bits}
        for option in () if number in bare else memories if unit.memory else groups:
            if "sram" in kinds if unit.memory else kinds & set(option.protects):
                own.append(Item(option, (number,)))
        sets.append(list(range(len(items), len(items) + len(own))))
        items += own
        cost += [item_area(design, item) for item in own]
    for option in design.offered("whole_block"):
        if not _helps(option, hazardous):
            continue
        for block in dict.fromkeys(unit.block for unit in design.units):
            inside = tuple(n for n, unit in enumerate(design.units) if unit.block == block)
            if bare & set(inside) or (design.buildable and block not in design.copied):
                continue
            for number in inside:
                sets[number].append(len(items))
            items.append(Item(option, inside, block))
            cost.append(item_area(design, items[-1]))
    return Menu(items, np.array(cost), [np.array(own, dtype=np.int64) for own in sets])


def left_out(design: Design) -> set[int]:
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
                f"leave_out names {path}, which no unit of choice is or lies in; `resil sites` lists them"
            )
        found |= own
    return found


def whole_npu(design: Design, hazardous: Sequence[str]) -> list[tuple[Item, float]]:
    """Return the options that copy the whole NPU, with their areas."""
    every = tuple(range(len(design.units)))
    named = (ERROR_FLAG, WATCHDOG)
    return [
        (item, item_area(design, item))
        for option in design.offered("npu")
        if option.name not in named and _helps(option, hazardous)
        for item in [Item(option, every, NPU)]
    ]


def _helps(option: Option, hazardous: Sequence[str]) -> bool:
    return option.turns_into != "due" or "due" not in hazardous


def item_area(design: Design, item: Item) -> float:
    """Return the area that an item adds.

    Raises:
        ProtectionError: The area of the option is not known.
    """
    option = item.option
    if option is None:
        return 0.0
    if item.block:
        return option.block_area * (design.area if item.block == NPU else design.blocks[item.block].area)
    unit = design.units[item.units[0]]
    kind, factor = ("sram", option.sram_area) if unit.memory else ("ff", option.ff_area)
    bits = dict(unit.bits).get(kind, 0)
    return factor * bits * design.cell_area(unit.block, kind, option) if factor else 0.0


@dataclass(frozen=True)
class Left:
    """What each item leaves on one network, in FIT; shapes (items,).

    Attributes:
        fit: Hazardous rate.
        raw: Upset rate, the denominator of SPFM.
        due: Detected failures.
        before: Hazardous rate of the design without protection, as the campaign counts it.
    """

    fit: FloatArray
    raw: FloatArray
    due: FloatArray
    before: float


def what_is_left(
    design: Design, menu: Sequence[Item], network: Network, risks: FloatArray, mechanisms: Mechanisms
) -> Left:
    """Return what items leave, by risks of cells.

    Args:
        design: What is chosen for.
        menu: Items.
        network: Whose upset rates.
        risks: P(fate | a bit of the cell flips), shape (cells, fates).
        mechanisms: Of the whole NPU.
    """
    cells = design.cells
    raw = network.raw(cells)
    rate = raw * (risks @ mechanisms.hazardous(network))
    told = raw * (risks @ mechanisms.detected(network))
    before = float(raw @ (risks @ undetected()))
    by_unit = {
        kind: tuple(
            _sums(design, np.where(np.array(cells.kind) == kind, part, 0.0)) for part in (rate, raw, told)
        )
        for kind in dict.fromkeys(cells.kind)
    }
    effects = {
        (option.name, kind): Effect.of(option, kind, network.hazardous)
        for option in {item.option for item in menu if item.option is not None}
        for kind in by_unit
    }
    fit, left, due = (np.zeros(len(menu)) for _ in range(3))
    for number, item in enumerate(menu):
        own = list(item.units)
        for kind, (own_rate, own_raw, own_told) in by_unit.items():
            effect = effects[item.option.name, kind] if item.option else Effect()
            upsets = float(own_raw[own].sum())
            fit[number] += effect.residual * float(own_rate[own].sum())
            left[number] += effect.raw * upsets
            due[number] += effect.due_of_raw * upsets + effect.due_kept * float(own_told[own].sum())
    return Left(fit, left, due, before)


def _sums(design: Design, of_cells: FloatArray) -> FloatArray:
    return np.array([float(of_cells[list(unit.cells)].sum()) for unit in design.units])
