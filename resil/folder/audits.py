# SPDX-License-Identifier: Apache-2.0
"""What the engines' audits have covered, kept with the run, so that whoever goes on with it knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.compute as pc

from resil.errors import ConsistencyError
from resil.folder.parts import read_part
from resil.folder.row_maker import injections_of
from resil.folder.store import RunFolder
from resil.record.provenance import AuditedKind, AuditRecord
from resil.rtl_harness.engine.contract import Audited, CampaignEngine
from resil.rtl_harness.engine.fast.audit_sample import AuditSize
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Injection

RECALLED = "taken from an earlier campaign"


class Audits:
    """The audits of a run, those of earlier sessions with them.

    An engine audits what it has answered at the end of each call. What it answered in a call that never came
    to its end is kept, but nothing is known of it; it is audited when the run goes on.

    Args:
        folder: The run.
        engines: One for each input of the campaign, in order.
    """

    def __init__(self, folder: RunFolder, engines: Sequence[CampaignEngine]) -> None:
        self._folder = folder
        self._engines = engines
        before = folder.provenance().audit
        self._covered = 0 if before is None else before.parts
        self._before = {} if before is None else before.kinds
        repeated = None if before is None else before.workers
        self._workers = Audited(0, 0) if repeated is None else Audited(repeated.answers, repeated.tried)
        self._elsewhere: dict[str, Audited] = {}

    @property
    def uncovered(self) -> list[Path]:
        """Part files of which an engine has not audited anything."""
        return self._folder.parts_from(self._covered)

    def cover(self) -> None:
        """Note that all that is kept now has been audited, and what that was."""
        self._covered = self._folder.next_part
        self._folder.note(audit=self.record)

    def try_kept(self, labels: Sequence[int], workers: int) -> None:
        """Let the engines audit what is not covered.

        Args:
            labels: Label of each input.
            workers: Simulator processes.

        Raises:
            ConsistencyError: something that was kept is wrong.
        """
        recalled = self._folder.provenance().recalled
        for label, engine in zip(labels, self._engines, strict=True):
            kept = self._kept(label)
            try:
                engine.audit_kept(kept, workers)
                if recalled and next(kept, None) is not None:
                    self._simulate_some(label, engine)
            except AuditError as error:
                raise ConsistencyError(
                    f"{self._folder.path}: an earlier session kept what the {engine.name} engine refutes: "
                    f"{error}{self._shown(label, error)}"
                ) from error
        self.cover()

    def take(self, kinds: Mapping[str, Audited]) -> None:
        """Take notice of what the engine of a worker elsewhere has audited of one call."""
        for kind, found in kinds.items():
            self._elsewhere[kind] = _joined(self._elsewhere.get(kind, Audited(0, 0)), found)

    def take_repeated(self, answers: int, tried: int) -> None:
        """Take notice of rows that workers have answered, and of those that others have simulated again."""
        self._workers = _joined(self._workers, Audited(answers, tried))

    @property
    def record(self) -> AuditRecord:
        """What `provenance.json` says of it."""
        answers, tried = Counter[str](), Counter[str]()
        before = {kind: Audited(own.answers, own.tried) for kind, own in self._before.items()}
        for audits in (before, self._elsewhere, *(engine.audits for engine in self._engines)):
            for kind, found in audits.items():
                answers[kind] += found.answers
                tried[kind] += found.tried
        return AuditRecord(
            parts=self._covered,
            answers=answers.total(),
            tried=tried.total(),
            kinds={kind: _recorded(Audited(answers[kind], tried[kind])) for kind in sorted(answers)},
            workers=_recorded(self._workers) if self._workers.answers else None,
        )

    @property
    def text(self) -> str:
        """What was audited, for a person; empty if nothing was."""
        record = self.record
        if not record.tried:
            return ""
        repeated = ""
        if (of := record.workers) is not None:
            repeated = f"; {of.tried:,} of {of.answers:,} rows simulated again by another worker"
        return (
            f"audit: {record.tried:,} of {record.answers:,} answers, of {len(record.kinds)} kinds, "
            f"run to the end{repeated}: none differs"
        )

    def _simulate_some(self, label: int, engine: CampaignEngine) -> None:
        """Simulate some of what is kept again, by an engine that did not look at it: it need not be its own.

        Raises:
            AuditError: one of them comes to another end.
        """
        kept = list(self._kept(label))
        tried = Random(len(kept)).sample(kept, AuditSize().wanted(len(kept)))
        for injection in tried:
            if (found := engine.replay(injection.fault)) != injection:
                raise AuditError(f"{injection} was taken, simulated again it is {found}", injection.fault)
        self.take({RECALLED: Audited(len(kept), len(tried))})

    def _kept(self, label: int) -> Iterator[Injection]:
        for rows in self._rows(label):
            yield from injections_of(rows)

    def _rows(self, label: int) -> Iterator[pa.Table]:
        for part in self.uncovered:
            rows = read_part(part, self._folder.identity.digest)
            yield rows.filter(pc.field("input") == label)

    def _shown(self, label: int, error: AuditError) -> str:
        for rows in self._rows(label):
            for number, injection in zip(rows["injection"].to_pylist(), injections_of(rows), strict=True):
                if injection.fault == error.fault:
                    return replay_text(self._folder.path, number)
        return ""


def replay_text(folder: Path, number: int) -> str:
    """Return the command that shows the run to the end of an injection that an audit found wrong."""
    return f"; to see the run to its end: resil replay {folder} {number} --engine cocotb"


def _joined(one: Audited, other: Audited) -> Audited:
    return Audited(one.answers + other.answers, one.tried + other.tried)


def _recorded(found: Audited) -> AuditedKind:
    return AuditedKind(answers=found.answers, tried=found.tried)
