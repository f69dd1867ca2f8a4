"""What is known of finished injections while more are planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Content:
    """What of stored injections is kept in memory.

    Attributes:
        injections: Numbers, each once.
        outcomes: Place in `stats.rates.OUTCOMES` of the outcome of each.
        seen: Likewise of what was seen, whatever was told.
        alarms: Name of the first alarm that told of something detected, in time or not; "" if none did.
        alarm_cycles: Cycle in which it rose; `rtl_harness.faults.NEVER` if none did.
        corrections: Name of the first alarm that told of something corrected; "" if none did.
        cycles: Cycle of each fault.
        end_cycles: Cycle in which each ended.
        inputs: Label of the input of each.
    """

    injections: IntArray
    outcomes: npt.NDArray[np.int8]
    seen: npt.NDArray[np.int8]
    alarms: npt.NDArray[np.str_]
    alarm_cycles: IntArray
    corrections: npt.NDArray[np.str_]
    cycles: IntArray
    end_cycles: IntArray
    inputs: IntArray

    @staticmethod
    def joined(parts: Iterable[Content]) -> Content:
        """Return all in one, in the order of their numbers."""
        none, words, names = np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.str_)
        nothing = (none, words, words, names, none, names, none, none, none)
        columns = zip(nothing, *(part.columns for part in parts), strict=True)
        whole = Content(*(np.concatenate(column) for column in columns))
        return whole.at(np.argsort(whole.injections, kind="stable"))

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def at(self, rows: IntArray) -> Content:
        """Return some rows."""
        return Content(*(column[rows] for column in self.columns))

    def among(self, injections: IntArray) -> Content:
        """Return the rows whose numbers are among the given ones, each of which is there once."""
        return self.at(np.flatnonzero(np.isin(self.injections, injections, assume_unique=True)))
