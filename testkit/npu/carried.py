# SPDX-License-Identifier: Apache-2.0
"""What follows a stretch, the slow way: later parts on the RTL, from a memory image that is carried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from resil.networks.parts import HostPart, NpuPart, PartedNetwork, Values, begin, results
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import Course, Workload, top1
from resil.rtl_harness.npu.workload import npu_workload

LIMIT = 200_000
_DIRT = 0xA5


@dataclass
class CarriedSequel:
    """The sequel of one stretch, without the functional model.

    Bytes of the SRAM that no part is given hold anything, as after other parts and faults.

    Attributes:
        network: The network.
        inferences: Tensors that each begins with.
        inference: Number of the struck one.
        number: Number of the struck part.
        before: Values before that part, without a fault.
        kept: Tensors that the host keeps meanwhile, by index.
        golden: As of `resil.rtl_harness.engine.workload.Sequel`.
        runner: The NPU.
        several: As of `Sequel`.
        runs: Later parts that were run on the RTL.
    """

    network: PartedNetwork
    inferences: Sequence[Sequence[np.ndarray]]
    inference: int
    number: int
    before: Values
    kept: tuple[int, ...]
    golden: bytes
    runner: Runner
    several: bool
    runs: int = 0

    def course(self, raw: bytes) -> Course:
        """Return what comes of the raw outputs of the stretch."""
        part = self.network.parts[self.number]
        assert isinstance(part, NpuPart)
        values, start = dict(self.before), 0
        for index in (*part.outputs, *self.kept):
            tensor = self.network.graph.tensors[index]
            size = int(np.prod(tensor.shape)) * np.dtype(tensor.dtype).itemsize
            values[index] = np.frombuffer(raw[start : start + size], tensor.dtype).reshape(tensor.shape)
            start += size
        assert start == len(raw)
        outputs, after = [], self.number + 1
        for number in range(self.inference, len(self.inferences)):
            for later in self.network.parts[after:]:
                self._run(later, values)
            outputs.append(results(self.network, values))
            if number + 1 < len(self.inferences):
                values, after = begin(self.network, self.inferences[number + 1], values), 0
        raws = tuple(b"".join(tensor.tobytes() for tensor in found) for found in outputs)
        return Course(raws, tuple(top1(found[0]) for found in outputs))

    def _run(self, part: NpuPart | HostPart, values: Values) -> None:
        if isinstance(part, HostPart):
            part.run(values)
            return
        run = self.runner.run(self._dirty(part, values), LIMIT)
        assert run.finished
        assert not run.error
        self.runs += 1
        found = npu_workload(part.compiled, [values[i] for i in part.inputs]).tensors(run.output)
        values.update(zip(part.outputs, found, strict=True))

    def _dirty(self, part: NpuPart, values: Values) -> Workload:
        one, other = ([np.full_like(values[i], fill) for i in part.inputs] for fill in (0, 1))
        marks = [
            np.frombuffer(npu_workload(part.compiled, own).images["sram"], np.uint8) for own in (one, other)
        ]
        made = npu_workload(part.compiled, [values[i] for i in part.inputs])
        sram = np.where(marks[0] == marks[1], _DIRT, np.frombuffer(made.images["sram"], np.uint8))
        dirty = {**made.images, "sram": sram.astype(np.uint8).tobytes()}
        return replace(made, images=dirty, parameters=self.runner.parameters)
