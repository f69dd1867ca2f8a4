# SPDX-License-Identifier: Apache-2.0
"""The reference engine: cocotb on Verilator, one simulated run to the end for every fault."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from types import TracebackType
from typing import Any, Self, Unpack, cast

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.design.snapshot import DATA
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import (
    GoldenRun,
    check_fault,
    check_second,
    describe_fault,
)
from resil.rtl_harness.engine.memories import write_images
from resil.rtl_harness.engine.reference.build import Waves, build_simulator, wave_format
from resil.rtl_harness.engine.reference.config import simulator_config
from resil.rtl_harness.engine.reference.worker import Worker
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.state_hash import bit_place
from resil.rtl_harness.engine.timeout import operation_allowance
from resil.rtl_harness.engine.whole_runs import WholeRuns
from resil.rtl_harness.engine.workload import Workload, classify
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise, RunEnd


class CocotbEngine(WholeRuns):
    """Simulates one workload on one target under cocotb.

    The engine builds the simulator when it is first needed and keeps simulator processes alive between
    calls; `close`, or leaving it as a context manager, ends them. Cycle 0 is the first rising clock edge
    after reset was released; a run ends with the first cycle in which `done` is 1, sampled after the fault of
    that cycle.
    """

    name = "cocotb"

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        **limits: Unpack[RunLimits],
    ) -> None:
        super().__init__(target, workload, elaboration, **limits)
        self._operation_cycles: int | None = None
        self._golden: GoldenRun | None = None
        self._golden_state = b""
        self._config = self._configured()
        self._simulators: dict[Waves, Path] = {}
        self._workers: list[Worker] = []
        self._folder = Path(tempfile.mkdtemp(prefix="resil-images-"))
        self._plusargs = self._plusargs_in(self._folder)
        self._cleanup = weakref.finalize(self, _clean_up, self._workers, self._folder)

    def _configured(self) -> dict[str, Any]:
        return simulator_config(self.target, self.workload, self.elaboration)

    def _plusargs_in(self, folder: Path) -> list[str]:
        return write_images(self.target, self.workload, self.elaboration, folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all simulator processes and remove temporary files; the engine cannot be used afterwards."""
        self._cleanup()

    @property
    def timeout_cycles(self) -> int:
        """Cycles after which an injection counts as a hang: of two inferences, in the first."""
        return math.ceil(self._limits.timeout_factor * self.golden().cycles)

    def golden(self) -> GoldenRun:
        """Simulate without a fault, once.

        Operation ends are given as numbers of cycles run, like the end of the run.

        Raises:
            SimulationError: If the simulator cannot be built or the design does not finish.
            UnmappedSiteError: If a storage element is not in the simulator.
        """
        if self._golden is None:
            worker = self._pool(1)[0]
            worker.send(do="golden", limit=self._limits.golden_limit)
            answer = self._answer(worker, "the golden run")
            end = self._run_end(answer)
            if not end.finished:
                raise SimulationError(
                    f"{self.target.name} running {self.workload.name}: no {self.target.done} within "
                    f"{self._limits.golden_limit} cycles, status is {end.status:#x}; check memory images and "
                    "reset, or raise golden_limit",
                    "done",
                )
            check_second(self.target, self.workload, end)
            moves = tuple((cycles, value) for cycles, value in answer["moves"])
            self._operation_cycles = operation_allowance(
                self.target, self._limits.timeout, self._limits.timeout_factor, moves, end.end_cycle
            )
            self._golden = GoldenRun(end, operation_ends(moves[1:]), moves)
            self._golden_state = bytes.fromhex(answer["state"])
        return self._golden

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Args:
            faults: In any order, also with repetitions.
            workers: Simulator processes that share the work.

        Raises:
            HarnessError: If a fault lies outside the site table or after the end of the golden run.
            SimulationError: If a simulator breaks or a flip did not take; it names the fault.
        """
        if workers < 1:
            raise HarnessError(f"workers: expected at least 1, found {workers}", "workers")
        golden = self.golden()
        for fault in faults:
            check_fault(fault, self.elaboration, golden.cycles)
        todo = sorted(faults, key=lambda f: (f.held is None, f.cycle, f.site), reverse=True)
        pool = self._pool(min(workers, len(todo)))
        try:
            yield from self._dispatch(todo, pool, golden)
        except BaseException:
            self._kill_workers()
            raise

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault from reset in a process of its own.

        Args:
            fault: What to inject.
            waves: Where to write a waveform of the whole run; the suffix says the format, .vcd or .fst.

        Raises:
            HarnessError, SimulationError: As for `run`.
            ToolMissingError: If the waveform's format needs a library that is missing.
        """
        golden = self.golden()
        check_fault(fault, self.elaboration, golden.cycles)
        options = ["--trace", "--trace-file", str(waves.resolve())] if waves is not None else []
        worker = self._start(options, wave_format(waves))
        try:
            worker.send(do="replay", **self._request(fault))
            answer = worker.answer(self._describe(fault))
            worker.finish()
        finally:
            worker.kill()
        return self._judged(fault, golden, answer)

    def _judged(self, fault: Fault, golden: GoldenRun, answer: dict[str, Any]) -> Injection:
        injection = classify(fault, golden.end, self._run_end(answer), self.workload)
        return injection.until_detection() if self._limits.until_detection else injection

    def _dispatch(self, todo: list[Fault], pool: list[Worker], golden: GoldenRun) -> Iterator[Injection]:
        busy: dict[Worker, Fault] = {}
        with DefaultSelector() as selector:
            for worker in pool:
                worker.send(do="sweep")
                self._answer(worker, "the start of a sweep")
                selector.register(worker, EVENT_READ)
                if todo:
                    busy[worker] = self._next(worker, todo)
            while busy:
                for key, _ in selector.select():
                    worker = cast(Worker, key.fileobj)
                    fault = busy.pop(worker)
                    answer = self._answer(worker, self._describe(fault))
                    if todo:
                        busy[worker] = self._next(worker, todo)
                    yield self._judged(fault, golden, answer)
        for worker in pool:
            worker.send(do="end")
            self._answer(worker, "the end of a sweep")

    def _next(self, worker: Worker, todo: list[Fault]) -> Fault:
        fault = todo.pop()
        worker.send(do="inject", **self._request(fault))
        return fault

    def _place(self, site: int) -> tuple[int, int, int]:
        """Return element, word and bit of a site."""
        found = self.elaboration.sites[site]
        return self.elaboration.sites.element_index(site), found.word, found.bit

    def _request(self, fault: Fault) -> dict[str, Any]:
        sites = self.elaboration.sites
        changed = sites.flipped(fault.site, fault.bits)
        request: dict[str, Any] = {
            "bits": [self._place(s) for s in changed],
            "cycle": fault.cycle,
            "limit": self.timeout_cycles,
        }
        whole = self.golden().end
        if whole.first is not None:
            rest = whole.end_cycle - whole.first.end_cycle
            request["rest"] = math.ceil(self._limits.timeout_factor * rest)
        if self._operation_cycles is not None:
            before = max(move for move in self.golden().moves if move[0] <= fault.cycle)
            request["watchdog"] = [self._operation_cycles, *before]
        if fault.held is not None:
            if whole.first is not None:
                raise HarnessError(
                    f"{self._describe(fault)}: a stuck bit is in both inferences; run one", "fault.held"
                )
            byte, bit = bit_place(sites, fault.site)
            request |= {"held": fault.held, "final": self._golden_state[byte] >> bit & 1}
        return request

    def _run_end(self, answer: dict[str, Any]) -> RunEnd:
        return RunEnd(
            finished=answer["finished"],
            end_cycle=answer["end_cycle"],
            status=answer["status"],
            output=bytes.fromhex(answer["output"]),
            state_hash=answer["state_hash"],
            alarms=self._rises(answer["alarms"]),
            first=self._run_end(answer["first"]) if "first" in answer else None,
        )

    def _rises(self, cycles: dict[str, int]) -> tuple[Rise, ...]:
        """Return the alarms that rose, in the order in which they did, then in that of the target."""
        alarms = [own for own in self.target.alarms.items() if own[0] in cycles]
        rises = [Rise(name, Reported(alarm.reports), cycles[name]) for name, alarm in alarms]
        return tuple(sorted(rises, key=lambda rise: rise.cycle))

    def _describe(self, fault: Fault) -> str:
        return describe_fault(fault, self.elaboration.sites, self.workload.name)

    def _answer(self, worker: Worker, what: str) -> dict[str, Any]:
        try:
            return worker.answer(what)
        except BaseException:
            self._kill_workers()
            raise

    def _pool(self, size: int) -> list[Worker]:
        while len(self._workers) < size:
            self._workers.append(self._start([], "none"))
        return self._workers[:size]

    def _kill_workers(self) -> None:
        while self._workers:
            self._workers.pop().kill()

    def _require_open(self) -> None:
        if not self._cleanup.alive:
            raise HarnessError("this engine was closed; make a new one", "closed")

    def _start(self, options: Sequence[str], waves: Waves) -> Worker:
        self._require_open()
        if waves not in self._simulators:
            self._simulators[waves] = build_simulator(self.target, self.elaboration, waves)
        simulator = self._simulators[waves]
        data = simulator.parents[1] / DATA
        return Worker(simulator, self.target.top, self._config, [*options, *self._plusargs], data)


def _clean_up(workers: list[Worker], folder: Path) -> None:
    while workers:
        workers.pop().kill()
    shutil.rmtree(folder, ignore_errors=True)
