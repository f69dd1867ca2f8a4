# SPDX-License-Identifier: Apache-2.0
"""Engines by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypedDict, cast

from resil.campaign.rules import ENGINE_NAMES
from resil.errors import ResilError
from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, GoldenRun
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault, Injection

RECORDING_ENGINES = ("cocotb",)


class CampaignEngine(Protocol):
    """An engine that holds simulators until it is left, and can simulate one fault by itself.

    `notes` are for people, about speed and not about results.

    If `run` raises after it has answered for every fault, it has found its own answers wrong: they are void.
    """

    name: str
    notes: list[str]

    def golden(self) -> GoldenRun:
        """See `resil.rtl_harness.engine.contract.Engine`."""
        ...

    def expect(self, faults: int) -> None:
        """See `resil.rtl_harness.engine.contract.Engine`."""
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `resil.rtl_harness.engine.contract.Engine`."""
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


class RecordingEngine(CampaignEngine, Protocol):
    """An engine that can write waveforms."""

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault, and write the waveform of it to `waves`."""
        ...


class Limits(TypedDict):
    """When an injection ends, as engines take it."""

    timeout_factor: float
    timeout: Timeout
    until_detection: bool


def make_engine(
    name: str,
    target: Target,
    workload: Workload,
    elaboration: Elaboration,
    limits: Limits,
) -> CampaignEngine:
    """Return the engine `name` for one workload; the simulator is built when it is first needed."""
    match name:
        case "cocotb":
            from resil.rtl_harness.engine.reference.engine import CocotbEngine

            return CocotbEngine(target, workload, elaboration, **limits)
        case "verilator":
            from resil.rtl_harness.engine.fast.engine import VerilatorEngine

            return VerilatorEngine(target, workload, elaboration, **limits)
    raise ValueError(f"no engine is named {name!r}; there are {', '.join(ENGINE_NAMES)}")


def build_ahead(
    name: str, target: Target, workload: Workload, elaboration: Elaboration, fault_cycles: int
) -> None:
    """Begin to build what the engine `name` will need for so many faults times cycles, beside other work."""
    if name == "verilator":
        from resil.rtl_harness.engine.fast import build_ahead as ahead

        ahead.build_ahead(target, workload, elaboration, fault_cycles)


def check_waves(waves: Path, engine: str | None) -> None:
    """Refuse, before anything is built, a waveform that could not be written.

    Args:
        waves: Where it shall go.
        engine: The engine that was asked for; None for any.

    Raises:
        HarnessError: no engine writes waveforms of that format.
        ResilError: this engine writes none, or there is no such folder.
    """
    from resil.rtl_harness.engine.reference.build import wave_format

    wave_format(waves)
    if engine is not None and engine not in RECORDING_ENGINES:
        raise ResilError(
            f"--waves: the {engine} engine writes no waveforms; add --engine {RECORDING_ENGINES[0]}"
        )
    if not waves.absolute().parent.is_dir():
        raise ResilError(
            f"{waves}: cannot be written, its folder does not exist; make it or choose another file"
        )
    if waves.is_dir():
        raise ResilError(f"{waves}: cannot be written, it is a folder; choose another file")


def replay(engine: CampaignEngine, fault: Fault, waves: Path | None) -> Injection:
    """Simulate one fault by itself, with its waveform if `waves`, as `check_waves` allows it, is given."""
    if waves is None:
        return engine.replay(fault)
    return cast(RecordingEngine, engine).replay(fault, waves)
