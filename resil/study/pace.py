# SPDX-License-Identifier: Apache-2.0
"""How fast a study gets on, and how long the rest of it will take."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from resil.study.study import StudyCell


class StudyPace:
    """Predicts how long what is left takes, from cells that were carried out in this go.

    A network takes as long as it took on another target; one that was not met yet as long as the mean. To
    that comes, for each target that was not met yet, the mean time of the builds of others.

    Args:
        cells: Of the study.
        then: What follows on the cells, of which nothing is predicted; "" if nothing does.

    Attributes:
        side: How many cells are carried out side by side.
    """

    def __init__(self, cells: Sequence[StudyCell], then: str = "") -> None:
        self._left = {cell.folder: cell for cell in cells}
        self._cells = len(cells)
        self._then = then and f", then {then}"
        self._times: dict[tuple[str, bool], list[float]] = {}
        self._built: dict[str, float] = {}
        self._seconds = 0.0
        self._injections = 0
        self.side = 1

    def answered(self, cell: StudyCell) -> None:
        """Take note that nothing is left to do for a cell."""
        self._left.pop(cell.folder, None)

    def note(self, cell: StudyCell, seconds: float, injections: int, built: float = 0.0) -> None:
        """Take note of how long a cell took, and how much of that went into builds."""
        self._times.setdefault((cell.network, cell.predicted), []).append(seconds - built)
        if not cell.predicted:
            self._built[cell.target] = self._built.get(cell.target, 0.0) + built
        self._seconds += seconds
        self._injections += injections

    @property
    def seconds_left(self) -> float | None:
        """Expected time of all cells that are left; None before the first was carried out."""
        if not self._times:
            return None
        left = sum(map(self._expected, self._left.values())) + len(self._not_built) * self._build
        return left / self.side

    def text(self) -> str:
        """Return a line for people: cells done, time left, rate."""
        pace = self.side * self._injections / self._seconds if self._seconds else 0.0
        rate = f", {pace:,.0f} injections/s" if self._seconds else ""
        return f"{self._so_far(self.seconds_left)}{rate}"

    def during(self, cell: StudyCell, seconds: float) -> str:
        """Return the cells done and the time left, while one is carried out since so many seconds."""
        left = self.seconds_left
        if left is not None:
            own = self._expected(cell) + (self._build if cell.target in self._not_built else 0.0)
            left -= min(own, seconds)
        return self._so_far(left)

    @property
    def _not_built(self) -> set[str]:
        """Targets of cells to be injected into that were not met yet."""
        return {cell.target for cell in self._left.values() if not cell.predicted} - self._built.keys()

    @property
    def _build(self) -> float:
        """Expected time of what is built for a target."""
        return fmean(self._built.values()) if self._built else 0.0

    def _expected(self, cell: StudyCell) -> float:
        times = self._times.get((cell.network, cell.predicted))
        return fmean(times or [own for times in self._times.values() for own in times])

    def _so_far(self, left: float | None) -> str:
        # One that takes longer than predicted ends nobody knows when.
        rest = f", about {spoken(left)} left" if left is not None and left >= 1.0 else ""
        return f"{self._cells - len(self._left)} of {self._cells} cells{rest}{self._then}"


def spoken(seconds: float) -> str:
    """Return a length of time for people, to the minute where it is long."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
