# SPDX-License-Identifier: Apache-2.0
"""Finishes inferences that left the RTL between two operations, on the functional model, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from resil.networks.compile import CONSTANTS_REGION, CompiledNetwork
from resil.rtl_harness.engine.tail import Departure, Queue
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.machine import FunctionalModel, OperationStep
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes
from resil.rtl_harness.npu.model.program import Copy, Execute, Program
from resil.rtl_harness.npu.model.status import ERRORS

_BATCH = 64
_TABLE = (CONSTANTS_REGION, SHARED_BUFFER)


def _of(scope: str, names: str) -> tuple[str, ...]:
    return tuple(f"u_npu.{scope}.{name}" for name in names.split())


_BEATS = "u_npu.u_dma.u_ofm.u_collect.u_beats"

# Queues that are empty between operations; where a fault changed how much went through, they are turned. The
# last but one is the part of the shared buffer in which the output waits for the DMA; the last one is as deep
# as dma_ofm says.
TURNED = (
    *(
        Queue(f"{fifo}.level_q", (f"{fifo}.head_q", f"{fifo}.tail_q"))
        for fifo in _of("u_dma", "u_piece.u_runs.u_queue u_scale.u_fifo u_weight.u_fifo")
    ),
    Queue("u_npu.u_dma.u_ofm.level_q", ("u_npu.u_dma.u_ofm.head_q", "u_npu.u_ao.u_pack.tail_q")),
    Queue(f"{_BEATS}.level_q", (f"{_BEATS}.head_q", f"{_BEATS}.tail_q"), places=12),
)

Mask = npt.NDArray[np.bool_]


@dataclass
class _Run:
    """A batch between two operations."""

    numbers: list[int]
    images: Bytes  # (n, bytes of the memory)


@dataclass
class NpuTail:
    """The tail of one compiled network on the NPU's bench.

    Attributes:
        compiled: The network.
        regions: Offset of each writable region in the SRAM.
        sizes: Bytes of each region.
        memory: The bench's SRAM.
        quiet: The error status. The functional model has it, too; a run in which it is set does not leave.
    """

    compiled: CompiledNetwork
    regions: Mapping[int, int]
    sizes: Mapping[int, int]
    memory: str = "sram"
    quiet: tuple[str, ...] = ("error_o",)
    _golden: list[Bytes] = field(default_factory=list, init=False, repr=False)
    _buffers: list[Bytes] = field(default_factory=list, init=False, repr=False)
    _unsettled: list[Mask] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._npu = npu_config(self.compiled.accelerator)
        self._model = FunctionalModel(self._npu)
        self._read_only = frozenset({CONSTANTS_REGION})
        self._constants = np.frombuffer(self.compiled.constants, np.uint8)
        self._program: Program = self._model.lower(self.compiled.commands, self._read_only)

    def prepare(self, golden: Mapping[int, bytes], end: bytes) -> frozenset[int]:
        """Run the model on the golden images; leave where it has what the RTL had.

        Nothing leaves if an operation is beyond what the model can hold.
        """
        if not golden:
            return frozenset()
        first = min(golden)
        count = len(self._program.operations)
        self._unsettled = self._find_unsettled(len(end))
        image = np.frombuffer(golden[first], np.uint8)[None].copy()
        buffer = self._tables_before(first)[None]
        self._golden, self._buffers = [image[0].copy()] * (count + 1), [buffer[0].copy()] * (count + 1)
        try:
            for step in self._steps(image, buffer, first):
                self._golden[step.index + 1], self._buffers[step.index + 1] = (
                    image[0].copy(),
                    buffer[0].copy(),
                )
        except HarnessError:
            return frozenset()
        if image[0].tobytes() != end:
            return frozenset()
        return frozenset(
            k
            for k, found in golden.items()
            if first <= k <= count
            and not ((self._golden[k] != np.frombuffer(found, np.uint8)) & ~self._unsettled[k]).any()
        )

    def unsettled(self, operation: int) -> Sequence[range]:
        """Return what a copy may be writing or reading just then, and weights that are still to be used."""
        edges = np.flatnonzero(np.diff(self._unsettled[operation], prepend=False, append=False))
        return [range(begin, end) for begin, end in edges.reshape(-1, 2).tolist()]

    def queues(self) -> Sequence[Queue]:
        """Return the queues of the DMA's channels."""
        return TURNED

    def finish(self, departures: Sequence[Departure]) -> list[bytes | None]:
        """Run the model on from where each left; those that meet the golden run again end as it does."""
        ends: list[bytes | None] = [None] * len(departures)
        for start in range(0, len(departures), _BATCH):
            some = range(start, min(start + _BATCH, len(departures)))
            for number, image in self._finished(departures, some):
                ends[number] = image
        return ends

    def _finished(self, departures: Sequence[Departure], numbers: range) -> Iterator[tuple[int, bytes]]:
        waiting = sorted(numbers, key=lambda n: departures[n].operation)
        count = len(self._program.operations)
        run = _Run([], np.zeros((0, len(self._golden[0])), np.uint8))
        for k in range(departures[waiting[0]].operation, count + 1):
            joining = [n for n in waiting if departures[n].operation == k]
            if joining:
                images = np.repeat(self._golden[k][None], len(joining), axis=0)
                for image, n in zip(images, joining, strict=True):
                    image[departures[n].offsets] ^= departures[n].xors
                run = _Run(run.numbers + joining, np.concatenate([run.images, images]))
            if not run.numbers:
                continue
            buffers = np.repeat(self._buffers[k][None], len(run.numbers), axis=0)
            if k == count:
                yield from self._last(run, buffers)
                return
            next(iter(self._steps(run.images, buffers, k)))
            same = (run.images == self._golden[k + 1]).all(axis=1)
            for i in np.flatnonzero(same):
                yield run.numbers[i], self._golden[count].tobytes()
            if same.any():
                kept = np.flatnonzero(~same)
                run = _Run([run.numbers[i] for i in kept], run.images[kept])

    def _last(self, run: _Run, buffers: Bytes) -> Iterator[tuple[int, bytes]]:
        word = self._program.resume_word(len(self._program.operations))
        results = self._model.run(
            self.compiled.commands,
            self._regions(run.images, buffers),
            read_only=self._read_only,
            start_word=word,
        )
        for n, image, result in zip(run.numbers, run.images, results, strict=True):
            if not result.status & ERRORS:
                yield n, image.tobytes()

    def _steps(self, images: Bytes, buffers: Bytes, operations: int) -> Iterator[OperationStep]:
        """Run on images and shared buffers, written in place, from the end of so many operations."""
        return self._model.operations(
            self.compiled.commands,
            self._regions(images, buffers),
            read_only=self._read_only,
            start_word=self._program.resume_word(operations),
        )

    def _regions(self, images: Bytes, buffers: Bytes) -> dict[int, Bytes]:
        regions: dict[int, npt.NDArray[np.uint8]] = {
            CONSTANTS_REGION: self._constants,
            SHARED_BUFFER: buffers,
        }
        for region, offset in self.regions.items():
            if region != CONSTANTS_REGION:
                regions[region] = images[:, offset : offset + self.sizes[region]]
        return regions

    def _find_unsettled(self, size: int) -> list[Mask]:
        """Return what is unsettled after each number of operations, as (size,) of the memory.

        One copy can be under way at a time. At the end of an operation it is the last one that was started
        before that operation, or any of those after it. Wrong weights would take another time to be decoded.
        """
        number = len(self._program.operations)
        unsettled = [np.zeros(size, np.bool_) for _ in range(number + 1)]
        weights = np.zeros(size, np.bool_)  # that operations after this number find in the memory
        under_way = [number]  # numbers at whose end the next copy on the way back may be under way
        for step in reversed(self._program.steps):
            match step.action:
                case Copy() as copy:
                    for k in under_way:
                        self._mark(unsettled[k], copy.source_region, copy.source, copy.length)
                        self._mark(unsettled[k], copy.destination_region, copy.destination, copy.length)
                    under_way = [number]
                    self._mark(weights, copy.destination_region, copy.destination, copy.length, False)
                case Execute() as execute:
                    unsettled[number] |= weights
                    number -= 1
                    under_way.append(number)
                    if isinstance(execute.config, ConvConfig):
                        stream = execute.config.weights
                        self._mark(weights, stream.region, stream.base, stream.length)
        unsettled[0] |= weights
        return unsettled

    def _tables_before(self, operations: int) -> Bytes:
        """Return the shared buffer with what was copied to it from the constants before so many had ended."""
        buffer = np.zeros(self._npu.shared_buffer_bytes, np.uint8)
        for step in self._program.steps:
            match step.action:
                case Copy() as copy if (copy.source_region, copy.destination_region) == _TABLE:
                    source = self._constants[copy.source : copy.source + copy.length]
                    buffer[copy.destination : copy.destination + copy.length] = source
                case Execute():
                    operations -= 1
                    if not operations:
                        break
        return buffer

    def _mark(self, mask: Mask, region: int, first: int, length: int, value: bool = True) -> None:
        if region in self.regions and region != CONSTANTS_REGION:
            begin = self.regions[region] + first
            mask[begin : begin + length] = value
