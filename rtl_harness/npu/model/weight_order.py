"""Which weight of the decoded stream belongs to which OFM channel, kernel tap and IFM channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rtl_harness.npu.model.config import NpuConfig
from rtl_harness.npu.model.conv_config import ConvConfig


@dataclass(frozen=True)
class WeightOrder:
    """Order of a convolution's weights in its stream.

    Attributes:
        count: Weights that the operation takes from the stream for each spatial block.
        positions: Place in the stream of the weight of (OFM channel, ky, kx, IFM channel).
    """

    count: int
    positions: npt.NDArray[np.int64]


def weight_order(config: ConvConfig, npu: NpuConfig) -> WeightOrder:
    """Return the weight order that the convolution prescribes; all vectors are counted, used or not."""
    x, y, depth, ofm_depth = config.x, config.y, config.ifm.depth, config.ofm.depth
    positions = np.empty((ofm_depth, y.taps, x.taps, depth), dtype=np.int64)
    vector = 0
    for oz in range(0, ofm_depth, config.block_depth):
        ofm_channels = min(config.block_depth, ofm_depth - oz)
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
                    ] = _weights(numbers + vector, npu)[:ofm_channels, :, :, :ifm_channels]
                    vector += count
    return WeightOrder(vector * npu.vector_weights, positions)


def _vectors(
    config: ConvConfig, npu: NpuConfig, ofm_channels: int, ifm_channels: int, taps: tuple[int, int]
) -> tuple[npt.NDArray[np.int64], int]:
    """Number a subkernel's vectors: those that are used, shape (u, tap y, tap x, z), and the count of all."""
    ublocks = -(-ofm_channels // npu.ofm_ublock_depth)
    used = taps[0] * taps[1]
    if config.part_kernel_first:
        elements, depths = -(-used // 4) * 4, -(-ifm_channels // npu.ifm_ublock_depth)
        numbers = np.arange(depths * ublocks * elements).reshape(depths, ublocks, elements).transpose(1, 2, 0)
    else:
        elements, depths = used, config.input_chunk // npu.ifm_ublock_depth
        numbers = np.arange(ublocks * elements * depths).reshape(ublocks, elements, depths)
    return numbers[:, :used].reshape(ublocks, *taps, depths), numbers.size


def _weights(numbers: npt.NDArray[np.int64], npu: NpuConfig) -> npt.NDArray[np.int64]:
    """Place the weights of vectors (u, tap y, tap x, z) as (OFM channel, tap y, tap x, IFM channel)."""
    ofm, ifm = npu.ofm_ublock_depth, npu.ifm_ublock_depth
    ublocks, tap_y, tap_x, depths = numbers.shape
    inner = np.arange(npu.vector_weights).reshape(ofm, ifm)
    weights = numbers[:, None, :, :, :, None] * npu.vector_weights + inner[:, None, None, None, :]
    return weights.reshape(ublocks * ofm, tap_y, tap_x, depths * ifm)
