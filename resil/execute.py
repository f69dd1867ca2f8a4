"""Missing injections go through the engines into part files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resil.bench import Describe
from resil.errors import ConsistencyError
from resil.parts import SCHEMA
from resil.plan import Plan
from resil.progress import Progress
from resil.store import RunFolder
from rtl_harness.engines.base import Engine
from rtl_harness.errors import SimulationError
from rtl_harness.faults import Injection
from rtl_harness.sites import SiteTable

PART_ROWS = 2000
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
        progress: Told of every injection.
    """

    def __init__(
        self,
        plan: Plan,
        sites: SiteTable,
        engines: Sequence[Engine],
        labels: Sequence[int],
        describe: Describe,
        folder: RunFolder,
        workers: int,
        progress: Progress,
    ) -> None:
        self._plan = plan
        self._sites = sites
        self._engines = engines
        self._labels = labels
        self._describe = describe
        self._ends: list[npt.NDArray[np.int64]] = []
        self._folder = folder
        self._workers = workers
        self._progress = progress
        self._rows: list[dict[str, Any]] = []
        self._flushed = time.monotonic()

    def run(self, missing: npt.NDArray[np.int64]) -> None:
        """Simulate the rows `missing` of the plan.

        Whatever ends this early, what was simulated until then has been kept.

        Raises:
            ConsistencyError: the engine left a fault out or answered for one it was not asked for.
        """
        inputs = self._plan.input[missing]
        self._ends = [np.array(engine.golden().operation_ends, np.int64) for engine in self._engines]
        try:
            for position, engine in enumerate(self._engines):
                for index, injection in self._simulate(engine, missing[inputs == position]):
                    self._rows.append(self._row(index, injection))
                    self._progress.advance()
                    if len(self._rows) >= PART_ROWS or time.monotonic() - self._flushed >= PART_SECONDS:
                        self._flush()
        finally:
            self._flush()
            self._progress.finish()

    def _simulate(self, engine: Engine, rows: npt.NDArray[np.int64]) -> Iterator[tuple[int, Injection]]:
        waiting = {self._plan.fault(index): index for index in rows.tolist()}
        if not waiting:
            return
        try:
            for injection in engine.run(tuple(waiting), self._workers):
                index = waiting.pop(injection.fault, None)
                if index is None:
                    raise ConsistencyError(
                        f"the {engine.name} engine answered twice, or unasked, for {injection.fault}"
                    )
                yield index, injection
        except SimulationError as error:
            if waiting:
                raise
            raise ConsistencyError(f"the {engine.name} engine withdrew its answers: {error}") from error
        if waiting:
            missing = next(iter(waiting))
            raise ConsistencyError(
                f"the {engine.name} engine left out {len(waiting)} faults, {missing} for one"
            )

    def _row(self, index: int, injection: Injection) -> dict[str, Any]:
        fault, stratum = injection.fault, self._plan.strata[self._plan.stratum[index]]
        site, position = self._sites[fault.site], int(self._plan.input[index])
        corruption = injection.corruption
        return {
            "injection": int(self._plan.injection[index]),
            "stratum": stratum.population.name,
            "site": fault.site,
            "path": site.element.path,
            "word": site.word + site.element.first_word,
            "bit": site.bit + site.element.lsb,
            "block": stratum.block,
            "kind": stratum.kind,
            "input": self._labels[position],
            "cycle": fault.cycle,
            "outcome": injection.outcome.value,
            "seen": injection.seen.value,
            "detected": injection.detected.value,
            "end_cycle": injection.end_cycle,
            "status": injection.status,
            "output_hash": injection.output_hash,
            "operation": int(np.searchsorted(self._ends[position], fault.cycle, side="right")),
            "corruption": "" if corruption is None else self._describe(position, corruption),
        }

    def _flush(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            self._folder.append(pa.Table.from_pylist(rows, SCHEMA))
        self._flushed = time.monotonic()
