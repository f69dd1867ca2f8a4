# SPDX-License-Identifier: Apache-2.0
"""From scaled values to the OFM in memory: zero point, clamp, look-up table, write."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.arithmetic import Int64, sat32
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.feature_map import (
    BRICK,
    Elements,
    RegionSize,
    Transfer,
    has_duplicates,
    place,
    write_cuts,
)
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes, Offsets, RegionMemory
from resil.rtl_harness.npu.model.output_config import Activation, Output
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.tensors import FeatureMap

# Entries of tables by the bytes of the OFM's elements; for 16 bits a base and a slope each.
_TABLE_ENTRIES = {1: 256, 2: 512, 4: 256}
_ENTRY_BYTES = {1: 1, 2: 4, 4: 4}
_STRETCH_BITS = 7


class Sink:
    """Where an operation's values go.

    Attributes:
        errors: Error bits that writing sets.
    """

    def __init__(self, output: Output, npu: NpuConfig, region_size: RegionSize) -> None:
        """Work out the addresses of the OFM in regions of the sizes that `region_size` gives."""
        ofm = output.ofm
        self._output = output
        placement = place(ofm, write_cuts(ofm, output.block.depth), region_size(ofm.region))
        self.errors = Status.NONE if placement.inside.all() else npu.beyond_region
        order = _write_order(output) if has_duplicates(ofm, placement) else None
        self._transfer = Transfer(ofm, placement, order)
        table = output.activation.table
        bytes_of_table = table_bytes(ofm.element_bytes)
        self._table_at = 0 if table is None else npu.table_base + table * bytes_of_table
        self._table_bytes = 0 if table is None else bytes_of_table

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and depth of the OFM."""
        ofm = self._output.ofm
        return ofm.height, ofm.width, ofm.depth

    def tables(self, memory: RegionMemory) -> Bytes:
        """Return the table, shape (active or 1, bytes); without bytes if none is used."""
        return memory.read(SHARED_BUFFER, slice(self._table_at, self._table_at + self._table_bytes))

    def empty(self, count: int) -> Elements:
        """Return room for `count` OFMs."""
        return np.empty((count, *self.shape), dtype=self._output.ofm.dtype)

    def finish(self, values: Int64, tables: Bytes) -> Elements:
        """Return the OFM elements of scaled values.

        Args:
            values: Range of int32, shape (n, ...), of as many elements as n OFMs have.
            tables: As `tables` returned them, for these n or for all.
        """
        ofm, activation = self._output.ofm, self._output.activation
        bounded = bound(values + ofm.zero_point, activation, ofm)
        if activation.table is not None:
            centred = ofm.signed or activation.int8
            if ofm.element_bytes == 2:
                bounded = _interpolated(bounded + (1 << 15 if centred else 0), tables)
            else:
                bounded = _looked_up(bounded + (128 if centred else 0), tables.view(ofm.dtype))
        return bounded.astype(ofm.dtype).reshape(-1, *self.shape)

    def write(self, memory: RegionMemory, elements: Elements) -> None:
        """Store OFMs, shape (active or 1, height, width, depth)."""
        self._transfer.write(memory, elements)


def table_bytes(element_bytes: int) -> int:
    """Return the size of a look-up table for elements of so many bytes."""
    return _TABLE_ENTRIES[element_bytes] * _ENTRY_BYTES[element_bytes]


def bound(values: Int64, activation: Activation, ofm: FeatureMap) -> Int64:
    """Clamp to the activation's bounds, of which the upper wins, then to the type.

    A 32-bit OFM without a table knows no bounds but its type's.
    """
    if ofm.element_bytes == 4 and activation.table is None:
        return sat32(values)
    clamped = np.minimum(np.maximum(values, activation.low), activation.high)
    bits = 8 * ofm.element_bytes
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    if activation.int8:
        low, high = -128, 127
    elif not ofm.signed:
        low, high = 0, (1 << bits) - 1
    return np.clip(clamped, low, high)


def _interpolated(indices: Int64, tables: Bytes) -> npt.NDArray[np.int64]:
    """Return what a table of 512 stretches gives for `indices` of 16 bits."""
    stretch, offset = indices >> _STRETCH_BITS, indices & (1 << _STRETCH_BITS) - 1
    entries = _looked_up(stretch, tables.view("<u4"))
    slope = entries.astype(np.int32).astype(np.int64) >> 16
    rise = slope * offset.reshape(entries.shape) + (1 << _STRETCH_BITS - 1) >> _STRETCH_BITS
    return entries + rise


def _looked_up(indices: Int64, tables: Elements) -> npt.NDArray[np.int64]:
    flat = indices.reshape(len(indices), -1)
    if len(tables) == 1 or (tables == tables[0]).all():
        entries: Int64 = tables[0].astype(np.int64)
        return entries[flat]
    return np.take_along_axis(tables.astype(np.int64), flat, axis=1)


def _write_order(output: Output) -> Offsets:
    """Return the flat indices of the OFM elements in the order in which they are written.

    That is the order of blocks; in a block 16 channels, then rows, columns, and channels.
    """
    ofm, block = output.ofm, output.block
    y, x, z = np.indices((ofm.height, ofm.width, ofm.depth)).reshape(3, -1)
    blocks = (y // block.height, x // block.width, z // block.depth)
    return np.lexsort((z, x, y, z // BRICK, *reversed(blocks)))
