# SPDX-License-Identifier: Apache-2.0
"""Inferences of a network in parts, one after another, as stretches: each one part's run on the NPU's bench.

A fault strikes in one stretch. What follows it has no fault of its own, only other data: the host's operators
are computed by the reference, later parts by the functional model, from what the stretch left in memory. The
host resets the NPU before each stretch, and keeps in the SRAM what is still needed of all tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from resil.networks.compile import CompiledNetwork
from resil.networks.parts import HostPart, NpuPart, PartedNetwork, Values, begin, results, run_part
from resil.rtl_harness.engine.workload import Course, Decision, Workload, decided
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.batches import batches, output_tensors
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.status import ERRORS
from resil.rtl_harness.npu.workload import CONSTANTS, Array, npu_workload

_COURSES = 4096
"""Courses that are remembered: many faults leave the same outputs."""


class PartedModel:
    """Computes inferences of a network in parts, with the functional model as its NPU.

    Args:
        network: The network.
    """

    def __init__(self, network: PartedNetwork) -> None:
        self.network = network
        self._model = FunctionalModel(npu_config(network.accelerator))

    def run(self, part: NpuPart | HostPart, values: Values) -> None:
        """Add what a part computes to the values of an inference.

        Raises:
            HarnessError: The NPU reports an error.
        """
        run_part(self.network, part, [values], self._npu)

    def _npu(self, compiled: CompiledNetwork, inputs: Sequence[Array]) -> tuple[Array, ...]:
        ((_, regions),) = batches(compiled, inputs)
        (end,) = self._model.run(compiled.commands, regions, read_only=frozenset({CONSTANTS}))
        if end.error or end.status & int(ERRORS):
            raise HarnessError(
                f"{self.network.name}: expected the functional model to compute "
                f"{compiled.operations[-1].name} without an error, found STATUS {end.status:#x}"
            )
        return output_tensors(compiled, regions)

    def outputs(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Return the outputs of one inference; tensors with or without a batch of one."""
        values = begin(self.network, inputs)
        for part in self.network.parts:
            self.run(part, values)
        return results(self.network, values)


class _Whole:
    """Inferences without a fault, which can be taken up after any part with other values."""

    def __init__(
        self,
        network: PartedNetwork,
        inferences: Sequence[Sequence[Array]],
        decisions: Sequence[Decision],
        decided: int,
    ) -> None:
        self.network, self.inferences, self.decided = network, inferences, decided
        self.decisions = decisions
        self.model = PartedModel(network)
        # Of each inference, the values before each part and behind the last.
        self.before: list[list[Values]] = []
        values: Values | None = None
        for given in inferences:
            values = begin(network, given, values)
            states = [dict(values)]
            for part in network.parts:
                self.model.run(part, values)
                states.append(dict(values))
            self.before.append(states)

    def course(self, inference: int, after: int, values: Values) -> Course:
        """Return what comes of values after so many parts of an inference."""
        outputs, decisions = [], []
        for number in range(inference, len(self.inferences)):
            values = self._ended(number, after, values)
            found = results(self.network, values)
            outputs.append(b"".join(tensor.tobytes() for tensor in found))
            decisions.append(decided(self.decisions[number], found, self.decided))
            if number + 1 < len(self.inferences):
                after, values = 0, begin(self.network, self.inferences[number + 1], values)
        return Course(tuple(outputs), tuple(decisions))

    def _ended(self, inference: int, after: int, values: Values) -> Values:
        """Return the values at the end of an inference; without differences no more is computed."""
        values = dict(values)
        for number in range(after, len(self.network.parts)):
            golden = self.before[inference][number]
            kept = self.network.kept[number - 1] if number else golden.keys()
            if all(np.array_equal(values[i], golden[i]) for i in kept if i in golden):
                return self.before[inference][-1]
            self.model.run(self.network.parts[number], values)
        return values


class _Sequel:
    """What follows one stretch; see `resil.rtl_harness.engine.workload.Sequel`."""

    def __init__(self, whole: _Whole, inference: int, number: int, kept: Sequence[int]) -> None:
        part = whole.network.parts[number]
        assert isinstance(part, NpuPart)
        self.several = len(whole.inferences) > 1
        self.inference, self.number, self.kept = inference, number, tuple(kept)
        self.before = whole.before[inference][number]
        self._whole = whole
        self._indices = (*part.outputs, *kept)
        after = whole.before[inference][number + 1]
        self.golden = b"".join(after[i].tobytes() for i in self._indices)
        self.course = lru_cache(_COURSES)(self._course)

    def _course(self, raw: bytes) -> Course:
        values = dict(self.before)
        start = 0
        for index in self._indices:
            tensor = self._whole.network.graph.tensors[index]
            size = int(np.prod(tensor.shape)) * np.dtype(tensor.dtype).itemsize
            values[index] = np.frombuffer(raw[start : start + size], tensor.dtype).reshape(tensor.shape)
            start += size
        return self._whole.course(self.inference, self.number + 1, values)


def stretches(
    network: PartedNetwork,
    inferences: Sequence[Sequence[Array]],
    name: str,
    decisions: Sequence[Decision],
    decided: int = 0,
) -> tuple[Workload, ...]:
    """Return the runs of the NPU that inferences of a network take, in order.

    All have the same parameters. The outputs of each are those of its part, then what the host keeps.

    Args:
        network: The network.
        inferences: What each begins with: a tensor for each input, with or without a batch of one.
        name: For people.
        decisions: Reads the decision of each inference from an output of the network.
        decided: Number of that output.

    Raises:
        HarnessError: The bench cannot hold a part, or the model cannot compute it.
    """
    whole = _Whole(network, inferences, decisions, decided)
    found = []
    for inference, states in enumerate(whole.before):
        for number, part in enumerate(network.parts):
            if not isinstance(part, NpuPart):
                continue
            values = states[number]
            kept = sorted(network.kept[number] & values.keys())
            own = npu_workload(
                part.compiled,
                [values[i] for i in part.inputs],
                f"{name}{_place(network, inferences, inference, number)}",
                kept=[values[i] for i in kept],
            )
            found.append(replace(own, sequel=_Sequel(whole, inference, number, kept)))
    most: dict[str, int] = {}
    for workload in found:
        most |= {key: max(value, most.get(key, 0)) for key, value in workload.parameters.items()}
    return tuple(replace(workload, parameters=most) for workload in found)


def _place(network: PartedNetwork, inferences: Sequence[object], inference: int, number: int) -> str:
    parts = [n for n, part in enumerate(network.parts) if isinstance(part, NpuPart)]
    own = f", inference {inference + 1}" if len(inferences) > 1 else ""
    return f"{own}, part {parts.index(number) + 1}" if len(parts) > 1 else own
