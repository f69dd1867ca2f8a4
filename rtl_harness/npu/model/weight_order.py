# SPDX-License-Identifier: Apache-2.0
"""Which weight of the decoded stream belongs to which OFM channel, kernel tap and IFM channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.config import IFM_UBLOCK_DEPTH, NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig

Numbers = npt.NDArray[np.int64]

_TAPS_UNIT = 4


@dataclass(frozen=True)
class WeightOrder:
    """Order of a convolution's weights in its stream.

    Attributes:
        count: Weights that the operation takes from the stream for each spatial block.
        positions: Place in the stream of the weight of (OFM channel, ky, kx, IFM channel); a depthwise
            convolution has one IFM channel an OFM channel.
    """

    count: int
    positions: Numbers


def weight_order(config: ConvConfig, npu: NpuConfig) -> WeightOrder:
    """Return the weight order that the convolution prescribes; all vectors are counted, used or not."""
    y, x, depth, ofm_depth = config.kernel.y, config.kernel.x, config.weight_depth, config.output.ofm.depth
    block_depth = config.output.block.depth
    positions = np.empty((ofm_depth, y.taps, x.taps, depth), dtype=np.int64)
    vector_weights = npu.ublock_depth * (1 if config.depthwise else IFM_UBLOCK_DEPTH)
    vector = 0
    for oz in range(0, ofm_depth, block_depth):
        ofm_channels = min(block_depth, ofm_depth - oz)
        for iz in range(0, depth, config.input_chunk):
            ifm_channels = min(config.input_chunk, depth - iz)
            for ky in range(0, y.taps, y.subkernel):
                for kx in range(0, x.taps, x.subkernel):
                    taps = (min(y.subkernel, y.taps - ky), min(x.subkernel, x.taps - kx))
                    numbers, count = _vectors(config, npu, ofm_channels, ifm_channels, taps)
                    positions[
                        oz : oz + ofm_channels,
                        ky : ky + taps[0],
                        kx : kx + taps[1],
                        iz : iz + ifm_channels,
                    ] = _weights(numbers + vector, vector_weights, npu)[:ofm_channels, :, :, :ifm_channels]
                    vector += count
    return WeightOrder(vector * vector_weights, positions)


def _vectors(
    config: ConvConfig, npu: NpuConfig, ofm_channels: int, ifm_channels: int, taps: tuple[int, int]
) -> tuple[Numbers, int]:
    """Number a subkernel's vectors: those that are used, shape (u, tap y, tap x, z), and the count of all."""
    ublocks = -(-ofm_channels // npu.ublock_depth)
    used = taps[0] * taps[1]
    rounded = -(-used // _TAPS_UNIT) * _TAPS_UNIT
    if config.depthwise:
        numbers = np.arange(ublocks * rounded).reshape(ublocks, rounded, 1)
    elif config.kernel.part_kernel_first:
        depths = -(-ifm_channels // IFM_UBLOCK_DEPTH)
        numbers = np.arange(depths * ublocks * rounded).reshape(depths, ublocks, rounded).transpose(1, 2, 0)
    else:
        depths = config.input_chunk // IFM_UBLOCK_DEPTH
        numbers = np.arange(ublocks * used * depths).reshape(ublocks, used, depths)
    return numbers[:, :used].reshape(ublocks, *taps, -1), numbers.size


def _weights(numbers: Numbers, vector_weights: int, npu: NpuConfig) -> Numbers:
    """Place the weights of vectors (u, tap y, tap x, z) as (OFM channel, tap y, tap x, IFM channel)."""
    ublocks, tap_y, tap_x, depths = numbers.shape
    inner = np.arange(vector_weights).reshape(npu.ublock_depth, -1)
    weights = numbers[:, None, :, :, :, None] * vector_weights + inner[:, None, None, None, :]
    return weights.reshape(ublocks * npu.ublock_depth, tap_y, tap_x, depths * inner.shape[1])
