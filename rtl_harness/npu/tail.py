"""Finishes inferences that left the RTL between two operations, on the functional model, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from networks.compile import CompiledNetwork
from rtl_harness.engines.tail import Departure
from rtl_harness.npu.model.config import BANK_BYTES, npu_config
from rtl_harness.npu.model.machine import FunctionalModel, OperationStep
from rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes
from rtl_harness.npu.model.program import Copy, Execute, Program
from rtl_harness.npu.model.status import ERRORS

ROW_BYTES = 16
CONSTANTS_REGION = 0
_BATCH = 64

# Registers of the data paths: whoever uses one has written it in the same operation before. Not among them is
# what holds a state, a count or an address of something that goes on from operation to operation.
DEAD = (
    "u_npu.u_sb.gen_bank[[]*].u_bank.mem_q",
    "u_npu.u_sb.gen_bank[[]*].u_bank.rd_data_q",
    *(f"u_npu.u_mac.{name}" for name in ("dot_q", "sum_q", "mul_weights_q")),
    *(f"u_npu.u_ao.{name}" for name in ("bias_q", "scale_q", "shift_q", "part_q", "pack_value_q")),
    *(
        f"u_npu.u_ao.gen_lane[[]*].u_operands.{name}_q"
        for name in ("factor", "first", "out_shift", "scale", "second", "shift", "value")
    ),
    *(
        f"u_npu.u_ao.gen_lane[[]*].u_scale.{name}_q"
        for name in ("half", "half_shift", "half_twice", "mul", "mul_shift", "round", "value")
    ),
    *(f"u_npu.u_dma.u_ofm.{name}" for name in ("data_q", "beat_data_q")),
    "u_npu.u_dma.u_piece.u_receive.hold_q",
    "u_npu.u_dma.u_m0_write.data_q",
)


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
    """

    compiled: CompiledNetwork
    regions: Mapping[int, int]
    sizes: Mapping[int, int]
    memory: str = "sram"
    _golden: list[Bytes] = field(default_factory=list, init=False, repr=False)
    _buffers: list[Bytes] = field(default_factory=list, init=False, repr=False)
    _status: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._npu = npu_config(self.compiled.accelerator)
        self._model = FunctionalModel(self._npu)
        self._read_only = frozenset({CONSTANTS_REGION})
        self._constants = np.frombuffer(self.compiled.constants, np.uint8)
        self._program: Program = self._model.lower(self.compiled.commands, self._read_only)
        self._live = self._tables()

    def prepare(self, golden: Mapping[int, bytes], end: bytes) -> frozenset[int]:
        """Run the model on the golden images; leave where it has what the RTL had."""
        if not golden:
            return frozenset()
        first = min(golden)
        count = len(self._program.operations)
        image = np.frombuffer(golden[first], np.uint8)[None].copy()
        buffer = np.zeros((1, self._npu.shared_buffer_bytes), np.uint8)
        self._golden, self._buffers = [image[0].copy()] * (count + 1), [buffer[0].copy()] * (count + 1)
        for step in self._steps(image, buffer, first):
            self._golden[step.index + 1], self._buffers[step.index + 1] = image[0].copy(), buffer[0].copy()
        if image[0].tobytes() != end:
            return frozenset()
        return frozenset(k for k in golden if first <= k <= count and self._golden[k].tobytes() == golden[k])

    def dead(self) -> Sequence[str]:
        """Return the shared buffer and the registers of the data paths."""
        return DEAD

    def live(self, operation: int) -> Mapping[str, Sequence[int]]:
        """Return the rows of the shared buffer that hold tables for later operations."""
        rows: dict[str, list[int]] = {}
        for row in sorted({address // ROW_BYTES for address in self._live[operation]}):
            bank, inside = divmod(row, BANK_BYTES // ROW_BYTES)
            rows.setdefault(f"u_npu.u_sb.gen_bank[{bank}].u_bank.mem_q", []).append(inside)
        return rows

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

    def _tables(self) -> list[frozenset[int]]:
        """Return the bytes of the shared buffer that hold tables still to be used, after each operation.

        A copy may run ahead of the operation that is under way when it is started. So what it writes counts
        as live before the operation that comes next, not only after the copy.
        """
        live: frozenset[int] = frozenset()
        after = [live]
        for step in reversed(self._program.steps):
            match step.action:
                case Copy() as copy if copy.destination_region == SHARED_BUFFER:
                    live -= frozenset(range(copy.destination, copy.destination + copy.length))
                case Execute() as execute:
                    output = execute.config.output
                    if output.activation.table is not None:
                        size = 256 * output.ofm.element_bytes
                        base = self._npu.table_base + output.activation.table * size
                        live |= frozenset(range(base, base + size))
                    after.append(live)
        return after[::-1]
