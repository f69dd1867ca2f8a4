# SPDX-License-Identifier: Apache-2.0
"""The sizes of the accelerator configurations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.status import Status

BANK_BYTES = 1024
IFM_UBLOCK_DEPTH = 8
STAGING_BANKS = 2
_BANK_ROWS = 64
_TABLE_BANKS = 2
_ACCUMULATORS_IN_ROW = 4


@dataclass(frozen=True)
class NpuConfig:
    """The sizes of an accelerator configuration that its results or its limits depend on.

    Attributes:
        name: As the compiler spells it.
        ublock_width: Pixels across of an OFM micro-block.
        ublock_height: Pixels down of an OFM micro-block.
        ublock_depth: OFM channels of a micro-block, and of a weight vector.
        sb_banks: Banks of the shared buffer.
        usable_banks: Banks below those that only tables use.
        region_check: An access beyond its region's size is an error; else it reaches whatever lies there.
    """

    name: str
    ublock_width: int
    ublock_height: int
    ublock_depth: int
    sb_banks: int
    usable_banks: int
    region_check: bool = True

    @property
    def lanes(self) -> int:
        """Pixels of a micro-block."""
        return self.ublock_width * self.ublock_height

    @property
    def beyond_region(self) -> Status:
        """The error of an access beyond its region, with no memory there."""
        return Status.ADDRESS_ERROR if self.region_check else Status.BUS_ERROR

    @property
    def macs(self) -> int:
        """Multiplications a cycle."""
        return self.lanes * self.ublock_depth * IFM_UBLOCK_DEPTH

    @property
    def shared_buffer_bytes(self) -> int:
        """Size of the shared buffer."""
        return self.sb_banks * BANK_BYTES

    @property
    def table_base(self) -> int:
        """Byte address of the tables in the shared buffer."""
        return (self.sb_banks - _TABLE_BANKS) * BANK_BYTES

    @property
    def accumulator_banks(self) -> int:
        """Banks that hold a micro-block's accumulators side by side."""
        return self.lanes * self.ublock_depth // _ACCUMULATORS_IN_ROW

    def is_one_row(self, ofm_height: int, kernel_height: int) -> bool:
        """Return whether an operation with a kernel has its micro-block's pixels all in one row."""
        return self.ublock_height > 1 and ofm_height == 1 and kernel_height == 1

    def buffers_end(self, with_table: bool) -> int:
        """Return the bank after the last that an operation may use for its buffers."""
        shared = with_table and self.usable_banks == self.sb_banks
        return self.usable_banks - _TABLE_BANKS if shared else self.usable_banks

    def accumulator_rows(self, ab_start: int, end: int) -> int:
        """Micro-blocks that each of the two accumulator buffers in banks `ab_start` .. `end` - 1 holds."""
        return _BANK_ROWS * ((end - ab_start) // 2 // self.accumulator_banks)

    def ifm_words(self, ib_end: int) -> int:
        """64-bit words a lane that each of the two IFM buffers below bank `ib_end` holds."""
        return 2 * _BANK_ROWS * ((ib_end - STAGING_BANKS) // 2 // self.lanes)

    def operand_words(self, start: int, end: int) -> int:
        """64-bit words that each of the two operand buffers in banks `start` .. `end` - 1 holds."""
        return 2 * _BANK_ROWS * ((end - start) // 2)


ETHOS_U55_32 = NpuConfig("ethos-u55-32", 1, 1, 4, sb_banks=16, usable_banks=16)
ETHOS_U55_64 = NpuConfig("ethos-u55-64", 1, 1, 8, sb_banks=16, usable_banks=16)
ETHOS_U55_128 = NpuConfig("ethos-u55-128", 2, 1, 8, sb_banks=24, usable_banks=22)
ETHOS_U55_256 = NpuConfig("ethos-u55-256", 2, 2, 8, sb_banks=48, usable_banks=46)
CONFIGS = {c.name: c for c in (ETHOS_U55_32, ETHOS_U55_64, ETHOS_U55_128, ETHOS_U55_256)}


def npu_config(name: str, *, region_check: bool = True) -> NpuConfig:
    """Return the accelerator configuration of that name; raise HarnessError if there is none."""
    if name not in CONFIGS:
        raise HarnessError(
            f"expected an accelerator among {', '.join(CONFIGS)}, found {name!r}", "accelerator"
        )
    return replace(CONFIGS[name], region_check=region_check)
