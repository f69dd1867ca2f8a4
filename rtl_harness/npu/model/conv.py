"""Convolutions and fully connected layers, for a batch of memories at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rtl_harness.errors import HarnessError
from rtl_harness.npu.model.arithmetic import Int64, activate, rescale, wrap32
from rtl_harness.npu.model.config import FeatureMap, NpuConfig, Stream
from rtl_harness.npu.model.conv_config import Axis, ConvConfig
from rtl_harness.npu.model.feature_map import BRICK, Mask, Transfer, channel_cuts, has_duplicates, place
from rtl_harness.npu.model.memory import Bytes, Memory, Offsets
from rtl_harness.npu.model.status import Status
from rtl_harness.npu.model.weight_order import weight_order
from rtl_harness.npu.model.weight_stream import decode

SCALE_ENTRY_BYTES = 10
_CHUNK_ELEMENTS = 1 << 23
_KEPT_WEIGHTS = 8
_LARGEST_TENSOR = 1 << 27

Floats = npt.NDArray[np.float32 | np.float64]
_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True)
class _Weights:
    """Decoded weights, shape (KH KW D_i, D_o), and whether the stream was in error.

    The type is the narrowest in which every partial sum of products is an exact integer: float32 below 2^24;
    float64 always serves, since 2^27 products of 10 by 9 bits stay below 2^53.
    """

    matrix: Floats
    error: bool


@dataclass(frozen=True)
class _Scales:
    """Bias, scale and shift of each OFM channel, shape (active or 1, 1, D_o) each."""

    bias: Int64
    scale: Int64
    shift: Int64


class Conv:
    """A convolution whose addresses and weight order have been worked out.

    Everything is read before anything is written. The result is that of the block-by-block order, except
    where the OFM overlaps the IFM, the weights or the scales: hardware's result then depends on prefetching.

    Attributes:
        refusal: The error that keeps the operation from starting, or Status.NONE.
    """

    def __init__(self, config: ConvConfig, npu: NpuConfig, region_size: Callable[[int], int]) -> None:
        """Prepare `config` for regions whose bytes `region_size` tells by region number.

        Raises:
            HarnessError: A tensor of the operation is beyond what the model can hold.
        """
        self._config = config
        _check_size(config)
        self.refusal = Status.NONE
        for stream in (config.weights, config.scales):
            if stream.base + stream.length > region_size(stream.region):
                self.refusal = Status.ADDRESS_ERROR
        if self.refusal:
            return
        self._order = weight_order(config, npu)
        self._cache: OrderedDict[bytes, _Weights] = OrderedDict()
        ifm, ofm = config.ifm, config.ofm
        ifm_segment = BRICK if ifm.bricks else config.input_chunk
        source = place(ifm, channel_cuts(ifm.depth, (ifm_segment,)), region_size(ifm.region))
        target = place(ofm, channel_cuts(ofm.depth, (config.block_depth, BRICK)), region_size(ofm.region))
        self._errors = Status.NONE
        if (_fetched(config) & ~source.inside).any() or not target.inside.all():
            self._errors |= Status.ADDRESS_ERROR
        if config.scales.length < SCALE_ENTRY_BYTES * ofm.depth:
            self._errors |= Status.SCALE_ERROR
        self._source = Transfer(source)
        self._target = Transfer(target, _write_order(config) if has_duplicates(target) else None)

    def execute(self, memory: Memory) -> npt.NDArray[np.uint32]:
        """Work on the active elements of `memory`; return their error bits, shape (active,)."""
        config = self._config
        images = self._source.read(memory, config.ifm.region)
        scales = _read_scales(memory, config.scales, config.ofm.depth)
        groups = list(self._weight_groups(memory))
        shared = len(images) == len(scales.bias) == 1 and len(groups) == 1
        count = 1 if shared else len(memory.active)
        errors = np.full(len(memory.active), int(self._errors), dtype=np.uint32)
        output = np.empty((count, *self._target.shape), dtype=np.uint8)
        for weights, members in groups:
            if weights.error:
                errors[members] |= np.uint32(Status.WEIGHT_ERROR)
            for rows in _chunks(members[:count], self._chunk):
                output[rows] = self._output(_rows(images, rows), weights, scales, rows)
        self._target.write(memory, config.ofm.region, output)
        return errors

    @property
    def _chunk(self) -> int:
        """Batch elements that are worked on at a time, to bound the memory that they take."""
        columns = self._config.y.taps * self._config.x.taps * self._config.ifm.depth + self._config.ofm.depth
        return max(1, _CHUNK_ELEMENTS // (self._config.ofm.height * self._config.ofm.width * columns))

    def _weight_groups(self, memory: Memory) -> Iterator[tuple[_Weights, Offsets]]:
        """Yield decoded weights and the positions among the active elements that have them."""
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

    def _weights(self, stream: bytes) -> _Weights:
        if stream in self._cache:
            self._cache.move_to_end(stream)
            return self._cache[stream]
        decoded, error = decode(stream, self._order.count)
        ordered = decoded[self._order.positions.reshape(self._config.ofm.depth, -1)]
        largest_sum = int(np.abs(ordered.astype(np.int64)).sum(axis=1).max()) * _largest_input(
            self._config.ifm
        )
        dtype = np.float32 if largest_sum < 1 << 24 else np.float64
        weights = _Weights(np.ascontiguousarray(ordered.T.astype(dtype)), error)
        self._cache[stream] = weights
        if len(self._cache) > _KEPT_WEIGHTS:
            self._cache.popitem(last=False)
        return weights

    def _output(self, images: Bytes, weights: _Weights, scales: _Scales, rows: Offsets) -> Bytes:
        config = self._config
        columns = _columns(images, config, weights.matrix.dtype)
        sums = (columns @ weights.matrix).reshape(len(images), -1, config.ofm.depth)
        values = rescale(
            wrap32(sums), _rows(scales.bias, rows), _rows(scales.scale, rows), _rows(scales.shift, rows)
        )
        output = activate(
            values, config.ofm.zero_point, config.activation_min, config.activation_max, config.ofm.signed
        )
        return output.reshape(-1, *self._target.shape)


def _check_size(config: ConvConfig) -> None:
    pixels = {name: t.height * t.width for name, t in (("IFM", config.ifm), ("OFM", config.ofm))}
    taps = config.y.taps * config.x.taps
    sizes = {
        "IFM": pixels["IFM"] * config.ifm.depth,
        "OFM": pixels["OFM"] * config.ofm.depth,
        "kernel": taps * config.ifm.depth * config.ofm.depth,
        "OFM's receptive fields": pixels["OFM"] * taps * config.ifm.depth,
    }
    for name, size in sizes.items():
        if size > _LARGEST_TENSOR:
            raise HarnessError(
                f"the functional model holds tensors of {_LARGEST_TENSOR} elements, "
                f"the {name} of an operation has {size}: run this stream in RTL"
            )


def _rows(data: npt.NDArray[_T], rows: Offsets) -> npt.NDArray[_T]:
    return data if len(data) == 1 else data[rows]


def _chunks(members: Offsets, size: int) -> Iterator[Offsets]:
    for start in range(0, len(members), size):
        yield members[start : start + size]


def _largest_input(ifm: FeatureMap) -> int:
    low, high = (-128, 127) if ifm.signed else (0, 255)
    return max(abs(low - ifm.zero_point), abs(high - ifm.zero_point))


def _columns(images: Bytes, config: ConvConfig, dtype: np.dtype[np.float32 | np.float64]) -> Floats:
    """Return what each OFM pixel sees, shape (images * pixels, KH KW D_i), the zero point subtracted."""
    y, x, ifm, ofm = config.y, config.x, config.ifm, config.ofm
    elements = images.view(np.int8) if ifm.signed else images
    shape = (
        len(images),
        ifm.height + y.pad_before + y.pad_after,
        ifm.width + x.pad_before + x.pad_after,
        ifm.depth,
    )
    padded = np.zeros(shape, dtype=dtype)
    inner = padded[:, y.pad_before : y.pad_before + ifm.height, x.pad_before : x.pad_before + ifm.width]
    np.subtract(elements, dtype.type(ifm.zero_point), out=inner)
    image, row, column, channel = padded.strides
    windows = np.lib.stride_tricks.as_strided(
        padded,
        (len(images), ofm.height, ofm.width, y.taps, x.taps, ifm.depth),
        (image, y.stride * row, x.stride * column, y.dilation * row, x.dilation * column, channel),
        writeable=False,
    )
    return windows.reshape(len(images) * ofm.height * ofm.width, -1)


def _read_scales(memory: Memory, stream: Stream, channels: int) -> _Scales:
    present = min(stream.length, SCALE_ENTRY_BYTES * channels)
    data = memory.read(stream.region, slice(stream.base, stream.base + present))
    entries = np.zeros((len(data), SCALE_ENTRY_BYTES * channels), dtype=np.uint8)
    entries[:, :present] = data
    fields = entries.reshape(len(data), 1, channels, SCALE_ENTRY_BYTES).astype(np.int64)
    bias = fields[..., 0:5] @ (1 << 8 * np.arange(5))
    scale = fields[..., 5:9] @ (1 << 8 * np.arange(4))
    return _Scales(bias - ((bias >> 39) << 40), scale, fields[..., 9] & 63)


def _fetched(config: ConvConfig) -> Mask:
    """Return the IFM elements that are transferred, shape (height, width, 1).

    They are those of the rectangles that the subkernels span for each block.
    """
    rows = _fetched_along(config.y, config.ifm.height, config.ofm.height)
    columns = _fetched_along(config.x, config.ifm.width, config.ofm.width)
    return rows[:, None, None] & columns[None, :, None]


def _fetched_along(axis: Axis, inputs: int, outputs: int) -> Mask:
    fetched = np.zeros(inputs, dtype=bool)
    for first in range(0, outputs, axis.block):
        last = min(first + axis.block, outputs) - 1
        for tap in range(0, axis.taps, axis.subkernel):
            last_tap = min(tap + axis.subkernel, axis.taps) - 1
            begin = first * axis.stride + tap * axis.dilation - axis.pad_before
            end = last * axis.stride + last_tap * axis.dilation - axis.pad_before
            fetched[max(begin, 0) : max(end + 1, 0)] = True
    return fetched


def _write_order(config: ConvConfig) -> Offsets:
    """Return the flat indices of the OFM elements in the order of blocks, then rows, columns and channels."""
    y, x, z = np.indices((config.ofm.height, config.ofm.width, config.ofm.depth)).reshape(3, -1)
    blocks = (y // config.y.block, x // config.x.block, z // config.block_depth)
    return np.lexsort((z, x, y, *reversed(blocks)))
