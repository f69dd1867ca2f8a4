"""Engines by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from rtl_harness.elaboration import Elaboration
from rtl_harness.engines.base import GoldenRun
from rtl_harness.faults import Fault, Injection
from rtl_harness.target import Target
from rtl_harness.workload import Workload

ENGINE_NAMES = ("cocotb",)


class ReplayingEngine(Protocol):
    """An engine that holds simulator processes and can also simulate one fault alone, with waveforms."""

    name: str

    def golden(self) -> GoldenRun:
        """See `rtl_harness.engines.base.Engine`."""
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `rtl_harness.engines.base.Engine`."""
        ...

    def replay(self, fault: Fault, waves: Path | None = None) -> Injection:
        """Simulate one fault in a fresh process; write the waveform to `waves` if given."""
        ...

    def __enter__(self) -> Self:
        """Leaving the context ends all simulator processes."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_engine(
    name: str, target: Target, workload: Workload, elaboration: Elaboration, timeout_factor: float
) -> ReplayingEngine:
    """Return the engine `name` for one workload; the simulator is built when it is first needed."""
    match name:
        case "cocotb":
            from rtl_harness.engines.cocotb import CocotbEngine

            return CocotbEngine(target, workload, elaboration, timeout_factor=timeout_factor)
    raise ValueError(f"no engine is named {name!r}; there are {', '.join(ENGINE_NAMES)}")
