# SPDX-License-Identifier: Apache-2.0
"""The contract that every engine fulfils."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self, TypedDict, runtime_checkable

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.operations import Move
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, RunEnd


@dataclass(frozen=True)
class GoldenRun:
    """The inference without a fault.

    Attributes:
        end: How it ended; `end.end_cycle` is the length of the run in cycles.
        operation_ends: Cycle at which each operation finished, in order; those of a second inference too.
        moves: Cycles run when the counter of operations moved, and its value from then on; the first is
            that at the release of reset.
    """

    end: RunEnd
    operation_ends: tuple[int, ...] = ()
    moves: tuple[Move, ...] = ()

    @property
    def cycles(self) -> int:
        """Length of the inference in cycles, of the first if there are two: faults strike in it alone."""
        return (self.end.first or self.end).end_cycle


class Audited(NamedTuple):
    """How many answers there were of a kind, and how many of these were tried again.

    Attributes:
        answers: Injections that ended in this way.
        tried: Those among them that were run to the end as well, with the same result.
    """

    answers: int
    tried: int


class Engine(Protocol):
    """Simulates one workload on one target, with and without faults.

    The same faults give the same injections on every engine, in any order and with any number of workers.
    """

    name: str

    def golden(self) -> GoldenRun:
        """Simulate without a fault; raise SimulationError if the design does not finish."""
        ...

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Say how many faults will be asked for in all, by and by: what pays for so many is made at once.

        Args:
            faults: Of the engines for all inputs together, as they share what is made.
            first: One of these others; what is audited of it counts for this one.
        """
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, in any order; raise SimulationError on a broken simulator.

        A fault whose flip could not be verified raises; it is never reported as masked.
        """
        ...


class CampaignEngine(Protocol):
    """An engine that holds simulators until it is left, and can simulate one fault by itself.

    `notes` are for people, about speed and not about results.

    If `run` raises after it has answered for every fault, it has found its own answers wrong: they are void.
    """

    name: str
    notes: list[str]

    def golden(self) -> GoldenRun:
        """See `Engine`."""
        ...

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """See `Engine`."""
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `Engine`."""
        ...

    def replay(self, fault: Fault) -> Injection:
        """Simulate one fault from its beginning to its end, whatever was simulated before."""
        ...

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Answers that the engine has audited some of so far, by the way in which they came about."""
        ...

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Audit what an engine of this name answered in another session, which may have had no audit.

        Raises:
            AuditError: an answer is wrong.
        """
        ...

    def __enter__(self) -> Self:
        """Leaving the context ends all simulators."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class UnderWay(Protocol):
    """An engine that simulates many faults together, and can say how far it is before any is done."""

    def under_way(self) -> float:
        """Return what has been done by now of faults that are not done, in faults."""
        ...


class RecordingEngine(CampaignEngine, Protocol):
    """An engine that can write waveforms."""

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault, and write the waveform of it to `waves`."""
        ...


@runtime_checkable
class OnceEngine(CampaignEngine, Protocol):
    """An engine that can simulate without a fault for less, if nothing is injected afterwards."""

    def golden_once(self) -> GoldenRun:
        """As `golden`, with nothing kept of it, and nothing tried of what injections take for granted.

        Raises:
            SimulationError: If the design does not finish.
        """
        ...


def golden_once(engine: CampaignEngine) -> GoldenRun:
    """Simulate without a fault, for who injects nothing: in the cheapest way that the engine has."""
    return engine.golden_once() if isinstance(engine, OnceEngine) else engine.golden()


class Limits(TypedDict):
    """When an injection ends, as engines take it."""

    timeout_factor: float
    timeout: Timeout
    until_detection: bool


def check_until_detection(target: Target, workload: Workload, wanted: bool) -> None:
    """Raise HarnessError unless runs can end where something is detected, if that is wanted."""
    if wanted and workload.inferences > 1:
        raise HarnessError(
            f"{target.name} running {workload.name}: expected one inference where runs end at detection, "
            f"found {workload.inferences}: what came of the first is then unknown; run one",
            "inferences",
        )


def check_fault(fault: Fault, elaboration: Elaboration, cycles: int) -> None:
    """Raise HarnessError unless the fault is in the site table, with all of its bits, and within `cycles`.

    A latch cannot be held: while it is open it follows its input again at once.
    """
    sites = elaboration.sites
    if fault.site >= sites.size or fault.cycle >= cycles:
        raise HarnessError(
            f"{fault}: expected a site below {sites.size} and a cycle below {cycles}, the end of the golden "
            "run",
            "fault.site" if fault.site >= sites.size else "fault.cycle",
        )
    if fault.bits > 1 and fault.bits > (room := sites.room(fault.site)):
        raise HarnessError(
            f"{fault}: expected a cluster within one word, or of neighbours by the placement, but from "
            f"{sites[fault.site].name} on there are {room} of {fault.bits} bits; make the cluster smaller or "
            "begin it lower",
            "fault.bits",
        )
    if fault.held is not None and elaboration.is_latch(path := sites[fault.site].element.path):
        raise HarnessError(
            f"{path}: expected storage that keeps what it is set to, found a latch, which follows its input "
            "while it is open: latches cannot be stuck here; leave them out",
            "fault.held",
        )


def describe_fault(fault: Fault, sites: SiteTable, workload: str) -> str:
    """Return the fault in words, for messages."""
    name = sites[fault.site].name
    if fault.held is not None:
        return f"fault at site {fault.site} ({name} held at {fault.held}), workload {workload}"
    more = [sites[own].name for own in sites.cluster(fault.site, fault.bits)[1:]]
    what = f"{name} and with it {', '.join(more)}" if more else name
    return f"fault at site {fault.site} ({what}), cycle {fault.cycle}, workload {workload}"


def check_inferences(target: Target, workload: Workload) -> None:
    """Raise HarnessError unless the target counts inferences, if the workload makes several."""
    if workload.inferences > 1 and not target.inferences:
        raise HarnessError(
            f"target {target.name}: inferences: expected an output of {target.top} that counts finished "
            f"inferences, for {workload.name} makes {workload.inferences}, found none; name one in the "
            "target file, or ask for one inference",
            "inferences",
        )


def check_second(target: Target, workload: Workload, end: RunEnd) -> None:
    """Raise SimulationError unless both inferences of a golden run gave the same."""
    if workload.inferences == 1:
        return
    if end.first is None or end.first.end_cycle >= end.end_cycle:
        raise SimulationError(
            f"{target.name} running {workload.name}: expected {target.inferences} to count an inference "
            f"before {target.done}, found one inference in all; check what the host does after the first",
            "inferences",
        )
    if end.first.output != end.output:
        raise SimulationError(
            f"{target.name} running {workload.name}: expected the same output of both inferences, found "
            "another of the second; the host must write the same input again",
            "inferences",
        )
