# SPDX-License-Identifier: Apache-2.0
"""Missing injections go through the engines into part files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.bench.bench import Describe
from resil.errors import ConsistencyError
from resil.faults.plan import FaultPlan
from resil.folder.audits import replay_text
from resil.folder.row_maker import RowMaker
from resil.folder.store import RunFolder
from resil.progress import Progress
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.contract import Engine, UnderWay
from resil.rtl_harness.errors import AuditError, SimulationError
from resil.rtl_harness.faults import Injection

# Faults that an engine gets at once: so many that walks through the golden run cost each little and that many
# come to the same states, so few that memory does not grow with the campaign.
CALL_FAULTS = 1 << 21
PART_ROWS = 16_384
PART_SECONDS = 5.0


class Executor:
    """Simulates injections of a plan and keeps them.

    Args:
        plan: Which fault has which number.
        sites: The fault sites that the plan refers to.
        engines: One for each input of the campaign, in order.
        labels: Label of each input.
        describe: Says what a corruption of memory is.
        folder: Where the part files go.
        workers: Simulator processes.
        progress: Shows every injection.
        covered: Called when the engine has audited all that is kept.
    """

    def __init__(
        self,
        plan: FaultPlan,
        sites: SiteTable,
        engines: Sequence[Engine],
        labels: Sequence[int],
        describe: Describe,
        folder: RunFolder,
        workers: int,
        progress: Progress,
        covered: Callable[[], None] = lambda: None,
    ) -> None:
        self._plan = plan
        self._covered = covered
        self._maker = RowMaker(
            plan, sites, labels, [engine.golden().operation_ends for engine in engines], describe
        )
        self._engines = engines
        self._folder = folder
        self._workers = workers
        self._progress = progress
        self._rows: list[int] = []
        self._injections: list[Injection] = []
        self._flushed = time.monotonic()

    def run(self, missing: npt.NDArray[np.int64]) -> None:
        """Simulate the rows `missing` of the plan.

        Whatever ends this early, what was simulated until then has been kept, but for some seconds' worth if
        this process is killed.

        Raises:
            ConsistencyError: the engine left a fault out or answered for one it was not asked for.
        """
        inputs = self._plan.input[missing]
        try:
            for position, engine in enumerate(self._engines):
                rows = missing[inputs == position]
                with self._progress.following(engine.under_way if isinstance(engine, UnderWay) else None):
                    self._run(engine, rows)
        finally:
            self._flush()
            self._progress.finish()

    def _run(self, engine: Engine, rows: npt.NDArray[np.int64]) -> None:
        for start in range(0, len(rows), CALL_FAULTS):
            call = rows[start : start + CALL_FAULTS]
            for index, injection in answers(engine, self._plan, call, self._folder.path, self._workers):
                self._keep(index, injection)
            self._flush()
            self._covered()

    def _keep(self, index: int, injection: Injection) -> None:
        self._rows.append(index)
        self._injections.append(injection)
        self._progress.advance()
        if len(self._rows) >= PART_ROWS or time.monotonic() - self._flushed >= PART_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            rows, injections = self._rows, self._injections
            self._rows, self._injections = [], []
            self._folder.append(self._maker.table(rows, injections))
        self._flushed = time.monotonic()


def answers(
    engine: Engine, plan: FaultPlan, rows: npt.NDArray[np.int64], folder: Path, workers: int = 1
) -> Iterator[tuple[int, Injection]]:
    """Yield row and injection of these rows of a plan, as they come in.

    Args:
        engine: Of the input of all these rows.
        plan: Which fault has which number.
        rows: Of the plan.
        folder: Run folder, for messages.
        workers: Simulator processes.

    Raises:
        ConsistencyError: the engine left a fault out, answered for one it was not asked for, or found its own
            answers wrong.
        SimulationError: the simulator broke.
    """
    waiting = {plan.fault(index): index for index in rows.tolist()}
    try:
        for injection in engine.run(tuple(waiting), workers):
            index = waiting.pop(injection.fault, None)
            if index is None:
                raise ConsistencyError(
                    f"the {engine.name} engine answered twice, or unasked, for {injection.fault}"
                )
            yield index, injection
    except SimulationError as error:
        if waiting and not isinstance(error, AuditError):
            raise
        raise ConsistencyError(
            f"the {engine.name} engine withdrew its answers: {error}{_shown(error, plan, rows, folder)}"
        ) from error
    if waiting:
        missing = next(iter(waiting))
        raise ConsistencyError(f"the {engine.name} engine left out {len(waiting)} faults, {missing} for one")


def _shown(error: SimulationError, plan: FaultPlan, rows: npt.NDArray[np.int64], folder: Path) -> str:
    if not isinstance(error, AuditError):
        return ""
    found = next((index for index in rows.tolist() if plan.fault(index) == error.fault), None)
    return "" if found is None else replay_text(folder, int(plan.injection[found]))
