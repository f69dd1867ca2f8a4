# SPDX-License-Identifier: Apache-2.0
"""Where the time of a study goes: seconds by the clock, of each target, over all goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from resil.record.study import TimeSpent

BUILDS, CELLS, PROTECTION = PARTS = ("builds", "cells", "protection")


class Spent:
    """Counts seconds by target and part of the work.

    Args:
        earlier: What `rows` returned in earlier goes at the same study.
    """

    def __init__(self, earlier: Iterable[TimeSpent] = ()) -> None:
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        for row in earlier:
            self.note(row.target, BUILDS, row.builds)
            self.note(row.target, CELLS, row.cells)
            self.note(row.target, PROTECTION, row.protection)

    def note(self, target: str, part: str, seconds: float) -> None:
        """Take note of work on a target; `part` is one of `PARTS`."""
        self._seconds[target, part] += seconds

    def rows(self, targets: Iterable[str]) -> tuple[TimeSpent, ...]:
        """Return the seconds of each part, for each of these targets."""
        return tuple(
            TimeSpent(target=target, **{part: round(self._seconds[target, part], 1) for part in PARTS})
            for target in targets
        )
