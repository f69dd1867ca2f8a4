# SPDX-License-Identifier: Apache-2.0
"""Rules that registers obey one by one, and what an operation is checked against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from resil.rtl_harness.npu.model.commands import CommandError, Register, Registers
from resil.rtl_harness.npu.model.config import NpuConfig


@dataclass(frozen=True)
class OperationRequest:
    """An operation command, when the stream reaches it.

    Attributes:
        registers: The register file.
        parameter: The command's parameter.
        npu: The accelerator.
        read_only: Regions on the read-only port.
    """

    registers: Registers
    parameter: int
    npu: NpuConfig
    read_only: frozenset[int]


def check_bits(registers: Registers, register: Register, allowed: int) -> int:
    """Return a register's value; raise CommandError if bits outside the mask `allowed` are set."""
    value = registers[register]
    if value & ~allowed:
        raise CommandError(f"{register.name} is {value:#x}, bits outside {allowed:#x} must be zero")
    return value


def check_below(registers: Registers, register: Register, limit: int) -> int:
    """Return a register's value; raise CommandError if it is not below `limit`."""
    value = registers[register]
    if value >= limit:
        raise CommandError(f"{register.name} is {value}, expected less than {limit}")
    return value


def check_aligned(registers: Registers, register: Register) -> int:
    """Return a register's value; raise CommandError if it is not a multiple of 16."""
    value = registers[register]
    if value % 16:
        raise CommandError(f"{register.name} is {value:#x}, expected a multiple of 16")
    return value


def region_number(registers: Registers, register: Register) -> int:
    """Return the region number that a register holds; raise CommandError if other bits are set."""
    return check_bits(registers, register, 7)


def written_region(request: OperationRequest, register: Register) -> int:
    """Return a region number as above; raise CommandError also if the region is on the read-only port."""
    region = region_number(request.registers, register)
    if region in request.read_only:
        raise CommandError(f"{register.name} is {region}, which is on the read-only port")
    return region


def check_order(*banks: tuple[str, int]) -> None:
    """Raise CommandError if the named bank numbers are not in ascending order."""
    if any(low > high for (_, low), (_, high) in pairwise(banks)):
        found = ", ".join(f"{name} {bank}" for name, bank in banks)
        raise CommandError(f"banks {found}: expected ascending numbers")


def check_room(what: str, wanted: int, available: int) -> None:
    """Raise CommandError if a block needs more than there is."""
    if wanted > available:
        raise CommandError(f"the block needs {wanted} {what}, there are {available}")
