"""What is known of finished injections while more are planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
        cycles: Cycle of each fault.
        end_cycles: Cycle in which each ended.
        inputs: Label of the input of each.
    """

    injections: IntArray
    outcomes: npt.NDArray[np.int8]
    cycles: IntArray
    end_cycles: IntArray
    inputs: IntArray

    @staticmethod
    def joined(parts: Iterable[Content]) -> Content:
        """Return all in one, in the order of their numbers."""
        none = np.zeros(0, np.int64)
        nothing = (none, none.astype(np.int8), none, none, none)
        columns = zip(nothing, *(part.columns for part in parts), strict=True)
        whole = Content(*(np.concatenate(column) for column in columns))
        return whole.at(np.argsort(whole.injections, kind="stable"))

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays."""
        return self.injections, self.outcomes, self.cycles, self.end_cycles, self.inputs

    def at(self, rows: IntArray) -> Content:
        """Return some rows."""
        return Content(*(column[rows] for column in self.columns))

    def among(self, injections: IntArray) -> Content:
        """Return the rows whose numbers are among the given ones, each of which is there once."""
        return self.at(np.flatnonzero(np.isin(self.injections, injections, assume_unique=True)))
