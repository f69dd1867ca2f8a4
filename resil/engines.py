"""Engines by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from rtl_harness.engines.base import GoldenRun
from rtl_harness.faults import Fault, Injection

ENGINE_NAMES = ("cocotb",)


class ReplayingEngine(Protocol):
    """An engine that can also simulate one fault again, alone, and record waveforms."""

    name: str

    def golden(self) -> GoldenRun:
        """See `rtl_harness.engines.base.Engine`."""
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """See `rtl_harness.engines.base.Engine`."""
        ...

    def replay(self, fault: Fault, waves: Path | None) -> Injection:
        """Simulate one fault in a fresh process; write the waveform to `waves` if given."""
        ...
