# SPDX-License-Identifier: Apache-2.0
"""Runs in stretches: each is simulated by an engine of its own, and faults strike in one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import numpy as np

from resil.rtl_harness.engine.contract import Audited, CampaignEngine, Engine, GoldenRun, RecordingEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Rise, RunEnd


class ChainEngine:
    """Simulates stretches that are one run together: the cycles of each follow those of the one before.

    A fault's cycle says in which stretch it strikes, so that each is struck as often as it is long. What
    comes of it later is the sequel of the stretch's workload. The time-out is that of the stretch.

    A stuck bit is held in the first stretch alone: this shows whether it can reach the output, no more.

    Args:
        engines: One for each stretch.
        workloads: What each runs; all have a sequel.
    """

    def __init__(self, engines: Sequence[CampaignEngine], workloads: Sequence[Workload]) -> None:
        self.name = engines[0].name
        self.notes: list[str] = []
        self._engines = tuple(engines)
        self._workloads = tuple(workloads)
        self._golden: GoldenRun | None = None
        self._starts: list[int] = []

    def __enter__(self) -> Self:
        for engine in self._engines:
            engine.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for engine in self._engines:
            engine.__exit__(kind, error, trace)

    def golden(self) -> GoldenRun:
        """Simulate all stretches without a fault.

        Raises:
            HarnessError: A stretch leaves other outputs than its sequel has without a fault.
            SimulationError: As of the engine of a stretch.
        """
        if self._golden is None:
            runs = [self._stretch(number) for number in range(len(self._engines))]
            ends = np.cumsum([0, *(run.cycles for run in runs)]).tolist()
            self._starts = ends[:-1]
            self._golden = self._joined(runs, ends[-1])
        return self._golden

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Take it that so many faults will be asked for, of all stretches and inputs together."""
        shared = first._engines[0] if isinstance(first, ChainEngine) else self._engines[0]
        for engine in self._engines:
            engine.expect(faults, shared)

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, in any order; see `Engine`."""
        self.golden()
        own: list[list[Fault]] = [[] for _ in self._engines]
        for fault in faults:
            number, local = self._local(fault)
            own[number].append(local)
        for number, engine in enumerate(self._engines):
            if own[number]:
                for injection in engine.run(own[number], workers):
                    yield self._placed(number, injection)
            self.notes += [note for note in engine.notes if note not in self.notes]

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault from the beginning of its stretch to its end; waves are of that stretch."""
        self.golden()
        number, local = self._local(fault)
        engine = self._engines[number]
        if waves is None:
            return self._placed(number, engine.replay(local))
        return self._placed(number, cast(RecordingEngine, engine).replay(local, waves))

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Answers of all stretches that were audited."""
        answers: Counter[str] = Counter()
        tried: Counter[str] = Counter()
        for engine in self._engines:
            for kind, own in engine.audits.items():
                answers[kind] += own.answers
                tried[kind] += own.tried
        return {kind: Audited(answers[kind], tried[kind]) for kind in answers}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Audit what another session answered; see `CampaignEngine`."""
        self.golden()
        own: list[list[Injection]] = [[] for _ in self._engines]
        for injection in injections:
            number, local = self._local(injection.fault)
            own[number].append(_moved(injection, local, -self._starts[number]))
        for engine, some in zip(self._engines, own, strict=True):
            if some:
                engine.audit_kept(some, workers)

    def _stretch(self, number: int) -> GoldenRun:
        run, workload = self._engines[number].golden(), self._workloads[number]
        assert workload.sequel is not None
        if run.end.finished and run.end.output != workload.sequel.golden:
            found = np.frombuffer(run.end.output, np.uint8)
            expected = np.frombuffer(workload.sequel.golden, np.uint8)
            wrong = np.flatnonzero(found != expected)
            raise SimulationError(
                f"{workload.name}: expected the outputs that the functional model computes, for what follows "
                f"is computed from them; found {len(wrong)} of {len(found)} bytes different, the first at "
                f"byte {wrong[0]} ({expected[wrong[0]]:#04x} expected, {found[wrong[0]]:#04x} found)"
            )
        return run

    def _joined(self, runs: Sequence[GoldenRun], cycles: int) -> GoldenRun:
        first = self._workloads[0].sequel
        assert first is not None
        last = runs[-1].end
        alarms = [
            replace(rise, cycle=rise.cycle + start)
            for run, start in zip(runs, self._starts, strict=True)
            for rise in run.end.alarms
        ]
        state = sha256(" ".join(run.end.state_hash for run in runs).encode()).hexdigest()
        end = RunEnd(
            finished=all(run.end.finished for run in runs),
            end_cycle=cycles,
            status=last.status,
            output=b"".join(first.course(first.golden).outputs),
            state_hash=state,
            alarms=tuple(_first_each(alarms)),
        )
        placed = list(zip(runs, self._starts, strict=True))
        return GoldenRun(
            end,
            tuple(cycle + start for run, start in placed for cycle in run.operation_ends),
            tuple((cycle + start, value) for run, start in placed for cycle, value in run.moves),
        )

    def _local(self, fault: Fault) -> tuple[int, Fault]:
        """Return in which stretch a fault strikes, and the fault with the cycle there."""
        if fault.held is not None:
            return 0, fault
        golden = self.golden()
        if fault.cycle >= golden.cycles:
            raise HarnessError(
                f"{fault}: expected a cycle below {golden.cycles}, the end of the golden run of "
                f"{len(self._engines)} stretches"
            )
        number = int(np.searchsorted(self._starts, fault.cycle, side="right")) - 1
        return number, replace(fault, cycle=fault.cycle - self._starts[number])

    def _placed(self, number: int, injection: Injection) -> Injection:
        start = 0 if injection.fault.held is not None else self._starts[number]
        fault = replace(injection.fault, cycle=injection.fault.cycle + start)
        return replace(_moved(injection, fault, start), corruption=None)


def _moved(injection: Injection, fault: Fault, by: int) -> Injection:
    """Return an injection with its cycles counted from elsewhere."""

    def rise(found: Rise | None) -> Rise | None:
        return None if found is None else replace(found, cycle=found.cycle + by)

    return replace(
        injection,
        fault=fault,
        end_cycle=injection.end_cycle + by,
        detected=rise(injection.detected),
        corrected=rise(injection.corrected),
    )


def _first_each(alarms: Iterable[Rise]) -> Iterator[Rise]:
    known: set[str] = set()
    for rise in alarms:
        if rise.alarm not in known:
            known.add(rise.alarm)
            yield rise
