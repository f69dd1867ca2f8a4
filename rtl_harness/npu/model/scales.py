# SPDX-License-Identifier: Apache-2.0
"""Bias, scale and shift of each OFM channel, from the scale stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from resil.rtl_harness.npu.model.arithmetic import Int64
from resil.rtl_harness.npu.model.batch import rows_of
from resil.rtl_harness.npu.model.memory import Offsets, RegionMemory
from resil.rtl_harness.npu.model.tensors import Stream

SCALE_ENTRY_BYTES = 10


@dataclass(frozen=True)
class Scales:
    """Bias, scale and shift of each OFM channel, shape (active or 1, 1, D_o) each."""

    bias: Int64
    scale: Int64
    shift: Int64

    def __len__(self) -> int:
        return len(self.bias)

    def rows(self, rows: Offsets) -> Scales:
        """Return those of some batch elements."""
        return Scales(rows_of(self.bias, rows), rows_of(self.scale, rows), rows_of(self.shift, rows))


def read_scales(memory: RegionMemory, stream: Stream, channels: int) -> Scales:
    """Read the entries of all channels; bytes beyond the stream are zero."""
    present = min(stream.length, SCALE_ENTRY_BYTES * channels)
    data = memory.read(stream.region, slice(stream.base, stream.base + present))
    entries = np.zeros((len(data), SCALE_ENTRY_BYTES * channels), dtype=np.uint8)
    entries[:, :present] = data
    fields = entries.reshape(len(data), 1, channels, SCALE_ENTRY_BYTES).astype(np.int64)
    bias = fields[..., 0:5] @ (1 << 8 * np.arange(5))
    scale = fields[..., 5:9] @ (1 << 8 * np.arange(4))
    return Scales(bias - ((bias >> 39) << 40), scale, fields[..., 9] & 63)
