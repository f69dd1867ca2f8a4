# SPDX-License-Identifier: Apache-2.0
"""Finishes inferences that left the RTL between two operations, on the functional model, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from resil.networks.compile import CONSTANTS_REGION, CompiledNetwork
from resil.rtl_harness.engine.tail import Departure, Queue
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.images import ImageHistory, Ranges, batch_size, united, without
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


@dataclass
class _TailRun:
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
    _golden: ImageHistory | None = field(default=None, init=False, repr=False)
    _first: int = field(default=0, init=False, repr=False)  # operations before the first image
    _buffers: list[Bytes] = field(default_factory=list, init=False, repr=False)
    _unsettled: list[Ranges] = field(default_factory=list, init=False, repr=False)

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
        self._first = first = min(golden)
        count = len(self._program.operations)
        self._unsettled = self._find_unsettled()
        image = np.frombuffer(golden[first], np.uint8)[None].copy()
        buffer = self._tables_before(first)[None]
        self._golden, self._buffers = ImageHistory(image[0]), [buffer[0].copy()]
        allowed = {first}
        try:
            for step in self._steps(image, buffer, first):
                k = step.index + 1
                self._golden.add(image[0])
                self._buffers.append(buffer[0].copy())
                if k in golden and self._is_settled(k, image[0], golden[k]):
                    allowed.add(k)
        except HarnessError:
            return frozenset()
        if image[0].tobytes() != end or len(self._golden) != count - first + 1:
            return frozenset()
        return frozenset(allowed)

    def _is_settled(self, operation: int, image: Bytes, found: bytes) -> bool:
        differs = image != np.frombuffer(found, np.uint8)
        for part in self._unsettled[operation]:
            differs[part.start : part.stop] = False
        return not differs.any()

    def unsettled(self, operation: int) -> Sequence[range]:
        """Return what a copy may be writing or reading just then, and weights that are still to be used."""
        return self._unsettled[operation]

    def queues(self) -> Sequence[Queue]:
        """Return the queues of the DMA's channels."""
        return TURNED

    def finish(self, departures: Sequence[Departure]) -> Iterator[bytes | None]:
        """Run the model on from where each left; those that meet the golden run again end as it does."""
        assert self._golden is not None
        size = batch_size(self._golden.size, _BATCH)
        for start in range(0, len(departures), size):
            some = range(start, min(start + size, len(departures)))
            ends = dict(self._finished(departures, some))
            yield from (ends.get(number) for number in some)

    def _image(self, operations: int) -> Bytes:
        assert self._golden is not None
        return self._golden.at(operations - self._first)

    def _finished(self, departures: Sequence[Departure], numbers: range) -> Iterator[tuple[int, bytes]]:
        waiting = sorted(numbers, key=lambda n: departures[n].operation)
        count, begin = len(self._program.operations), departures[waiting[0]].operation
        run = _TailRun([], np.zeros((0, len(self._image(begin))), np.uint8))
        for k in range(begin, count + 1):
            joining = [n for n in waiting if departures[n].operation == k]
            if joining:
                images = np.repeat(self._image(k)[None], len(joining), axis=0)
                for image, n in zip(images, joining, strict=True):
                    image[departures[n].offsets] ^= departures[n].xors
                run = _TailRun(run.numbers + joining, np.concatenate([run.images, images]))
            if not run.numbers:
                continue
            buffers = np.repeat(self._buffers[k - self._first][None], len(run.numbers), axis=0)
            if k == count:
                yield from self._last(run, buffers)
                return
            next(iter(self._steps(run.images, buffers, k)))
            same = (run.images == self._image(k + 1)).all(axis=1)
            for i in np.flatnonzero(same):
                yield run.numbers[i], self._image(count).tobytes()
            if same.any():
                kept = np.flatnonzero(~same)
                run = _TailRun([run.numbers[i] for i in kept], run.images[kept])

    def _last(self, run: _TailRun, buffers: Bytes) -> Iterator[tuple[int, bytes]]:
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
        regions: dict[int, Bytes] = {
            CONSTANTS_REGION: self._constants,
            SHARED_BUFFER: buffers,
        }
        for region, offset in self.regions.items():
            if region != CONSTANTS_REGION:
                regions[region] = images[:, offset : offset + self.sizes[region]]
        return regions

    def _find_unsettled(self) -> list[Ranges]:
        """Return what is unsettled after each number of operations.

        One copy can be under way at a time. At the end of an operation it is the last one that was started
        before that operation, or any of those after it. Wrong weights would take another time to be decoded.
        """
        number = len(self._program.operations)
        unsettled: list[list[range]] = [[] for _ in range(number + 1)]
        weights: Ranges = ()  # that operations after this number find in the memory
        under_way = [number]  # numbers at whose end the next copy on the way back may be under way
        for step in reversed(self._program.steps):
            match step.action:
                case Copy() as copy:
                    source = self._part(copy.source_region, copy.source, copy.length)
                    destination = self._part(copy.destination_region, copy.destination, copy.length)
                    for k in under_way:
                        unsettled[k] += [source, destination]
                    under_way = [number]
                    weights = without(weights, destination)
                case Execute() as execute:
                    unsettled[number] += weights
                    number -= 1
                    under_way.append(number)
                    if isinstance(execute.config, ConvConfig):
                        stream = execute.config.weights
                        weights = united((*weights, self._part(stream.region, stream.base, stream.length)))
        unsettled[0] += weights
        return [united(parts) for parts in unsettled]

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

    def _part(self, region: int, first: int, length: int) -> range:
        """Return bytes of a region as those of the SRAM; none if it is not there."""
        if region not in self.regions or region == CONSTANTS_REGION:
            return range(0)
        begin = self.regions[region] + first
        return range(begin, begin + length)
