# SPDX-License-Identifier: Apache-2.0
"""Where registers and memories lie in the state of a compiled model."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.errors import UnmappedSiteError

MAX_DIMENSIONS = 4


@dataclass(frozen=True, slots=True)
class StoragePlace:
    """Where a register or memory lies in the state of every instance of a library.

    Attributes:
        path: Hierarchical name below the top.
        offset: Bytes from the base of the state.
        width: Bits of the register or of one word.
        depth: Words; 1 for a register.
        entry_bytes: Bytes of one word in the state; the bits above `width` are always 0.
        first_word: Smallest index as declared of a memory of one dimension, else 0.
        dimensions: Words of each unpacked dimension, outermost first, and whether it is declared upwards.
    """

    path: str
    offset: int
    width: int
    depth: int
    entry_bytes: int
    first_word: int = 0
    dimensions: tuple[tuple[int, bool], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the element in the state."""
        return self.entry_bytes * self.depth

    def word_from_right(self, position: int) -> int:
        """Return which word of the state is the `position`-th from the right of the whole variable."""
        from_left = self.depth - 1 - position
        word, scale = 0, 1
        for words, rising in reversed(self.dimensions):
            from_left, digit = divmod(from_left, words)
            word += scale * (digit if rising else words - 1 - digit)
            scale *= words
        return word


class ModelVariable(ctypes.Structure):
    """A variable of the model, as the driver describes it."""

    _fields_ = (
        ("offset", ctypes.c_uint64),
        ("entry_bytes", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("dimensions", ctypes.c_uint32),
        ("words", ctypes.c_uint32 * MAX_DIMENSIONS),
        ("lowest", ctypes.c_int32 * MAX_DIMENSIONS),
        ("rising", ctypes.c_int32 * MAX_DIMENSIONS),
    )


def split_indices(path: str) -> tuple[str, list[int]]:
    """Return a path without its last indices, and these."""
    match = re.fullmatch(r"(.*?)((?:\[-?\d+\])*)", path)
    assert match is not None
    return match[1], [int(i) for i in re.findall(r"-?\d+", match[2])]


def element(path: str, found: ModelVariable, indices: Sequence[int]) -> StoragePlace:
    """Return the part of a variable that is left when its outermost dimensions are indexed."""
    dimensions = [(found.words[i], found.lowest[i]) for i in range(found.dimensions)]
    if len(indices) > len(dimensions):
        raise UnmappedSiteError(
            f"{path} has {len(indices)} indices, the simulator's variable {len(dimensions)} dimensions", path
        )
    position = 0
    for index, (words, lowest) in zip(indices, dimensions, strict=False):
        if not 0 <= index - lowest < words:
            raise UnmappedSiteError(
                f"{path}: index {index} is not in {lowest} .. {lowest + words - 1}, the simulator's range",
                path,
            )
        position = position * words + index - lowest
    rest = dimensions[len(indices) :]
    depth = int(np.prod([words for words, _ in rest], dtype=np.int64))
    first_word = rest[0][1] if len(rest) == 1 else 0
    offset = found.offset + position * depth * found.entry_bytes
    rising = tuple(bool(found.rising[i]) for i in range(len(indices), found.dimensions))
    shape = tuple((words, up) for (words, _), up in zip(rest, rising, strict=True))
    return StoragePlace(path, offset, found.width, depth, found.entry_bytes, first_word, shape)
