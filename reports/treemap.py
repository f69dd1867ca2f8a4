# SPDX-License-Identifier: Apache-2.0
"""Rectangles of given areas that fill one, as near to squares as can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tile:
    """Something with a name and a size above 0."""

    name: str
    size: float


@dataclass(frozen=True, slots=True)
class PlacedTile:
    """A tile and where it lies."""

    tile: Tile
    x: float
    y: float
    width: float
    height: float


def squarified(tiles: Sequence[Tile], x: float, y: float, width: float, height: float) -> list[PlacedTile]:
    """Return where tiles lie in a rectangle, each with its part of the area, the largest first.

    Row after row along the shorter side: a row takes the next tile as long as its worst ratio of sides does
    not grow. Tiles without size are left out.

    References:
        M. Bruls, K. Huizing and J. J. van Wijk, Squarified treemaps, 2000.

    Examples:
        >>> tiles = [Tile("a", 3.0), Tile("b", 1.0)]
        >>> [(own.tile.name, own.width, own.height) for own in squarified(tiles, 0.0, 0.0, 4.0, 2.0)]
        [('a', 3.0, 2.0), ('b', 1.0, 2.0)]
    """
    rest = sorted((tile for tile in tiles if tile.size > 0.0), key=lambda tile: (-tile.size, tile.name))
    left, placed = sum(tile.size for tile in rest), []
    while rest and width > 0.0 and height > 0.0 and left > 0.0:
        side, scale = min(width, height), width * height / left
        kept, used, best = 0, 0.0, float("inf")
        for tile in rest:
            thick = (used + tile.size) * scale / side
            worst = max(_ratio(own.size * scale / thick, thick) for own in (rest[0], tile))
            if worst > best:
                break
            kept, used, best = kept + 1, used + tile.size, worst
        thick, at = used * scale / side, 0.0
        for tile in rest[:kept]:
            long = tile.size * scale / thick
            upright = width >= height
            spot = (x, y + at, thick, long) if upright else (x + at, y, long, thick)
            placed.append(PlacedTile(tile, *spot))
            at += long
        if width >= height:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick
        rest, left = rest[kept:], left - used
    return placed


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)
