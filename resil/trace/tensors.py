# SPDX-License-Identifier: Apache-2.0
"""The tensors of a run with a fault, compared with what they should be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from resil.record.trace import TraceElement, TraceTensor
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.trace.fault_trace import FaultTrace
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.operation_tensors import OperationTensors
from resil.rtl_harness.npu.tail import NpuTail

MODEL, GOLDEN = "functional model", "golden run"
Tensor = npt.NDArray[np.generic]


class TensorReader:
    """Reads the tensors of a workload: outputs of operations where they are known, and of the run.

    Args:
        engine: Of the workload.

    Attributes:
        memory: Memory of the target that holds what operations write; None if it is not known.
    """

    def __init__(self, engine: VerilatorEngine) -> None:
        self._engine = engine
        tail = engine.workload.tail
        self._operations = OperationTensors(tail) if isinstance(tail, NpuTail) else None
        self.memory = None if self._operations is None else self._operations.memory
        self._modelled: dict[int, Tensor] | None = None

    def compared(self, trace: FaultTrace) -> tuple[tuple[TraceTensor, ...], tuple[str, ...]]:
        """Return all tensors that were written after the fault, and what limits what is said of them."""
        notes: list[str] = []
        return (*self._of_operations(trace, notes), *self._outputs(trace)), tuple(notes)

    def _of_operations(self, trace: FaultTrace, notes: list[str]) -> list[TraceTensor]:
        if self._operations is None or not trace.snapshots:
            return []
        reference = self._reference(len(trace.snapshots[0].golden), notes)
        found, unlike = [], []
        for snapshot in trace.snapshots:
            tensor = self._operations.tensors.get(snapshot.operation)
            if tensor is None:
                continue
            golden, faulty = (
                tensor.read(np.frombuffer(memory, np.uint8)) for memory in (snapshot.golden, snapshot.faulty)
            )
            expected = reference.get(snapshot.operation, golden)
            if not np.array_equal(expected, golden):
                unlike.append(tensor.name)
            found.append(
                _compared(
                    tensor.name,
                    snapshot.operation,
                    MODEL if snapshot.operation in reference else GOLDEN,
                    (snapshot.golden_cycle, snapshot.faulty_cycle),
                    expected,
                    faulty,
                )
            )
        if unlike:
            notes.append(
                "the functional model has another output than the golden run when these operations end: "
                f"{', '.join(unlike)}; elements that differ there are not all the fault's"
            )
        return found

    def _reference(self, size: int, notes: list[str]) -> dict[int, Tensor]:
        """Return what the functional model computes of each operation; nothing if it cannot."""
        if self._modelled is None:
            assert self._operations is not None
            image = self._engine.workload.images.get(self._operations.memory, b"")
            try:
                self._modelled = self._operations.modelled(image.ljust(size, b"\0"))
            except HarnessError as error:
                notes.append(f"outputs of operations are compared with the golden run's alone: {error}")
                self._modelled = {}
        return self._modelled

    def _outputs(self, trace: FaultTrace) -> list[TraceTensor]:
        workload, golden = self._engine.workload, self._engine.golden().end
        both = workload.tensors(golden.output), workload.tensors(trace.output)
        cycles = golden.end_cycle, trace.injection.end_cycle
        return [
            _compared(f"output at byte {spec.offset} of {spec.memory}", None, GOLDEN, cycles, *tensors)
            for spec, *tensors in zip(workload.outputs, *both, strict=True)
            if spec.written
        ]


def _compared(
    name: str,
    operation: int | None,
    reference: str,
    cycles: tuple[int, int],
    expected: Tensor,
    found: Tensor,
) -> TraceTensor:
    wrong = np.argwhere(expected != found)
    errors = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    first = None
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        first = TraceElement(index=place, expected=expected[place].item(), found=found[place].item())
    return TraceTensor(
        name=name,
        operation=operation,
        reference=reference,
        golden_cycle=cycles[0],
        faulty_cycle=cycles[1],
        shape=tuple(expected.shape),
        wrong=len(wrong),
        first=first,
        largest_error=float(errors.max(initial=0.0)),
        mean_error=float(errors.sum() / len(wrong)) if len(wrong) else 0.0,
    )
