# SPDX-License-Identifier: Apache-2.0
"""Where the time of a study goes: seconds by the clock, of each target, over all goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from resil.folder.recorded import is_amount

BUILDS, CELLS, PROTECTION = PARTS = ("builds", "cells", "protection")


def is_spent(row: Mapping[str, Any]) -> bool:
    """Whether a row of a record is one that `Spent.rows` returned."""
    return isinstance(row.get("target"), str) and all(is_amount(row.get(part)) for part in PARTS)


class Spent:
    """Counts seconds by target and part of the work.

    Args:
        earlier: What `rows` returned in earlier goes at the same study.
    """

    def __init__(self, earlier: Iterable[Mapping[str, Any]] = ()) -> None:
        self._seconds: defaultdict[tuple[str, str], float] = defaultdict(float)
        for row in earlier:
            for part in PARTS:
                self.note(str(row["target"]), part, float(row[part]))

    def note(self, target: str, part: str, seconds: float) -> None:
        """Take note of work on a target; `part` is one of `PARTS`."""
        self._seconds[target, part] += seconds

    def rows(self, targets: Iterable[str]) -> list[dict[str, Any]]:
        """Return a row for each of these targets, with seconds of each part."""
        return [
            {"target": target, **{part: round(self._seconds[target, part], 1) for part in PARTS}}
            for target in targets
        ]
