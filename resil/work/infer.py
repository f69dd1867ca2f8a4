# SPDX-License-Identifier: Apache-2.0
"""A network on the NPU, with the cycles of each operation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.campaign.network_settings import ZOO_PREFIX
from resil.errors import ResilError
from resil.networks import zoo
from resil.networks.compile import CompiledOperation
from resil.networks.decision import RECONSTRUCTION_ERROR
from resil.networks.parts import Network, PartedNetwork, compile_parts
from resil.progress import Progress
from resil.record.golden import DIFFERS, GoldenComparison
from resil.record.typed import Amount, Count, Share, Typed
from resil.reports.table import Column, Table
from resil.rtl_harness.cache import observe_builds
from resil.rtl_harness.npu.infer import EngineName, InferResult, infer, infer_parts
from resil.work.golden import Tensors, comparison, require_golden
from resil.work.tensor_files import check_output_file, load_levels, save_outputs

ENGINES: tuple[EngineName, ...] = ("rtl", "functional")
_COMPARED = 32
"""Outputs that are compared with the reference."""


class Timing(Typed):
    """How long a part of an inference takes."""

    cycles: Amount | None
    """Mean over the inputs; null from the functional model, which has no clock."""
    vela_cycles: Amount | None
    """What Vela estimates; null where it does not."""
    mac_utilisation: Amount | None
    """Multiplications done, over those that the array could have done in `cycles`; null likewise."""


class TimedOperation(Timing):
    """How long an operation takes."""

    index: Count
    """Its place in the command stream."""
    name: str
    """As Vela names it."""
    kind: str
    """What it computes."""


class OutputTensor(Typed):
    """An output of the network, as its file has it."""

    name: str
    """Its name."""
    dtype: str
    """Its type."""
    shape: tuple[Count, ...]
    """Of one inference."""


class InferenceReport(Typed):
    """A network that was run on inputs."""

    model: str
    """The file, or `zoo:NAME`."""
    npu: str
    """Configuration of the NPU."""
    engine: str
    """`rtl` or `functional`."""
    inputs: Count
    """How many were run."""
    operations: tuple[TimedOperation, ...]
    """In the order in which they run."""
    total: Timing
    """Of a whole inference."""
    accuracy: Share | None
    """Share of right decisions; null where labels are not known."""
    adapted: tuple[str, ...]
    """What was done to the network of the file before Vela took it."""
    outputs: tuple[OutputTensor, ...]
    """What it writes."""
    golden: GoldenComparison
    """How the outputs compare with an independent reference."""


def infer_network(
    model: str,
    npu: str,
    *,
    inputs: Sequence[Path] = (),
    output: Path | None = None,
    limit: int | None = None,
    whole_split: bool = False,
    engine: str = "rtl",
    accept_golden: bool = False,
) -> InferenceReport:
    """Run a network on inputs, and write its outputs.

    Args:
        model: A .tflite file, or "zoo:NAME".
        npu: Configuration of the NPU, "ethos-u55-32" for instance.
        inputs: .npy of real values or int8 (N, H, W, C), one for each input, or one .npz of all; none for
            held-out images of a zoo network.
        output: .npy that gets the outputs, (N, ...), as the network's file has them, .npz if there are
            several; None to keep none.
        limit: Take only that many inputs, from the first.
        whole_split: Take the whole held-out split of a zoo network in place of what of it ships.
        engine: "rtl" or "functional".
        accept_golden: Go on although outputs are not what an independent reference computes of the network.

    Returns:
        Cycles of each operation, right decisions, and how the outputs compare with a reference.

    Raises:
        ResilError: an argument is wrong.
        NetworkError, HarnessError: the network cannot be compiled or run, or is computed wrongly.
    """
    if engine not in ENGINES:
        raise ResilError(
            f"--engine: expected one of {', '.join(ENGINES)}, found {engine!r}; change the value", "--engine"
        )
    chosen: EngineName = "functional" if engine == "functional" else "rtl"
    known = _zoo_network(model, inputs, whole_split)
    progress = Progress()
    progress.stage(f"compiling {model} for {npu} with Vela")
    path = Path(known.path if known else model)
    compiled = compile_parts(path, npu)
    for adapted in compiled.adapted:
        progress.stage(adapted)
    names = [tensor.name for tensor in compiled.ends.outputs]
    if output is not None:
        check_output_file(output, names)
    levels, labels = _levels(known, compiled, inputs, whole_split)
    levels = tuple(values[:limit] for values in levels)
    progress.stage(
        f"running {len(levels[0]):,} inputs on the {'RTL' if chosen == 'rtl' else 'functional model'}"
    )
    observe_builds(progress.building)
    with progress.working("running"):
        if isinstance(compiled, PartedNetwork):
            result = infer_parts(compiled, levels, chosen)
        else:
            result = infer(compiled, levels, chosen)
    outputs = compiled.ends.results(result.outputs)
    compared = _compared(path, compiled, levels, result)
    require_golden(compared, f"{npu} on {compiled.name}", accept_golden)
    if compared.state == DIFFERS:
        progress.warn(f"warning: {compared.sentence}")
    if output is not None:
        save_outputs(output, names, outputs)
    return _report(model, npu, chosen, compiled, result, labels, compared)


def infer_text(result: InferenceReport, width: int | None = None) -> str:
    """Return the result as lines for a person; `width` as of `Table.text`."""
    heads = ("operation", "kind", "cycles", "Vela's estimate", "MAC use")
    columns = tuple(Column(head, numeric=head not in heads[:2]) for head in heads)
    named = [(own.name, own.kind, own) for own in result.operations]
    rows = tuple(
        (
            name,
            kind,
            *("-" if cycles is None else f"{cycles:,.0f}" for cycles in (own.cycles, own.vela_cycles)),
            "-" if own.mac_utilisation is None else f"{own.mac_utilisation:.1%}",
        )
        for name, kind, own in (*named, ("inference", "", result.total))
    )
    table = Table("Cycles by operation", columns, rows, totals=1)
    lines = [f"{result.inputs:,} inputs on {result.npu}, {result.engine}"]
    if result.accuracy is not None:
        lines.append(f"right decisions: {result.accuracy:.1%}")
    lines.append(result.golden.sentence)
    return "\n".join([table.text(width), *lines])


def _compared(path: Path, compiled: Network, levels: Tensors, result: InferResult) -> GoldenComparison:
    """Compare the first outputs with an independent reference: it computes one inference at a time."""
    count = min(_COMPARED, len(levels[0]))
    if not count:
        return GoldenComparison.none("there are no inputs")
    inputs = [tuple(values[i] for values in levels) for i in range(count)]
    outputs = [tuple(values[i] for values in result.outputs) for i in range(count)]
    return comparison(path, compiled, inputs, outputs, each=count)


def _zoo_network(model: str, inputs: Sequence[Path], whole_split: bool) -> zoo.ZooNetwork | None:
    known = zoo.load(model.removeprefix(ZOO_PREFIX)) if model.startswith(ZOO_PREFIX) else None
    if whole_split and (known is None or inputs):
        raise ResilError(
            "--all: only zoo networks have a held-out split, which --input replaces; leave it out", "--all"
        )
    if known is None and not inputs:
        raise ResilError(
            "--input: expected a .npy file (N, H, W, C) of real values or int8, found nothing; add it",
            "--input",
        )
    return known


def _levels(
    known: zoo.ZooNetwork | None, compiled: Network, inputs: Sequence[Path], whole_split: bool
) -> tuple[tuple[npt.NDArray[np.generic], ...], npt.NDArray[np.int64] | None]:
    if known is None or inputs:
        return load_levels(compiled, inputs), None
    images = known.heldout if whole_split else known.shipped
    return (images.inputs,), None if known.decision == RECONSTRUCTION_ERROR else images.labels


def _report(
    model: str,
    npu: str,
    engine: EngineName,
    compiled: Network,
    result: InferResult,
    labels: npt.NDArray[np.int64] | None,
    golden: GoldenComparison,
) -> InferenceReport:
    timed, own_operations = engine == "rtl", _operations(compiled)
    means = result.operation_cycles.mean(axis=0).tolist() if timed else [None] * len(own_operations)
    operations = tuple(
        TimedOperation(
            index=number,
            name=own.name,
            kind=own.kind,
            cycles=mean,
            vela_cycles=own.vela_cycles,
            mac_utilisation=_utilisation(own.macs, mean, npu),
        )
        for number, (own, mean) in enumerate(zip(own_operations, means, strict=True))
    )
    macs = sum(own.macs or 0 for own in own_operations)
    count = len(result.outputs[0])
    right = None
    if labels is not None:
        decisions = result.outputs[0].reshape(count, -1).argmax(axis=1)
        right = float((decisions == labels[:count]).mean())
    cycles = float(result.cycles.mean()) if timed else None
    return InferenceReport(
        model=model,
        npu=npu,
        engine=engine,
        inputs=count,
        operations=operations,
        total=Timing(
            cycles=cycles,
            vela_cycles=compiled.vela_total_cycles,
            mac_utilisation=_utilisation(macs, cycles, npu),
        ),
        accuracy=right,
        adapted=tuple(compiled.adapted),
        outputs=tuple(
            OutputTensor(name=tensor.name, dtype=tensor.dtype, shape=tuple(map(int, tensor.shape)))
            for tensor in compiled.ends.outputs
        ),
        golden=golden,
    )


def _operations(compiled: Network) -> tuple[CompiledOperation, ...]:
    """Return the operations of the NPU, of all parts."""
    return tuple(operation for stream in compiled.streams for operation in stream.operations)


def _utilisation(macs: int | None, cycles: float | None, npu: str) -> float | None:
    """Return multiplications done over those the array could have done in `cycles`, or None."""
    return macs / (cycles * int(npu.rsplit("-", 1)[1])) if macs and cycles else None
