# SPDX-License-Identifier: Apache-2.0
"""Where the units of the NPU lay data in the shared buffer: rows of 128 bits, counted over its banks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from resil.rtl_harness.npu.buffer.stays import (
    BANK_ROWS,
    RING_ROWS,
    ROW_BYTES,
    WORD_BYTES,
    Box,
    Role,
    Span,
    groups,
    pixels,
    side,
)
from resil.rtl_harness.npu.model.config import STAGING_BANKS, NpuConfig
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig
from resil.rtl_harness.npu.model.output_config import Output
from resil.rtl_harness.npu.model.program import OperationConfig


def input_rows(
    config: OperationConfig, npu: NpuConfig, role: Role, box: Box, frame: tuple[Span, Span], buffer: int
) -> Iterator[tuple[int, int]]:
    """Yield the rows of a piece of the IFM, or of an operand, each first row and number.

    Args:
        config: The operation.
        npu: The accelerator.
        role: Which operand.
        box: Elements in memory that the piece has.
        frame: Its rows and columns with padding.
        buffer: 0 or 1.
    """
    banks = config.output.banks
    if isinstance(config, ElementwiseConfig):
        tensor = config.ifm2 if role is Role.OPERAND and config.ifm2 is not None else config.ifm
        first, end = STAGING_BANKS, banks.inputs_end
        if config.ifm2 is not None:
            first, end = (first, banks.second) if role is Role.INPUT else (banks.second, end)
        words = pixels(box) * math.ceil(side(box[2]) * tensor.element_bytes / WORD_BYTES)
        bank = first + buffer * ((end - first) // 2)
        yield bank * BANK_ROWS, math.ceil(words * WORD_BYTES / ROW_BYTES)
        return
    words = math.ceil(side(box[2]) * config.ifm.element_bytes / WORD_BYTES)
    bank = STAGING_BANKS + buffer * ((banks.inputs_end - STAGING_BANKS) // 2 // npu.lanes * npu.lanes)
    high, wide = npu.ublock_height, npu.ublock_width
    if npu.is_one_row(config.output.ofm.height, config.kernel.y.extent):
        high, wide = 1, npu.lanes
    # With a kernel the pixels are spread over the banks of all lanes.
    pitch = math.ceil(side(frame[1]) / wide) * words
    low = (box[0][0] - frame[0][0]) // high * pitch * WORD_BYTES // ROW_BYTES
    end = math.ceil((box[0][1] - frame[0][0]) / high) * pitch * WORD_BYTES
    end = min(math.ceil(end / ROW_BYTES), npu.ifm_words(banks.inputs_end) * WORD_BYTES // ROW_BYTES)
    for group in range(low // BANK_ROWS, math.ceil(end / BANK_ROWS)):
        first, last = max(low - group * BANK_ROWS, 0), min(end - group * BANK_ROWS, BANK_ROWS)
        for lane in range(npu.lanes):
            yield (bank + group * npu.lanes + lane) * BANK_ROWS + first, last - first


def accumulator_rows(output: Output, npu: NpuConfig, block: Box, buffer: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of a block's accumulators, each first row and number; `buffer` is 0 or 1."""
    banks, start = npu.accumulator_banks, output.banks.accumulators
    end = npu.buffers_end(output.activation.table is not None)
    offset = npu.usable_banks % banks
    group = (start - offset) // banks + buffer * ((end - start) // 2 // banks)
    rows = groups(block, npu) * math.ceil(side(block[2]) / npu.ublock_depth)
    for part in range(math.ceil(rows / BANK_ROWS)):
        for bank in range(banks):
            at = ((group + part) * banks + offset + bank) * BANK_ROWS
            yield at, min(rows - part * BANK_ROWS, BANK_ROWS)


def staged(block: Box, element_bytes: int) -> int:
    """Return the rows of the staging area that a block takes: 16 bytes of a pixel each."""
    return pixels(block) * math.ceil(side(block[2]) * element_bytes / ROW_BYTES)


def staged_rows(first: int, count: int) -> Iterator[tuple[int, int]]:
    """Yield rows of the staging area, a ring over two banks in turn, each first row and number.

    >>> list(staged_rows(1, 4)), list(staged_rows(127, 2))
    ([(1, 2), (64, 2)], [(127, 1), (0, 1)])
    """
    if count >= RING_ROWS:
        yield 0, RING_ROWS
        return
    for low, high in ((first, min(first + count, RING_ROWS)), (0, first + count - RING_ROWS)):
        for bank, begin, end in ((0, -(-low // 2), -(-high // 2)), (1, low // 2, high // 2)):
            if begin < end and low < high:
                yield bank * BANK_ROWS + begin, end - begin
