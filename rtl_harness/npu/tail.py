"""Finishes inferences that left the RTL between two operations, on the functional model, many at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from networks.compile import CONSTANTS_REGION, CompiledNetwork
from rtl_harness.engines.tail import Departure, Held, Queue
from rtl_harness.errors import HarnessError
from rtl_harness.npu.model.config import BANK_BYTES, npu_config
from rtl_harness.npu.model.conv_config import ConvConfig
from rtl_harness.npu.model.machine import FunctionalModel, OperationStep
from rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes
from rtl_harness.npu.model.program import Copy, Execute, Program
from rtl_harness.npu.model.status import ERRORS

ROW_BYTES = 16
_BATCH = 64
_TABLE = (CONSTANTS_REGION, SHARED_BUFFER)


def _of(scope: str, names: str) -> tuple[str, ...]:
    return tuple(f"u_npu.{scope}.{name}" for name in names.split())


_BEATS = "u_npu.u_dma.u_ofm.u_collect.u_beats"
_POSITION = "bit_q channel_q column_q first_column_q first_x_q row_l_q row_r_q todo_*_q x_q y_q"
_STEP = "iz_q k?_q u_blocks.b?_q u_blocks.last_?_q u_blocks.o?_q"

# What belongs to one operation: its copy of the stream's registers, positions in loops, and data on their way
# through the units. The next operation sets each of these before it looks at it. Not among them are states,
# valid signals, what counts things on their way, and the stream's registers themselves.
DEAD = (
    *_of("u_cc.u_decode", "op_q"),
    *_of("u_cc.u_decode.u_check.u_sizes", "*_need_q piece_?_q pixels*_q rows_q taps_q ublocks_q words*_q"),
    *_of("u_cc.u_sequencer", "acc_*_q ifm_*_q mac_step_q"),
    *_of("u_cc.u_sequencer", "u_o*_walker.b?_q u_o*_walker.last_?_q u_o*_walker.o?_q"),
    *_of("u_cc.u_sequencer.u_pieces", "part_q second_q"),
    *_of("u_cc.u_sequencer.u_mac_walker", _STEP),
    *_of("u_cc.u_sequencer.u_pieces.u_walker", _STEP),
    *_of("u_ao", "byte_q channel_q place_q u_lookup.byte_q u_pack.row_q u_walk.left_q u_walk.?_q"),
    *_of("u_ao.u_channels", "*bias_q *scale_q *shift_q at_q left_q"),
    *_of("u_ao.u_channels.u_params", "beats_q buffer_q first_q left_q level_q skip_q"),
    *_of("u_ao.u_fetch", "u_acc.area_q u_acc.pixel_q u_acc.row_q u_*.at_q u_*.group_q"),
    *_of("u_ao.u_window", "count_q under_?_q u_reciprocal.count_q ?_q"),
    *_of("u_ao.gen_lane[[]*]", "u_source.*_q u_element.u_*.*_q"),
    *_of("u_dma", "u_m?_read.ar_q u_m?_read.ar_id_q u_m?_read.r_bad_q u_m?_read.r_data_q u_m?_read.r_id_q"),
    *_of("u_dma.u_m0_write", "aw_q b_bad_q b_pick_q left_q pick_q w_q"),
    *_of("u_dma.u_ofm", "at_bytes_q at_q bytes_q channel_q group_q last_group_q left_q x_q y_q"),
    *_of("u_dma.u_ofm", "u_collect.burst_q u_collect.last_q u_collect.len_q u_collect.passed_q"),
    *_of("u_dma.u_ofm", "u_collect.stored_q u_collect.u_beats.entry_q"),
    *_of("u_dma.u_ofm.u_merge", "addr_q data_q left_q row_q strb_q word_q"),
    *_of("u_dma.u_ofm.u_position", _POSITION),
    *_of("u_dma.u_piece", "u_bursts.age_q u_bursts.first_q u_bursts.known_q u_bursts.last_q"),
    *_of("u_dma.u_piece.u_runs", "run_q shift_q u_queue.entry_q word_q x_q"),
    *_of("u_dma.u_piece.u_receive", "beat_q run_q wr_addr_q wr_bank_q wr_data_q"),
    *_of("u_dma.u_piece.u_walk", "at_bytes_q at_q at_word_q at_x_q at_y_q before_q brick_q channel_q left_q"),
    *_of("u_dma.u_piece.u_walk", "row_q segment_q total_q word_q words_q x_q y_q"),
    *_of("u_dma.u_piece.u_walk.u_position", _POSITION),
    *_of("u_dma.u_scale", "addr_q ask_len_q u_fifo.entry_q"),
    *_of("u_dma.u_weight", "addr_q ask_len_q u_fifo.entry_q"),
    *_of("u_mac", "*_absent_q *_acc_q *_clear_q *_group_q read_addr_q read_bank_q weights_q"),
    *_of("u_mac", "gen_lane[[]*].factors_q gen_lane[[]*].u_array.gen_*.product_q"),
    *_of("u_mac.u_accumulate", "absent_q acc_q clear_q dot_high_q dot_q forward_q sum_q"),
    *_of("u_mac.u_sequencer", "*_buffer_q *last_q clear_q depth_q odd_*_q pitch_q words_q"),
    *_of("u_mac.u_sequencer", "u_walk.*_q u_x.*_q u_y.*_q"),
    *_of("u_sb", "acc_group_q out_bank_q stage_bank_q word_bank_q word_half_q"),
    *_of("u_sb.gen_bank[[]*].u_bank", "mem_q rd_data_q"),
    *_of("u_wd", "u_bits.bits_q u_control.*_q u_runs.*_q u_weights.*_q"),
    *_of("u_wd.u_packer", "first_q next_q vec_incomplete_q vec_q"),
    *_of("u_wd.u_pairs", "has_weight_q length_q owed_q places_q weight_last_q weights_q"),
    *_of("u_wd.u_palette", "count_q entries_q entry_bits_q first_q index_bits_q offset_q open_q runs_q"),
    *_of("u_wd.u_palette", "size_q values_q"),
    *_of("u_wd.u_values", "bits_q carry_q codes_q piece_q runs_q weights_q"),
)


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

# A copy may be under way when an operation ends, and with it what waits at the ports of the bus.
HELD = (
    *(
        held
        for port in _of("u_dma", "u_m0_read u_m1_read")
        for held in (
            Held((f"{port}.ar_valid_q",), (f"{port}.ar_q", f"{port}.ar_id_q")),
            Held((f"{port}.r_valid_q",), (f"{port}.r_bad_q", f"{port}.r_data_q", f"{port}.r_id_q")),
        )
    ),
    Held(_of("u_dma.u_m0_write", "aw_valid_q"), _of("u_dma.u_m0_write", "aw_q")),
    Held(_of("u_dma.u_m0_write", "active_q"), _of("u_dma.u_m0_write", "left_q pick_q")),
    Held(_of("u_dma.u_m0_write", "w_valid_q"), _of("u_dma.u_m0_write", "w_q")),
    Held(_of("u_dma.u_m0_write", "b_valid_q"), _of("u_dma.u_m0_write", "b_bad_q b_pick_q")),
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
        self._live = self._tables()

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

    def dead(self) -> Sequence[str]:
        """Return the shared buffer and the registers of the data paths."""
        return DEAD

    def held(self) -> Sequence[Held]:
        """Return what waits at the ports of the DMA."""
        return HELD

    def queues(self) -> Sequence[Queue]:
        """Return the queues of the DMA's channels."""
        return TURNED

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
