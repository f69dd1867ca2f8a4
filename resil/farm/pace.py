# SPDX-License-Identifier: Apache-2.0
"""How long portions are to take, and how long a worker takes for so many injections."""

from __future__ import annotations

import math
from dataclasses import dataclass

from resil.farm.ledger import MOST

# A portion is to take so long at least: that what it costs to hand it out is little. In a long run it takes a
# part of the whole run, since of many injections an engine makes each in less time (it walks through the
# golden run once, and joins equal states); but no more than the longest, and that much is lost with a
# worker.
SHORTEST, LONGEST, PART_OF_RUN = 20.0, 240.0, 1 / 3
# Towards the end it takes no more than this part of what the run still takes: a worker that is slower than
# it has shown keeps the others waiting for little. But for this part of the run so far they may wait: what
# is shorter costs more than that.
PART_OF_REST, PART_OF_WAIT = 5 / 6, 1 / 40
# Sizes that differ by less than this factor say nothing of how time grows with size.
_APART = 2.0
# Part of what an injection takes on the average that one more takes at least, and the least power.
_FLATTEST = 0.25


@dataclass
class Pace:
    """What portions of a worker have taken: the last one, and the last of a size that is well apart from it.

    An engine makes each of many injections in less time than each of few. Larger portions than were seen
    lie on the straight line through both, which is above what they take, or in proportion to the one if
    there is no other: nothing that is sized by it takes longer than was meant. Between the two and below,
    time is a power of size.

    Attributes:
        injections: Of the portion that was seen last; 0 before the first.
        seconds: That it took.
        others: The same of the other one; 0 if there is none.
        apart: Likewise.
    """

    injections: int = 0
    seconds: float = 0.0
    others: int = 0
    apart: float = 0.0

    @property
    def known(self) -> bool:
        """Whether a portion was seen."""
        return self.injections > 0

    def see(self, injections: int, seconds: float) -> None:
        """Take notice of a portion."""
        seconds = max(seconds, 1e-3)
        few, many = sorted((self.injections, injections))
        if self.known and many >= _APART * few:
            self.others, self.apart = self.injections, self.seconds
        self.injections, self.seconds = injections, seconds

    def expected(self, injections: int) -> float:
        """Return the seconds that so many injections are likely to take."""
        many, long, power, each = self._curve
        if injections <= many:
            return float(long * (injections / many) ** power)
        return long + each * (injections - many)

    def size(self, seconds: float) -> int:
        """Return how many injections are likely to take so long."""
        many, long, power, each = self._curve
        if seconds <= long:
            return int(many * (max(0.0, seconds) / long) ** (1 / power))
        return int(many + (seconds - long) / each)

    def made(self, seconds: float) -> float:
        """Return how many injections are likely to be made in so long, in portions of at most the longest."""
        if seconds <= 0:
            return 0.0
        longest = min(LONGEST, self.expected(MOST))
        portions = math.ceil(seconds / longest)
        return portions * self.size(seconds / portions)

    @property
    def _curve(self) -> tuple[int, float, float, float]:
        """The larger portion, its seconds, the power below it, the seconds of each injection beyond it."""
        (few, short), (many, long) = sorted(((self.others, self.apart), (self.injections, self.seconds)))
        # More injections in less time say nothing of either, and as many in some other time no more.
        if not few or many < _APART * few or short >= long:
            return self.injections, self.seconds, 1.0, self.seconds / self.injections
        power = math.log(long / short) / math.log(many / few)
        each = (long - short) / (many - few)
        return many, long, min(1.0, max(_FLATTEST, power)), max(each, _FLATTEST * long / many)


def portion_seconds(elapsed: float, rest: float) -> float:
    """Return how long a portion is to take.

    Args:
        elapsed: Seconds since the run began.
        rest: Seconds that it still takes once the worker is free.
    """
    whole = elapsed + rest
    wanted = min(LONGEST, max(SHORTEST, PART_OF_RUN * whole), PART_OF_REST * rest)
    return max(wanted, min(LONGEST, PART_OF_WAIT * elapsed))
