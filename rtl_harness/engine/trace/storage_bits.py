# SPDX-License-Identifier: Apache-2.0
"""All bits of storage of a compiled model, numbered, and which of them differ between two instances."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import Site, StorageElement
from resil.rtl_harness.engine.fast.native.library import ModelInstance
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.engine.fast.state_map import StateMap

Bits = npt.NDArray[np.int64]
"""Numbers of bits, ascending."""
NO_BITS: Bits = np.zeros(0, np.int64)

_compare = ctypes.CDLL(None).memcmp
_compare.restype = ctypes.c_int
_compare.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class StorageWord(NamedTuple):
    """A register, or a word of a memory: the element's position in `StorageBits.elements`, and the word."""

    element: int
    word: int


class _Memory(NamedTuple):
    place: StoragePlace
    element: int
    first: int  # number of its first bit


class StorageBits:
    """Numbers of all bits of storage: those of registers first, then those of memories, eight a byte.

    Args:
        elaboration: The storage of design and bench.
        state: Where it lies.

    Attributes:
        elements: Registers and memories of the design, then those of the bench.
        register_bytes: Where in the state the bytes of registers lie.
        memories: The memories.
    """

    def __init__(self, elaboration: Elaboration, state: StateMap) -> None:
        self.elements: tuple[StorageElement, ...] = (
            *elaboration.sites.elements,
            *elaboration.bench_elements,
        )
        self._design = len(elaboration.sites.elements)
        self._places = [state.place(element.path) for element in self.elements]
        self.numbers = {element.path: i for i, element in enumerate(self.elements)}
        registers = [i for i, element in enumerate(self.elements) if element.kind != "sram"]
        bytes_ = {at for i in registers for at in range(*_extent(self._places[i][0]))}
        self.register_bytes = np.array(sorted(bytes_), np.int64)
        self._positions = {int(at): i for i, at in enumerate(self.register_bytes)}
        # Of each bit of a register byte, the element; variables of several elements have several.
        self._owner = np.full(8 * len(self.register_bytes), -1, np.int64)
        for i in registers:
            place, low, width = self._places[i]
            for bit in range(low, low + width):
                self._owner[self._register_bit(place, bit)] = i
        self.memories: list[_Memory] = []
        first = 8 * len(self.register_bytes)
        for i, element in enumerate(self.elements):
            if element.kind == "sram":
                place = self._places[i][0]
                self.memories.append(_Memory(place, i, first))
                first += 8 * place.size
        self._firsts = [memory.first for memory in self.memories]
        self._word_offsets = np.cumsum([0, *(element.depth for element in self.elements)], dtype=np.int64)
        self._entry_bytes = np.array([memory.place.entry_bytes for memory in self.memories], np.int64)
        self._memory_owners = np.array([memory.element for memory in self.memories], np.int64)

    def of_bench(self, element: int) -> bool:
        """Whether an element lies outside the design under test."""
        return element >= self._design

    def differing(self, one: ModelInstance, other: ModelInstance) -> Bits:
        """Return the bits in which two instances differ."""
        changed = one.state[self.register_bytes] ^ other.state[self.register_bytes]
        parts = [_set_bits(changed)]
        base, other_base = one.state.ctypes.data, other.state.ctypes.data
        for memory in self.memories:
            at, size = memory.place.offset, memory.place.size
            if _compare(base + at, other_base + at, size):
                apart = one.state[at : at + size] ^ other.state[at : at + size]
                parts.append(_set_bits(apart) + memory.first)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def number(self, offset: int, bit: int) -> int | None:
        """Return the number of a bit of the state; None if it is no storage."""
        if (position := self._positions.get(offset)) is not None:
            return 8 * position + bit
        for memory in self.memories:
            if 0 <= (at := offset - memory.place.offset) < memory.place.size:
                return memory.first + 8 * at + bit
        return None

    def site_number(self, path: str, word: int, bit: int) -> int:
        """Return the number of a bit of an element."""
        place, low, _ = self._places[self.numbers[path]]
        found = self.number(place.offset + word * place.entry_bytes + (bit + low) // 8, (bit + low) % 8)
        assert found is not None
        return found

    def memory_of(self, number: int) -> tuple[int, int, int] | None:
        """Return which memory a bit lies in, its word and its bit in that; None if it is a register's."""
        index = bisect_right(self._firsts, number) - 1
        if index < 0:
            return None
        byte, bit = divmod(number - self._firsts[index], 8)
        word, at = divmod(byte, self.memories[index].place.entry_bytes)
        return index, word, 8 * at + bit

    def site(self, number: int) -> Site:
        """Return the bit with its name."""
        if (found := self.memory_of(number)) is not None:
            index, word, bit = found
            return Site(self.elements[self.memories[index].element], word, bit)
        element = int(self._owner[number])
        place, low, _ = self._places[element]
        byte, bit = divmod(number, 8)
        at = int(self.register_bytes[byte]) - place.offset
        return Site(self.elements[element], 0, 8 * at + bit - low)

    def word_numbers(self, elements: Bits, words: Bits) -> Bits:
        """Return a number for each word of `words`, different for all words of all elements."""
        return self._word_offsets[elements] + words

    @property
    def word_count(self) -> int:
        """Registers and words of memories, those of the bench too."""
        return int(self._word_offsets[-1])

    def words(self, bits: Bits) -> tuple[Bits, Bits]:
        """Return the element and the word of each bit."""
        elements, words = np.zeros(len(bits), np.int64), np.zeros(len(bits), np.int64)
        split = int(np.searchsorted(bits, 8 * len(self.register_bytes)))
        elements[:split] = self._owner[bits[:split]]
        if split < len(bits):
            rest = bits[split:]
            index = np.searchsorted(self._firsts, rest, side="right") - 1
            elements[split:] = self._memory_owners[index]
            words[split:] = (rest - np.array(self._firsts)[index]) // (8 * self._entry_bytes[index])
        return elements, words

    def value(self, instance: ModelInstance, where: StorageWord) -> int:
        """Return what an element, or a word of it, holds."""
        place, low, width = self._places[where.element]
        return instance.read(place, where.word) >> low & (1 << width) - 1

    def memory_bits(self, path: str, first: int, size: int, word_bytes: int) -> list[list[int]]:
        """Return the numbers of the bits of each of `size` bytes of a memory, from byte `first` on."""
        memory = next(m for m in self.memories if self.elements[m.element].path == path)
        found = []
        for byte in range(first, first + size):
            word, rest = divmod(byte, word_bytes)
            at = memory.first + 8 * (word * memory.place.entry_bytes + rest)
            found.append(list(range(at, at + 8)))
        return found

    def _register_bit(self, place: StoragePlace, bit: int) -> int:
        return 8 * self._positions[place.offset + bit // 8] + bit % 8


def grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Return the second of each pair by the first."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return dict(found)


def _extent(place: StoragePlace) -> tuple[int, int]:
    return place.offset, place.offset + place.size


def _set_bits(changed: npt.NDArray[np.uint8]) -> Bits:
    """Return the numbers of the bits that are 1, from the lowest of the first byte on."""
    places = np.flatnonzero(changed)
    if not len(places):
        return NO_BITS
    rows, columns = np.nonzero(np.unpackbits(changed[places][:, None], axis=1, bitorder="little"))
    return places[rows] * 8 + columns
