"""How fast a study gets on, and how long the rest of it will take."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from resil.study.study import Cell


class Pace:
    """Foretells what is left from cells that were carried out in this go.

    A network takes as long as it took on another target; one that was not met yet as long as the mean. To
    that comes, for each target that was not met yet, the mean time of the builds of others.

    Args:
        cells: Of the study.
    """

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._left = {cell.folder: cell for cell in cells}
        self._cells = len(cells)
        self._times: dict[tuple[str, bool], list[float]] = {}
        self._built: dict[str, float] = {}
        self._seconds = 0.0
        self._injections = 0

    def answered(self, cell: Cell) -> None:
        """Take note that nothing is left to do for a cell."""
        self._left.pop(cell.folder, None)

    def note(self, cell: Cell, seconds: float, injections: int, built: float = 0.0) -> None:
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
        mean = fmean(own for times in self._times.values() for own in times)
        known = {key: fmean(times) for key, times in self._times.items()}
        cells = sum(known.get((cell.network, cell.predicted), mean) for cell in self._left.values())
        new = {cell.target for cell in self._left.values() if not cell.predicted} - self._built.keys()
        return cells + len(new) * (fmean(self._built.values()) if self._built else 0.0)

    def text(self) -> str:
        """Return a line for people: cells done, rate, time left."""
        rate = f", {self._injections / self._seconds:,.0f} injections/s" if self._seconds else ""
        return f"{self.short(0.0)}{rate}"

    def short(self, present: float) -> str:
        """Return the cells done and the time left, less the seconds that the present one took by now."""
        done = self._cells - len(self._left)
        left = self.seconds_left
        rest = "" if left is None else f", about {spoken(max(0.0, left - present))} left"
        return f"{done} of {self._cells} cells{rest}"


def spoken(seconds: float) -> str:
    """Return a length of time for people, to the minute where it is long."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
