# SPDX-License-Identifier: Apache-2.0
"""Upsets of the memories outside the NPU, as the functional model sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork
from resil.rtl_harness.npu.batches import batches, output_tensors
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.memory import Bytes
from resil.rtl_harness.npu.model.status import ERRORS
from resil.rtl_harness.npu.workload import CONSTANTS, Array


@dataclass(frozen=True)
class DamagedRun:
    """Inferences with damaged weights in memory.

    Attributes:
        outputs: Each of the NPU's outputs, (N, ...) without a batch axis of one.
        detected: Whether the NPU reported an error, (N,); its output counts for nothing then.
    """

    outputs: tuple[Array, ...]
    detected: npt.NDArray[np.bool_]


def flipped(data: bytes, bits: npt.ArrayLike) -> Bytes:
    """Return the bytes with these bits inverted: bit i is bit i % 8 of byte i // 8; each is there once.

    >>> flipped(bytes([0, 1]), [3, 8]).tolist()
    [8, 0]
    """
    positions = np.asarray(bits, dtype=np.int64)
    found = np.frombuffer(data, np.uint8).copy()
    np.bitwise_xor.at(found, positions >> 3, (1 << (positions & 7)).astype(np.uint8))
    return found


class WeightMemory:
    """Inferences of a network with other bytes in the memory of weights, scales and tables.

    A broken weight stream is decoded as the hardware decodes it; what it lacks is zero and reported.

    Args:
        compiled: The network.
        inputs: For each input of the NPU N tensors, (N, ...).
    """

    def __init__(self, compiled: CompiledNetwork, inputs: Sequence[Array]) -> None:
        self._compiled = compiled
        self._inputs = tuple(inputs)
        self._model = FunctionalModel(npu_config(compiled.accelerator))

    def run(self, constants: Bytes) -> DamagedRun:
        """Run all inputs with `constants` as region 0; ValueError if it has more or fewer bytes."""
        compiled, size = self._compiled, len(self._compiled.constants)
        if len(constants) != size:
            raise ValueError(f"expected {size} bytes of constants, found {len(constants)}")
        outputs, detected = [], []
        for _, regions in batches(compiled, self._inputs, constants):
            ends = self._model.run(compiled.commands, regions, read_only=frozenset({CONSTANTS}))
            detected += [bool(end.status & int(ERRORS)) for end in ends]
            outputs.append(output_tensors(compiled, regions))
        joined = tuple(np.concatenate(parts) for parts in zip(*outputs, strict=True))
        return DamagedRun(joined, np.array(detected, np.bool_))
