# SPDX-License-Identifier: Apache-2.0
"""What was built of redundancy, and where hardened registers are in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.redundancy.codes import Coded
from resil.rtl_harness.redundancy.groups import RegisterPiece, UnprotectedStorage
from resil.rtl_harness.redundancy.lockstep import Lockstep
from resil.rtl_harness.redundancy.modules import ModuleInstance
from resil.rtl_harness.redundancy.names import plain
from resil.rtl_harness.redundancy.netlist import Redundant
from resil.rtl_harness.redundancy.watchdog import Timer

_PART = re.compile(r"(?P<own>.+)_(?P<high>\d+)_(?P<low>\d+)(?:_\d+)?")


@dataclass(frozen=True, slots=True)
class Constrained:
    """Bits of a register that a constraint names.

    Attributes:
        path: Of the register below the top, as the RTL has it.
        left: Index of the leftmost bit.
        right: Of the rightmost.
        group: That asked for it.
    """

    path: str
    left: int
    right: int
    group: str = ""


@dataclass(frozen=True)
class BuiltRtl:
    """What was built.

    Attributes:
        registers: Redundant registers.
        memories: With a code.
        hardened: Bits that constraints name for hardened cells.
        constrained: What these are in the RTL that was made.
        left_out: What lies in protected blocks and is not protected.
        netlists: Module that took the place of each instance, by path.
        edited: Sources that were copied and given ports, by their path.
        alarms: Instance whose alarms each bit of the alarm outputs stands for, from bit 0 on.
        timer: Watchdog on operations; None if there is none.
        locksteps: Blocks with a copy beside them.
        instances: Of these blocks, in the source, by path.
    """

    registers: tuple[Redundant, ...] = ()
    memories: tuple[Coded, ...] = ()
    hardened: tuple[RegisterPiece, ...] = ()
    constrained: tuple[Constrained, ...] = ()
    left_out: tuple[UnprotectedStorage, ...] = ()
    netlists: Mapping[str, str] = field(default_factory=dict)
    edited: tuple[Path, ...] = ()
    alarms: tuple[str, ...] = ()
    timer: Timer | None = None
    locksteps: tuple[Lockstep, ...] = ()
    instances: Mapping[str, ModuleInstance] = field(default_factory=dict)


def as_declared(piece: RegisterPiece) -> Constrained:
    """Return bits of a register that is source code still."""
    element, sign = piece.element, -1 if piece.element.ascending else 1
    left, right = (element.lsb + sign * bit for bit in (piece.low + piece.bits - 1, piece.low))
    return Constrained(element.path, left, right, piece.group.path)


def in_netlist(net: str, moved: Sequence[str], first: int, last: int, group: str) -> list[Constrained]:
    """Return bits of a register of a netlist, of which redundancy may have taken parts.

    Args:
        net: Path that the register's wire had.
        moved: Registers that it has become: itself, or parts of it, which their names show.
        first: Position of the lowest bit in the wire.
        last: Of the highest.
        group: That asked for it.
    """
    found = []
    for path in moved:
        name = path.rpartition(".")[2]
        part = _PART.fullmatch(name)
        if part is None or not plain(net).endswith(part["own"]):
            found.append(Constrained(path, last, first, group))
            continue
        low, high = max(first, int(part["low"])), min(last, int(part["high"]))
        if low <= high:
            found.append(Constrained(path, high - int(part["low"]), low - int(part["low"]), group))
    return found
