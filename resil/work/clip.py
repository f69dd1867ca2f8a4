# SPDX-License-Identifier: Apache-2.0
"""A network whose activations keep to the ranges that a calibration set shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.campaign.network_settings import ZOO_PREFIX
from resil.errors import ConsistencyError, ResilError
from resil.networks import zoo
from resil.networks.clamps import bounded, clampable, with_clamps, without_clamps
from resil.networks.compile import CompiledNetwork, adapt_bytes, compile_bytes
from resil.networks.files import write_atomically
from resil.networks.graph import Tensor
from resil.networks.quantise import quantise_values
from resil.networks.recipes import RECIPES
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network
from resil.progress import Progress
from resil.record.typed import Count, Typed
from resil.reports.table import Column, Table
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.ranges import activation_ranges
from resil.rtl_harness.plain_file import read_plain
from resil.work.image_files import read_array
from resil.work.tensor_files import load_levels

Array = npt.NDArray[np.generic]
Inputs = tuple[Array, ...]


class Clamp(Typed):
    """An activation and what it is kept to."""

    name: str
    """Of the tensor."""
    before: tuple[int, int]
    """Lowest and highest level that it could have."""
    levels: tuple[int, int]
    """Those that it keeps to."""
    values: tuple[float, float]
    """Their real values."""


class ClipJudgement(Typed):
    """What clamps do to inputs that took no part in finding them."""

    inputs: Count
    """How many there are."""
    changed_outputs: Count
    """Inputs for which any output differs."""
    changed_decisions: Count
    """Inputs for which the decision differs."""
    measure: str
    """What `before` and `after` are."""
    before: float | None
    """Of the network without clamps; null where no labels are known."""
    after: float | None
    """Of the network with them."""


class ClipReport(Typed):
    """A network that was clipped."""

    model: str
    """The file, or `zoo:NAME`."""
    npu: str
    """Configuration of the NPU that the ranges were found on."""
    out: str
    """The file that was written."""
    calibration_inputs: Count
    """Inputs that the ranges were found with."""
    activations: tuple[Clamp, ...]
    """Each with its clamp."""
    left_out: tuple[str, ...]
    """Int8 activations that the compiled network has no operation of their own for."""
    command_words: tuple[Count, Count]
    """Words of the command stream without clamps, and with them."""
    judged: ClipJudgement | None
    """What they do to other inputs; null if none were given."""


@dataclass(frozen=True)
class Clipped:
    """A network and the same with clamps.

    Attributes:
        data: Bytes of the clipped .tflite file.
        before: Compiled without clamps.
        after: Compiled with them.
        activations: Those with a clamp.
        left_out: Int8 activations that the compiled network has no operation of their own for.
    """

    data: bytes
    before: CompiledNetwork
    after: CompiledNetwork
    activations: tuple[Clamp, ...]
    left_out: tuple[str, ...]


def clip(data: bytes, path: Path, npu: str, calibration: Inputs) -> Clipped:
    """Clamp each activation of a network to what it reaches on calibration inputs.

    Args:
        data: Bytes of the .tflite file; clamps that it has are replaced.
        path: Names it.
        npu: For which it is compiled to find the ranges; they are the same for all.
        calibration: For each input of the NPU N tensors.

    Raises:
        ConsistencyError: An output for a calibration input changes.
        NetworkError, HarnessError: the network cannot be compiled or run.
    """
    graph = without_clamps(parse_network(data, str(path)))
    plain = serialise_network(graph)
    before = compile_bytes(plain, path, npu)
    operations = bounded(before.commands, [operation.name for operation in before.operations])
    adapted = adapt_bytes(plain, str(path)).graph
    places = clampable(adapted, operations)
    ranges, outputs = activation_ranges(before, calibration)
    clamps, rows = {}, []
    tensors = {tensor.name: tensor for tensor in adapted.tensors}
    for name, own in places.items():
        low, high = int(ranges[list(own), 0].min()), int(ranges[list(own), 1].max())
        clamps[name] = (low, high)
        bounds = [operations[i].bounds for i in own]
        tensor = tensors[name]
        rows.append(
            Clamp(
                name=name,
                before=(int(min(b[0] for b in bounds)), int(max(b[1] for b in bounds))),
                levels=(low, high),
                values=(_real(low, tensor), _real(high, tensor)),
            )
        )
    clipped = serialise_network(with_clamps(graph, clamps))
    after = compile_bytes(clipped, path, npu)
    again = infer(after, calibration, "functional").outputs
    if changed := changed_outputs(outputs, again):
        raise ConsistencyError(
            f"{path}: {changed} of {len(outputs[0])} outputs for calibration inputs change with clamps that "
            "are their own ranges"
        )
    made = {i for operator in adapted.operators if operator.kind != "RESHAPE" for i in operator.outputs}
    left_out = [adapted.tensors[i].name for i in sorted(made) if adapted.tensors[i].name not in clamps]
    return Clipped(clipped, before, after, tuple(rows), tuple(left_out))


def changed_outputs(one: Sequence[Array], other: Sequence[Array]) -> int:
    """Return for how many inferences any output differs."""
    differs = np.zeros(len(one[0]), np.bool_)
    for a, b in zip(one, other, strict=True):
        differs |= (a != b).reshape(len(a), -1).any(axis=1)
    return int(differs.sum())


def clip_network(
    model: str,
    npu: str,
    out: Path,
    *,
    calibration: Sequence[Path] = (),
    judge: Sequence[Path] = (),
    labels: Path | None = None,
) -> ClipReport:
    """Clip a network, write it, and say what that does to inputs that took no part.

    Args:
        model: A .tflite file, or "zoo:NAME".
        npu: Configuration of the NPU.
        out: The file to write.
        calibration: Inputs as `resil infer` takes them; none for the training split of a zoo network.
        judge: Other inputs, on which both networks are compared; none for the held-out split of a zoo
            network.
        labels: .npy of the class of each judging input.

    Returns:
        The activations with their clamps, and outputs and accuracy on the judging inputs before and after.

    Raises:
        ResilError: an argument is wrong, or judging inputs are among those of the calibration.
    """
    known = zoo.load(model.removeprefix(ZOO_PREFIX)) if model.startswith(ZOO_PREFIX) else None
    path = known.path if known else Path(model)
    _check_out(out, path)
    if labels is not None and not judge:
        raise ResilError("--labels: expected --judge with the inputs that they belong to; add it", "--labels")
    if known is None and not calibration:
        raise ResilError(
            "--calibration: expected a .npy file of inputs, found nothing; add it", "--calibration"
        )
    try:
        data = read_plain(path)
    except OSError as error:
        raise ResilError(
            f"{path}: cannot be read ({error.strerror or error}); give a .tflite file", "file"
        ) from error
    progress = Progress()
    progress.stage(f"compiling {model} for {npu} with Vela")
    compiled = compile_bytes(data, path, npu)
    chosen = load_levels(compiled, calibration) if known is None or calibration else (training_inputs(known),)
    judging, truth = _judging(known, compiled, judge, labels)
    if judging is not None:
        check_apart(chosen, judging)
    progress.stage(f"finding the range of each activation on {len(chosen[0]):,} calibration inputs")
    found = clip(data, path, npu, chosen)
    judged = None if judging is None else _judged(found, judging, truth, None if judge else known)
    write_atomically(out, found.data)
    return ClipReport(
        model=model,
        npu=npu,
        out=str(out),
        calibration_inputs=len(chosen[0]),
        activations=found.activations,
        left_out=found.left_out,
        command_words=(len(found.before.commands), len(found.after.commands)),
        judged=judged,
    )


def clip_text(result: ClipReport, width: int | None = None) -> str:
    """Return the result as lines for a person; `width` as of `Table.text`."""
    heads = ("activation", "levels before", "clamped to", "real values")
    rows = tuple(
        (
            own.name,
            *(f"{low} to {high}" for low, high in (own.before, own.levels)),
            f"{own.values[0]:.4g} to {own.values[1]:.4g}",
        )
        for own in result.activations
    )
    columns = tuple(Column(head, numeric=head != heads[0]) for head in heads)
    lines = [Table("Clamps of activations", columns, rows).text(width)]
    lines += [f"not clamped, no operation of its own: {name}" for name in result.left_out]
    words = result.command_words
    lines.append(f"outputs for {result.calibration_inputs:,} calibration inputs: unchanged")
    lines.append(f"command stream: {words[0]} words before, {words[1]} after")
    if judged := result.judged:
        changed = f"{judged.changed_outputs:,} outputs and {judged.changed_decisions:,} decisions change"
        lines.append(f"{judged.inputs:,} inputs that took no part: {changed}")
        if judged.before is not None:
            lines.append(f"{judged.measure}: {judged.before:.4f} before, {judged.after:.4f} after")
    else:
        lines.append("what it does to other inputs was not measured: add --judge")
    lines.append(f"wrote {result.out}")
    return "\n".join(lines)


def training_inputs(known: zoo.ZooNetwork) -> Array:
    """Return the inputs that a zoo network was trained on, as it takes them; NetworkError as `heldout`."""
    assert known.input.quantisation is not None
    return quantise_values(RECIPES[known.name].dataset().train_inputs, known.input.quantisation)


def check_apart(calibration: Inputs, judging: Inputs) -> None:
    """Raise ResilError if a judging input is among those of the calibration."""
    seen = set(_rows(calibration))
    if same := sum(row in seen for row in _rows(judging)):
        raise ResilError(
            f"--judge: expected inputs that are not among those of the calibration, found {same} of "
            f"{len(judging[0])} that are; data that chose the clamps cannot judge them: give others",
            "--judge",
        )


def _real(level: int, tensor: Tensor) -> float:
    return float((level - tensor.zero_point) * tensor.scale)


def _rows(inputs: Inputs) -> list[bytes]:
    return [b"".join(values[i].tobytes() for values in inputs) for i in range(len(inputs[0]))]


def _check_out(out: Path, path: Path) -> None:
    if out.suffix != ".tflite" or not out.absolute().parent.is_dir() or out.is_dir():
        raise ResilError(f"--out {out}: expected a .tflite file in a folder that exists; change it", "--out")
    if out.exists() and path.exists() and out.samefile(path):
        raise ResilError(f"--out {out}: expected another file than the network itself; change it", "--out")


def _judging(
    known: zoo.ZooNetwork | None, compiled: CompiledNetwork, judge: Sequence[Path], labels: Path | None
) -> tuple[Inputs | None, Array | None]:
    if not judge:
        return (None, None) if known is None else ((known.heldout_inputs,), known.heldout_labels)
    inputs = load_levels(compiled, judge)
    if labels is None:
        return inputs, None
    truth = read_array(labels)
    if truth.shape != (len(inputs[0]),) or truth.dtype.kind not in "iu":
        raise ResilError(
            f"{labels}: expected {len(inputs[0])} whole numbers, one for each judging input, found "
            f"{truth.dtype} {truth.shape}; correct it",
            "labels",
        )
    return inputs, truth


def _judged(
    found: Clipped, inputs: Inputs, labels: Array | None, known: zoo.ZooNetwork | None
) -> ClipJudgement:
    outputs = [infer(c, inputs, "functional").outputs for c in (found.before, found.after)]
    decisions = [_decisions(o[0], inputs[0], known) for o in outputs]
    qualities: list[float | None] = [None, None]
    if known is not None:
        qualities = [known.quality(o[0].astype(np.int8)) for o in outputs]
    elif labels is not None:
        qualities = [float(np.mean(d == labels)) for d in decisions]
    return ClipJudgement(
        inputs=len(inputs[0]),
        changed_outputs=changed_outputs(*outputs),
        changed_decisions=int(np.sum(decisions[0] != decisions[1])),
        measure="area under the ROC curve" if known and known.heldout_labels is None else "accuracy",
        before=qualities[0],
        after=qualities[1],
    )


def _decisions(output: Array, inputs: Array, known: zoo.ZooNetwork | None) -> npt.NDArray[np.int64]:
    if known is not None:
        return known.decisions(inputs.astype(np.int8), output.astype(np.int8))
    largest: npt.NDArray[np.int64] = output.reshape(len(output), -1).argmax(axis=1).astype(np.int64)
    return largest
