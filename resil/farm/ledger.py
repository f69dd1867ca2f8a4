# SPDX-License-Identifier: Apache-2.0
"""Which injections are still to be simulated, in portions; nothing is lost and nothing is given out twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from resil.errors import ResilError
from resil.faults.plan import IntArray

# Injections of a portion: at least, as long as a worker has shown nothing, and at most.
LEAST, FIRST, MOST = 64, 512, 32_768
# A portion that is lost with its worker is halved, so in the end one injection is left that ends workers.
# It is given up when so many were lost with it alone.
LOSSES = 3


class FarmError(ResilError):
    """A farm that cannot be used, or cannot go on."""


class FarmGoneError(FarmError):
    """A farm that has gone for whatever is to be carried out by it."""


@dataclass(frozen=True)
class Portion:
    """Injections for one worker.

    Attributes:
        position: Place of their input.
        numbers: Ascending.
        losses: Workers that were lost with it, if it is one injection alone.
    """

    position: int
    numbers: IntArray
    losses: int = 0


class PortionLedger:
    """Hands out portions, and takes back those that were lost.

    Args:
        numbers: Of the injections that are wanted, ascending, for each input.
    """

    def __init__(self, numbers: Sequence[IntArray]) -> None:
        self._fresh = deque((place, own) for place, own in enumerate(numbers) if len(own))
        self._returned: deque[Portion] = deque()

    @property
    def left(self) -> int:
        """Injections that nobody has."""
        fresh = sum(len(own) for _, own in self._fresh)
        return fresh + sum(len(portion.numbers) for portion in self._returned)

    def take(self, wanted: int) -> Portion | None:
        """Return the next portion, of so many injections if it can be; None if nothing is left.

        What came back is given out first, and no more of it at a time than is wanted.
        """
        size = max(LEAST, min(wanted, MOST))
        if self._returned:
            portion = self._returned.popleft()
            if len(portion.numbers) <= size:
                return portion
            rest = replace(portion, numbers=portion.numbers[size:])
            self._returned.appendleft(rest)
            return replace(portion, numbers=portion.numbers[:size])
        if not self._fresh:
            return None
        place, own = self._fresh.popleft()
        if len(own) > size:
            self._fresh.appendleft((place, own[size:]))
        return Portion(place, own[:size])

    def give_back(self, portion: Portion, *, lost: bool = True) -> None:
        """Take a portion back that was not answered.

        Args:
            portion: What is to be simulated by another worker.
            lost: Its worker was lost with it.

        Raises:
            FarmError: it was one injection, and was lost too often.
        """
        if not lost:
            self._returned.append(portion)
            return
        numbers = portion.numbers
        if len(numbers) == 1:
            if portion.losses + 1 >= LOSSES:
                raise FarmError(
                    f"injection {numbers[0]} was given to {LOSSES} workers alone, and all of them were lost; "
                    "look into their logs, and try it without [execution] dask",
                    f"injections[{numbers[0]}]",
                )
            self._returned.append(Portion(portion.position, numbers, portion.losses + 1))
            return
        half = -(-len(numbers) // 2)
        self._returned += [Portion(portion.position, part) for part in (numbers[:half], numbers[half:])]
