# SPDX-License-Identifier: Apache-2.0
"""One inference on the functional model: memory between operations, and how it ends if that is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CompiledNetwork
from resil.rtl_harness.engine.workload import Decision, top1
from resil.rtl_harness.faults import Corruption, Outcome, digest
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.feature_map import place, read_cuts, write_cuts
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.program import Copy, Execute, OperationConfig
from resil.rtl_harness.npu.model.status import ERRORS
from resil.rtl_harness.npu.workload import CONSTANTS, Tensors, layout, npu_workload, one_each
from resil.work.patterns import Pattern, describe

Bytes = npt.NDArray[np.uint8]
Values = npt.NDArray[np.generic]

_BATCH_BYTES = 1 << 27
_SRAM = "sram"


@dataclass(frozen=True)
class FeatureMapPlace:
    """Where the output of an operation lies.

    Attributes:
        region: Number of the region.
        offsets: Byte offset in it of every byte of every element, (height, width, depth, bytes).
        dtype: Of an element.
    """

    region: int
    offsets: npt.NDArray[np.int64]
    dtype: np.dtype[np.generic]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and depth."""
        height, width, depth, _ = self.offsets.shape
        return height, width, depth

    def read(self, regions: dict[int, Bytes]) -> Values:
        """Return the feature map out of memory, (height, width, depth)."""
        data = np.ascontiguousarray(regions[self.region][self.offsets])
        values: Values = data.view(self.dtype)[..., 0]
        return values


@dataclass(frozen=True)
class OperationUpset:
    """One bit that flips while an operation is at work; in one of both places.

    Attributes:
        region: Of the memory whose copy in the NPU is struck; None for an accumulator.
        place: Byte offset in it, or the flat index of the OFM element whose accumulator is struck.
        bit: Of that byte, or of the accumulator.
    """

    region: int | None
    place: int
    bit: int


class Inference:
    """An inference without a fault, which can be taken up after any operation with other data.

    Attributes:
        compiled: The network.
        places: Where each operation leaves its output.

    Args:
        compiled: The network.
        tensors: Its input, or one tensor for each input.
        decide: Reads the decision from an output tensor.
        decided: Number of that output.
    """

    def __init__(
        self, compiled: CompiledNetwork, tensors: Tensors, decide: Decision = top1, decided: int = 0
    ) -> None:
        self.compiled = compiled
        self._workload = npu_workload(compiled, tensors, "", decide, decided)
        others = [slot for i, slot in enumerate(compiled.outputs) if i != decided]
        self._outputs = (compiled.outputs[decided], *others)
        self._model = FunctionalModel(npu_config(compiled.accelerator))
        self._layout = layout(compiled)
        self._constants = np.frombuffer(compiled.constants, np.uint8).copy()
        self._program = self._model.lower(compiled.commands, frozenset({CONSTANTS}))
        configs = [s.action.config for s in self._program.operations if isinstance(s.action, Execute)]
        self.places: tuple[FeatureMapPlace, ...] = tuple(self._place(config) for config in configs)
        self._configs = configs
        self._operands: dict[tuple[int, bool], FeatureMapPlace] = {}
        self._run(one_each(compiled, tensors))

    @property
    def operations(self) -> int:
        """Number of operations."""
        return len(self.places)

    @property
    def output_hash(self) -> str:
        """Digest of the output tensors, as engines give it."""
        return digest(self._output)

    @property
    def outputs(self) -> tuple[Values, ...]:
        """The output tensors, in the network's order."""
        return tuple(
            self._end[slot.region][slot.offset : slot.offset + slot.size].view(slot.dtype).reshape(slot.shape)
            for slot in self.compiled.outputs
        )

    def feature_map(self, operation: int) -> Values:
        """Return the output of an operation, (height, width, depth)."""
        return self.places[operation].read(self._memories[operation])

    def outcomes(self, operation: int, maps: Sequence[Values]) -> list[Outcome]:
        """Return how the inference ends if the output of `operation` were each of `maps`."""
        size = sum(region.nbytes for region in self._memories[operation].values())
        batch = max(1, _BATCH_BYTES // (8 * size))
        found: list[Outcome] = []
        for start in range(0, len(maps), batch):
            found += self._finish(operation, maps[start : start + batch])
        return found

    def operand(self, operation: int, second: bool = False) -> FeatureMapPlace:
        """Return where an operation reads its input, or its second operand.

        Raises:
            ValueError: it has no second operand in memory.
        """
        if (operation, second) not in self._operands:
            config = self._configs[operation]
            tensor = getattr(config, "ifm2", None) if second else config.ifm
            if tensor is None:
                raise ValueError(f"operation {operation} has no second operand in memory")
            step = config.input_chunk if isinstance(config, ConvConfig) else config.output.block.depth
            placement = place(tensor, read_cuts(tensor, step), self._layout.sizes[tensor.region])
            self._operands[operation, second] = FeatureMapPlace(
                tensor.region, placement.offsets[..., None] + np.arange(tensor.element_bytes), tensor.dtype
            )
        return self._operands[operation, second]

    def struck(self, operation: int, strikes: Sequence[OperationUpset]) -> list[Values]:
        """Return the output of an operation with each of these bits flipped while it works."""
        size = sum(region.nbytes for region in self._before(operation).values())
        batch = max(1, _BATCH_BYTES // (8 * size))
        found: list[Values] = []
        for start in range(0, len(strikes), batch):
            found += self._strike(operation, strikes[start : start + batch])
        return found

    def _strike(self, operation: int, strikes: Sequence[OperationUpset]) -> list[Values]:
        regions: dict[int, Bytes] = {CONSTANTS: self._constants}
        for number, memory in self._before(operation).items():
            regions[number] = np.repeat(memory[None], len(strikes), axis=0)
        for row, own in enumerate(strikes):
            if own.region is not None:
                regions[own.region][row, own.place] ^= np.uint8(1 << own.bit)

        def upset(accumulators: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            changed = accumulators.copy()
            flat = changed.reshape(len(changed), -1)
            for number, row in enumerate(rows.tolist()):
                own = strikes[row]
                if own.region is None:
                    flat[number, own.place] ^= np.int64(np.uint32(1 << own.bit).view(np.int32))
            return changed

        steps = self._model.operations(
            self.compiled.commands,
            regions,
            read_only=frozenset({CONSTANTS}),
            start_word=self._program.operations[operation].word,
            upset=upset,
        )
        next(steps)
        return [self.places[operation].read({n: r[row] for n, r in regions.items() if n != CONSTANTS})
                for row in range(len(strikes))]  # fmt: skip

    def _before(self, operation: int) -> dict[int, Bytes]:
        """Return memory as an operation finds it: after the one before it, and the copies in between."""
        found = dict(self._memories[operation - 1] if operation else self._start)
        first = self._program.resume_word(operation)
        for step in self._program.steps:
            if (
                isinstance(step.action, Copy)
                and first <= step.word < self._program.operations[operation].word
            ):
                copy = step.action
                data = self._constants if copy.source_region == CONSTANTS else found[copy.source_region]
                target = found[copy.destination_region].copy()
                target[copy.destination : copy.destination + copy.length] = (
                    data[copy.source : copy.source + copy.length]
                )  # fmt: skip
                found[copy.destination_region] = target
        return found

    def pattern(self, corruption: Corruption) -> Pattern | None:
        """Describe a corruption of the memory that holds feature maps; None if it is of another memory.

        It is laid to the last operation that has written one of the changed bytes.
        """
        if corruption.memory != _SRAM or not 1 <= corruption.operation <= self.operations:
            return None
        changed = dict(zip(corruption.offsets, corruption.xors, strict=True))
        for operation in reversed(range(corruption.operation)):
            source, base = self.places[operation], self._layout.regions
            owner = self._owners[operation]
            if not any(offset in owner for offset in changed):
                continue
            memory = self._memories[corruption.operation - 1]
            flat = sorted({owner[offset] for offset in changed if offset in owner})
            coordinates = np.stack(np.unravel_index(flat, source.shape), axis=1).astype(np.int64)
            own = source.offsets.reshape(-1, source.dtype.itemsize)[flat]
            before = memory[source.region][own]
            flips = np.array(
                [[changed.get(int(o) + base[source.region], 0) for o in element] for element in own], np.uint8
            )
            inside = int(np.count_nonzero(flips))
            found = describe(
                operation,
                coordinates,
                np.ascontiguousarray(before).view(source.dtype)[:, 0],
                np.ascontiguousarray(before ^ flips).view(source.dtype)[:, 0],
                source.shape,
                len(changed) - inside,
            )
            return _widened(found) if corruption.truncated else found
        first = self.places[corruption.operation - 1]
        empty = np.zeros(0, first.dtype)
        none = np.zeros((0, 3), np.int64)
        return describe(corruption.operation - 1, none, empty, empty, first.shape, corruption.total)

    @cached_property
    def _owners(self) -> list[dict[int, int]]:
        """For each operation the element that each byte of the SRAM belongs to, by flat index."""
        owners = []
        for own in self.places:
            base = self._layout.regions[own.region]
            flat = own.offsets.reshape(-1, own.dtype.itemsize)
            owners.append({int(o) + base: i for i, element in enumerate(flat) for o in element})
        return owners

    def _place(self, config: OperationConfig) -> FeatureMapPlace:
        ofm = config.output.ofm
        size = self._layout.sizes[ofm.region]
        placement = place(ofm, write_cuts(ofm, config.output.block.depth), size)
        return FeatureMapPlace(
            ofm.region, placement.offsets[..., None] + np.arange(ofm.element_bytes), ofm.dtype
        )

    def _run(self, tensors: Sequence[Values]) -> None:
        """Run without a fault and keep memory as every operation leaves it."""
        regions = self._regions(1)
        for slot, tensor in zip(self.compiled.inputs, tensors, strict=True):
            raw = np.ascontiguousarray(tensor).reshape(1, -1).view(np.uint8)
            regions[slot.region][:, slot.offset : slot.offset + slot.size] = raw
        self._start = {n: r[0].copy() for n, r in regions.items() if n != CONSTANTS}
        self._memories: list[dict[int, Bytes]] = []
        steps = self._model.operations(
            self.compiled.commands, regions, read_only=frozenset({CONSTANTS}), start_word=0
        )
        for _ in steps:
            self._memories.append({n: r[0].copy() for n, r in regions.items() if n != CONSTANTS})
        self._end = {n: r[0].copy() for n, r in regions.items() if n != CONSTANTS}
        (self._output,) = self._output_bytes(regions)

    def _regions(self, batch: int) -> dict[int, Bytes]:
        regions: dict[int, Bytes] = {CONSTANTS: self._constants}
        for region, size in self._layout.sizes.items():
            if region != CONSTANTS:
                regions[region] = np.zeros((batch, size), np.uint8)
        buffer = self._model.config.shared_buffer_bytes
        regions[SHARED_BUFFER] = np.zeros((batch, buffer), np.uint8)
        return regions

    def _output_bytes(self, regions: dict[int, Bytes]) -> list[bytes]:
        """Return the bytes of the output tensors, one after the other, of each run."""
        parts = [regions[s.region][:, s.offset : s.offset + s.size] for s in self._outputs]
        return [row.tobytes() for row in np.concatenate(parts, axis=1)]

    def _finish(self, operation: int, maps: Sequence[Values]) -> list[Outcome]:
        target = self.places[operation]
        regions: dict[int, Bytes] = {CONSTANTS: self._constants}
        for number, memory in self._memories[operation].items():
            regions[number] = np.repeat(memory[None], len(maps), axis=0)
        data = np.stack([np.ascontiguousarray(values).reshape(-1).view(np.uint8) for values in maps])
        regions[target.region][:, target.offsets.reshape(-1)] = data
        ends = self._model.run(
            self.compiled.commands,
            regions,
            read_only=frozenset({CONSTANTS}),
            start_word=self._program.resume_word(operation + 1),
        )
        expected = self._workload.decision(self._output)
        found = []
        for i, (end, output) in enumerate(zip(ends, self._output_bytes(regions), strict=True)):
            if end.status & int(ERRORS):
                found.append(Outcome.DUE)
            elif output != self._output:
                same = self._workload.decision(output) == expected
                found.append(Outcome.SDC_TOLERABLE if same else Outcome.SDC_CRITICAL)
            else:
                equal = all(np.array_equal(regions[n][i], memory) for n, memory in self._end.items())
                found.append(Outcome.MASKED if equal else Outcome.LATENT)
        return found


def _widened(pattern: Pattern) -> Pattern:
    """Take a pattern of which not all bytes were kept for one that spans the whole feature map."""
    height, width, depth = pattern.shape
    box = (0, height - 1, 0, width - 1, 0, depth - 1)
    count = max(pattern.count, height * width * depth // 2)
    return Pattern(
        pattern.operation, pattern.shape, pattern.element_bytes, count, box, pattern.samples, pattern.stray
    )
