# SPDX-License-Identifier: Apache-2.0
"""What corruption of a feature map looks like, apart from the map: described, kept as text, drawn again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]

SAMPLES = 24
_SAMPLE_FIELDS = 6
_DENSE = 0.95


@dataclass(frozen=True)
class Pattern:
    """What a fault did to the output of one operation.

    Attributes:
        operation: Index of the operation.
        shape: Height, width and depth of its output.
        element_bytes: Of an element.
        count: Elements that changed.
        box: First and last row, column and channel of those.
        samples: Up to `SAMPLES` of them, spread evenly: row, column and channel within the box, the XOR of
            the element's bits, the change of its value, and its value if that is the least (-1) or the
            largest (1) of its type, else 0.
        stray: Bytes that changed elsewhere in memory.
    """

    operation: int
    shape: tuple[int, int, int]
    element_bytes: int
    count: int
    box: tuple[int, ...]
    samples: tuple[tuple[int, ...], ...]
    stray: int

    def as_text(self) -> str:
        """Return it as one line of JSON, for a column of a table."""
        head = [self.operation, self.element_bytes, self.count, self.stray]
        return json.dumps([head, self.shape, self.box, self.samples], separators=(",", ":"))

    @staticmethod
    def from_text(text: str) -> Pattern:
        """Read what `as_text` wrote.

        Raises:
            ValueError: the text is something else.
        """
        try:
            (operation, size, count, stray), shape, box, samples = json.loads(text)
            if len(shape) != 3 or len(box) != 6 or any(len(sample) != _SAMPLE_FIELDS for sample in samples):
                raise ValueError("wrong lengths")
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected a corruption pattern, found {text[:60]!r}: {error}") from None
        return Pattern(operation, tuple(shape), size, count, tuple(box), tuple(map(tuple, samples)), stray)


def describe(
    operation: int,
    coordinates: IntArray,
    before: npt.NDArray[np.generic],
    after: npt.NDArray[np.generic],
    shape: tuple[int, int, int],
    stray: int,
) -> Pattern:
    """Return the pattern of changed elements.

    Args:
        operation: Index of the operation that wrote them.
        coordinates: Row, column and channel of each, shape (n, 3).
        before: Their values without the fault, (n,), of the feature map's type.
        after: Their values with it.
        shape: Height, width and depth of the feature map.
        stray: Bytes that changed outside it.
    """
    size = before.dtype.itemsize
    if not len(coordinates):
        return Pattern(operation, shape, size, 0, (0,) * 6, (), stray)
    first, last = coordinates.min(axis=0), coordinates.max(axis=0)
    chosen = np.unique(np.linspace(0, len(coordinates) - 1, SAMPLES).round().astype(np.int64))
    unsigned = np.dtype(f"<u{size}")
    flips = before[chosen].view(unsigned) ^ after[chosen].view(unsigned)
    values = after[chosen].astype(np.int64)
    changes = values - before[chosen].astype(np.int64)
    low, high = _limits(before.dtype)
    ends = (values == high).astype(np.int64) - (values == low)
    columns = (*(coordinates[chosen] - first).T, flips.astype(np.int64), changes, ends)
    samples = tuple(tuple(map(int, row)) for row in zip(*columns, strict=True))
    box = tuple(int(v) for pair in zip(first, last, strict=True) for v in pair)
    return Pattern(operation, shape, size, len(coordinates), box, samples, stray)


def redraw(
    pattern: Pattern, values: npt.NDArray[np.generic], generator: np.random.Generator
) -> npt.NDArray[np.generic]:
    """Return a feature map, corrupted as `pattern` would corrupt it.

    Rows, columns and channels are treated alike: what spans the whole map spans the whole map again, what
    spans more than half of it spans the same share, and what is smaller keeps its size; its place is random.
    Elements inside this box change at the same density. Each takes after the sample that is nearest, both
    boxes laid over each other: it goes to the end of its type's range if that one did, flips the same bit if
    that flipped one, and else takes the same change as far as its type can hold it.

    Args:
        pattern: Learnt elsewhere.
        values: The feature map without a fault, (height, width, depth).
        generator: Of random numbers.
    """
    corrupted = values.copy()
    if not pattern.count:
        return corrupted
    extents = [high - low + 1 for low, high in zip(pattern.box[::2], pattern.box[1::2], strict=True)]
    sides = [_side(e, old, new) for e, old, new in zip(extents, pattern.shape, values.shape, strict=True)]
    room = np.array(values.shape) - np.array(sides)
    places = _places(pattern, extents, sides, generator)
    chosen = _nearest(pattern, extents, sides, places)
    index = tuple((places + generator.integers(0, room + 1)).T)
    corrupted[index] = _changed(pattern, chosen, values[index])
    return corrupted


def _side(extent: int, old: int, new: int) -> int:
    if extent >= old:
        return new if old > 1 else 1
    if 2 * extent > old:
        return max(1, round(extent * new / old))
    return min(extent, new)


def _places(
    pattern: Pattern, extents: Sequence[int], sides: Sequence[int], generator: np.random.Generator
) -> IntArray:
    """Return the elements that change, relative to the box, shape (n, 3)."""
    if list(extents) == list(sides) and pattern.count == len(pattern.samples):
        return np.array([sample[:3] for sample in pattern.samples], dtype=np.int64)
    volume = int(np.prod(sides))
    density = pattern.count / int(np.prod(extents))
    count = volume if density >= _DENSE else max(1, min(volume, round(density * volume)))
    flat = generator.choice(volume, count, replace=False) if count < volume else np.arange(volume)
    return np.stack(np.unravel_index(flat, sides), axis=1).astype(np.int64)


def _nearest(pattern: Pattern, extents: Sequence[int], sides: Sequence[int], places: IntArray) -> IntArray:
    """Return the number of the sample nearest to each place, both boxes scaled to unit size."""
    samples = np.array([sample[:3] for sample in pattern.samples]) + 0.5
    here = (places + 0.5) / np.array(sides)
    there = samples / np.array(extents)
    across, down, deep = (np.abs(here[:, i, None] - there[None, :, i]) for i in range(3))
    nearest: IntArray = (across + down + deep).argmin(axis=1).astype(np.int64)
    return nearest


def _changed(pattern: Pattern, chosen: IntArray, old: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    _, _, _, flips, changes, ends = np.array(pattern.samples, dtype=np.int64)[chosen].T
    shift = 8 * (old.dtype.itemsize - pattern.element_bytes)
    low, high = _limits(old.dtype)
    moved = np.clip(old.astype(np.int64) + _shifted(changes, shift), low, high)
    unsigned = np.dtype(f"<u{old.dtype.itemsize}")
    mask = _shifted(flips, shift).astype(unsigned)
    flipped = (old.view(unsigned) ^ mask).view(old.dtype).astype(np.int64)
    single = (flips & (flips - 1)) == 0
    new = np.where(ends > 0, high, np.where(ends < 0, low, np.where(single, flipped, moved)))
    changed: npt.NDArray[np.generic] = new.astype(old.dtype)
    return changed


def _limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    bits = 8 * dtype.itemsize
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "i" else (0, (1 << bits) - 1)


def _shifted(values: IntArray, shift: int) -> IntArray:
    """Scale to elements of another size, towards zero but not to it."""
    size = np.abs(values) << shift if shift >= 0 else np.maximum(np.abs(values) >> -shift, 1)
    scaled: IntArray = np.sign(values) * size
    return scaled
