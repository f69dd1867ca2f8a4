# SPDX-License-Identifier: Apache-2.0
"""Permanent faults of logic: pins of cells held at 0 or 1, many machines at once along the netlist."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import numpy as np

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, GoldenRun
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome, run_chunks
from resil.rtl_harness.engine.logic.build import build_library
from resil.rtl_harness.engine.logic.library import HeldPin, How, LogicEnd, LogicSimulator
from resil.rtl_harness.engine.logic.observed import observed_of
from resil.rtl_harness.engine.run_limits import CheckedLimits, RunLimits
from resil.rtl_harness.engine.timeout import operation_allowance
from resil.rtl_harness.engine.workload import Workload, classify
from resil.rtl_harness.errors import AuditError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection
from resil.rtl_harness.logic.held_pins import PinHolder
from resil.rtl_harness.logic.netlist import LogicNetlist
from resil.rtl_harness.logic.proof import proven
from resil.rtl_harness.logic.sites import LogicSites

# Classes of faults that a worker simulates in one call: words of 512 machines share the golden run there.
TOGETHER = 16 * 512
# Answers of an earlier session that are found once more.
AUDITED = 12


class StuckEngine:
    """Simulates permanent faults in the logic of one target that runs one workload.

    A pin of a cell is held from the release of reset on. The netlist is compared with the RTL over the whole
    golden run first. Faults that come to the same by the structure of the netlist are simulated once.

    Args:
        target: The design.
        workload: What it runs.
        elaboration: Storage of the target, elaborated with the workload's parameters.
        netlist: Its cells.
        sites: Which pins are sites.
        limits: As of `VerilatorEngine`.

    Attributes:
        notes: For people.
        ends: How runs ended, a class of faults counted once.

    Raises:
        HarnessError: If the workload makes several inferences, or what `VerilatorEngine` refuses.
    """

    name = "verilator"

    def __init__(
        self,
        target: Target,
        workload: Workload,
        elaboration: Elaboration,
        netlist: LogicNetlist,
        sites: LogicSites,
        **limits: Unpack[RunLimits],
    ) -> None:
        if workload.inferences > 1:
            raise HarnessError(
                f"{target.name} running {workload.name}: expected one inference where pins are held, found "
                f"{workload.inferences}: a permanent fault is in both; ask for one",
                "inferences",
            )
        self._limits = CheckedLimits.of(target, workload, limits)
        self._engine = VerilatorEngine(target, workload, elaboration, sweep=False, **limits)
        self._netlist = netlist
        self._sites = sites
        self._made: tuple[LogicSimulator, PinHolder] | None = None
        self.notes = self._engine.notes
        self.ends: Counter[str] = Counter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free simulator and model."""
        if self._made is not None:
            self._made[0].close()
            self._made = None
        self._engine.close()

    def golden(self) -> GoldenRun:
        """Simulate without a fault; see `VerilatorEngine.golden`."""
        return self._engine.golden()

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Nothing here is worth more if there are more faults."""

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Nothing: every machine is simulated to its end, or to a state in which it was before."""
        return {}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Audit what another session answered.

        Raises:
            AuditError: If an answer is wrong.
        """
        kept = {injection.fault: injection for injection in injections}
        chosen = sorted(kept)[:: max(1, len(kept) // AUDITED)]
        for found in self.run(chosen, workers):
            if found != kept[found.fault]:
                raise AuditError(
                    f"{self._describe(found.fault)}: an earlier session says {kept[found.fault].outcome}, "
                    f"now it is {found.outcome}",
                    found.fault,
                    "held",
                )

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault by itself.

        Raises:
            HarnessError: If a waveform is asked for, and as `run`.
        """
        if waves is not None:
            raise HarnessError(
                f"no waveform {waves}: a pin of the netlist that is held is no event of the RTL that could "
                "be drawn",
                "waves",
            )
        return next(iter(self.run([fault])))

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, as they come in.

        Raises:
            HarnessError: If a fault is no held pin, or netlist and RTL differ.
            SimulationError: If the gates do not say what a machine does.
        """
        for fault in faults:
            self._check(fault)
        simulator, holder = self.simulator
        classes: dict[HeldPin, list[Fault]] = {}
        for fault in faults:
            classes.setdefault(holder.held(self._sites.pin(fault.site), fault.held or 0), []).append(fault)
        pin_of = {members[0]: pin for pin, members in classes.items()}
        ordered = [members[0] for _, members in sorted(classes.items())]
        size = max(1, min(TOGETHER, math.ceil(len(ordered) / max(1, workers))))
        chunks = [ordered[i : i + size] for i in range(0, len(ordered), size)]

        def work(chunk: Sequence[Fault]) -> Iterator[EngineOutcome]:
            ends = self._ends(simulator, [(pin_of[fault],) for fault in chunk])
            for fault, end in zip(chunk, ends, strict=True):
                early = end.how in (How.SAME, How.UNEXCITED, How.LOOP)
                yield EngineOutcome(self._injection(fault, end), early, end.end_cycle, end.how.name.lower())

        for done in run_chunks(chunks, work, workers):
            self.ends[done.how] += 1
            for member in classes[pin_of[done.injection.fault]]:
                yield replace(done.injection, fault=member)

    @property
    def simulator(self) -> tuple[LogicSimulator, PinHolder]:
        """The netlist's simulator, which has had its golden run; made once.

        Raises:
            HarnessError: If netlist and RTL differ.
        """
        if self._made is None:
            self._made = self._simulated()
        return self._made

    def _simulated(self) -> tuple[LogicSimulator, PinHolder]:
        golden, model, netlist = self.golden().end, self._engine.model, self._netlist
        circuit, pulses = proven(netlist, model)
        pulses.close()
        resets = netlist.reset_values.astype(np.int8)
        observed = observed_of(netlist.gates, circuit, model, resets, netlist.done_bits)
        simulator = LogicSimulator(build_library(), circuit, observed)
        found = simulator.golden(golden.end_cycle + 1)
        rises = sum(
            1 << i for i, name in enumerate(model.target.alarms) if name in {r.alarm for r in golden.alarms}
        )
        wanted = (golden.end_cycle, golden.status, golden.output, rises)
        if (found.cycles, found.status, found.output, found.alarms) != wanted:
            simulator.close()
            raise HarnessError(
                f"target {model.target.name} running {model.workload.name}: expected {wanted[:2]} as cycles "
                f"and status of the netlist without a fault, and the same outputs and alarms, found "
                f"{(found.cycles, found.status)}; faults in its logic would be those of another design",
                "faults.kinds",
            )
        flip_flops = circuit.flip_flops
        bytes_of = observed.state[flip_flops["offset"].astype(np.int64)]
        return simulator, PinHolder(netlist, bytes_of >> flip_flops["bit"].astype(np.uint8) & 1)

    def _ends(self, simulator: LogicSimulator, faults: Sequence[tuple[HeldPin, ...]]) -> list[LogicEnd]:
        golden, limits = self.golden(), self._limits
        allowance = operation_allowance(
            self._engine.target, limits.timeout, limits.timeout_factor, golden.moves, golden.end.end_cycle
        )
        limit = math.ceil(limits.timeout_factor * golden.cycles)
        return simulator.run(faults, limit, allowance, limits.until_detection)

    def _injection(self, fault: Fault, end: LogicEnd) -> Injection:
        if end.how is How.UNDEFINED:
            raise SimulationError(
                f"{self._describe(fault)}: what comes of it is not known along the gates, as the bench "
                "selects something beyond the end of a word",
                "faults.kinds",
            )
        golden = self.golden().end
        found = replace(
            golden,
            finished=end.how in (How.DONE, How.SAME, How.UNEXCITED),
            end_cycle=end.end_cycle,
            status=end.status,
            output=end.output,
            # Of storage it is known whether it differs.
            state_hash="" if end.differs else golden.state_hash,
            alarms=self._engine.model.alarms.rises(end.detected, end.corrected),
        )
        injection = classify(fault, golden, found, self._engine.model.workload)
        return injection.until_detection() if self._limits.until_detection else injection

    def _check(self, fault: Fault) -> None:
        if fault.held is None or not self._sites.first <= fault.site < self._sites.table.size:
            raise HarnessError(
                f"{fault}: expected a pin held at one of the sites {self._sites.first} .. "
                f"{self._sites.table.size - 1} in logic, found another fault",
                "fault.site",
            )

    def _describe(self, fault: Fault) -> str:
        pin = self._netlist.pin_name(self._sites.pin(fault.site))
        return f"{pin} held at {fault.held}, workload {self._engine.workload.name}"
