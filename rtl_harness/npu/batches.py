# SPDX-License-Identifier: Apache-2.0
"""Inputs as batches of memory images for the functional model, and outputs out of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from resil.networks.compile import CompiledNetwork
from resil.networks.ends import each_shape
from resil.rtl_harness.npu.images import batch_size
from resil.rtl_harness.npu.model.memory import Bytes
from resil.rtl_harness.npu.workload import ARENA, CONSTANTS, FAST_ARENA, Array, layout

BATCH = 256


def batches(
    compiled: CompiledNetwork, inputs: Sequence[Array], constants: Bytes | None = None
) -> Iterator[tuple[int, dict[int, Bytes]]]:
    """Yield batches of at most `BATCH` inputs, fewer of a large network: the first's number, and the regions.

    Args:
        compiled: The network.
        inputs: For each input of the NPU N tensors, (N, ...), of its type and shape.
        constants: Region 0 in place of the network's own, shape (bytes,).
    """
    placed = layout(compiled)
    if constants is None:
        constants = np.frombuffer(compiled.constants, np.uint8)
    most = batch_size(placed.sram_bytes, BATCH)
    for start in range(0, len(inputs[0]), most):
        parts = [values[start : start + most] for values in inputs]
        size = len(parts[0])
        regions = {CONSTANTS: constants}
        for region in (ARENA, FAST_ARENA):
            if region in placed.sizes:
                regions[region] = np.zeros((size, placed.sizes[region]), np.uint8)
        for slot, part in zip(compiled.inputs, parts, strict=True):
            raw = np.ascontiguousarray(part).reshape(size, -1).view(np.uint8)
            regions[slot.region][:, slot.offset : slot.offset + slot.size] = raw
        yield start, regions


def output_tensors(compiled: CompiledNetwork, regions: dict[int, Bytes]) -> tuple[Array, ...]:
    """Return the NPU's outputs out of a batch's regions, (n, ...) each without a batch axis of one."""
    found = []
    for slot in compiled.outputs:
        raw = regions[slot.region][:, slot.offset : slot.offset + slot.size]
        found.append(np.ascontiguousarray(raw).view(slot.dtype).reshape(-1, *each_shape(slot.shape)))
    return tuple(found)
