# SPDX-License-Identifier: Apache-2.0
"""Units of choice: what of the storage is protected together, at three granularities.

The risks are learnt of *cells*, the finest division: eight bits of a register, or a memory with the
flip-flops of its macro. A unit of choice is one or more cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Granularity(StrEnum):
    """What is chosen for: each block, each register, or each group of at most eight bits of one."""

    BLOCK = "block"
    REGISTER = "register"
    GROUP = "group"


GROUP_BITS = 8
_RANGE = re.compile(r"(?P<path>.+)\[(?P<left>-?\d+):(?P<right>-?\d+)\]")


@dataclass(frozen=True)
class ProtectableStorage:
    """The bits that can be protected, one an entry, in the order of their numbers.

    Attributes:
        path: Register or memory.
        bit: As the source counts it.
        kind: "ff", "macro" or "sram".
        block: Of the block map.
        register_class: What it is for.
        declared: Bits that each register has in the source, hardware or not.
    """

    path: npt.NDArray[Any]
    bit: IntArray
    kind: npt.NDArray[Any]
    block: npt.NDArray[Any]
    register_class: npt.NDArray[Any]
    declared: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.bit)


@dataclass(frozen=True)
class Cells:
    """The finest division of the storage.

    Attributes:
        of_bit: Cell of each bit of the storage, shape (bits,).
        levels: Nested groups around the cells, the coarsest first, the last the cells themselves: for each
            the group of each cell, shape (cells,). Block and kind, register class, register, cell.
        kind: Of each cell; a memory and the flip-flops of its macro are two cells of one unit.
        block: Of each.
        path: Of each: register, memory, or instance of the macro.
        place: Which eight bits of its register each is, from 0; 0 of a memory.
        bits: Of each.
    """

    of_bit: IntArray
    levels: tuple[IntArray, ...]
    kind: tuple[str, ...]
    block: tuple[str, ...]
    path: tuple[str, ...]
    place: IntArray
    bits: IntArray


@dataclass(frozen=True, slots=True)
class Unit:
    """What is protected together.

    Attributes:
        name: For people.
        parts: What `resil.rtl_harness.redundancy` takes as the paths of its groups.
        block: That it is in.
        memory: Whether it is one, with the flip-flops of its macro, or flip-flops.
        cells: Numbers of its cells.
        bits: Of each kind of storage, as pairs.
    """

    name: str
    parts: tuple[str, ...]
    block: str
    memory: bool
    cells: tuple[int, ...]
    bits: tuple[tuple[str, int], ...]

    @property
    def all_bits(self) -> int:
        """Bits of all kinds."""
        return sum(bits for _, bits in self.bits)


def cells_of(storage: ProtectableStorage) -> Cells:
    """Divide storage into cells."""
    plain = storage.kind == "ff"
    place = np.where(plain, storage.bit // GROUP_BITS, 0)
    holders = {path: _instance(str(path)) for path in dict.fromkeys(storage.path.tolist())}
    holder = np.array([holders[path] for path in storage.path.tolist()], dtype=object)
    owner = np.where(plain, storage.path, holder)
    keys: list[tuple[Any, ...]] = list(
        zip(storage.block, storage.kind, storage.register_class, owner, place, strict=True)
    )
    # Macros of one kind in a block are alike: what was seen of one holds for the others.
    numbers: list[dict[Any, int]] = [{} for _ in range(4)]
    of_bit = np.array([numbers[3].setdefault(key, len(numbers[3])) for key in keys], dtype=np.int64)
    levels = [np.empty(len(numbers[3]), dtype=np.int64) for _ in range(4)]
    for key, cell in numbers[3].items():
        for level, size in enumerate((2, 3, 4)):
            levels[level][cell] = numbers[level].setdefault(key[:size], len(numbers[level]))
        levels[3][cell] = cell
    found = list(numbers[3])
    return Cells(
        of_bit,
        tuple(levels),
        tuple(str(key[1]) for key in found),
        tuple(str(key[0]) for key in found),
        tuple(str(key[3]) for key in found),
        np.array([int(key[4]) for key in found], dtype=np.int64),
        np.bincount(of_bit, minlength=len(found)).astype(np.int64),
    )


def units_of(storage: ProtectableStorage, cells: Cells, granularity: Granularity) -> list[Unit]:
    """Return the units of choice in the order in which the storage has them.

    >>> names = np.array(["u.a_q"] * 10, dtype=object)
    >>> word = [np.array([text] * 10, dtype=object) for text in ("ff", "cc", "control")]
    >>> storage = ProtectableStorage(names, np.arange(10), *word, {"u.a_q": 10})
    >>> [unit.name for unit in units_of(storage, cells_of(storage), Granularity.GROUP)]
    ['u.a_q[7:0]', 'u.a_q[9:8]']
    >>> [unit.parts for unit in units_of(storage, cells_of(storage), Granularity.REGISTER)]
    [('u.a_q',)]
    """
    owners: dict[tuple[str, bool, str, int], list[int]] = {}
    for cell, (kind, block, path) in enumerate(zip(cells.kind, cells.block, cells.path, strict=True)):
        memory = kind != "ff"
        where = "" if granularity is Granularity.BLOCK else path
        part = cell if granularity is Granularity.GROUP and not memory else -1
        owners.setdefault((block, memory, where, part), []).append(cell)
    first = _bits_of_cells(cells)
    units = []
    for (block, memory, where, part), own in owners.items():
        bits: dict[str, int] = {}
        for cell in own:
            bits[cells.kind[cell]] = bits.get(cells.kind[cell], 0) + int(cells.bits[cell])
        name = where or (f"{block} memories" if memory else block)
        parts: tuple[str, ...] = (where or block,)
        if part >= 0:
            parts = tuple(_ranges(where, storage.bit[first[part]].tolist(), storage))
            name = parts[0] if len(parts) == 1 else f"{parts[0]} and {len(parts) - 1} more"
        elif where and not memory:
            held = np.concatenate([first[cell] for cell in own])
            parts = tuple(_ranges(where, storage.bit[held].tolist(), storage))
        units.append(Unit(name, parts, block, memory, tuple(own), tuple(bits.items())))
    return units


def _bits_of_cells(cells: Cells) -> list[IntArray]:
    order = np.argsort(cells.of_bit, kind="stable")
    return [np.asarray(part) for part in np.split(order, np.cumsum(cells.bits)[:-1])]


def _ranges(path: str, bits: Sequence[int], storage: ProtectableStorage) -> list[str]:
    """Return the bits as ranges of neighbours; the register alone if they are all that it has."""
    if len(bits) == storage.declared.get(path):
        return [path]
    found = _RANGE.fullmatch(path)
    stem = found["path"] if found else path
    runs: list[list[int]] = []
    for bit in sorted(bits):
        if runs and bit == runs[-1][1] + 1:
            runs[-1][1] = bit
        else:
            runs.append([bit, bit])
    return [f"{stem}[{high}:{low}]" for low, high in runs]


def _instance(path: str) -> str:
    return path.rpartition(".")[0] or path
