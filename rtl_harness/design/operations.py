# SPDX-License-Identifier: Apache-2.0
"""The counter of finished operations, as a run shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Move = tuple[int, int]
"""Cycles run when the counter moved, and its value from then on."""


def operation_ends(moves: Iterable[Move]) -> tuple[int, ...]:
    """Return the cycle at which each operation finished, from the moves of a counter that begins at 0.

    Examples:
        >>> operation_ends([(30, 1), (100, 3)])
        (30, 100, 100)
    """
    ends: list[int] = []
    for cycle, finished in moves:
        ends += [cycle] * (finished - len(ends))
    return tuple(ends)


def longest_operation(moves: Sequence[Move], end: int) -> int:
    """Return the most cycles for which a counter stood still in a run of `end` cycles.

    Args:
        moves: The first at 0 cycles, with the value at the release of reset.
        end: Cycles from the release of reset to the end.

    Examples:
        >>> longest_operation([(0, 0), (30, 1), (100, 2)], 120)
        70
    """
    return max(after - before for before, after in pairwise([*(cycle for cycle, _ in moves), end]))
