"""Storage elements of a design, and the numbering of their bits."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

Kind = Literal["ff", "sram"]

_INDEX = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True, slots=True, order=True)
class StorageElement:
    """A register or a memory of the netlist.

    Attributes:
        path: Hierarchical name below the top, separated by dots, as the source code spells it.
        kind: "ff" for flip-flops and latches, "sram" for a memory array.
        width: Bits of the register, or of one word.
        depth: Words; 1 for a register.
        block: Name of the block it belongs to; "" if the target's block map has none for it.
        lsb: Index of the least significant bit as declared (`logic [7:4]` has 4).
        first_word: Index of the first word as declared.
        register_class: What the register is for, one of `rtl_harness.elaboration.register_class.CLASSES`.
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
        word = f"[{self.word + self.element.first_word}]" if self.element.kind == "sram" else ""
        bit = self.element.lsb - self.bit if self.element.ascending else self.element.lsb + self.bit
        return f"{self.element.path}{word}[{bit}]"


@dataclass(frozen=True)
class SiteTable:
    """All fault sites of a target, numbered 0 .. size-1.

    Elements are held in the order of their paths, so that the numbering depends on the design
    alone. Site `first(i) + word * width + bit` is that bit of element `i`.
    """

    elements: tuple[StorageElement, ...]

    @staticmethod
    def of(elements: Sequence[StorageElement]) -> SiteTable:
        """Number the bits of `elements`; raise ValueError if two have the same path."""
        ordered = tuple(sorted(elements, key=lambda e: e.path))
        for a, b in pairwise(ordered):
            if a.path == b.path:
                raise ValueError(f"two storage elements are named {a.path}")
        return SiteTable(ordered)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First site of each element, then the number of sites."""
        return (0, *accumulate(e.bits for e in self.elements))

    @property
    def size(self) -> int:
        """Number of fault sites."""
        return self.offsets[-1]

    def element_index(self, site: int) -> int:
        """Return the position in `elements` of the element that holds `site`."""
        if not 0 <= site < self.size:
            raise IndexError(f"site {site} is not in 0 .. {self.size - 1}")
        return bisect_right(self.offsets, site) - 1

    def room(self, site: int) -> int:
        """Return how many bits the word that holds `site` has from there on: the largest cluster."""
        index = self.element_index(site)
        width = self.elements[index].width
        return width - (site - self.offsets[index]) % width

    def __getitem__(self, site: int) -> Site:
        index = self.element_index(site)
        element = self.elements[index]
        word, bit = divmod(site - self.offsets[index], element.width)
        return Site(element, word, bit)
