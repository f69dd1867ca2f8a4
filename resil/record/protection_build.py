# SPDX-License-Identifier: Apache-2.0
"""What a folder of built protection records of itself: `build.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from resil.record.typed import Amount, Count, Document, Typed

# Part of the predicted area that measured area may be apart from it without being named as other, and part of
# the unprotected area that is too little to matter.
AREA_DIFFERS, AREA_SMALL = 0.25, 0.005


class BitExact(Typed):
    """What ran without a fault as the source does: the same outputs, cycles and status, and no alarm."""

    networks: tuple[str, ...]
    """Their names."""
    inputs: Count
    """Of all of them."""
    equal: bool
    """Always true: what differs is not kept."""


class StorageLeftOut(Typed):
    """Storage in a protected block that is not protected."""

    path: str
    """Its name."""
    bits: Count
    """How many."""
    reason: str
    """Why it is not."""


class HardenedBits(Typed):
    """Bits that are to become hardened cells, which RTL cannot show."""

    path: str
    """Their register."""
    left: int
    """The first of them, as the source counts it."""
    right: int
    """The last."""
    group: str
    """The group of the plan that asks for them."""


class RedundantBits(Typed):
    """A register or a memory with redundancy, or a block's copy, as the RTL has it."""

    path: str
    """Of the redundant register, which holds its copies, of the memory, or of the copy of a block."""
    mechanism: str
    """What it has: `parity`, `duplication`, `triplication`, `memory_parity`, `secded`, `lockstep`."""
    ways: Count
    """Of parity: how many neighbours lie under parity bits of their own; else 1."""


class BuiltWatchdog(Typed):
    """The watchdog that was built."""

    limit: Count
    """Cycles for which it waits."""
    longest_operation: Count
    """Of the run's network, in cycles."""


class AreaAdded(Typed):
    """Area that protection adds."""

    added: float
    """In `unit`."""
    overhead: float
    """As a part of the unprotected area."""
    unit: str
    """`GE` or `um2`."""


class BlockAreaChange(Typed):
    """Area of a block by synthesis."""

    before: Amount
    """Without protection."""
    after: Amount
    """With it."""


class AreaPredicted(AreaAdded):
    """Area that a plan says of its protection, by the options' figures."""

    in_rtl: float
    """The part of `added` that synthesis can measure: without hardened cells."""


class AreaMeasured(AreaAdded):
    """Area that protection adds, by synthesis."""

    hardened_included: bool | None
    """`false` if there are hardened cells: their area is not in it; `null` if there are none."""
    blocks: Mapping[str, BlockAreaChange]
    """Each block."""

    @property
    def whole(self) -> bool:
        """Whether all that was added is in it."""
        return self.hardened_included is not False

    def differs(self, predicted: AreaPredicted) -> bool:
        """Whether what was added is other than predicted by more than `AREA_DIFFERS` of the prediction.

        What is less than `AREA_SMALL` of the unprotected area apart does not count.
        """
        apart = abs(self.added - predicted.in_rtl)
        whole = self.added / self.overhead if self.overhead else 0.0
        return apart > AREA_DIFFERS * abs(predicted.in_rtl) and apart > AREA_SMALL * whole


class Build(Document):
    """What was built of a protection, proven and measured, in the folder of `resil protect --build`."""

    FILE: ClassVar[str] = "build.json"
    SCHEMA: ClassVar[Literal[3]] = 3
    REMEDY: ClassVar[str] = "build it again, into another folder"

    schema_number: Literal[3] = Field(alias="schema")
    """Of this file: another one is of another version, and is refused."""
    plan: str
    """Name of the plan."""
    choice: str
    """Digest of what is chosen, for what, and of which results."""
    rtl_digest: str
    """Hash of the RTL that was proven and measured: other RTL is not confirmed."""
    bits: Mapping[str, Count]
    """Bits that each mechanism protects."""
    netlists: Mapping[str, str]
    """Module that took the place of each instance."""
    left_out: tuple[StorageLeftOut, ...]
    """Storage in protected blocks that is *not* protected."""
    hardened: tuple[HardenedBits, ...]
    """Bits for hardened cells."""
    redundant: tuple[RedundantBits, ...]
    """Registers and memories with redundancy."""
    watchdog: BuiltWatchdog | None
    """Null without one."""
    proofs: Count
    """How many proofs of mechanisms there were."""
    bit_exact: BitExact
    """What ran without a fault as before."""
    area_predicted: AreaPredicted
    """By the options' figures."""
    area_measured: AreaMeasured
    """By synthesis."""
    commands: tuple[str, ...]
    """That make it again."""
