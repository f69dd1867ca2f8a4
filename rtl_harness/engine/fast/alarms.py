# SPDX-License-Identifier: Apache-2.0
"""A target's alarms by their place, as the compiled model has them."""

from __future__ import annotations

from resil.rtl_harness.design.target import Target
from resil.rtl_harness.faults import Reported, Rise

Found = tuple[int, int]
Rises = tuple[Rise, ...]


class Alarms:
    """Names and kinds of a target's alarms.

    Attributes:
        detects: Places of those that report a detected fault.
        corrects: Places of those that report a corrected fault.
    """

    def __init__(self, target: Target) -> None:
        self._kinds = [(name, Reported(alarm.reports)) for name, alarm in target.alarms.items()]
        self._outputs = [alarm.output for alarm in target.alarms.values()]
        self.detects, self.corrects = (
            [place for place, (_, kind) in enumerate(self._kinds) if kind is wanted]
            for wanted in (Reported.DETECTED, Reported.CORRECTED)
        )

    def rises(self, *found: Found | None) -> Rises:
        """Return the rises of alarms, each given by place and cycle, in the order in which they happened."""
        ordered = sorted((cycle, place) for place, cycle in filter(None, found))
        return tuple(Rise(*self._kinds[place], cycle) for cycle, place in ordered)

    def loud(self, quiet: tuple[str, ...], usual: Rises) -> list[str]:
        """Return the names of alarms whose outputs are not among `quiet`, without the usual ones."""
        known = {rise.alarm for rise in usual}
        outputs = zip(self._kinds, self._outputs, strict=True)
        return [name for (name, _), output in outputs if output not in quiet and name not in known]


def joined(own: Rises, later: Rises) -> Rises:
    """Return the first rises of a run that raised `own`, then went on as one that raised `later` in all."""
    kinds = {rise.kind for rise in own}
    return own + tuple(rise for rise in later if rise.kind not in kinds)
