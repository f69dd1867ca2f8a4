# SPDX-License-Identifier: Apache-2.0
"""The outputs of a network's operations in the memory that they were written to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CONSTANTS_REGION
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.feature_map import place
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.program import Execute, ProgramStep
from resil.rtl_harness.npu.model.tensors import FeatureMap
from resil.rtl_harness.npu.tail import NpuTail

Tensor = npt.NDArray[np.generic]


@dataclass(frozen=True)
class OperationTensor:
    """The output of one operation.

    Attributes:
        operation: Number of the operation, from 0.
        name: Of the operation, for people.
        feature_map: Its shape, type and strides.
        offset: Where its region begins in the memory.
        region_bytes: Bytes of its region.
    """

    operation: int
    name: str
    feature_map: FeatureMap
    offset: int
    region_bytes: int

    def read(self, memory: npt.NDArray[np.uint8]) -> Tensor:
        """Return the tensor in the memory's bytes, (height, width, depth); what lies beyond is zero."""
        tensor = self.feature_map
        placed = place(tensor, range(0, tensor.depth, 16) if tensor.bricks else [0], self.region_bytes)
        starts = placed.offsets[..., None] + self.offset + np.arange(tensor.element_bytes)
        inside = (starts < len(memory)) & placed.inside[..., None]
        found = np.where(inside, memory[np.where(inside, starts, 0)], np.uint8(0)).astype(np.uint8)
        return np.ascontiguousarray(found).view(tensor.dtype)[..., 0]


class OperationTensors:
    """The outputs of the operations of a compiled network on the NPU's bench.

    Args:
        tail: Of the workload: it knows the network, and where its regions lie.

    Attributes:
        memory: Name of the memory that they lie in.
        tensors: By number of the operation; those that are written elsewhere are absent.
    """

    def __init__(self, tail: NpuTail) -> None:
        self.memory = tail.memory
        self._tail = tail
        self._model = FunctionalModel(npu_config(tail.compiled.accelerator))
        self._read_only = frozenset({CONSTANTS_REGION})
        program = self._model.lower(tail.compiled.commands, self._read_only)
        self.tensors = {
            one.operation: one for one in map(self._tensor, program.operations) if one is not None
        }

    def modelled(self, memory: bytes) -> dict[int, Tensor]:
        """Return what the functional model computes of each operation, by its number.

        Args:
            memory: What the memory holds before the run.

        Raises:
            HarnessError: An operation is too large for the model.
        """
        tail = self._tail
        image = np.frombuffer(memory, np.uint8).copy()
        regions = {
            region: image[offset : offset + tail.sizes[region]]
            for region, offset in tail.regions.items()
            if region != CONSTANTS_REGION
        }
        regions[CONSTANTS_REGION] = np.frombuffer(tail.compiled.constants, np.uint8)
        steps = self._model.operations(tail.compiled.commands, regions, read_only=self._read_only)
        return {
            step.index: self.tensors[step.index].read(image) for step in steps if step.index in self.tensors
        }

    def _tensor(self, step: ProgramStep) -> OperationTensor | None:
        action, tail = step.action, self._tail
        assert isinstance(action, Execute)
        written = action.config.output.ofm
        if written.region == CONSTANTS_REGION or written.region not in tail.regions:
            return None
        named = tail.compiled.operations
        name = named[action.index].name if action.index < len(named) else action.kind.name
        size = tail.sizes[written.region]
        return OperationTensor(action.index, name, written, tail.regions[written.region], size)
