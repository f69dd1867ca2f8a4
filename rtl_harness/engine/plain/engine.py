# SPDX-License-Identifier: Apache-2.0
"""The plain engine: an untouched Verilator build in which every run with a fault goes to its end."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.design.snapshot import DATA, data_folder
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import (
    GoldenRun,
    check_fault,
    check_second,
)
from resil.rtl_harness.engine.memories import write_images
from resil.rtl_harness.engine.plain.build import build_injector
from resil.rtl_harness.engine.plain.job import (
    Answer,
    FaultyEnd,
    GoldenEnd,
    InjectorEnd,
    InjectorFault,
    design_lines,
    golden_state,
    read_answer,
)
from resil.rtl_harness.engine.run_limits import RunLimits
from resil.rtl_harness.engine.timeout import operation_allowance
from resil.rtl_harness.engine.whole_runs import WholeRuns
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise, RunEnd, Seen, digest
from resil.rtl_harness.tools import tail

# Seconds between looks at what the injector has written.
_PAUSE = 0.05


class PlainEngine(WholeRuns):
    """Simulates one workload on one target, with nothing that makes it fast but forks.

    It shares with the other engines the target file, the names of its storage, the workload and the rule of
    the decision. Build, driver, the state that is compared, and the judgement of a run's end are its own.
    """

    name = "plain"

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        **limits: Unpack[RunLimits],
    ) -> None:
        super().__init__(target, workload, elaboration, **limits)
        self._design = design_lines(target, workload, elaboration)
        self._allowed = 0
        self._golden: GoldenEnd | None = None
        self._states: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def golden(self) -> GoldenRun:
        """Simulate without a fault, once; raise SimulationError if the design does not finish."""
        found = self._simulated()
        whole = _run_end(self.target, found.end, self._states[0])
        if self.workload.inferences > 1 and found.first is not None:
            whole = replace(whole, first=_run_end(self.target, found.first, self._states[1]))
        check_second(self.target, self.workload, whole)
        return GoldenRun(whole, operation_ends(found.moves[1:]), found.moves)

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault.

        Raises:
            HarnessError: a fault lies outside the site table or after the end of the golden run.
            SimulationError: the simulator breaks, or a flip did not take.
        """
        golden = self.golden()
        for fault in faults:
            check_fault(fault, self.elaboration, golden.cycles)
        todo = sorted(faults, key=lambda f: (f.held is None, f.cycle, f.site))
        answered = 0
        for answer in self._process([self._strike(n, f) for n, f in enumerate(todo)], workers):
            if not isinstance(answer, GoldenEnd):
                number, end = answer
                injection = self._judged(todo[number], end)
                yield injection.until_detection() if self._limits.until_detection else injection
                answered += 1
        if answered != len(todo):
            raise SimulationError(
                f"the plain injector has answered for {answered} of {len(todo)} faults", "worker"
            )

    def replay(self, fault: Fault) -> Injection:
        """Simulate one fault in a process of its own."""
        return next(iter(self.run([fault])))

    def _simulated(self) -> GoldenEnd:
        if self._golden is None:
            # To the end of the process: it leaves the final state behind.
            found = next(own for own in [*self._process([], 1)] if isinstance(own, GoldenEnd))
            if not found.end.finished:
                raise SimulationError(
                    f"{self.target.name} running {self.workload.name}: no {self.target.done} within "
                    f"{self._limits.golden_limit} cycles; check memory images and reset, or raise "
                    "golden_limit",
                    "done",
                )
            cycles = found.end.cycles
            allowed = operation_allowance(
                self.target, self._limits.timeout, self._limits.timeout_factor, found.moves, cycles
            )
            self._allowed = allowed or 0
            self._golden = found
        return self._golden

    def _strike(self, number: int, fault: Fault) -> InjectorFault:
        sites, golden = self.elaboration.sites, self._simulated()
        struck = sites.flipped(fault.site, fault.bits)
        if fault.held is not None and self.workload.inferences > 1:
            raise HarnessError("a stuck bit is in both inferences; run one", "fault.held")
        first = self.golden().end.first
        whole = golden.end.cycles if first is None else first.end_cycle
        rest = 0 if first is None else math.ceil(self._limits.timeout_factor * (golden.end.cycles - whole))
        before = max(move for move in golden.moves if move[0] <= fault.cycle)
        return InjectorFault(
            number,
            fault.cycle,
            fault.held,
            tuple((sites.element_index(s), sites[s].word, sites[s].bit) for s in struck),
            math.ceil(self._limits.timeout_factor * whole),
            rest,
            self._allowed,
            *before,
        )

    def _injector(self) -> Path:
        """Return the program that injects."""
        return build_injector(self.target, self.elaboration)

    def _furnish(self, home: Path, plusargs: list[str]) -> None:
        """Leave in the folder where the program runs what else it reads."""

    def _process(self, strikes: Sequence[InjectorFault], workers: int) -> Iterator[Answer]:
        """Let one process make these runs, with as many copies of it at a time as there are workers."""
        simulator = self._injector()
        folder = Path(tempfile.mkdtemp(prefix="resil-plain-"))
        try:
            shutil.copytree(simulator.parents[1] / DATA, folder / DATA)
            home = data_folder(folder)
            plusargs = write_images(self.target, self.workload, self.elaboration, folder)
            job = [*self._design, f"golden {self._limits.golden_limit}", f"processes {workers}"]
            job += [strike.line() for strike in strikes]
            self._furnish(home, plusargs)
            (home / "job").write_text("\n".join(job) + "\n", encoding="utf-8")
            yield from self._answers([str(simulator), *plusargs], home)
            if not strikes:
                self._states = [
                    golden_state(home / name, self.workload, self.target, self.elaboration)
                    for name in ("state", "first")
                    if (home / name).exists()
                ]
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _answers(self, command: Sequence[str], folder: Path) -> Iterator[Answer]:
        """Yield answers as they are written; end the process and its copies whatever happens."""
        results, log = folder / "results", folder / "log"
        results.touch()
        with log.open("wb") as said, results.open(encoding="ascii") as lines:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                ended, begun = False, ""
                while not ended:
                    ended = process.poll() is not None
                    for line in lines:
                        begun += line
                        if begun.endswith("\n"):
                            yield read_answer(begun)
                            begun = ""
                    if not ended:
                        time.sleep(_PAUSE)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode:
            end = tail(log.read_text(encoding="utf-8", errors="replace"))
            raise SimulationError(
                f"{self.target.name} running {self.workload.name}: the plain injector ended with "
                f"{process.returncode}; its last lines:\n{end}",
                "worker",
            )

    def _judged(self, fault: Fault, faulty: FaultyEnd) -> Injection:
        golden = self._simulated()
        whole = self._compared(fault, golden.end, faulty.end, faulty.differs)
        if self.workload.inferences == 1:
            return whole
        if faulty.first is None or golden.first is None:
            return replace(whole, first=whole.outcome)
        first = self._compared(fault, golden.first, faulty.first, faulty.first_differs)
        border = faulty.first.cycles
        later = tuple(rise if rise >= border else -1 for rise in faulty.end.rises)
        second = self._compared(fault, golden.end, replace(faulty.end, rises=later), faulty.differs)
        both = replace(whole, first=first.outcome, second=second.outcome)
        if first.seen not in (Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL):
            return both
        order = [*Seen]
        worse = first.seen if order.index(first.seen) > order.index(second.seen) else second.seen
        return replace(both, seen=worse, detected=first.detected, corrected=first.corrected)

    def _compared(self, fault: Fault, golden: InjectorEnd, faulty: InjectorEnd, differs: bool) -> Injection:
        """Say what a run with a fault comes to, beside the one without."""
        if not faulty.finished:
            seen = Seen.HANG
        elif faulty.output != golden.output:
            decide = self.workload.decision
            same = decide(faulty.output) == decide(golden.output)
            seen = Seen.SDC_TOLERABLE if same else Seen.SDC_CRITICAL
        else:
            seen = Seen.LATENT if differs else Seen.MASKED
        earliest: dict[str, Rise] = {}
        for (name, alarm), rise, usual in zip(
            self.target.alarms.items(), faulty.rises, golden.rises, strict=True
        ):
            known = earliest.get(alarm.reports)
            if rise >= 0 and usual < 0 and (known is None or rise < known.cycle):
                earliest[alarm.reports] = Rise(name, Reported(alarm.reports), rise)
        return Injection(
            fault,
            seen,
            faulty.cycles,
            faulty.status,
            digest(faulty.output),
            earliest.get(Reported.DETECTED.value),
            earliest.get(Reported.CORRECTED.value),
        )


def _run_end(target: Target, end: InjectorEnd, state: str) -> RunEnd:
    rises = [
        Rise(name, Reported(alarm.reports), cycle)
        for (name, alarm), cycle in zip(target.alarms.items(), end.rises, strict=True)
        if cycle >= 0
    ]
    ordered = tuple(sorted(rises, key=lambda rise: rise.cycle))
    return RunEnd(end.finished, end.cycles, end.status, end.output, state, ordered)
