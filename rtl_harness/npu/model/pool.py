# SPDX-License-Identifier: Apache-2.0
"""Pooling, for a batch of memories at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.arithmetic import INT32_MIN, Int64, rescale, wrap32
from resil.rtl_harness.npu.model.batch import Upset, check_size, chunks, rows_of
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.feature_map import (
    Elements,
    RegionSize,
    Transfer,
    place,
    read_cuts,
)
from resil.rtl_harness.npu.model.kernel import Axis
from resil.rtl_harness.npu.model.memory import RegionMemory
from resil.rtl_harness.npu.model.output import Sink
from resil.rtl_harness.npu.model.pool_config import PIECE_BYTES, PoolConfig, Pooling
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.windows import fetched, padded_input, tap_views


class Pool:
    """POOL whose addresses have been worked out. Everything is read before anything is written.

    Attributes:
        refusal: Status.NONE: nothing keeps POOL from starting.
    """

    refusal = Status.NONE

    def __init__(self, config: PoolConfig, npu: NpuConfig, region_size: RegionSize) -> None:
        """Prepare `config` for regions whose bytes `region_size` gives by region number.

        Raises:
            HarnessError: A tensor of the operation is beyond what the model can hold.
        """
        self._config = config
        ifm, output = config.ifm, config.output
        check_size(IFM=ifm.elements, OFM=output.ofm.elements)
        reduces = config.pooling == Pooling.REDUCE_SUM
        step = PIECE_BYTES // ifm.element_bytes if reduces else output.block.depth
        source = place(ifm, read_cuts(ifm, step), region_size(ifm.region))
        self._sink = Sink(output, npu, region_size)
        self._errors = self._sink.errors
        if (fetched(config.kernel) & ~source.inside).any():
            self._errors |= npu.beyond_region
        self._source = Transfer(ifm, source)
        self._scale, self._shift = _scale_and_shift(config)

    def execute(self, memory: RegionMemory, upset: Upset | None = None) -> npt.NDArray[np.uint32]:
        """Work on the active elements of `memory`; return their error bits, shape (active,)."""
        images, tables = self._source.read(memory), self._sink.tables(memory)
        count = 1 if len(images) == len(tables) == 1 else len(memory.active)
        output = self._sink.empty(count)
        for rows in chunks(np.arange(count), self._config.ifm.elements + self._config.output.ofm.elements):
            pooled = self._pooled(rows_of(images, rows))
            if upset is not None:
                pooled = upset(pooled, rows)
            values = rescale(pooled, self._scale, self._shift, self._config.output.rounding)
            output[rows] = self._sink.finish(values, rows_of(tables, rows))
        self._sink.write(memory, output)
        return np.full(len(memory.active), int(self._errors), dtype=np.uint32)

    def _pooled(self, images: Elements) -> Int64:
        """Return maxima or sums, shape (n, OFM height, OFM width, D_o)."""
        config = self._config
        zero_point = 0 if config.wide else config.ifm.zero_point
        if config.pooling == Pooling.REDUCE_SUM:
            wide = padded_input(images, config.kernel, zero_point, np.int64)
            return wrap32(wide.sum(axis=3, keepdims=True))
        maximum = config.pooling == Pooling.MAX
        nothing = INT32_MIN if maximum else 0
        padded = padded_input(images, config.kernel, zero_point, np.int32, nothing)
        pooled = np.full((len(images), *self._sink.shape), nothing, dtype=np.int32)
        combine = np.maximum if maximum else np.add
        for _, _, seen in tap_views(padded, config.kernel):
            combine(pooled, seen, out=pooled)
        return pooled.astype(np.int64)


def _scale_and_shift(config: PoolConfig) -> tuple[Int64, Int64]:
    """Return what maxima and sums are scaled with, of shape () or, for averages, (H_o, W_o, 1)."""
    output = config.output
    if config.counts:
        down, across = _taps_inside(config.kernel.y), _taps_inside(config.kernel.x)
        return reciprocal(down[:, None, None] * across[None, :, None])
    if output.global_scale:
        return np.asarray(output.scale), np.asarray(output.shift)
    return np.asarray(1), np.asarray(0)


def reciprocal(counts: Int64) -> tuple[Int64, Int64]:
    """Return the scale and the shift that divide by `counts`, 0..64; both are zero for zero."""
    _, bits = np.frexp((counts - 1).clip(0).astype(np.float64))
    bits = bits.astype(np.int64)
    one = np.int64(1)
    scale = ((one << 31 + bits) + (one << bits)) // np.maximum(counts, 1)
    return np.where(counts > 0, scale, 0), np.where(counts > 0, 31 + bits, 0)


def _taps_inside(axis: Axis) -> Int64:
    """Return how many taps of each OFM element lie inside the IFM."""
    at = np.arange(axis.outputs)[:, None] * axis.stride - axis.pad_before
    at = at + np.arange(axis.taps) * axis.dilation
    return np.asarray(((at >= 0) & (at < axis.inputs)).sum(axis=1))
