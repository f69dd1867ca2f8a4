# SPDX-License-Identifier: Apache-2.0
"""What a network's activations reach on given inputs: the range of each operation's output, on the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.batches import batches, output_tensors
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.feature_map import place, write_cuts
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.program import Execute
from resil.rtl_harness.npu.workload import CONSTANTS, Array, layout

Ranges = npt.NDArray[np.int64]


def activation_ranges(
    compiled: CompiledNetwork,
    inputs: Sequence[Array],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Ranges, tuple[Array, ...]]:
    """Run inputs on the functional model; return what each operation stored at least and at most.

    Args:
        compiled: The network.
        inputs: For each input of the NPU N tensors, (N, ...), N at least 1.
        progress: Called with (inputs done, N) as the run goes on.

    Returns:
        Least and greatest level of each operation with int8 output over all inputs, (operations, 2); of
        others the full range of int8. And the NPU's outputs, (N, ...) each.

    Raises:
        HarnessError: The NPU reports an error, or an operation stores outside its region.
    """
    model, sizes = FunctionalModel(npu_config(compiled.accelerator)), layout(compiled).sizes
    program = model.lower(compiled.commands, frozenset({CONSTANTS}))
    places = []
    for operation in program.operations:
        assert isinstance(operation.action, Execute)
        output = operation.action.config.output
        one_byte = output.ofm.element_bytes == 1 and output.ofm.signed
        offsets = place(output.ofm, write_cuts(output.ofm, output.block.depth), sizes[output.ofm.region])
        places.append((output.ofm.region, offsets.offsets.reshape(-1) if one_byte else None))
    found = np.array([[127, -128] if at is not None else [-128, 127] for _, at in places], dtype=np.int64)
    outputs = []
    count = len(inputs[0])
    for start, regions in batches(compiled, inputs):
        steps = model.operations(compiled.commands, regions, read_only=frozenset({CONSTANTS}))
        for step in steps:
            region, at = places[step.index]
            if step.errors.any():
                raise HarnessError(
                    f"{compiled.name}: the NPU reports an error in operation {step.index} "
                    f"({compiled.operations[step.index].name}) on an input from {start} on",
                    f"operations[{step.index}]",
                )
            if at is not None:
                stored = regions[region][:, at].view(np.int8)
                low, high = found[step.index]
                found[step.index] = min(low, int(stored.min())), max(high, int(stored.max()))
        outputs.append(output_tensors(compiled, regions))
        progress(min(start + len(outputs[-1][0]), count), count)
    return found, tuple(np.concatenate(parts) for parts in zip(*outputs, strict=True))
