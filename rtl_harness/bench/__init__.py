# SPDX-License-Identifier: Apache-2.0
"""Modules that close a design of the user's own: a memory behind AXI4, a host that writes registers.

A target file takes them in with `sources = ["resil:bench/*.sv", ...]`. This package builds the programs that
`resil_boot` runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

MASK = 0xFFFF_FFFF
# Of `resil_faults.h`, for testbenches in C++.
CPP_FOLDER = Path(__file__).resolve().parent / "cpp"


class BootOperation(IntEnum):
    """What `resil_boot` does in a step; see there."""

    END = 0
    WRITE = 1
    READ = 2
    POLL = 3
    CHECK = 4
    INTERRUPT = 5
    WAIT = 6
    MARK = 7


@dataclass(frozen=True, slots=True)
class BootStep:
    """A step of a program; each number has 32 bits."""

    operation: BootOperation
    address: int = 0
    data: int = 0
    mask: int = 0

    def __post_init__(self) -> None:
        for name in ("address", "data", "mask"):
            if not 0 <= getattr(self, name) <= MASK:
                raise ValueError(f"{name}: expected 32 bits, found {getattr(self, name):#x}")


def write(address: int, data: int) -> BootStep:
    """Write a register."""
    return BootStep(BootOperation.WRITE, address, data)


def read(address: int) -> BootStep:
    """Read a register into the status word."""
    return BootStep(BootOperation.READ, address)


def poll(address: int, value: int, mask: int = MASK) -> BootStep:
    """Read a register until it has `value` under `mask`."""
    return BootStep(BootOperation.POLL, address, value, mask)


def check(address: int, value: int, mask: int = MASK) -> BootStep:
    """Read a register; an error if it has not `value` under `mask`."""
    return BootStep(BootOperation.CHECK, address, value, mask)


def interrupt(mask: int = 1) -> BootStep:
    """Wait until one of the interrupts in `mask` is active."""
    return BootStep(BootOperation.INTERRUPT, mask=mask)


def wait(cycles: int) -> BootStep:
    """Wait."""
    return BootStep(BootOperation.WAIT, data=cycles)


def mark() -> BootStep:
    """Count an operation as finished."""
    return BootStep(BootOperation.MARK)


def boot_program(steps: Iterable[BootStep]) -> bytes:
    """Return the image of the memory `program_q` of `resil_boot`, 16 bytes a word, with its end.

    >>> boot_program([write(0x10, 2)])[:16].hex(" ", 4)
    '01000000 10000000 02000000 00000000'
    """
    words = [(s.operation, s.address, s.data, s.mask) for s in (*steps, BootStep(BootOperation.END))]
    return b"".join(number.to_bytes(4, "little") for word in words for number in word)
