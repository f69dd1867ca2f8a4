# SPDX-License-Identifier: Apache-2.0
"""An estimate with its limits, as documents hold it: `[estimate, lower limit, upper limit]`."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from resil.record.typed import wrong

_ROUNDING = 1e-9


class RecordedInterval(NamedTuple):
    """An estimate with its confidence limits, all in the unit of the field that holds it.

    Attributes:
        estimate: Point estimate; None where nothing was observed.
        lo: Lower limit.
        hi: Upper limit.
    """

    estimate: float | None
    lo: float
    hi: float

    def scaled(self, factor: float) -> RecordedInterval:
        """Return the interval multiplied by a factor of 0 or more."""
        estimate = None if self.estimate is None else self.estimate * factor
        return RecordedInterval(estimate, self.lo * factor, self.hi * factor)


NOTHING_KNOWN = RecordedInterval(None, 0.0, 0.0)


def require_order(interval: RecordedInterval, where: str = "") -> RecordedInterval:
    """Return an interval with 0 <= lower limit <= estimate <= upper limit, within rounding; refuse others."""
    estimate, lo, hi = interval
    tolerance = _ROUNDING * hi
    middle = lo if estimate is None else estimate
    if lo < 0.0 or not (lo <= middle + tolerance and middle <= hi + tolerance):
        wrong(where, "0 <= lower limit <= estimate <= upper limit", list(interval))
    return interval


def _within_one(interval: RecordedInterval) -> RecordedInterval:
    if interval.hi > 1.0 + _ROUNDING:
        wrong("", "an upper limit of at most 1", list(interval))
    return interval


# In FIT, or of another quantity without an upper end.
Ordered = Annotated[RecordedInterval, AfterValidator(require_order)]
ShareInterval = Annotated[RecordedInterval, AfterValidator(require_order), AfterValidator(_within_one)]
