# SPDX-License-Identifier: Apache-2.0
"""Convolutions, depthwise convolutions and fully connected layers, for a batch of memories at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.arithmetic import Int64, rescale, sat32, wrap32
from resil.rtl_harness.npu.model.batch import Upset, check_size, chunks, rows_of
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.feature_map import (
    Elements,
    RegionSize,
    Transfer,
    place,
    read_cuts,
)
from resil.rtl_harness.npu.model.memory import RegionMemory
from resil.rtl_harness.npu.model.output import Sink
from resil.rtl_harness.npu.model.scales import SCALE_ENTRY_BYTES, read_scales
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.weights import WeightReader, Weights
from resil.rtl_harness.npu.model.windows import fetched, padded_input, tap_views, windows


class Conv:
    """CONV or DEPTHWISE whose addresses and weight order have been worked out.

    Everything is read before anything is written. The result is that of the block-by-block order, except
    where the OFM overlaps the IFM, the weights or the scales: hardware's result then depends on prefetching.

    Attributes:
        refusal: The error that keeps the operation from starting, or Status.NONE.
    """

    def __init__(self, config: ConvConfig, npu: NpuConfig, region_size: RegionSize) -> None:
        """Prepare `config` for regions whose bytes `region_size` gives by region number.

        Raises:
            HarnessError: A tensor of the operation is beyond what the model can hold.
        """
        self._config = config
        ifm, ofm, taps = config.ifm, config.output.ofm, config.kernel.taps
        fields = ofm.height * ofm.width * taps * (0 if config.depthwise else ifm.depth)
        check_size(
            IFM=ifm.elements,
            OFM=ofm.elements,
            kernel=taps * config.weight_depth * ofm.depth,
            receptive_fields=fields,
        )
        self._elements = ifm.elements + fields + ofm.elements
        streams = (config.weights, config.scales)
        beyond = any(stream.base + stream.length > region_size(stream.region) for stream in streams)
        self.refusal = npu.beyond_region if beyond and npu.region_check else Status.NONE
        if self.refusal:
            return
        check_size(weight_stream=config.weights.length)
        step = config.output.block.depth if config.depthwise else config.input_chunk
        source = place(ifm, read_cuts(ifm, step), region_size(ifm.region))
        self._sink = Sink(config.output, npu, region_size)
        self._errors = self._sink.errors | (npu.beyond_region if beyond else Status.NONE)
        if (fetched(config.kernel) & ~source.inside).any():
            self._errors |= npu.beyond_region
        if config.scales.length < SCALE_ENTRY_BYTES * ofm.depth:
            self._errors |= Status.SCALE_ERROR
        self._source = Transfer(ifm, source)
        self._weights = WeightReader(config, npu)

    def execute(self, memory: RegionMemory, upset: Upset | None = None) -> npt.NDArray[np.uint32]:
        """Work on the active elements of `memory`; return their error bits, shape (active,)."""
        config = self._config
        images = self._source.read(memory)
        scales = read_scales(memory, config.scales, config.output.ofm.depth)
        tables = self._sink.tables(memory)
        groups = list(self._weights.groups(memory))
        shared = len(images) == len(scales) == len(tables) == len(groups) == 1
        count = 1 if shared else len(memory.active)
        errors = np.full(len(memory.active), int(self._errors), dtype=np.uint32)
        output = self._sink.empty(count)
        for weights, members in groups:
            if weights.error:
                errors[members] |= np.uint32(Status.WEIGHT_ERROR)
            for rows in chunks(members[:count], self._elements):
                sums = self._sums(rows_of(images, rows), weights)
                if upset is not None:
                    sums = upset(sums, rows)
                channel = scales.rows(rows)
                values = rescale(
                    sat32(sums + channel.bias), channel.scale, channel.shift, config.output.rounding
                )
                output[rows] = self._sink.finish(values, rows_of(tables, rows))
        self._sink.write(memory, output)
        return errors

    def _sums(self, images: Elements, weights: Weights) -> Int64:
        """Return the accumulators, shape (n, OFM pixels, D_o)."""
        config = self._config
        values = weights.values
        padded = padded_input(images, config.kernel, config.ifm.zero_point, values.dtype)
        if config.depthwise:
            sums = np.zeros((len(images), *self._sink.shape), dtype=values.dtype)
            for ky, kx, seen in tap_views(padded, config.kernel):
                sums += seen * values[ky, kx, 0]
        else:
            columns = windows(padded, config.kernel).reshape(-1, config.kernel.taps * config.ifm.depth)
            sums = columns @ values.reshape(columns.shape[1], -1)
        return wrap32(sums.reshape(len(images), -1, config.output.ofm.depth))
