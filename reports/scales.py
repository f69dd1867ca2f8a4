# SPDX-License-Identifier: Apache-2.0
"""Axes: from a value to a position, and where the ticks go."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

_SMALLEST = 1e-300


class Scale(Protocol):
    """Maps values of an axis to positions in a figure."""

    @property
    def start(self) -> float:
        """Position of the smallest value."""
        ...

    @property
    def end(self) -> float:
        """Position of the largest value."""
        ...

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the axis."""
        ...

    def ticks(self) -> list[float]:
        """Return the values to be marked."""
        ...


@dataclass(frozen=True, slots=True)
class LinearScale:
    """A linear axis from 0 to `top`, drawn from position `start` to `end`.

    Attributes:
        top: Largest value, above 0.
        start: Position of 0.
        end: Position of `top`.
        count: About how many ticks there is room for.
    """

    top: float
    start: float
    end: float
    count: int = 5

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the axis."""
        share = min(1.0, max(0.0, value / self.top))
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values from 0 to at most `top`."""
        step = nice_step(self.top, self.count)
        return [step * index for index in range(math.floor(self.top / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class LogScale:
    """A logarithmic axis over whole decades.

    Attributes:
        low: Exponent of ten at `start`.
        high: Exponent of ten at `end`, above `low`.
        start: Position of 10**low.
        end: Position of 10**high.
        count: About how many ticks there is room for.
    """

    low: int
    high: int
    start: float
    end: float
    count: int = 6

    def at(self, value: float) -> float:
        """Return the position of a value, clamped to the axis; 0 is at its start."""
        if value <= 0.0:
            return self.start
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return powers of ten, every one or every n-th so that they fit."""
        step = max(1, math.ceil((self.high - self.low) / max(1, self.count)))
        return [10.0**exponent for exponent in range(self.low, self.high + 1, step)]


def log_scale(
    values: Iterable[float], start: float, end: float, count: int = 6, decades: int = 8
) -> LogScale:
    """Return the axis that holds all positive values, at most `decades` below the largest."""
    positive = [value for value in values if value > 0.0 and math.isfinite(value)]
    if not positive:
        return LogScale(-1, 0, start, end, count)
    high = math.ceil(math.log10(max(positive)) - 1e-9)
    low = max(high - decades, math.floor(math.log10(min(positive)) + 1e-9))
    return LogScale(min(low, high - 1), high, start, end, count)


def linear_scale(values: Iterable[float], start: float, end: float, count: int = 5) -> LinearScale:
    """Return the axis from 0 to the next round value above all values (to 1 if all are as good as 0)."""
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    if largest < _SMALLEST:
        return LinearScale(1.0, start, end, count)
    step = nice_step(largest, count)
    return LinearScale(step * math.ceil(largest / step - 1e-9), start, end, count)


def nice_step(span: float, count: int) -> float:
    """Return 1, 2 or 5 times a power of ten that divides `span` into about `count` parts."""
    rough = span / max(1, count)
    magnitude = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 5.0):
        if factor * magnitude >= rough * (1.0 - 1e-9):
            return factor * magnitude
    return 10.0 * magnitude
