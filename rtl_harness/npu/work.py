# SPDX-License-Identifier: Apache-2.0
"""What each operation of a compiled network makes the NPU do: work that its cycles can be predicted from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from resil.networks.compile import CompiledNetwork
from resil.rtl_harness.npu.buffer.liveness import walk_cycles
from resil.rtl_harness.npu.model.config import NpuConfig, npu_config
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig
from resil.rtl_harness.npu.model.kernel import Kernel
from resil.rtl_harness.npu.model.pool_config import PoolConfig
from resil.rtl_harness.npu.model.program import Copy, Execute, OperationConfig, lower
from resil.rtl_harness.npu.model.tensors import FeatureMap
from resil.rtl_harness.npu.model.weight_order import weight_order
from resil.rtl_harness.npu.workload import CONSTANTS

KINDS = ("conv", "dense", "depthwise", "pool", "elementwise")
_BEAT_BYTES = 8
_BRICK = 16


@dataclass(frozen=True)
class OperationWork:
    """One operation, as far as its cost depends on it. All counts are totals over its blocks.

    Attributes:
        kind: One of `KINDS`; "dense" is a convolution with one output pixel.
        shape: Height, width and depth of the output.
        element_bytes: Of an element of the output.
        blocks: Number of blocks.
        vectors: Weight vectors that are decoded.
        mac_steps: Weight vectors times the micro-blocks of a plane that each is used for.
        input_words: 64-bit words that are read of the inputs.
        input_pixels: Pixels that are read, each with an address of its own.
        weight_words: 64-bit words of weights and scales that are read.
        outputs: Output elements, over the elements that leave the output unit a cycle.
        output_groups: Groups of up to 16 bytes that are written.
        output_words: 64-bit words of the output.
        command_words: Words of the command stream since the operation before.
        copy_words: 64-bit words that are copied since the operation before.
        walk: Cycles of the walk over its blocks, each unit at its pace (`buffer/walk.py`).
    """

    kind: str
    shape: tuple[int, int, int]
    element_bytes: int
    blocks: float = 0.0
    vectors: float = 0.0
    mac_steps: float = 0.0
    input_words: float = 0.0
    input_pixels: float = 0.0
    weight_words: float = 0.0
    outputs: float = 0.0
    output_groups: float = 0.0
    output_words: float = 0.0
    command_words: float = 0.0
    copy_words: float = 0.0
    walk: float = 0.0


def operation_work(compiled: CompiledNetwork) -> tuple[OperationWork, ...]:
    """Return the work of each operation of `compiled`, in order."""
    npu = npu_config(compiled.accelerator)
    found, last_word, copied = [], 0, 0.0
    for step in lower(compiled.commands, npu, frozenset({CONSTANTS})).steps:
        if isinstance(step.action, Copy):
            copied += step.action.length / _BEAT_BYTES
        elif isinstance(step.action, Execute):
            found.append(_work(step.action.config, npu, float(step.next_word - last_word), copied))
            last_word, copied = step.next_word, 0.0
    return tuple(found)


def _work(config: OperationConfig, npu: NpuConfig, commands: float, copied: float) -> OperationWork:
    output, ofm = config.output, config.output.ofm
    rows, columns = (
        math.ceil(ofm.height / output.block.height),
        math.ceil(ofm.width / output.block.width),
    )
    planes, depths = rows * columns, math.ceil(ofm.depth / output.block.depth)
    vectors = steps = weight_words = 0.0
    if isinstance(config, ConvConfig):
        lanes = 1 if config.depthwise else 8
        vectors_a_plane = weight_order(config, npu).count / (npu.ublock_depth * lanes)
        vectors = vectors_a_plane * planes
        unit = (npu.ublock_height, npu.ublock_width)
        if npu.is_one_row(ofm.height, config.kernel.y.extent):
            unit = (1, npu.lanes)
        steps = vectors_a_plane * _ublocks(ofm, output.block.height, output.block.width, unit)
        weight_words = planes * (config.weights.length + config.scales.length) / _BEAT_BYTES
    words, pixels = _input(config, planes * depths)
    return OperationWork(
        kind=_kind(config),
        shape=(ofm.height, ofm.width, ofm.depth),
        element_bytes=ofm.element_bytes,
        blocks=float(planes * depths),
        vectors=vectors,
        mac_steps=steps,
        input_words=words,
        input_pixels=pixels,
        weight_words=weight_words,
        outputs=ofm.elements / npu.lanes,
        output_groups=float(ofm.height * ofm.width * math.ceil(ofm.depth * ofm.element_bytes / _BRICK)),
        output_words=ofm.height * ofm.width * math.ceil(ofm.depth * ofm.element_bytes / _BEAT_BYTES) * 1.0,
        command_words=commands,
        copy_words=copied,
        walk=round(walk_cycles(config, npu), 1),
    )


def _kind(config: OperationConfig) -> str:
    if isinstance(config, ConvConfig):
        if config.depthwise:
            return "depthwise"
        return "dense" if config.output.ofm.height * config.output.ofm.width == 1 else "conv"
    return "pool" if isinstance(config, PoolConfig) else "elementwise"


def _ublocks(ofm: FeatureMap, height: int, width: int, unit: tuple[int, int]) -> int:
    """Return the micro-blocks, of `unit` pixels down and across, of all planes of blocks."""

    def along(size: int, block: int, unit: int) -> int:
        whole, rest = divmod(size, block)
        return whole * math.ceil(block / unit) + math.ceil(rest / unit)

    return along(ofm.height, height, unit[0]) * along(ofm.width, width, unit[1])


def _input(config: OperationConfig, blocks: int) -> tuple[float, float]:
    """Return the 64-bit words and the pixels that are read of the inputs."""
    if isinstance(config, ElementwiseConfig):
        maps = [m for m in (config.ifm, config.ifm2) if m is not None]
        pixels = sum(m.height * m.width for m in maps)
        each = [m.height * m.width * math.ceil(m.depth * m.element_bytes / _BEAT_BYTES) for m in maps]
        return float(sum(each)), pixels
    kernel, depth = config.kernel, config.ifm.depth
    channels = chunk = min(depth, config.output.block.depth)
    if isinstance(config, ConvConfig) and not config.depthwise:
        channels, chunk = depth, min(depth, config.input_chunk)
    area = min(kernel.y.piece, kernel.y.stored) * min(kernel.x.piece, kernel.x.stored)
    read = float(blocks * area * _pieces(kernel))
    visits = math.ceil(channels / chunk)
    words = read * visits * math.ceil(chunk * config.ifm.element_bytes / _BEAT_BYTES)
    return words, read * visits


def _pieces(kernel: Kernel) -> int:
    """Return how many pieces of the kernel a block is worked on with."""
    return math.ceil(kernel.y.taps / kernel.y.subkernel) * math.ceil(kernel.x.taps / kernel.x.subkernel)
