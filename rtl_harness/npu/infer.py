# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled network on inputs: on the NPU's RTL, or on the functional model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork
from resil.networks.ends import each_shape
from resil.networks.parts import PartedNetwork, Values, begin, results, run_part
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.batches import batches, output_tensors
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.status import ERRORS, Status
from resil.rtl_harness.npu.refusals import check_taken
from resil.rtl_harness.npu.workload import CONSTANTS, Array, Tensors, npu_workload, one_each

EngineName = Literal["rtl", "functional"]

# An inference that takes a hundred times the compiler's estimate has stalled.
STALL_FACTOR = 100
SHORTEST_LIMIT = 1_000_000


@dataclass(frozen=True)
class InferResult:
    """Outputs of N inferences, and how long they took.

    Attributes:
        outputs: Each of the NPU's outputs, (N, ...) without a batch axis of one.
        cycles: Clock cycles from reset to the interrupt, (N,); zeros from the functional model.
        operation_cycles: Clock cycles from the end of the operation before (from reset for the first) to the
            end of each, (N, operations); zeros likewise.
        status: The NPU's STATUS word at the end, (N,).
    """

    outputs: tuple[Array, ...]
    cycles: npt.NDArray[np.int64]
    operation_cycles: npt.NDArray[np.int64]
    status: npt.NDArray[np.uint32]


def infer_parts(
    network: PartedNetwork,
    inputs: Tensors,
    engine: EngineName = "rtl",
    *,
    target: Target | None = None,
) -> InferResult:
    """Run a network in parts on each input; of a network with state they follow each other.

    Cycles are those of the NPU alone, operations those of all parts. Arguments and errors as `infer`.
    """
    given = (inputs,) if isinstance(inputs, np.ndarray) else tuple(inputs)
    count = len(given[0])
    found, before = [], None
    for numbers in [[n] for n in range(count)] if network.variables else [range(count)]:
        inferences = [begin(network, [own[n] for own in given], before) for n in numbers]
        found.append(_infer_together(network, inferences, engine, target))
        before = inferences[-1]
    return InferResult(
        tuple(np.concatenate(own) for own in zip(*(r.outputs for r in found), strict=True)),
        np.concatenate([r.cycles for r in found]),
        np.concatenate([r.operation_cycles for r in found]),
        np.concatenate([r.status for r in found]),
    )


def _infer_together(
    network: PartedNetwork, inferences: Sequence[Values], engine: EngineName, target: Target | None
) -> InferResult:
    """Run a network in parts from what its inferences begin with; add all tensors to their values."""
    runs: list[InferResult] = []

    def npu(compiled: CompiledNetwork, tensors: Sequence[Array]) -> tuple[Array, ...]:
        own = [
            tensor.reshape(len(inferences), *each_shape(slot.shape))
            for tensor, slot in zip(tensors, compiled.inputs, strict=True)
        ]
        runs.append(infer(compiled, own, engine, target=target))
        return runs[-1].outputs

    for part in network.parts:
        run_part(network, part, inferences, npu)
    outputs = zip(*(results(network, values) for values in inferences), strict=True)
    return InferResult(
        tuple(np.stack([own.reshape(each_shape(own.shape)) for own in tensors]) for tensors in outputs),
        np.sum([run.cycles for run in runs], axis=0),
        np.concatenate([run.operation_cycles for run in runs], axis=1),
        runs[-1].status,
    )


def infer(
    compiled: CompiledNetwork,
    inputs: Tensors,
    engine: EngineName = "rtl",
    *,
    target: Target | None = None,
    max_cycles: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> InferResult:
    """Run `compiled` on each input.

    Args:
        compiled: The network, compiled for one of the NPU's configurations.
        inputs: (N, ...), of the type and shape of the NPU's input without a batch axis of one; for several
            inputs one each.
        engine: The RTL compiled by Verilator, or the functional model.
        target: The RTL; the shipped target of the network's accelerator if None.
        max_cycles: Limit of one inference on the RTL; far more than the compiler's estimate if None.
        progress: Called with (inputs done, N) as the run goes on.

    Raises:
        HarnessError: If inputs do not fit, the NPU does not take an operation, reports an error or does not
            finish.
    """
    check_taken(compiled)
    given = one_each(compiled, inputs)
    for slot, values in zip(compiled.inputs, given, strict=True):
        shape = each_shape(slot.shape)
        fits = values.shape[1:] == shape and values.dtype == np.dtype(slot.dtype)
        if values.ndim == 0 or not fits or len(values) != len(given[0]):
            raise HarnessError(
                f"{compiled.name}: expected inputs {slot.name} of type {slot.dtype} and shape (N, *{shape}), "
                f"found {values.dtype} {values.shape}",
                f"inputs.{slot.name}",
            )
    report = progress or (lambda done, total: None)
    if engine == "functional":
        return _infer_functional(compiled, given, report)
    chosen = target or load_target(compiled.accelerator)
    limit = max_cycles or max(SHORTEST_LIMIT, STALL_FACTOR * compiled.vela_total_cycles)
    return _infer_rtl(compiled, given, chosen, limit, report)


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
    inputs: tuple[Array, ...],
    target: Target,
    limit: int,
    report: Callable[[int, int], None],
) -> InferResult:
    count = len(inputs[0])
    workloads = [
        npu_workload(compiled, [values[i] for values in inputs], f"{compiled.name}, input {i}")
        for i in range(count)
    ]
    result = _empty(compiled, count)
    if not workloads:
        return result
    runner = Runner(target, workloads[0].parameters)
    for i, workload in enumerate(workloads):
        run = runner.run(workload, limit)
        where = f"{workload.name} on {target.name}"
        if not run.finished:
            raise HarnessError(
                f"{where}: no end within {limit} cycles, {len(run.operation_ends)} of "
                f"{len(compiled.operations)} operations done, STATUS {run.status:#x}",
                "end",
            )
        _check(compiled, where, run.error, run.status, len(run.operation_ends))
        for found, tensor in zip(result.outputs, workload.tensors(run.output), strict=True):
            found[i] = tensor.reshape(found.shape[1:])
        result.cycles[i] = run.cycles
        result.operation_cycles[i] = np.diff(run.operation_ends, prepend=0)
        result.status[i] = run.status
        report(i + 1, count)
    return result


def _infer_functional(
    compiled: CompiledNetwork, inputs: tuple[Array, ...], report: Callable[[int, int], None]
) -> InferResult:
    model = FunctionalModel(npu_config(compiled.accelerator))
    count = len(inputs[0])
    result = _empty(compiled, count)
    for start, regions in batches(compiled, inputs):
        ends = model.run(compiled.commands, regions, read_only=frozenset({CONSTANTS}))
        for i, end in enumerate(ends):
            where = f"{compiled.name}, input {start + i} on the functional model"
            _check(compiled, where, end.error, end.status, end.operations_done)
            result.status[start + i] = end.status
        for found, tensors in zip(result.outputs, output_tensors(compiled, regions), strict=True):
            found[start : start + len(ends)] = tensors
        report(start + len(ends), count)
    return result


def _empty(compiled: CompiledNetwork, count: int) -> InferResult:
    return InferResult(
        tuple(np.zeros((count, *each_shape(slot.shape)), slot.dtype) for slot in compiled.outputs),
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
            f"{where}: the NPU reports an error {at}, STATUS {status:#x} ({status_names(status)})", "status"
        )
    if done != total:
        raise HarnessError(
            f"{where}: ended after {done} of {total} operations, STATUS {status:#x} ({status_names(status)})",
            "operations",
        )
