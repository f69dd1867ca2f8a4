# SPDX-License-Identifier: Apache-2.0
"""What can be said of a run before it has ended.

Injections do not end in the order of their numbers: some outcomes end sooner than others. So those that
have ended are no sample, and a rate of theirs is no estimate. What can be said is what the rest cannot
change: of the injections that are still out some number will be hazardous, from none to all of them. The
limits of the figures at the end lie between those of the one case and of the other, whichever way the rest
goes, however often one looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.errors import StoreError
from resil.files import read_parquet
from resil.folder.contents import content_of
from resil.folder.finished import shortcoming
from resil.folder.recorded import read_document
from resil.folder.store import INJECTIONS, PROVENANCE, recorded_provenance
from resil.folder.underway import UNDERWAY
from resil.record import numbers
from resil.record.interim import Interim, InterimBlock
from resil.record.interval import RecordedInterval
from resil.record.underway import Underway
from resil.stats.rates import OUTCOMES
from resil.stats.weighted import weighted_sum

IntArray = npt.NDArray[np.int64]
_SILENCE = 60.0


@dataclass
class Watch:
    """Looks at a run folder again and again; a part file, which never changes, is read once.

    Args:
        folder: The run folder; with `at_work` it may be missing yet.
        at_work: The command that makes the run is at work: what an earlier one has left in the folder is not
            how this one ends.
    """

    folder: Path
    at_work: bool = False
    _parts: dict[str, tuple[IntArray, IntArray]] = field(default_factory=dict)
    _limit: int | None = -1

    def look(self, moment: datetime | None = None) -> Interim:
        """Return the run as it is now.

        Args:
            moment: Now; the clock's by default.

        Raises:
            StoreError: the folder is none of a run, or of another version.
        """
        if self.at_work and not (self.folder / PROVENANCE).exists():
            return _nothing("not injecting", "The run is being prepared: nothing is injected yet.")
        facts = recorded_provenance(self.folder)
        if facts.failed is not None:
            return _nothing("failed", f"The run has failed, and its results are void: {facts.failed}")
        if not (self.folder / UNDERWAY).exists():
            if self.at_work:
                return _nothing(
                    "not injecting", "Nothing is being injected now: the run is prepared, audited or judged."
                )
            if facts.finished:
                reason = shortcoming(self.folder)
                return _nothing(
                    "failed" if reason else "ended", reason or "The run has ended: see its report."
                )
            return _nothing(
                "not injecting", "Nothing is being injected now: it builds, audits, or was ended."
            )
        plan = read_document(self.folder / UNDERWAY, Underway, Underway.REMEDY)
        moment = moment or datetime.now(UTC)
        return _interim(plan, self._rows(plan), moment).changed(note=self._quiet(moment))

    def _quiet(self, moment: datetime) -> str:
        """Return that nothing has come for a while; "" if something has."""
        files = [self.folder / UNDERWAY, *(self.folder / INJECTIONS).glob("part-*.parquet")]
        last = max((own.stat().st_mtime for own in files if own.exists()), default=0.0)
        silence = moment.timestamp() - last
        if silence < _SILENCE:
            return ""
        return (
            f"No injection has ended for {numbers.duration(silence)}: long ones are simulated, an "
            "audit runs, or the run was ended; resil run --resume finishes what was ended."
        )

    def _rows(self, plan: Underway) -> tuple[IntArray, IntArray]:
        """Return numbers and outcomes of what has ended."""
        if plan.detection_cycles != self._limit:
            self._parts, self._limit = {}, plan.detection_cycles
        for part in sorted((self.folder / INJECTIONS).glob("part-*.parquet")):
            if part.name not in self._parts:
                found = content_of(read_parquet(part)).within(plan.detection_cycles)
                self._parts[part.name] = found.injections, found.outcomes.astype(np.int64)
        return _joined(own[0] for own in self._parts.values()), _joined(
            own[1] for own in self._parts.values()
        )


def _joined(columns: Iterable[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *columns])


def _nothing(state: str, note: str) -> Interim:
    return Interim(
        name="",
        state=state,
        note=note,
        planned=0,
        ended=0,
        rate=None,
        seconds_left=None,
        pilot=False,
        confidence=None,
        budget_fit=None,
        outcomes=(0,) * len(OUTCOMES),
        total=None,
        blocks=(),
    )


def _interim(plan: Underway, rows: tuple[IntArray, IntArray], moment: datetime) -> Interim:
    numbers, outcomes = rows
    draw, owner = np.divmod(numbers, len(plan.strata))
    first = np.array([own.first for own in plan.strata])
    planned = np.array([own.injections for own in plan.strata])
    ours = (draw >= first[owner]) & (draw < first[owner] + planned[owner])
    owner, outcomes = owner[ours], outcomes[ours]
    bad = np.isin(outcomes, [OUTCOMES.index(name) for name in plan.hazardous])
    parts = list(dict.fromkeys((own.block, own.kind) for own in plan.strata if own.injections or own.fit_raw))
    place = np.array(
        [parts.index((own.block, own.kind)) if (own.block, own.kind) in parts else 0 for own in plan.strata]
    )
    counts = _KindCounts(
        plan,
        parts,
        np.bincount(place, planned, len(parts)).astype(np.int64),
        np.bincount(place[owner], minlength=len(parts)),
        np.bincount(place[owner[bad]], minlength=len(parts)),
        np.bincount(place, [own.fit_raw for own in plan.strata], len(parts)).astype(np.float64),
    )
    made = int(owner.size) - plan.kept
    seconds = (moment - datetime.fromisoformat(plan.since)).total_seconds()
    rate = made / seconds if made > 0 and seconds > 0.0 else None
    left = int(planned.sum()) - int(owner.size)
    return Interim(
        name=plan.name,
        state="injecting",
        note="",
        planned=int(planned.sum()),
        ended=int(owner.size),
        rate=rate,
        seconds_left=None if rate is None else left / rate,
        pilot=plan.step == "pilot",
        confidence=plan.confidence,
        budget_fit=plan.budget_fit,
        outcomes=tuple(np.bincount(outcomes, minlength=len(OUTCOMES)).tolist()),
        total=counts.limits(range(len(parts))),
        blocks=tuple(counts.block(name) for name in dict.fromkeys(block for block, _ in parts)),
    )


@dataclass(frozen=True)
class _KindCounts:
    """Injections by block and kind of storage, as parallel arrays."""

    plan: Underway
    parts: list[tuple[str, str]]
    planned: IntArray
    ended: IntArray
    hazardous: IntArray
    fit_raw: npt.NDArray[np.float64]

    def block(self, name: str) -> InterimBlock:
        """Return what is known of a block."""
        own = [place for place, (block, _) in enumerate(self.parts) if block == name]
        return InterimBlock(
            block=name,
            planned=int(self.planned[own].sum()),
            ended=int(self.ended[own].sum()),
            hazardous=int(self.hazardous[own].sum()),
            limits=self.limits(own),
        )

    def limits(self, places: Iterable[int]) -> RecordedInterval | None:
        """Return limits between which those of the finished step lie, whatever the rest does."""
        own = list(places)
        if not self.plan.bounded:
            return None
        planned, weights = self.planned[own], self.fit_raw[own]
        least, most = self.hazardous[own], self.hazardous[own] + planned - self.ended[own]
        lo = weighted_sum(least, planned, weights, self.plan.confidence).lo
        hi = weighted_sum(most, planned, weights, self.plan.confidence).hi
        return RecordedInterval(None, lo, min(hi, float(weights.sum())))


def require_run(folder: Path) -> None:
    """Raise StoreError if a folder is none of a run of this version."""
    if not folder.is_dir():
        raise StoreError(f"{folder}: expected a run folder, found none; give that of a run", "folder")
    recorded_provenance(folder)
