"""The target description: which RTL, which clock, which blocks, where results lie."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtl_harness.errors import HarnessError


@dataclass(frozen=True)
class TargetMemory:
    """A memory of the closed bench that a workload fills or that results are read from.

    Attributes:
        path: Hierarchical name below the top of the unpacked array.
        word_bytes: Bytes of one word; byte 0 is the least significant.
        plusarg: The design loads it with `$readmemh` from the file `+<plusarg>=FILE`.
        observed: It is part of the state that is compared at the end.
    """

    path: str
    word_bytes: int
    plusarg: str
    observed: bool = True


@dataclass(frozen=True)
class Target:
    """A closed design: RTL and bench whose only inputs are clock and reset.

    Attributes:
        name: For people.
        top: Top module.
        sources: Files in compile order.
        include_dirs: Folders for `include.
        defines: Preprocessor macros.
        parameters: Parameters of the top module.
        clock: Clock input of the top; the rising edge is active.
        reset: Reset input of the top.
        reset_active_low: Polarity.
        reset_cycles: Clock edges for which reset is held.
        dut: Instance below the top that is the design under test; only it has fault sites.
        done: Output of the top, 1 when the inference has ended.
        error: Output of the top, 1 when the design reports an error; "" if it has none.
        protection: Output of the top, 1 when a protection reports an error; "" if it has none.
        status: Output of the top: the status word; "" if it has none.
        operation: Output of the top: number of operations finished so far; "" if it has none.
        blocks: Block name to the instance paths below the top that belong to it; the longest match wins.
        memories: By name.
    """

    name: str
    top: str
    sources: tuple[Path, ...]
    clock: str
    reset: str
    dut: str
    done: str
    blocks: Mapping[str, tuple[str, ...]]
    memories: Mapping[str, TargetMemory]
    include_dirs: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    reset_active_low: bool = True
    reset_cycles: int = 4
    error: str = ""
    protection: str = ""
    status: str = ""
    operation: str = ""
