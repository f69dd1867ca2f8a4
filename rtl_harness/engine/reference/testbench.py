# SPDX-License-Identifier: Apache-2.0
"""A cocotb test of the user's under the reference engine: the test decides what came of each fault."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.snapshot import DATA
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import GoldenRun, check_fault
from resil.rtl_harness.engine.reference.build import Waves, build_open, wave_format
from resil.rtl_harness.engine.reference.config import testbench_config
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.reference.side import TESTBENCH
from resil.rtl_harness.engine.reference.worker import Worker
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.testbench import FAILED, PASSED, CocotbTest, Driven
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import CocotbTestError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, RunEnd

# Seconds in which a run has to end: so many at least, and so many times those of the run without a fault.
_LEAST_SECONDS, _SECONDS_FACTOR = 60.0, 30.0


class CocotbTestEngine(CocotbEngine):
    """Simulates faults while a test of the workload drives the design.

    A test that fails has seen wrong output; one that times out, by itself or by the limit of the injection,
    hangs; one that passes leaves the state as it was without the fault, or another. Any other exception than
    those that are declared as failures says nothing of the design and is an error.

    Cycle 0 is the first rising edge of the target's clock after time 0; a cycle counts if the test has not
    ended one step of the simulator's precision after its edge.
    """

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        **limits: Unpack[RunLimits],
    ) -> None:
        if workload.driven is None:
            raise HarnessError(f"workload {workload.name}: expected a test, found memory images", "driven")
        self._driven: Driven = workload.driven
        self._test = workload.driven.test
        self._golden_seconds = 0.0
        self._copies = True
        super().__init__(target, workload, elaboration, **limits)
        if self._limits.timeout is not Timeout.INFERENCE:
            raise HarnessError(
                f'workload {workload.name}: timeout: expected "inference" where a test of cocotb runs, found '
                f'"{self._limits.timeout.value}"; remove the key',
                "timeout",
            )

    def _configured(self) -> dict[str, Any]:
        return testbench_config(self._driven, self.elaboration)

    def _plusargs_in(self, folder: Path) -> list[str]:
        return self._test.arguments

    def golden(self) -> GoldenRun:
        """Run the test without a fault, twice.

        Raises:
            CocotbTestError: The test does not pass.
            SimulationError: It does not do the same twice, or the simulator cannot be built.
        """
        if self._golden is None:
            worker = self._pool(1)[0]
            ends = []
            for _ in range(2):
                began = time.monotonic()
                worker.send(do="golden", limit=self._limits.golden_limit, seconds=self._seconds)
                answer = self._answer(worker, "the run of the test without a fault")
                self._golden_seconds = time.monotonic() - began
                require_passed(self._test, answer)
                ends.append(self._run_end(answer))
            if ends[0] != ends[1]:
                raise SimulationError(
                    f"{self._test.label}: expected a test that does the same each time, found two runs "
                    f"without a fault that end otherwise (after {ends[0].end_cycle:,} and "
                    f"{ends[1].end_cycle:,} cycles, state {ends[0].state_hash} and {ends[1].state_hash}); "
                    "let its random numbers depend on COCOTB_RANDOM_SEED alone, as `random` does under "
                    "cocotb, and on no time of day",
                    "golden",
                )
            self._golden = GoldenRun(ends[0])
        return self._golden

    @property
    def _seconds(self) -> float:
        if not self._golden_seconds:
            return 24 * 3600.0
        return max(_LEAST_SECONDS, _SECONDS_FACTOR * self._golden_seconds)

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `CocotbEngine`; of a test that has threads every fault is simulated in a process of its own.

        Raises:
            CocotbTestError: The test has raised what is no verdict.
        """
        left = Counter(faults)
        if self._copies:
            try:
                for injection in super().run(faults, workers):
                    left[injection.fault] -= 1
                    yield injection
                return
            except _ThreadsError as error:
                self._copies = False
                self.notes.append(f"{self._test.label}: {error}: each fault has a process of its own")
        golden = self.golden()
        for fault in left.elements():
            check_fault(fault, self.elaboration, golden.cycles)
            yield self.replay(fault)

    def _answer(self, worker: Worker, what: str) -> dict[str, Any]:
        answer = super()._answer(worker, what)
        if "threads" in answer:
            raise _ThreadsError(f"the test has {answer['threads']} threads, which a copy would not have")
        return answer

    def _judged(self, fault: Fault, golden: GoldenRun, answer: dict[str, Any]) -> Injection:
        if answer["verdict"] == "broken":
            raise CocotbTestError(
                f"{self._describe(fault)}: expected {self._test.label} to pass, to fail or to time out, "
                f"found {answer['said']}\nThis is no verdict on the design. If it stands for one, name it: "
                f'failures = ["{answer["said"].partition(":")[0]}"] in [workload]; else let the test check '
                "before it goes on",
                "workload.failures",
            )
        return super()._judged(fault, golden, answer)

    def _request(self, fault: Fault) -> dict[str, Any]:
        if fault.held is not None:
            raise HarnessError(
                f"{self._describe(fault)}: expected an upset where a test of cocotb runs, found a stuck bit; "
                "replay a recording of it: record = true",
                "fault.held",
            )
        return {**super()._request(fault), "seconds": self._seconds}

    def _run_end(self, answer: dict[str, Any]) -> RunEnd:
        return RunEnd(
            finished=answer["verdict"] != "timed out",
            end_cycle=answer["end_cycle"],
            status=answer["status"],
            output=PASSED if answer["verdict"] == "passed" else FAILED,
            state_hash=answer["state_hash"],
            alarms=self._rises(answer["alarms"]),
        )

    def _start(self, options: Sequence[str], waves: Waves) -> Worker:
        self._require_open()
        simulator = build_open(self._driven.design, self._driven.parameters, waves)
        return _worker(self._driven, simulator, self._config, [*options, *self._plusargs])


def reference_engine(
    target: Target, workload: Workload, elaboration: Elaboration, **limits: Unpack[RunLimits]
) -> CocotbEngine:
    """Return the reference engine of a closed design, or of a test that drives one."""
    made = CocotbEngine if workload.driven is None else CocotbTestEngine
    return made(target, workload, elaboration, **limits)


class _ThreadsError(Exception):
    """A process that has threads cannot be copied."""


def _worker(driven: Driven, simulator: Path, config: dict[str, Any], arguments: Sequence[str]) -> Worker:
    """Start a simulator that runs a test and nothing else; raises as `Worker`."""
    test = driven.test
    environment = {
        "COCOTB_TEST_MODULES": f"{TESTBENCH},{test.module}",
        "COCOTB_TEST_FILTER": test.pattern,
        "COCOTB_RANDOM_SEED": str(test.seed),
        **test.environment,
    }
    path = [str(folder) for folder in test.python_path]
    return Worker(
        simulator,
        driven.design.top,
        config,
        arguments,
        simulator.parents[1] / DATA,
        environment=environment,
        python_path=path,
        files=test.files,
    )


def record_test(driven: Driven, file: Path, limit: int) -> None:
    """Run a test without a fault and write the waveform of the top's ports.

    Args:
        driven: The design and the test.
        file: Of the waveform; the suffix says the format.
        limit: Cycles of the clock after which the test counts as not ending.

    Raises:
        CocotbTestError: The test does not pass.
        SimulationError: The simulator cannot be built, or breaks.
    """
    test = driven.test
    simulator = build_open(driven.design, driven.parameters, wave_format(file), ports_only=True)
    arguments = ["--trace", "--trace-file", str(file.resolve()), *test.arguments]
    worker = _worker(driven, simulator, testbench_config(driven, None), arguments)
    try:
        worker.send(do="replay", cycle=-1, limit=limit, seconds=24 * 3600.0)
        answer = worker.answer(f"recording {test.label}")
        worker.finish()
    finally:
        worker.kill()
    require_passed(test, answer)


def require_passed(test: CocotbTest, answer: dict[str, Any]) -> None:
    """Raise CocotbTestError unless a run without a fault has passed."""
    if answer["verdict"] != "passed":
        raise CocotbTestError(
            f"{test.label}: expected the test to pass without a fault, found that it {answer['verdict']}: "
            f"{answer['said']}\nrun it by itself first; it runs in a folder of its own, with what [workload] "
            "files and data_files of the target name",
            "workload.cocotb",
        )
