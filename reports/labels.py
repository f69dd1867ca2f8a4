# SPDX-License-Identifier: Apache-2.0
"""Labels inside a plot that keep clear of each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from resil.reports.svg import Canvas, text_width

_LINE = 15.0
_OUTSIDE = 10


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in a figure."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two share any area."""
        apart_across = self.right <= other.left or other.right <= self.left
        apart_along = self.bottom <= other.top or other.bottom <= self.top
        return not (apart_across or apart_along)

    def within(self, other: Box) -> bool:
        """Whether this rectangle lies in the other."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True, slots=True)
class Spot:
    """A place where a label could go: its anchor, and the baseline of its first line."""

    x: float
    y: float
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Label:
    """A text of one or more lines, and the places where it could go, the best first."""

    lines: tuple[str, ...]
    css: str
    spots: tuple[Spot, ...]


@dataclass(slots=True)
class Labels:
    """Collects the labels of a plot and writes them so that none meets another.

    Attributes:
        plot: Where labels may be.
        taken: What is there already.
        waiting: What is to be written, the most important first.
    """

    plot: Box
    taken: list[Box] = field(default_factory=list)
    waiting: list[Label] = field(default_factory=list)

    def add(self, lines: Sequence[str], css: str, spots: Iterable[Spot]) -> None:
        """Ask for a label at the first of the spots that can be had."""
        self.waiting.append(Label(tuple(lines), css, tuple(spots)))

    def write(self, canvas: Canvas) -> None:
        """Write all labels, each as near to its first spot as the others allow.

        Where not all can be free of each other, as few as possible meet.
        """
        chosen = min(self._choices(), key=self._faults, default=())
        for label, spot in zip(self.waiting, chosen, strict=True):
            for index, line in enumerate(label.lines):
                canvas.text(spot.x, spot.y + _LINE * index, line, f"{label.css} halo", anchor=spot.anchor)

    def _choices(self) -> Iterator[tuple[Spot, ...]]:
        """All choices of spots up to the first one without a fault, the preferred ones first."""
        for spots in product(*(label.spots for label in self.waiting)):
            yield spots
            if not self._faults(spots):
                return

    def _faults(self, spots: tuple[Spot, ...]) -> int:
        boxes = [_box(label, spot) for label, spot in zip(self.waiting, spots, strict=True)]
        outside = sum(not box.within(self.plot) for box in boxes)
        met = sum(one.meets(other) for one, other in combinations([*self.taken, *boxes], 2))
        return _OUTSIDE * outside + met


def _box(label: Label, spot: Spot) -> Box:
    size = 11.0 if "small" in label.css else 12.0
    span = max(text_width(line, size, bold="strong" in label.css) for line in label.lines)
    left = spot.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[spot.anchor] * span
    return Box(left, spot.y - size, left + span, spot.y + 3.0 + _LINE * (len(label.lines) - 1))
