# SPDX-License-Identifier: Apache-2.0
"""A .tflite network becomes what an Ethos-U55 executes: commands, constants and a memory plan."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import vela
from resil.networks.adapt import Adapted, adapt
from resil.networks.clamps import clamp_stream, clamped_tensors, without_clamps
from resil.networks.command_stream import (
    NpuOperation,
    Words,
    npu_operations,
    parse_driver_payload,
)
from resil.networks.ends import Ends
from resil.networks.errors import NetworkError
from resil.networks.geometry import elements
from resil.networks.graph import Graph
from resil.networks.miscompiled import check_reductions
from resil.networks.tflite_reader import parse_network
from resil.networks.tflite_writer import serialise_network
from resil.networks.vela_report import VelaReport, parse_report

CONSTANTS_REGION = 0
SCRATCH_REGION = 1


@dataclass(frozen=True)
class TensorSlot:
    """Where an input or output of the network lies.

    Attributes:
        name: Name of the tensor.
        region: Number of the region.
        offset: Byte offset in it.
        shape: Shape in the network, batch included; the data are contiguous in this order.
        dtype: NumPy name of the element type, little endian.
        scale: Quantisation; 0.0 if the tensor is not quantised.
        zero_point: Quantisation.
    """

    name: str
    region: int
    offset: int
    shape: tuple[int, ...]
    dtype: str
    scale: float
    zero_point: int

    @property
    def size(self) -> int:
        """Bytes of the tensor."""
        return elements(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class CompiledOperation:
    """One NPU_OP_* command; a layer of the network may take several.

    Attributes:
        index: Order among the operations of the stream; DMA copies are not counted.
        kind: "conv", "depthwise", "pool" or "elementwise".
        name: Name of the layer's output tensor as Vela gives it.
        word: Index of the command in the stream.
        vela_cycles: Vela's estimate; that of a layer with several operations is shared out by their output
            elements. None if Vela says nothing about the operation.
        macs: Multiplications with weights; 0 for pooling and elementwise operations.
        operator: Vela's name of the layer's operation, such as "Conv2D"; "" if unknown.
    """

    index: int
    kind: str
    name: str
    word: int
    vela_cycles: int | None
    macs: int | None
    operator: str = ""


@dataclass(frozen=True, eq=False)
class CompiledNetwork:
    """A network for one accelerator.

    Attributes:
        name: Of the file, without its ending.
        accelerator: One of `resil.networks.vela.ACCELERATORS`.
        source_sha256: Of the .tflite file.
        ends: What a host does before and after the NPU, which has `inputs` and `outputs` of its own.
        adapted: What was done to the network of the file so that the NPU can take it, in words.
        commands: Register command stream, uint32, without the driver's header.
        constants: Region 0: weights and scales.
        region_sizes: Bytes of each region: 0 constants, 1 scratch (feature maps), 2 fast scratch if used.
        inputs: What the NPU is given.
        outputs: What the NPU computes.
        operations: In order.
        vela_total_cycles: Vela's estimate for one inference.
    """

    name: str
    accelerator: str
    source_sha256: str
    ends: Ends
    adapted: tuple[str, ...]
    commands: Words
    constants: bytes
    region_sizes: dict[int, int]
    inputs: tuple[TensorSlot, ...]
    outputs: tuple[TensorSlot, ...]
    operations: tuple[CompiledOperation, ...]
    vela_total_cycles: int

    @property
    def streams(self) -> tuple[CompiledNetwork, ...]:
        """The networks of one command stream each that the NPU runs: this one."""
        return (self,)


def compile_network(path: Path | str, accelerator: str, *, cache_dir: Path | None = None) -> CompiledNetwork:
    """Compile a .tflite file with Vela, or take the result from the cache.

    Args:
        path: The network; int8, with no operator that Vela leaves to a CPU, but for those at its ends and
            those that compute shapes, see `resil.networks.adapt`.
        accelerator: "ethos-u55-32", "-64", "-128" or "-256": the number of MACs per cycle.
        cache_dir: Folder of cached results; default $RESIL_CACHE, else ~/.cache/resil.

    Raises:
        NetworkError: The accelerator is unknown, the network unreadable or not for the NPU alone, or Vela
            is missing.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NetworkError(
            f"{path}: cannot be read ({error.strerror or error}); give a .tflite file", "file"
        ) from error
    return compile_bytes(data, path, accelerator, cache_dir=cache_dir)


def compile_bytes(
    data: bytes, path: Path, accelerator: str, *, cache_dir: Path | None = None
) -> CompiledNetwork:
    """Compile the bytes of a .tflite file; `path` names it. The rest as `compile_network`."""
    check_accelerator(accelerator)
    adapted = adapt_bytes(data, str(path))
    if adapted.variables:
        names = ", ".join(repr(variable.name) for variable in adapted.variables)
        raise NetworkError(
            f"{path}: expected a network without state, found the variables {names}; only "
            "`resil run` and `resil infer` know such networks",
            "variables",
        )
    if adapted.refusal is not None:
        raise NetworkError(f"{path}: {adapted.refusal}", adapted.refusal.field)
    whole = not adapted.done and not clamped_tensors(adapted.graph)
    return compile_adapted(adapted, path, accelerator, data, cache_dir=cache_dir, as_it_is=whole)


def check_accelerator(name: str) -> None:
    """Raise NetworkError unless Vela compiles for an accelerator of that name."""
    if name not in vela.ACCELERATORS:
        raise NetworkError(
            f"unknown accelerator {name!r}; known are {', '.join(vela.ACCELERATORS)}{vela.not_built(name)}",
            "accelerator",
        )


def compile_adapted(
    adapted: Adapted,
    path: Path,
    accelerator: str,
    data: bytes,
    *,
    cache_dir: Path | None = None,
    as_it_is: bool = False,
) -> CompiledNetwork:
    """Compile a network that an NPU can take.

    Args:
        adapted: The network, or a part of it.
        path: Names it.
        accelerator: As of `compile_network`.
        data: The file that it comes from.
        cache_dir: As of `compile_network`.
        as_it_is: The file itself is the network.

    Raises:
        NetworkError: As `compile_network`.
    """
    clamped = clamped_tensors(adapted.graph)
    taken = data if as_it_is else serialise_network(without_clamps(adapted.graph))
    files = vela.artefacts(taken, accelerator, str(path), cache_dir)
    compiled = _assemble(path, hashlib.sha256(data).hexdigest(), accelerator, adapted, files)
    return _clamped(compiled, adapted.graph) if clamped else compiled


def _clamped(compiled: CompiledNetwork, graph: Graph) -> CompiledNetwork:
    """Put the clamps of activations into the command stream."""
    names = [operation.name for operation in compiled.operations]
    stream, words = clamp_stream(compiled.commands, names, graph)
    count = len(clamped_tensors(graph))
    return replace(
        compiled,
        commands=stream,
        operations=tuple(replace(o, word=word) for o, word in zip(compiled.operations, words, strict=True)),
        adapted=(*compiled.adapted, f"{count} activations are clamped, as the file says (resil clip)."),
    )


def adapt_bytes(data: bytes, where: str) -> Adapted:
    """Return the network in the bytes of a .tflite file as an NPU takes it; errors as `compile_network`."""
    graph = parse_network(data, where)
    if not graph.operators:
        raise NetworkError(f"{where}: the network has no operators; there is nothing to compile", "operators")
    try:
        adapted = adapt(graph)
        check_reductions(adapted.graph)
    except NetworkError as error:
        raise NetworkError(f"{where}: {error}", error.field) from error
    if not adapted.graph.operators:
        raise NetworkError(
            f"{where}: the network has no operators but those at its ends; there is nothing to compile",
            "operators",
        )
    return adapted


def _assemble(
    path: Path, sha256: str, accelerator: str, adapted: Adapted, files: dict[str, bytes]
) -> CompiledNetwork:
    graph = adapted.graph
    raw = _arrays(files["vela.npz"])
    report = parse_report(files["debug.xml"], files["summary.csv"])
    payload = parse_driver_payload(_bytes(raw["cmd_data"]))
    macs = int(accelerator.rpartition("-")[2])
    if payload.macs_per_cycle != macs:
        raise NetworkError(
            f"{path}: asked Vela for {macs} MACs per cycle, its output says {payload.macs_per_cycle}", "vela"
        )
    constants = _bytes(raw["weight_data"])
    return CompiledNetwork(
        path.stem,
        accelerator,
        sha256,
        adapted.ends,
        adapted.done,
        payload.commands,
        constants,
        _region_sizes(raw, constants),
        _slots(raw, "input", graph, graph.inputs, report),
        _slots(raw, "output", graph, graph.outputs, report),
        _operations(payload.commands, report),
        report.total_cycles,
    )


def _arrays(npz: bytes) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays that are plain numbers or bytes."""
    names = ["cmd_data", "weight_data", "weight_region", "scratch_region", "scratch_size"]
    names += ["scratch_fast_region", "scratch_fast_size"]
    for end in ("input", "output"):
        names += [f"{end}_shape", f"{end}_region", f"{end}_offset", f"{end}_elem_size"]
    try:
        with np.load(io.BytesIO(npz), allow_pickle=False) as archive:
            return {name: archive[name] for name in names}
    except (KeyError, ValueError, OSError) as error:
        raise NetworkError(
            f"Vela's output is not as Vela 5.2.0 writes it: {error}; install ethos-u-vela==5.2.0", "vela"
        ) from error


def _bytes(array: npt.NDArray[np.generic]) -> bytes:
    """Return a bytes array's contents with its trailing zeros, which NumPy drops from an element taken out.

    The array of an empty string has one byte.
    """
    return b"" if array.dtype.itemsize == 1 else array.tobytes()


def _region_sizes(raw: dict[str, npt.NDArray[np.generic]], constants: bytes) -> dict[int, int]:
    sizes = {int(raw["weight_region"]): len(constants)}
    for memory in ("scratch", "scratch_fast"):
        size = int(raw[f"{memory}_size"])
        if size:
            sizes[int(raw[f"{memory}_region"])] = size
    return sizes


def _slots(
    raw: dict[str, npt.NDArray[np.generic]],
    end: str,
    graph: Graph,
    indices: tuple[int, ...],
    report: VelaReport,
) -> tuple[TensorSlot, ...]:
    shapes = raw[f"{end}_shape"]
    if len(shapes) != len(indices):
        raise NetworkError(f"the network has {len(indices)} {end}s, Vela's output has {len(shapes)}", "vela")
    slots = []
    for position, index in enumerate(indices):
        tensor = graph.tensors[index]
        slot = TensorSlot(
            tensor.name,
            int(raw[f"{end}_region"][position]),
            int(raw[f"{end}_offset"][position]),
            tensor.shape,
            tensor.dtype,
            tensor.scale,
            tensor.zero_point,
        )
        size = elements(shapes[position]) * int(raw[f"{end}_elem_size"][position])
        if size != slot.size or report.addresses.get(tensor.name, slot.offset) != slot.offset:
            raise NetworkError(
                f"{end} {position} ({tensor.name!r}): expected {slot.size} bytes, Vela's output has {size} "
                f"at {slot.offset}, and its report places the tensor at {report.addresses.get(tensor.name)}",
                "vela",
            )
        slots.append(slot)
    return tuple(slots)


def _operations(stream: Words, report: VelaReport) -> tuple[CompiledOperation, ...]:
    found = list(npu_operations(stream))
    numbers = [report.commands.get(4 * operation.word) for operation in found]
    cycles = _shared_cycles(found, numbers, report)
    operations = []
    for index, (operation, number) in enumerate(zip(found, numbers, strict=True)):
        layer = None if number is None else report.layers.get(number)
        operations.append(
            CompiledOperation(
                index,
                operation.kind,
                layer.name if layer else f"{operation.kind} {index}",
                operation.word,
                cycles[index],
                operation.macs,
                layer.operator if layer else "",
            )
        )
    return tuple(operations)


def _shared_cycles(
    operations: list[NpuOperation], numbers: list[int | None], report: VelaReport
) -> list[int | None]:
    """Share each layer's cycles out by output elements, so that they sum up to the layer's."""
    cycles: list[int | None] = [None] * len(operations)
    for number, layer in report.layers.items():
        members = [i for i, n in enumerate(numbers) if n == number]
        total = sum(operations[i].output_elements for i in members)
        before = 0
        for i in members:
            after = before + operations[i].output_elements
            cycles[i] = layer.cycles * after // total - layer.cycles * before // total
            before = after
    return cycles
