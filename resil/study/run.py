# SPDX-License-Identifier: Apache-2.0
"""`resil study`: all cells of a study, side by side where there are processors for it, into one folder."""

from __future__ import annotations

import shlex
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from resil.bench.identity import Identity
from resil.errors import ConsistencyError, Interrupted, StoreError
from resil.farm.cluster import open_farm
from resil.farm.ledger import FarmGoneError
from resil.folder.finished import Finished, finished_results
from resil.folder.provenance import now
from resil.progress import Loudness, Progress, loudness
from resil.record.study import StudyRecord, TargetProtection
from resil.record.study_cell import FAILED, WAITING, CellRecord
from resil.reports import STUDY_REPORT, render_study, write_files
from resil.run.campaign import run_campaign
from resil.run.estimate import estimate_campaign
from resil.study.answers import answered, unanswered
from resil.study.asked import asked
from resil.study.claims import claims
from resil.study.classes import class_means
from resil.study.finished_cells import finished_cell
from resil.study.folder import (
    ROWS,
    definition_of,
    open_study,
    require_distinct_works,
    write_record,
)
from resil.study.growth import growth
from resil.study.pace import StudyPace
from resil.study.protect import protect_target
from resil.study.protection import NOT_FINISHED, settled, unassessed
from resil.study.rows import Row, block_rows, write_rows
from resil.study.side_by_side import PartEnd, SideBySide, cell_bytes, in_turn, slots
from resil.study.study import ProtectionWanted, Study, StudyCell, StudyTarget
from resil.study.time_spent import BUILDS, CELLS, PROTECTION, Spent
from resil.study.verdict import study_verdict
from resil.user_errors import USER_ERRORS
from resil.version import __version__

_RESULTS = (ROWS, STUDY_REPORT)


def run_study(
    study: Study, out: str | Path, *, resume: bool = False, progress: Progress | None = None
) -> StudyRecord:
    """Carry out what is missing of a study in the folder `out`, and say what its cells say together.

    Finished cells are only read. A cell that fails is named with its error, and the others go on.

    Returns:
        The content of `study.json`.

    Raises:
        StoreError: the folder cannot be used, is of another study, or holds an unfinished one and `resume` is
            not set.
        HarnessError: a target cannot be read.
        Interrupted: Ctrl-C; finished cells, and what was simulated of the present one, are kept.
    """
    out, progress = Path(out), progress or Progress()
    definition = definition_of(study)
    require_distinct_works(definition)
    with (
        open_study(out, definition, resume=resume) as earlier,
        open_farm(study.rules.execution.farm, progress, out),
    ):
        known = {} if earlier is None else earlier.definition
        return _Study(study, out, {**known, **definition}, earlier, progress).run()


class _Study:
    """A study that is being carried out."""

    def __init__(
        self,
        study: Study,
        out: Path,
        definition: Mapping[str, str],
        earlier: StudyRecord | None,
        progress: Progress,
    ) -> None:
        self._study = study
        self._out = out
        self._definition = definition
        self._earlier = earlier
        self._progress = progress
        self._began = time.monotonic()
        self._started = now() if earlier is None else earlier.started
        self._before = 0.0 if earlier is None else earlier.seconds
        self._spent = self._spent_before()
        self._cells = {cell.folder: unanswered(cell, WAITING) for cell in study.cells}
        self._rows: dict[str, list[Row]] = {}
        self._pace = StudyPace(study.cells, "protection" if study.protection is not None else "")
        asked = study.targets if study.protection is not None else ()
        self._protection = {own.name: unassessed(own.name, NOT_FINISHED) for own in asked}
        self._worked = False

    def run(self) -> StudyRecord:
        waiting = []
        for cell in self._study.cells:
            if (found := finished_cell(cell, self._out, self._earlier)) is None:
                waiting.append(cell)
            else:
                self._keep(cell, *found)
        if waiting or self._finished is None:
            self._worked = True
            self._write(finished=None)
        self._announce(len(waiting))
        side = self._side(waiting)
        try:
            if side > 1:
                self._carry_out_together(waiting, side)
            else:
                for place, cell in enumerate(waiting, start=1):
                    with self._timed(cell.target, CELLS):
                        self._carry_out(cell, place, len(waiting))
                    self._write(finished=None)
            self._protect()
        except (Interrupted, FarmGoneError):
            if self._worked:
                self._write(finished=None)
            raise
        done = now() if self._worked else self._finished
        return self._write(finished=done)

    def _carry_out(self, cell: StudyCell, place: int, of: int) -> None:
        self._progress.stage(f"cell {place} of {of}: {cell.name}{', predicted' if cell.predicted else ''}")
        began, built = time.monotonic(), self._progress.built_seconds
        self._progress.beside(lambda: self._pace.during(cell, time.monotonic() - began))
        end = self._attempt(cell, None, self._progress)
        built = self._progress.built_seconds - built
        self._take(cell, replace(end, built=built, seconds=time.monotonic() - began))

    def _side(self, cells: Sequence[StudyCell]) -> int:
        """Return how many parts that run what these cells do are carried out side by side."""
        execution = self._study.rules.execution
        return 1 if execution.farm is not None else slots(cells, execution.processes)

    def _carry_out_together(self, waiting: Sequence[StudyCell], side: int) -> None:
        """Carry out cells side by side; a second that several share counts a part of it for each."""
        waiting = in_turn(waiting)
        places = {cell.folder: place for place, cell in enumerate(waiting, start=1)}

        def began(cell: StudyCell) -> None:
            text = f"cell {places[cell.folder]} of {len(waiting)}: {cell.name}"
            self._progress.stage(f"{text}{', predicted' if cell.predicted else ''}")

        workers = self._study.rules.execution.processes
        together = SideBySide(self._attempt, workers, side, cell_bytes, self._progress)
        self._pace.side = side
        try:
            for cell, end in together.run(waiting, began):
                self._spent.note(cell.target, BUILDS, end.built / side)
                self._spent.note(cell.target, CELLS, (end.seconds - end.built) / side)
                self._take(cell, end)
                self._write(finished=None)
        except Interrupted:
            raise Interrupted(self._go_on()) from None

    def _attempt(self, cell: StudyCell, workers: int | None, progress: Progress) -> PartEnd[None]:
        """Carry out a cell into its folders, and say how that ended.

        Raises:
            FarmGoneError: the farm is gone.
        """
        try:
            self._work_on(cell, workers, progress)
        except (KeyboardInterrupt, Interrupted):
            return PartEnd(interrupted=True)
        except FarmGoneError as error:
            raise FarmGoneError(f"{error}: {self._go_on()}") from None
        except Exception as error:
            return self._failure(cell, error)
        return PartEnd()

    def _failure(self, cell: StudyCell, error: Exception) -> PartEnd[None]:
        if isinstance(error, USER_ERRORS):
            return PartEnd(error=str(error))
        if isinstance(error, OSError):
            file = error.filename or self._out / cell.folder
            return PartEnd(error=f"{file}: cannot be read or written ({error.strerror}); free it and go on")
        if isinstance(error, ConsistencyError):
            return PartEnd(error=str(error), internal=True)
        if loudness() is Loudness.VERBOSE:
            self._progress.warn(traceback.format_exc().rstrip())
        trail = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(trail.filename).name}, line {trail.lineno}"
        return PartEnd(error=f"internal error: {type(error).__name__}: {error} ({where})", internal=True)

    def _take(self, cell: StudyCell, end: PartEnd[None]) -> None:
        """Take notice of how a cell ended.

        Raises:
            Interrupted: it was interrupted.
        """
        if end.interrupted:
            raise Interrupted(self._go_on())
        if not end.error:
            try:
                self._require_unchanged()
                self._keep(cell, *self._found(cell))
            except Exception as error:
                end = self._failure(cell, error)
        if end.error:
            self._fail(cell, end.error, internal=end.internal)
            return
        made = self._cells[cell.folder].results
        self._pace.note(cell, end.seconds, made.injections if made else 0, end.built)
        self._progress.stage(self._pace.text())

    def _protect(self) -> None:
        wanted = self._study.protection
        if wanted is None:
            return
        waiting = []
        for target in self._study.targets:
            if (row := settled(wanted, target.name, self._cells_of(target.name))) is not None:
                self._take_protection(target, row)
            else:
                waiting.append(target)
        side = min(self._side(self._study.cells), len(waiting))
        places = {target.name: place for place, target in enumerate(waiting, start=1)}

        def began(target: StudyTarget) -> None:
            self._progress.stage(f"protection of {target.name}, {places[target.name]} of {len(waiting)}")

        if side > 1:
            self._protect_together(wanted, waiting, side, began)
            return
        for target in waiting:
            began(target)
            try:
                with self._timed(target.name, PROTECTION):
                    row = protect_target(wanted, target.name, self._cells_of(target.name), self._out)
            except (KeyboardInterrupt, Interrupted):
                raise Interrupted(self._go_on()) from None
            self._take_protection(target, row)

    def _protect_together(
        self,
        wanted: ProtectionWanted,
        targets: Sequence[StudyTarget],
        side: int,
        began: Callable[[StudyTarget], object],
    ) -> None:
        def attempt(target: StudyTarget, workers: int, progress: Progress) -> PartEnd[TargetProtection]:
            cells = self._cells_of(target.name)
            try:
                return PartEnd(protect_target(wanted, target.name, cells, self._out, workers, progress))
            except (KeyboardInterrupt, Interrupted):
                return PartEnd(interrupted=True)

        def largest(target: StudyTarget) -> int:
            return max(cell_bytes(cell) for cell in self._study.cells if cell.target == target.name)

        workers = self._study.rules.execution.processes
        together = SideBySide(attempt, workers, side, largest, self._progress)
        interrupted = False
        try:
            for target, end in together.run(targets, began):
                self._spent.note(target.name, BUILDS, end.built / side)
                self._spent.note(target.name, PROTECTION, (end.seconds - end.built) / side)
                interrupted |= end.interrupted
                if not end.interrupted:
                    self._take_protection(target, end.answer or unassessed(target.name, end.error))
        except Interrupted:
            interrupted = True
        if interrupted:
            raise Interrupted(self._go_on())

    def _take_protection(self, target: StudyTarget, row: TargetProtection) -> None:
        self._protection[target.name] = row
        self._worked |= self._earlier is None or row not in self._earlier.protection
        if self._worked:
            self._write(finished=None)

    @contextmanager
    def _timed(self, target: str, part: str) -> Iterator[None]:
        """Take note of how long something takes, builds by themselves."""
        began, built = time.monotonic(), self._progress.built_seconds
        try:
            yield
        finally:
            built = self._progress.built_seconds - built
            self._spent.note(target, BUILDS, built)
            self._spent.note(target, part, time.monotonic() - began - built)

    def _cells_of(self, target: str) -> list[CellRecord]:
        return [cell for cell in self._cells.values() if cell.target == target]

    @property
    def _finished(self) -> str | None:
        """When an earlier go has ended; None if none has."""
        return None if self._earlier is None else self._earlier.finished

    def _spent_before(self) -> Spent:
        return Spent(() if self._earlier is None else self._earlier.spent)

    def _work_on(self, cell: StudyCell, workers: int | None, progress: Progress) -> None:
        folder = self._out / cell.folder
        folder.parent.mkdir(exist_ok=True)

        if cell.predicted:
            estimate_campaign(cell.campaign, folder, model_file=self._study.model, progress=progress)
            return
        if cell.permanent is not None:
            place = self._out / cell.permanent_folder
            run_campaign(cell.permanent.with_workers(workers), place, resume=True, progress=progress)
            finished_results(place)
        campaign = cell.campaign_in(self._out).with_workers(workers)
        injected = [own for own in self._study.cells if own.target == cell.target and not own.predicted]
        run_campaign(campaign, folder, resume=True, progress=progress, campaigns=len(injected))

    def _found(self, cell: StudyCell) -> tuple[Finished, Finished | None]:
        """Return what the folders of a cell hold now."""
        permanent = None
        if cell.permanent is not None:
            permanent = finished_results(self._out / cell.permanent_folder)
        return finished_results(self._out / cell.folder), permanent

    def _require_unchanged(self) -> None:
        """Raise StoreError if a network, a target or a model is no longer what the study began with."""
        here = Identity({**self._definition, **definition_of(self._study)})
        if differences := here.differences(self._definition):
            raise StoreError(
                f"changed while the study was carried out: {', '.join(differences)}; restore what has "
                "changed, and go on with --resume",
                "changed",
            )

    def _keep(self, cell: StudyCell, found: Finished, permanent: Finished | None) -> None:
        record = answered(cell, found, permanent)
        self._cells[cell.folder] = record
        self._rows[cell.folder] = block_rows(record, found.summary)
        self._pace.answered(cell)

    def _fail(self, cell: StudyCell, error: str, *, internal: bool = False) -> None:
        self._progress.warn(f"{cell.name} failed: {error}")
        self._cells[cell.folder] = unanswered(cell, FAILED, error, internal=internal)
        self._pace.answered(cell)

    def _write(self, *, finished: str | None) -> StudyRecord:
        """Write what is known by now; reports only of a study that has ended."""
        record = self._record(finished)
        if finished is None:
            for name in _RESULTS:
                (self._out / name).unlink(missing_ok=True)
        else:
            write_rows(self._out / ROWS, [row for own in self._cells for row in self._rows.get(own, [])])
            write_files(render_study(record), self._out)
        write_record(self._out, record)
        return record

    def _record(self, finished: str | None) -> StudyRecord:
        cells, protection = tuple(self._cells.values()), tuple(self._protection.values())
        seconds = time.monotonic() - self._began if self._worked else 0.0
        spent = self._spent if self._worked else self._spent_before()
        return StudyRecord(
            schema=StudyRecord.SCHEMA,
            name=self._study.name,
            resil=__version__,
            asked=asked(self._study),
            verdict=study_verdict(cells),
            cells=cells,
            protection=protection,
            claims=claims(cells, protection),
            growth=growth(cells),
            classes=class_means(cells),
            confidence=self._study.rules.head.confidence,
            seconds=round(self._before + seconds, 1),
            spent=spent.rows(target.name for target in self._study.targets),
            started=self._started,
            finished=finished,
            definition=self._definition,
        )

    def _announce(self, waiting: int) -> None:
        cells = len(self._study.cells)
        there = cells - waiting
        self._progress.stage(f"{cells} cells, {there} of them finished" if there else f"{cells} cells")

    def _go_on(self) -> str:
        done = sum(cell.results is not None for cell in self._cells.values())
        cells = f"{done} of {len(self._cells)} cells"
        kept = cells if done == len(self._cells) else f"{cells}, and what was injected of the present one,"
        options = shlex.join(self._study.options)
        command = f"resil study {self._study.file} --out {self._out} --resume {options}".rstrip()
        return f"{kept} are kept in {self._out}; go on with: {command}"
