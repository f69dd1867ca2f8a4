# SPDX-License-Identifier: Apache-2.0
"""Strict reading of JSON documents: every failure names the file and the field."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NoReturn

from resil.record.errors import ReportError
from resil.record.interval import Interval


@dataclass(frozen=True, slots=True)
class Node:
    """A value inside a JSON document, and the way to it.

    Attributes:
        value: What was decoded from JSON.
        file: Name of the document, for messages.
        remedy: What the user can do when the document is wrong, for messages.
        path: The way from the document's root, such as `blocks[2].fit_lo`.
    """

    value: object
    file: str
    remedy: str
    path: str = ""

    def fail(self, expected: str) -> NoReturn:
        """Raise a `ReportError` that says what was expected here."""
        shown = repr(self.value)
        if len(shown) > 60:
            shown = shown[:57] + "..."
        where = self.path or "the document"
        raise ReportError(
            f"{self.file}: {where}: expected {expected}, found {shown}; {self.remedy}", self.path
        )

    def _child(self, value: object, step: str) -> Node:
        path = f"{self.path}{step}" if step.startswith("[") or not self.path else f"{self.path}.{step}"
        return Node(value, self.file, self.remedy, path)

    def mapping(self) -> Mapping[str, object]:
        """Return the value, which must be an object."""
        if not isinstance(self.value, Mapping):
            self.fail("an object")
        return self.value

    def at(self, key: str) -> Node:
        """Return the field `key` of this object; it must be there."""
        fields = self.mapping()
        if key not in fields:
            path = self._child(None, key).path
            raise ReportError(f"{self.file}: {path}: this field is missing; {self.remedy}", path)
        return self._child(fields[key], key)

    def maybe(self, key: str) -> Node | None:
        """Return the field `key` of this object, or None if it is absent or null."""
        value = self.mapping().get(key)
        return None if value is None else self._child(value, key)

    def items(self) -> list[Node]:
        """Return the elements of this list."""
        if not isinstance(self.value, list | tuple):
            self.fail("a list")
        return [self._child(value, f"[{index}]") for index, value in enumerate(self.value)]

    def text(self) -> str:
        """Return the value, which must be a string."""
        if not isinstance(self.value, str):
            self.fail("a string")
        return self.value

    def flag(self) -> bool:
        """Return the value, which must be true or false."""
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def one_of(self, allowed: Collection[str]) -> str:
        """Return the value, which must be one of the words `allowed`."""
        if not isinstance(self.value, str) or self.value not in allowed:
            self.fail("one of " + ", ".join(repr(word) for word in allowed))
        return self.value

    def scalar(self) -> str:
        """Return a string or a number as text; for fields that are only shown."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.fail("a string or a number")
        return str(self.value)

    def integer(self, minimum: int = 0) -> int:
        """Return the value, which must be a whole number of at least `minimum`."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            self.fail(f"a whole number of at least {minimum}")
        return value

    def number(self, minimum: float = 0.0, maximum: float = math.inf) -> float:
        """Return the value, which must be a finite number in [minimum, maximum]."""
        value = self.value
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
            or not minimum <= value <= maximum
        ):
            self.fail(f"a finite number {_range_text(minimum, maximum)}")
        return float(value)

    def interval(self, maximum: float = math.inf) -> Interval:
        """Return a list [estimate or null, lo, hi] with 0 <= lo <= estimate <= hi <= maximum."""
        parts = self.items()
        if len(parts) != 3:
            self.fail("a list of three numbers: estimate, lower limit, upper limit")
        return ordered_interval(self, parts[0], parts[1], parts[2], maximum)


def ordered_interval(owner: Node, estimate: Node, lo: Node, hi: Node, maximum: float = math.inf) -> Interval:
    """Return an interval from three nodes; its estimate may be null.

    Args:
        owner: The node to blame if the three are not in order.
        estimate: Point estimate or null.
        lo: Lower limit, 0 or more.
        hi: Upper limit.
        maximum: Largest value that any of them may take.

    Raises:
        ReportError: A value is no number in range, or lo <= estimate <= hi does not hold
            (within rounding).
    """
    slack = 1e-9 * max(1.0, maximum if math.isfinite(maximum) else 0.0)
    low = lo.number(maximum=maximum + slack)
    high = hi.number(maximum=maximum + slack)
    middle = None if estimate.value is None else estimate.number(maximum=maximum + slack)
    tolerance = 1e-9 * high
    between = low if middle is None else middle
    if not (low <= between + tolerance and between <= high + tolerance):
        Node(
            [middle, low, high], owner.file, owner.remedy, f"{estimate.path} with {lo.path} and {hi.path}"
        ).fail("lower limit <= estimate <= upper limit")
    return Interval(middle, low, high)


def _range_text(minimum: float, maximum: float) -> str:
    if math.isinf(maximum):
        return "of any sign" if math.isinf(minimum) else f"of at least {minimum:g}"
    return f"from {minimum:g} to {maximum:g}"
