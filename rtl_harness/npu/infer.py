"""Runs a compiled network on inputs: on the NPU's RTL, or on the functional model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from networks.compile import CompiledNetwork
from rtl_harness.errors import HarnessError
from rtl_harness.npu.model.config import npu_config
from rtl_harness.npu.model.machine import FunctionalModel
from rtl_harness.npu.model.status import ERRORS, Status
from rtl_harness.npu.workload import ARENA, CONSTANTS, FAST_ARENA, layout, npu_workload
from rtl_harness.target import Target, load_target
from rtl_harness.verilated.runner import Runner

EngineName = Literal["rtl", "functional"]

# An inference that takes a hundred times the compiler's estimate has stalled.
STALL_FACTOR = 100
SHORTEST_LIMIT = 1_000_000

_MODEL_BATCH = 256


@dataclass(frozen=True)
class InferResult:
    """Outputs of N inferences, and how long they took.

    Attributes:
        outputs: The output tensors, (N, ...) without the batch axis of the network.
        cycles: Clock cycles from reset to the interrupt, (N,); zeros from the functional model.
        operation_cycles: Clock cycles from the end of the operation before (from reset for the first) to the
            end of each, (N, operations); zeros likewise.
        status: The NPU's STATUS word at the end, (N,).
    """

    outputs: npt.NDArray[np.generic]
    cycles: npt.NDArray[np.int64]
    operation_cycles: npt.NDArray[np.int64]
    status: npt.NDArray[np.uint32]


def infer(
    compiled: CompiledNetwork,
    inputs: npt.NDArray[np.int8],
    engine: EngineName = "rtl",
    *,
    target: Target | None = None,
    max_cycles: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> InferResult:
    """Run `compiled` on each input.

    Args:
        compiled: The network, compiled for one of the NPU's configurations.
        inputs: (N, ...), of the type and shape of the network's input without its batch axis.
        engine: The RTL compiled by Verilator, or the functional model.
        target: The RTL; the shipped target of the network's accelerator if None.
        max_cycles: Limit of one inference on the RTL; far more than the compiler's estimate if None.
        progress: Called with (inputs done, N) as the run goes on.

    Raises:
        HarnessError: If inputs do not fit, or the NPU reports an error or does not finish.
    """
    shape = tuple(compiled.inputs[0].shape)[1:]
    if inputs.ndim == 0 or inputs.shape[1:] != shape:
        raise HarnessError(f"{compiled.name}: expected inputs of shape (N, *{shape}), found {inputs.shape}")
    report = progress or (lambda done, total: None)
    if engine == "functional":
        return _infer_functional(compiled, inputs, report)
    chosen = target or load_target(compiled.accelerator)
    limit = max_cycles or max(SHORTEST_LIMIT, STALL_FACTOR * compiled.vela_total_cycles)
    return _infer_rtl(compiled, inputs, chosen, limit, report)


def status_names(status: int) -> str:
    """Return the names of the bits that are set in a STATUS word, without its interrupt mask.

    >>> status_names(0x42)
    'IRQ, 0x40'
    """
    bits = [1 << i for i in range(16) if status >> i & 1]
    known = {int(member): member.name or hex(member) for member in Status}
    return ", ".join(known.get(bit, hex(bit)) for bit in bits) or "none"


def _infer_rtl(
    compiled: CompiledNetwork,
    inputs: npt.NDArray[np.int8],
    target: Target,
    limit: int,
    report: Callable[[int, int], None],
) -> InferResult:
    workloads = [npu_workload(compiled, one, f"{compiled.name}, input {i}") for i, one in enumerate(inputs)]
    result = _empty(compiled, len(inputs))
    if not workloads:
        return result
    runner = Runner(target, workloads[0].parameters)
    for i, workload in enumerate(workloads):
        run = runner.run(workload, limit)
        where = f"{workload.name} on {target.name}"
        if not run.finished:
            raise HarnessError(
                f"{where}: no end within {limit} cycles, {len(run.operation_ends)} of "
                f"{len(compiled.operations)} operations done, STATUS {run.status:#x}"
            )
        _check(compiled, where, run.error, run.status, len(run.operation_ends))
        result.outputs[i] = workload.output.tensor(run.output).reshape(result.outputs.shape[1:])
        result.cycles[i] = run.cycles
        result.operation_cycles[i] = np.diff(run.operation_ends, prepend=0)
        result.status[i] = run.status
        report(i + 1, len(inputs))
    return result


def _infer_functional(
    compiled: CompiledNetwork, inputs: npt.NDArray[np.int8], report: Callable[[int, int], None]
) -> InferResult:
    model = FunctionalModel(npu_config(compiled.accelerator))
    placed = layout(compiled)
    source, sink = compiled.inputs[0], compiled.outputs[0]
    result = _empty(compiled, len(inputs))
    constants = np.frombuffer(compiled.constants, np.uint8).copy()
    for start in range(0, len(inputs), _MODEL_BATCH):
        batch = inputs[start : start + _MODEL_BATCH]
        regions = {CONSTANTS: constants}
        for region in (ARENA, FAST_ARENA):
            if region in placed.sizes:
                regions[region] = np.zeros((len(batch), placed.sizes[region]), np.uint8)
        raw = np.ascontiguousarray(batch).reshape(len(batch), -1).view(np.uint8)
        regions[source.region][:, source.offset : source.offset + source.size] = raw
        ends = model.run(compiled.commands, regions, read_only=frozenset({CONSTANTS}))
        for i, end in enumerate(ends):
            where = f"{compiled.name}, input {start + i} on the functional model"
            _check(compiled, where, end.error, end.status, end.operations_done)
            result.status[start + i] = end.status
        out = regions[sink.region][:, sink.offset : sink.offset + sink.size]
        tensors = np.ascontiguousarray(out).view(sink.dtype)
        result.outputs[start : start + len(batch)] = tensors.reshape(len(batch), *result.outputs.shape[1:])
        report(start + len(batch), len(inputs))
    return result


def _empty(compiled: CompiledNetwork, count: int) -> InferResult:
    slot = compiled.outputs[0]
    return InferResult(
        np.zeros((count, *tuple(slot.shape)[1:]), slot.dtype),
        np.zeros(count, np.int64),
        np.zeros((count, len(compiled.operations)), np.int64),
        np.zeros(count, np.uint32),
    )


def _check(compiled: CompiledNetwork, where: str, error: bool, status: int, done: int) -> None:
    total = len(compiled.operations)
    if error or status & int(ERRORS):
        at = (
            f"in or after operation {done} ({compiled.operations[min(done, total - 1)].name})"
            if total
            else ""
        )
        raise HarnessError(
            f"{where}: the NPU reports an error {at}, STATUS {status:#x} ({status_names(status)})"
        )
    if done != total:
        raise HarnessError(
            f"{where}: ended after {done} of {total} operations, STATUS {status:#x} ({status_names(status)})"
        )
