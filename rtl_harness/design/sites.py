# SPDX-License-Identifier: Apache-2.0
"""Storage elements of a design, the numbering of their bits, and which of them are hardware."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

Kind = Literal["ff", "macro", "sram", "weights", "activations"]
EXTERNAL_KINDS: tuple[Kind, ...] = ("weights", "activations")
KINDS: tuple[Kind, ...] = ("ff", "macro", "sram", *EXTERNAL_KINDS)

_MEMORIES = ("sram", *EXTERNAL_KINDS)
_INDEX = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True, order=True)
class StorageElement:
    """A register or a memory of the netlist.

    Attributes:
        path: Hierarchical name below the top, separated by dots, as the source code spells it.
        kind: "ff" for flip-flops and latches, "macro" for those inside an SRAM macro, "sram" for a memory
            array; "weights" and "activations" for memory outside the design that a network lies in.
        width: Bits of the register, or of one word.
        depth: Words; 1 for a register.
        block: Name of the block it belongs to; "" if the target's block map has none for it.
        lsb: Index of the least significant bit as declared (`logic [7:4]` has 4).
        first_word: Index of the first word as declared.
        register_class: What the register is for, one of `CLASSES` of `elaboration.register_class`.
        ascending: Declared with the lower index on the left (`logic [4:8]`, whose `lsb` is 8).
    """

    path: str
    kind: Kind
    width: int
    depth: int = 1
    block: str = ""
    lsb: int = 0
    first_word: int = 0
    register_class: str = "unclassified"
    ascending: bool = False

    @property
    def variable(self) -> str:
        """Its path without indices: the same for all words of an array and all lanes of a data path."""
        return _INDEX.sub("", self.path)

    @property
    def bits(self) -> int:
        """Number of fault sites."""
        return self.width * self.depth


@dataclass(frozen=True, slots=True)
class Site:
    """One storage bit: `element.path`, word and bit counted from 0."""

    element: StorageElement
    word: int
    bit: int

    @property
    def name(self) -> str:
        """The bit as the source code would write it."""
        word = f"[{self.word + self.element.first_word}]" if self.element.kind in _MEMORIES else ""
        bit = self.element.lsb - self.bit if self.element.ascending else self.element.lsb + self.bit
        return f"{self.element.path}{word}[{bit}]"


class Hardware(StrEnum):
    """What synthesis makes of a storage bit of the source code.

    KEPT: a flip-flop or a memory bit. CONSTANT: it never has another value. UNUSED: nothing that matters
    reads it. DUPLICATE: equal to another bit at all times, whose flip-flop serves for both. LATCH: the source
    code describes a latch that no hardware needs, as of a full case or a loop variable.
    """

    KEPT = "kept"
    CONSTANT = "constant"
    UNUSED = "unused"
    DUPLICATE = "duplicate"
    LATCH = "inferred latch"


@dataclass(frozen=True, slots=True, order=True)
class Absent:
    """Consecutive sites of one element that the simulator has and hardware has not.

    Attributes:
        first: The first of them.
        bits: How many.
        hardware: What became of them.
        same_as: Of duplicates, the site whose flip-flop serves for the first; the one after it serves for the
            second, and so on.
        value: Of constants, the value of each.
    """

    first: int
    bits: int
    hardware: Hardware
    same_as: int | None = None
    value: int | None = None

    @property
    def end(self) -> int:
        """The site behind the last."""
        return self.first + self.bits


@dataclass(frozen=True)
class SiteTable:
    """All storage bits of a target, numbered 0 .. size-1.

    Elements are held in the order of their paths, so that the numbering depends on the design
    alone. Site `first(i) + word * width + bit` is that bit of element `i`. Upsets happen in what is hardware,
    all but `absent`.

    Attributes:
        elements: Registers and memories.
        absent: Sites that are no hardware, ascending; empty if all are, or if nothing is known of it.
        neighbours: Of each site those that lie nearest on the die, the nearest first: what an upset of
            several bits flips besides. None if no placement is known: then it flips the next bits of the
            word.
    """

    elements: tuple[StorageElement, ...]
    absent: tuple[Absent, ...] = ()
    neighbours: Mapping[int, tuple[int, ...]] | None = field(
        default=None, kw_only=True, compare=False, repr=False
    )

    @staticmethod
    def of(elements: Sequence[StorageElement], absent: Sequence[Absent] = ()) -> SiteTable:
        """Number the bits of `elements`; raise ValueError if two have the same path."""
        ordered = tuple(sorted(elements, key=lambda e: e.path))
        for a, b in pairwise(ordered):
            if a.path == b.path:
                raise ValueError(f"two storage elements are named {a.path}")
        return SiteTable(ordered, tuple(sorted(absent, key=lambda run: run.first)))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First site of each element, then the number of sites."""
        return (0, *accumulate(e.bits for e in self.elements))

    @property
    def size(self) -> int:
        """Number of sites, those that are no hardware included."""
        return self.offsets[-1]

    def element_index(self, site: int) -> int:
        """Return the position in `elements` of the element that holds `site`."""
        if not 0 <= site < self.size:
            raise IndexError(f"site {site} is not in 0 .. {self.size - 1}")
        return bisect_right(self.offsets, site) - 1

    def room(self, site: int) -> int:
        """Return how many bits a cluster that begins at `site` has at the most.

        Those that the word has from there on; by a placement, the site and its neighbours.
        """
        if self.neighbours is not None:
            return 1 + len(self.neighbours.get(site, ()))
        index = self.element_index(site)
        width = self.elements[index].width
        return width - (site - self.offsets[index]) % width

    def hardware(self, site: int) -> Absent | None:
        """Return what is known of a site that is no hardware; None if it is."""
        place = bisect_right(self._firsts, site) - 1
        run = self.absent[place] if place >= 0 else None
        return run if run is not None and site < run.end else None

    def pieces(self, index: int) -> Iterator[tuple[int, int, int]]:
        """Yield what is hardware of element `index`: first site, sites, and bits of a word of it."""
        element, first, end = self.elements[index], self.offsets[index], self.offsets[index + 1]
        runs = self._within(index)
        if not runs:
            yield first, element.bits, element.width
            return
        for run in runs:
            if first < run.first:
                yield first, run.first - first, run.first - first
            first = run.end
        if first < end:
            yield first, end - first, end - first

    def present(self, index: int) -> int:
        """Return how many bits of element `index` are hardware."""
        return self.elements[index].bits - sum(run.bits for run in self._within(index))

    def cluster(self, site: int, bits: int = 1) -> Sequence[int]:
        """Return the sites of the flip-flops of an upset of `bits` bits, `site` first."""
        if self.neighbours is None:
            return range(site, site + bits)
        return (site, *self.neighbours.get(site, ())[: bits - 1])

    def flipped(self, site: int, bits: int = 1) -> list[int]:
        """Return the sites that change when an upset of `bits` flip-flops begins at `site`, those first.

        A flip-flop that serves for several bits of the source code changes all of them.
        """
        own = self.cluster(site, bits)
        return [*own, *(copy for one in own for copy in self._copies.get(one, ()) if copy not in own)]

    def _within(self, index: int) -> tuple[Absent, ...]:
        low, high = (bisect_left(self._firsts, self.offsets[i]) for i in (index, index + 1))
        return self.absent[low:high]

    @cached_property
    def _firsts(self) -> tuple[int, ...]:
        return tuple(run.first for run in self.absent)

    @cached_property
    def _copies(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for run in self.absent:
            if run.same_as is not None:
                for step in range(run.bits):
                    found.setdefault(run.same_as + step, []).append(run.first + step)
        return found

    def __getitem__(self, site: int) -> Site:
        index = self.element_index(site)
        element = self.elements[index]
        word, bit = divmod(site - self.offsets[index], element.width)
        return Site(element, word, bit)
