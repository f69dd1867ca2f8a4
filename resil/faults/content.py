# SPDX-License-Identifier: Apache-2.0
"""What is known of finished injections while more are planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.faults import NEVER, is_detected
from resil.stats.rates import OUTCOMES

# Codes of a class: outcome, then what was seen, then the alarm; and whether an alarm was late.
_LATE, _ALARM = 10**3, 10**4

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Content:
    """What of stored injections is kept in memory.

    Attributes:
        injections: Numbers, each once.
        outcomes: Place in `resil.stats.rates.OUTCOMES` of the outcome of each.
        seen: Likewise of what was seen, whatever was reported; "due" of a run that was ended by an alarm.
        alarms: Name of the first alarm that reported a detection, in time or not; "" if none did.
        alarm_cycles: Cycle in which it rose; `resil.rtl_harness.faults.NEVER` if none did.
        corrections: Name of the first alarm that reported a correction; "" if none did.
        firsts: Of two inferences, likewise the outcome of the first by itself; -1 if there is but one.
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
    firsts: npt.NDArray[np.int8]
    cycles: IntArray
    end_cycles: IntArray
    inputs: IntArray

    @staticmethod
    def joined(parts: Iterable[Content]) -> Content:
        """Return all in one, in the order of their numbers."""
        none, words, names = np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.str_)
        nothing = (none, words, words, names, none, names, words, none, none, none)
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

    def within(self, limit: int | None) -> Content:
        """Return the same injections, judged with a fault-tolerant time.

        Args:
            limit: Cycles from fault to alarm within which a fault counts as detected; None if any alarm does.
                Of a run that was ended by an alarm which came later, the worst is taken: a critical SDC.
        """
        due, worst = (OUTCOMES.index(name) for name in ("due", "sdc_critical"))
        otherwise = np.where(self.seen == due, worst, self.seen)
        detected = is_detected(self.alarm_cycles, self.cycles, limit)
        return replace(self, outcomes=np.where(detected, due, otherwise).astype(np.int8))

    def classes(self) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
        """Return the names of the classes of these injections, and the place of the class of each.

        A class is known by its outcome; of detected faults also by what was seen and by the alarm
        (`due:SEEN:ALARM`, without SEEN of runs that the alarm ended), of others by whether an alarm came too
        late (`OUTCOME:late`).
        """
        due = self.outcomes == OUTCOMES.index("due")
        late = ~due & (self.alarm_cycles != NEVER)
        alarms, alarm = np.unique(self.alarms, return_inverse=True)
        key = self.outcomes.astype(np.int64) + np.where(due, len(OUTCOMES) * (1 + self.seen), 0)
        key += np.where(late, _LATE, 0) + np.where(due, _ALARM * alarm, 0)
        keys, place = np.unique(key, return_inverse=True)
        return tuple(_class_name(k, alarms) for k in keys.tolist()), place

    @property
    def slowest_alarm(self) -> int:
        """Most cycles from a fault to its alarm; -1 if none rose."""
        rose = self.alarm_cycles != NEVER
        return int((self.alarm_cycles - self.cycles)[rose].max(initial=-1))

    def among(self, injections: IntArray) -> Content:
        """Return the rows whose numbers are among the given ones, each of which is there once."""
        return self.at(np.flatnonzero(np.isin(self.injections, injections, assume_unique=True)))


def _class_name(key: int, alarms: npt.NDArray[np.str_]) -> str:
    alarm, rest = divmod(key, _ALARM)
    late, rest = divmod(rest, _LATE)
    seen, outcome = divmod(rest, len(OUTCOMES))
    name = OUTCOMES[outcome]
    if seen:
        found = OUTCOMES[seen - 1]
        return f"{name}:{'' if found == name else found}:{alarms[alarm]}"
    return f"{name}:late" if late else name
