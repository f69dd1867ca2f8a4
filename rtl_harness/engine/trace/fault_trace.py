# SPDX-License-Identifier: Apache-2.0
"""How one fault spread, as it was found."""

from __future__ import annotations

from dataclasses import dataclass

from resil.rtl_harness.design.sites import Site, StorageElement
from resil.rtl_harness.faults import Fault, Injection, Rise


@dataclass(frozen=True)
class TouchedStorage:
    """A register or memory that differed from the golden run.

    Attributes:
        element: The register or memory.
        of_bench: It lies outside the design under test.
        first, last: First and last cycle in which it differed.
        cycles: In how many it did.
        most_bits: Bits of it that differed at once, at the most.
        words: Words of it that ever differed; 1 of a register.
        word: The first that did, counted from 0.
        golden, faulty: What that word held in its first cycle.
    """

    element: StorageElement
    of_bench: bool
    first: int
    last: int
    cycles: int
    most_bits: int
    words: int
    word: int
    golden: int
    faulty: int


@dataclass(frozen=True)
class PathStep:
    """A bit of a causal path, and the cycles in which it held the difference."""

    site: Site
    of_bench: bool
    first: int
    last: int


@dataclass(frozen=True)
class SeenPath:
    """The shortest causal path to where a difference was seen.

    Attributes:
        to: "output", "done", an alarm as "alarm NAME", or "state".
        cycle: When it was seen there.
        steps: Bits in the order of time; empty if there is none.
        shortest: No path has fewer moves.
        problem: Why there is none.
    """

    to: str
    cycle: int
    steps: tuple[PathStep, ...]
    shortest: bool
    problem: str = ""


@dataclass(frozen=True)
class BlockCrossing:
    """The first time that a difference reached a block.

    Attributes:
        block: The block; "" of what no block holds, and of the bench.
        cycle: When.
        site: The first bit of it that differed.
        of_bench: It is that of the bench.
        sources: Bits that it came from, in the cycle before; empty if the gates do not say.
    """

    block: str
    cycle: int
    site: Site
    of_bench: bool
    sources: tuple[Site, ...]
    of_bench_sources: tuple[bool, ...]


@dataclass(frozen=True)
class MemorySnapshot:
    """A memory when an operation had ended, in both runs.

    Attributes:
        operation: Number of the operation, from 0.
        golden_cycle, faulty_cycle: Cycles from reset to its end.
        golden, faulty: The whole content.
    """

    operation: int
    golden_cycle: int
    faulty_cycle: int
    golden: bytes
    faulty: bytes


@dataclass(frozen=True)
class FaultTrace:
    """How one fault spread.

    Attributes:
        fault: What was injected.
        injection: What came of it, of the run that was compared.
        end: The cycle after the last that was compared.
        touched: Registers and memories in the order in which they differed.
        spans: First and last cycle of each difference that stayed the same, how many bits and words differed.
        vanished: The cycle from which on nothing differed; None if something did to the end.
        crossings: In the order of time.
        alarms: That rose and do not in the golden run, in the order in which they did.
        wrong_bytes: Bytes of the raw outputs that differ at the end.
        output: Raw outputs of the run.
        snapshots: What a memory held when operations had ended, those that ended after the fault.
        ways: Causal paths.
        no_ways: Why none were looked for; "" if they were.
        is_whole: All cycles that both runs have were compared; else so much differed that later were not.
    """

    fault: Fault
    injection: Injection
    end: int
    touched: tuple[TouchedStorage, ...]
    spans: tuple[tuple[int, int, int, int], ...]
    vanished: int | None
    crossings: tuple[BlockCrossing, ...]
    alarms: tuple[Rise, ...]
    wrong_bytes: tuple[int, ...]
    output: bytes
    snapshots: tuple[MemorySnapshot, ...]
    ways: tuple[SeenPath, ...]
    no_ways: str = ""
    is_whole: bool = True
