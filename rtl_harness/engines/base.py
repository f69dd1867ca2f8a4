"""The contract that every engine fulfils."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rtl_harness.faults import Fault, Injection, RunEnd


@dataclass(frozen=True)
class GoldenRun:
    """The inference without a fault.

    Attributes:
        end: How it ended; `end.end_cycle` is the length of the inference in cycles.
        operation_ends: Cycle at which each operation finished, in order.
    """

    end: RunEnd
    operation_ends: tuple[int, ...] = ()


class Engine(Protocol):
    """Simulates one workload on one target, with and without faults.

    The same faults give the same injections on every engine, in any order and with any number of workers.
    """

    name: str

    def golden(self) -> GoldenRun:
        """Simulate without a fault; raise SimulationError if the design does not finish."""
        ...

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield one injection for each fault, in any order; raise SimulationError on a broken simulator.

        A fault whose flip could not be verified raises; it is never reported as masked.
        """
        ...
