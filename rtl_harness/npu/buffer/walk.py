# SPDX-License-Identifier: Apache-2.0
"""One operation on the sequencer: which data are in the shared buffer when.

The sequencer of the RTL hands pieces of feature maps, accumulators and rows of the output from unit to unit
through double buffers (`README.md`, section 7). The same walk over the blocks is followed here, with the
cycles that each unit takes for its share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from resil.rtl_harness.npu.buffer.rows import accumulator_rows, input_rows, staged, staged_rows
from resil.rtl_harness.npu.buffer.stays import (
    ACCUMULATOR_BITS,
    RING_ROWS,
    WORD_BYTES,
    Box,
    Role,
    Span,
    Stay,
    groups,
    pixels,
    side,
    words_of,
)
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig
from resil.rtl_harness.npu.model.kernel import Axis
from resil.rtl_harness.npu.model.pool_config import PIECE_BYTES, PoolConfig, Pooling
from resil.rtl_harness.npu.model.program import OperationConfig
from resil.rtl_harness.npu.model.tensors import FeatureMap
from resil.rtl_harness.npu.model.weight_order import weight_order
from resil.rtl_harness.npu.workload import CONSTANTS

Times = tuple[float, float]

_SCALE_BYTES = 10
# Cycles: of the memories and of the units' pipelines, from the RTL's page.
_READ_LATENCY = 40
_WEIGHT_LATENCY = 80
_OUT_LATENCY = 20
_STAGED = 30
# Part of a group of channels' time in which the pixels of a piece are read for the last time.
_LAST_READS = 0.3
_OPERANDS = (Role.INPUT, Role.OPERAND)


@dataclass(frozen=True)
class _Piece:
    """A step's part of the IFM, or of both operands: boxes of what is there in memory and is used.

    `frame` has the rows and columns of the piece with padding.
    """

    boxes: tuple[Box, ...]
    frame: tuple[Span, Span]
    words: tuple[int, ...]
    pixels: int


@dataclass(frozen=True)
class _Step:
    """What the MAC unit does with a piece; there is none where the one before is used again."""

    piece: _Piece | None
    cycles: float


@dataclass(frozen=True)
class _Held:
    """A piece in one of its two buffers: when it is written, and when and for which blocks it is used."""

    piece: _Piece
    buffer: int
    written: Times
    uses: list[tuple[Times, Box]]


class Walk:
    """One operation, block by block, as the sequencer of the RTL goes.

    Attributes:
        ring: Row of the staging area that comes next.

    Args:
        index: Number of the operation.
        config: The operation.
        npu: The accelerator.
        ring: Row of the staging area that it begins with.
    """

    def __init__(self, index: int, config: OperationConfig, npu: NpuConfig, ring: int = 0) -> None:
        self._index, self._config, self._npu, self.ring = index, config, npu, ring
        self._ofm, self._block = config.output.ofm, config.output.block
        self._elementwise = isinstance(config, ElementwiseConfig)
        sums = isinstance(config, ConvConfig) and not config.depthwise
        reduces = isinstance(config, PoolConfig) and config.pooling == Pooling.REDUCE_SUM
        self._by_channel = not sums and not reduces
        self._weight_cycles = self._weight_latency = 0.0
        if isinstance(config, ConvConfig):
            lanes = 1 if config.depthwise else 8
            vectors = weight_order(config, npu).count / (npu.ublock_depth * lanes)
            slow = config.weights.region == CONSTANTS
            self._weight_cycles = config.weights.length / max(vectors, 1.0) / (1 if slow else WORD_BYTES)
            self._weight_latency = _WEIGHT_LATENCY if slow else _READ_LATENCY

    def stays(self, begin: float, end: float) -> list[Stay]:
        """Return what lies in the buffer, the operation's work laid between `begin` and `end`."""
        found, finish = self.schedule()
        scale = (end - begin) / finish

        def laid(times: Times) -> Times:
            return begin + scale * times[0], begin + scale * times[1]

        return [replace(s, written=laid(s.written), read=laid(s.read), used=laid(s.used)) for s in found]

    def schedule(self) -> tuple[list[Stay], float]:
        """Return the stays in cycles from the operation's start, and its end."""
        found: list[Stay] = []
        released, out_ends = [0.0, 0.0], [0.0, 0.0]
        fetched = mac_end = 0.0
        plane = None
        opened: list[_Held] = []
        for number, block in enumerate(self._blocks()):
            macs: list[Times] = []
            new_plane, plane = block[:2] != plane, block[:2]
            for step in self._steps(block, new_plane):
                if step.piece is not None:
                    begin = max(fetched, released[-2]) + _READ_LATENCY
                    fetched = begin + max(sum(step.piece.words), step.piece.pixels)
                    opened.append(_Held(step.piece, len(opened) % 2, (begin, fetched), []))
                if not self._elementwise:
                    start = max(mac_end, fetched, out_ends[-2] if not macs else 0.0)
                    if new_plane and not macs:
                        start = max(start, mac_end + self._weight_latency)
                    mac_end = start + max(step.cycles, 1.0)
                    macs.append((start, mac_end))
                    opened[-1].uses.append(((start, mac_end), block))
                    released.append(mac_end)
            start = max(out_ends[-1], fetched if self._elementwise else mac_end)
            out = start, start + _OUT_LATENCY + self._out_cycles(block)
            if self._elementwise:
                opened[-1].uses.append((out, block))
                released.append(out[1])
            out_ends.append(out[1])
            found += self._outputs(block, number % 2, macs, out)
        for held in opened:
            found += self._inputs(held)
        return found, out_ends[-1] + _STAGED

    def _blocks(self) -> Iterator[Box]:
        ofm, block = self._ofm, self._block
        for y in range(0, ofm.height, block.height):
            for x in range(0, ofm.width, block.width):
                for z in range(0, ofm.depth, block.depth):
                    yield (
                        (y, min(y + block.height, ofm.height)),
                        (x, min(x + block.width, ofm.width)),
                        (z, min(z + block.depth, ofm.depth)),
                    )

    def _steps(self, block: Box, new_plane: bool) -> Iterator[_Step]:
        config = self._config
        if isinstance(config, ElementwiseConfig):
            maps = [m for m in (config.ifm, config.ifm2) if m is not None]
            boxes = tuple(_within(block, m) for m in maps)
            words = tuple(words_of(box, m.element_bytes) for box, m in zip(boxes, maps, strict=True))
            yield _Step(_Piece(boxes, boxes[0][:2], words, sum(pixels(box) for box in boxes)), 0.0)
            return
        kernel, depth = config.kernel, config.ifm.depth
        channels, chunk = block[2], depth
        if not self._by_channel:
            channels = (0, depth)
            chunk = PIECE_BYTES // config.ifm.element_bytes
            if isinstance(config, ConvConfig):
                chunk = config.input_chunk
        spans_y, spans_x = _subkernels(kernel.y), _subkernels(kernel.x)
        # A piece that is the whole of the IFM that a position takes serves all its blocks.
        single = isinstance(config, ConvConfig) and not self._by_channel and depth <= chunk
        reused = single and len(spans_y) == len(spans_x) == 1 and not new_plane
        for z in range(channels[0], channels[1], chunk):
            own = (z, min(z + chunk, channels[1]))
            for taps_y, taps_x in product(spans_y, spans_x):
                frame = _span(kernel.y, block[0], taps_y), _span(kernel.x, block[1], taps_x)
                box = (_inside(frame[0], kernel.y), _inside(frame[1], kernel.x), own)
                piece = _Piece((box,), frame, (words_of(box, config.ifm.element_bytes),), pixels(box))
                cycles = self._mac_cycles(block, own, side(taps_y) * side(taps_x))
                yield _Step(None if reused else piece, cycles)

    def _mac_cycles(self, block: Box, channels: tuple[int, int], taps: int) -> float:
        """Return the cycles of a step: its vectors, for each group of pixels, or the bytes of its weights."""
        npu, config = self._npu, self._config
        planes = groups(block, npu)
        deep = math.ceil(side(block[2]) / npu.ublock_depth)
        if isinstance(config, ConvConfig):
            part = config.kernel.part_kernel_first or config.depthwise
            counted = 4 * math.ceil(taps / 4) if part else taps
            words = 1 if config.depthwise else math.ceil(side(channels) / WORD_BYTES)
            padded = words if part else config.input_chunk // WORD_BYTES
            vectors, used = deep * counted * padded, deep * taps * words
            return max(float(used * planes + vectors - used), vectors * self._weight_cycles)
        reduces = not self._by_channel
        words = math.ceil(side(channels) * config.ifm.element_bytes / 8) if reduces else 1
        return float(deep * taps * words * planes)

    def _out_cycles(self, block: Box) -> float:
        elements = math.prod(side(span) for span in block)
        cycles = elements / self._npu.lanes
        if isinstance(self._config, ConvConfig):
            cycles = max(cycles, float(_SCALE_BYTES * side(block[2])))
        return cycles

    def _inputs(self, held: _Held) -> Iterator[Stay]:
        config, uses = self._config, held.uses
        begin, end = uses[0][0][0], uses[-1][0][1]
        first, last = uses[0][1], uses[-1][1]
        reach = (first[0], first[1], (first[2][0], last[2][1]))
        read = (begin, end)
        if not self._by_channel:
            deep = math.ceil(side(last[2]) / self._npu.ublock_depth)
            read = (end - _LAST_READS * (end - uses[-1][0][0]) / deep, end)
        maps = [m for m in (config.ifm, getattr(config, "ifm2", None)) if m is not None]
        for role, box, tensor in zip(_OPERANDS, held.piece.boxes, maps, strict=False):
            rows = input_rows(config, self._npu, role, box, held.piece.frame, held.buffer)
            yield Stay(
                role, self._index, box, 8 * tensor.element_bytes, reach, held.written, read, (begin, end),
                self._by_channel, tuple(rows),
            )  # fmt: skip

    def _outputs(self, block: Box, buffer: int, macs: Sequence[Times], out: Times) -> Iterator[Stay]:
        size = self._ofm.element_bytes
        written = (out[0] + _OUT_LATENCY, out[1])
        read = (written[0] + _STAGED, written[1] + _STAGED)
        count = staged(block, size)
        rows = tuple(staged_rows(self.ring, count))
        self.ring = (self.ring + count) % RING_ROWS
        yield Stay(Role.STAGED, self._index, block, 8 * size, block, written, read, written, True, rows)
        if macs:
            group = self._npu.ublock_depth
            begin, end = macs[0]
            if groups(block, self._npu) == 1:  # a row that is added to in every cycle is forwarded, not read
                later = (end - begin) / math.ceil(side(block[2]) / group)
                begin, end = begin + later, end + later
            yield Stay(
                Role.ACCUMULATOR, self._index, block, ACCUMULATOR_BITS, block, (begin, end), out,
                (macs[-1][0], out[1]), True,
                tuple(accumulator_rows(self._config.output, self._npu, block, buffer)), group,
            )  # fmt: skip


def _subkernels(axis: Axis) -> list[Span]:
    return [(k, min(k + axis.subkernel, axis.taps)) for k in range(0, axis.taps, axis.subkernel)]


def _within(block: Box, tensor: FeatureMap) -> Box:
    """Return what a block takes of an elementwise operand; a broadcast side has one element."""
    sizes = (tensor.height, tensor.width, tensor.depth)
    y, x, z = ((0, 1) if size == 1 else side for side, size in zip(block, sizes, strict=True))
    return y, x, z


def _span(axis: Axis, outputs: tuple[int, int], taps: tuple[int, int]) -> tuple[int, int]:
    """Return the elements, of padding too, that these outputs take through these taps."""
    low = outputs[0] * axis.stride + taps[0] * axis.dilation - axis.pad_before
    high = (outputs[1] - 1) * axis.stride + (taps[1] - 1) * axis.dilation - axis.pad_before
    return (low >> 1, (high >> 1) + 1) if axis.upscale else (low, high + 1)


def _inside(span: tuple[int, int], axis: Axis) -> tuple[int, int]:
    """Return those of them that are in memory; at least one."""
    low = min(max(span[0], 0), axis.stored - 1)
    return low, max(min(span[1], axis.stored), low + 1)
