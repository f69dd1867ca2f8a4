# SPDX-License-Identifier: Apache-2.0
"""The weights of a convolution, decoded and put in order, for a batch whose streams may differ."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.memory import Offsets, RegionMemory
from resil.rtl_harness.npu.model.tensors import FeatureMap
from resil.rtl_harness.npu.model.weight_order import weight_order
from resil.rtl_harness.npu.model.weight_stream import decode

_KEPT_WEIGHTS = 8


@dataclass(frozen=True)
class Weights:
    """Decoded weights, shape (KH, KW, D_i or 1, D_o), and whether the stream was in error.

    The type is one in which every partial sum of products is exact: of the floating-point numbers, whose
    matrix products are fast, float32 below 2^24; float64 always serves, since 2^27 products of 10 by 9 bits
    stay below 2^53. Depthwise convolutions have no matrix products, and sums of 2^14 products fit int32.
    """

    values: npt.NDArray[np.float32 | np.float64 | np.int32]
    error: bool


class WeightReader:
    """Decodes the weight stream of a convolution, and keeps what it decoded last."""

    def __init__(self, config: ConvConfig, npu: NpuConfig) -> None:
        self._config = config
        self._order = weight_order(config, npu)
        self._cache: OrderedDict[bytes, Weights] = OrderedDict()

    def groups(self, memory: RegionMemory) -> Iterator[tuple[Weights, Offsets]]:
        """Yield weights and the positions among the active elements that have them."""
        stream = self._config.weights
        data = memory.read(stream.region, slice(stream.base, stream.base + stream.length))
        everyone = np.arange(len(memory.active))
        if len(data) == 1 or (data == data[0]).all():
            yield self._weights(data[0].tobytes()), everyone
            return
        groups: dict[bytes, list[int]] = {}
        for position, row in enumerate(data):
            groups.setdefault(row.tobytes(), []).append(position)
        for stream_bytes, members in groups.items():
            yield self._weights(stream_bytes), everyone[members]

    def _weights(self, stream: bytes) -> Weights:
        if stream in self._cache:
            self._cache.move_to_end(stream)
            return self._cache[stream]
        decoded, error = _decoded(stream, self._order.count)
        ordered = decoded[self._order.positions]
        values = np.ascontiguousarray(np.moveaxis(ordered, 0, -1)).astype(self._dtype(ordered))
        weights = Weights(values, error)
        self._cache[stream] = weights
        if len(self._cache) > _KEPT_WEIGHTS:
            self._cache.popitem(last=False)
        return weights

    def _dtype(self, ordered: npt.NDArray[np.int16]) -> npt.DTypeLike:
        if self._config.depthwise:
            return np.int32
        sums = np.abs(ordered.astype(np.int64)).reshape(len(ordered), -1).sum(axis=1)
        exact = int(sums.max()) * _largest_input(self._config.ifm) < 1 << 24
        return np.float32 if exact else np.float64


@lru_cache(maxsize=64)
def _decoded(stream: bytes, count: int) -> tuple[npt.NDArray[np.int16], bool]:
    """Decode a stream once for all operations and models that have it."""
    weights, error = decode(stream, count)
    weights.flags.writeable = False
    return weights, error


def _largest_input(ifm: FeatureMap) -> int:
    low, high = (-128, 127) if ifm.signed else (0, 255)
    return max(abs(low - ifm.zero_point), abs(high - ifm.zero_point))
