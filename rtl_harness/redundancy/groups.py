# SPDX-License-Identifier: Apache-2.0
"""Protected groups: which bits of which registers, by which mechanism."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.sites import Hardware, StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

# Bits that one parity bit looks after.
PARITY_BITS = 16

_RANGE = re.compile(r"(?P<path>.+)\[(?P<left>-?\d+)(:(?P<right>-?\d+))?\]")


class Mechanism(StrEnum):
    """How a group is protected.

    HARDENED: by cells that upset less often, which only a constraint for synthesis can ask for. PARITY: one
    more bit for each sixteen, which detects; neighbours may lie under different ones (see `ways`).
    DUPLICATION: a copy, and a comparator that detects. TRIPLICATION: two copies, and a vote that corrects and
    reports.

    Of memories: MEMORY_PARITY, likewise one for each 32 bits at most. SECDED: a code that corrects one
    wrong bit of a word, and detects two.

    Of a block as a whole: LOCKSTEP, a second instance fed by the same inputs, its outputs compared.
    """

    HARDENED = "hardened"
    PARITY = "parity"
    DUPLICATION = "duplication"
    TRIPLICATION = "triplication"
    MEMORY_PARITY = "memory_parity"
    SECDED = "secded"
    LOCKSTEP = "lockstep"

    @property
    def of_memories(self) -> bool:
        """Whether it protects memories, and no flip-flops but the output latches of their macros."""
        return self in (Mechanism.MEMORY_PARITY, Mechanism.SECDED)

    @property
    def corrects(self) -> bool:
        """Whether its alarm is the minor one: what was wrong has been put right."""
        return self is Mechanism.TRIPLICATION

    @property
    def is_parity(self) -> bool:
        """Whether it is parity, of registers or of memories."""
        return self in (Mechanism.PARITY, Mechanism.MEMORY_PARITY)

    def misses(self, size: int, ways: int = 1) -> bool:
        """Whether so many wrong neighbours of a word may be neither corrected nor reported.

        By the distances that the proofs show: parity reports odd numbers of wrong bits under one parity bit,
        SECDED two at most. Neighbours lie in one word of a code, and under parity bits in turn. Copies differ
        from a register in any number of its bits.

        Args:
            size: Wrong bits.
            ways: How many neighbours lie under parity bits of their own.

        >>> [size for size in (1, 2, 3) if Mechanism.PARITY.misses(size)]
        [2]
        >>> [size for size in (1, 2, 3, 4) if Mechanism.PARITY.misses(size, ways=2)]
        [4]
        >>> [size for size in (1, 2, 3) if Mechanism.SECDED.misses(size)]
        [3]
        """
        if self.is_parity:
            return all(len(range(way, size, ways)) % 2 == 0 for way in range(ways))
        return self is Mechanism.SECDED and size > 2


@dataclass(frozen=True, slots=True)
class ProtectionGroup:
    """What is protected in one way.

    Attributes:
        path: A block of the target's block map, an instance below the design under test or the design itself
            (all flip-flops in it, or all memories), a register or a memory, or `register[left:right]` with
            indices as declared.
        mechanism: How.
        ways: Of parity: how many neighbours lie under parity bits of their own: clusters of so many are
            reported.
    """

    path: str
    mechanism: Mechanism
    ways: int = 1


@dataclass(frozen=True, slots=True)
class RegisterPiece:
    """Consecutive bits of one register in a group.

    Attributes:
        element: The register.
        low: The first bit, counted from the least significant.
        bits: How many.
        group: That it belongs to.
        strict: The group names the register: if it cannot be protected, the group is refused.
    """

    element: StorageElement
    low: int
    bits: int
    group: ProtectionGroup
    strict: bool

    @property
    def name(self) -> str:
        """The bits as the source code would write them."""
        if self.bits == self.element.width:
            return self.element.path
        ends = [self.low + self.bits - 1, self.low]
        sign = -1 if self.element.ascending else 1
        left, right = (self.element.lsb + sign * end for end in ends)
        path = self.element.path
        # Elements that are part of a register end with their range.
        if found := _RANGE.fullmatch(path):
            path = found["path"] if found["right"] is not None else path
        return f"{path}[{left}:{right}]"


@dataclass(frozen=True, slots=True)
class UnprotectedStorage:
    """What lies in a protected block and is not protected.

    Attributes:
        path: Register or memory.
        bits: How many of its bits.
        reason: In words.
        hardware: They can upset: they are a risk that stays.
    """

    path: str
    bits: int
    reason: str
    hardware: bool = True


class GroupError(HarnessError):
    """A group that cannot be protected as asked; the message begins with its path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}", path)


def pieces_of(
    target: Target, elaboration: Elaboration, groups: Sequence[ProtectionGroup]
) -> tuple[list[RegisterPiece], list[UnprotectedStorage]]:
    """Return the bits of each group, and what lies in protected blocks and cannot be protected.

    Of a block or an instance the flip-flops are taken that are hardware as far as the elaboration knows;
    memories, flip-flops inside SRAM macros and latches are left out. Of mechanisms for memories the memories
    are taken, and nothing else. A register that a group names must be one of flip-flops, or a memory.

    Raises:
        GroupError: A group names nothing that is there, what cannot be protected, or bits of another group.
    """
    if not groups:
        raise GroupError(target.name, "expected at least one protected group, found none; name a register")
    pieces: list[RegisterPiece] = []
    left_out: list[UnprotectedStorage] = []
    for group in groups:
        found = _named(target, elaboration, group) or _inside(target, elaboration, group, left_out)
        if not found:
            what = (
                "a memory, or a block or an instance with memories"
                if group.mechanism.of_memories
                else "a block, an instance or a register with flip-flops"
            )
            raise GroupError(
                group.path,
                f"expected {what} of {target.dut}, found none of that name; `resil sites` lists them",
            )
        pieces += found
    _check_apart(pieces)
    # What one group cannot protect another may: the memories of a block whose registers are copied.
    taken = {piece.element.path for piece in pieces}
    return pieces, [found for found in left_out if not found.hardware or found.path not in taken]


def _named(target: Target, elaboration: Elaboration, group: ProtectionGroup) -> list[RegisterPiece]:
    """Return the bits if the group names a register, or a part of one."""
    path, ends = group.path, None
    elements = [e for e in elaboration.sites.elements if _of_register(e, path)]
    if not elements and (found := _RANGE.fullmatch(path)):
        path, ends = found["path"], (int(found["left"]), int(found["right"] or found["left"]))
        elements = [e for e in elaboration.sites.elements if _of_register(e, path)]
    pieces = []
    for element in elements:
        if why := _no_copy(target, elaboration, element, group.mechanism):
            raise GroupError(group.path, f"is nothing that can be protected so: {why}")
        if group.mechanism.of_memories and ends is not None:
            raise GroupError(group.path, "a code protects whole words; name the memory without a range")
        positions = sorted(abs(end - element.lsb) for end in ends) if ends else [0, element.width - 1]
        outside = ends is not None and any(
            (end < element.lsb) != element.ascending for end in ends if end != element.lsb
        )
        first, last = max(positions[0], 0), min(positions[1], element.width - 1)
        if ends is not None and len(elements) == 1 and (outside or positions[1] >= element.width):
            raise GroupError(
                group.path, f"expected bits of {element.path}, which has {element.width}; correct the range"
            )
        if not outside and first <= last:
            pieces.append(RegisterPiece(element, first, last - first + 1, group, strict=True))
    return pieces


def _of_register(element: StorageElement, path: str) -> bool:
    if element.path == path:
        return True
    found = _RANGE.fullmatch(element.path)
    return found is not None and found["right"] is not None and found["path"] == path


def _inside(
    target: Target, elaboration: Elaboration, group: ProtectionGroup, left_out: list[UnprotectedStorage]
) -> list[RegisterPiece]:
    """Return the bits of all flip-flops in a block or below an instance."""
    pieces = []
    is_block = group.path in target.blocks
    sites = elaboration.sites
    gone = {Hardware.CONSTANT, Hardware.UNUSED, Hardware.LATCH}
    absent = {
        site: run.hardware.value
        for run in sites.absent
        if run.hardware in gone
        for site in range(run.first, run.end)
    }
    for index, element in enumerate(sites.elements):
        below = element.path.startswith((f"{group.path}.", f"{group.path}["))
        if not (element.block == group.path if is_block else below):
            continue
        if group.mechanism.of_memories and element.kind != "sram":
            # Through which output latches a code goes is known when it is built.
            continue
        if why := _no_copy(target, elaboration, element, group.mechanism):
            left_out.append(UnprotectedStorage(element.path, element.bits, why))
            continue
        if element.kind == "sram":
            pieces.append(RegisterPiece(element, 0, element.width, group, strict=True))
            continue
        first = sites.offsets[index]
        kept = [bit for bit in range(element.width) if first + bit not in absent]
        if len(kept) < element.width:
            bits = element.width - len(kept)
            why = "no hardware: constant, or read by nothing"
            left_out.append(UnprotectedStorage(element.path, bits, why, hardware=False))
        pieces += [RegisterPiece(element, low, bits, group, strict=False) for low, bits in _runs(kept)]
    return pieces


def _no_copy(target: Target, elaboration: Elaboration, element: StorageElement, mechanism: Mechanism) -> str:
    """Say why a register cannot be protected; "" if it can.

    Copies without reset are equal from the first edge of their clock on, which must come while the design is
    in reset, since the alarms wait as long.
    """
    if (element.kind == "sram") != mechanism.of_memories:
        codes = f"{Mechanism.SECDED} and {Mechanism.MEMORY_PARITY}"
        return f"a memory: {codes} are for it" if element.kind == "sram" else "no memory"
    if element.kind == "sram":
        return ""
    if element.kind == "macro":
        return "flip-flops inside an SRAM macro"
    if elaboration.is_latch(element.path):
        return "made of latches"
    clocking = elaboration.clocking[element.path]
    if mechanism is not Mechanism.HARDENED and not clocking.fully_reset and clocking.clock != target.clock:
        return f"no reset, and a gated clock ({clocking.clock}): its copies would differ until it is clocked"
    return ""


def _check_apart(pieces: Sequence[RegisterPiece]) -> None:
    owners: dict[tuple[str, int], ProtectionGroup] = {}
    for piece in pieces:
        for bit in range(piece.low, piece.low + piece.bits):
            other = owners.setdefault((piece.element.path, bit), piece.group)
            if other is not piece.group:
                raise GroupError(
                    piece.group.path, f"{piece.name} is in the group {other.path} too; name each bit once"
                )


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for position in positions:
        if found and sum(found[-1]) == position:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((position, 1))
    return found
