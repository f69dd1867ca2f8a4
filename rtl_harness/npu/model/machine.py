# SPDX-License-Identifier: Apache-2.0
"""The functional model: runs a command stream on memory images, bit for bit as the hardware does."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.npu.model.batch import Upset
from resil.rtl_harness.npu.model.commands import Opcode, Words
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv import Conv
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.elementwise import Elementwise
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig
from resil.rtl_harness.npu.model.feature_map import RegionSize
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes, RegionMemory
from resil.rtl_harness.npu.model.pool import Pool
from resil.rtl_harness.npu.model.pool_config import PoolConfig
from resil.rtl_harness.npu.model.program import (
    Copy,
    Execute,
    OperationConfig,
    Program,
    StreamEnd,
    lower,
)
from resil.rtl_harness.npu.model.status import ERRORS, Status, status_word

_KEPT_PROGRAMS = 8


@dataclass(frozen=True)
class ModelResult:
    """How the run of one batch element ended.

    Attributes:
        status: The STATUS word at the end.
        error: One of its error bits is set.
        operations_done: Operations that ran to their end since the beginning of the stream, whether or not
            they set an error; those before `start_word` count.
    """

    status: int
    error: bool
    operations_done: int


@dataclass(frozen=True)
class OperationStep:
    """One operation has ended, and memory is as it left it.

    Attributes:
        index: Number of the operation, from 0.
        word: Index of its command in the stream.
        kind: What it was.
        errors: Error bits that it set, shape (elements,).
        elements: Batch elements that ran it; those that had ended before are absent.
    """

    index: int
    word: int
    kind: Opcode
    errors: npt.NDArray[np.uint32]
    elements: npt.NDArray[np.int64]


class PreparedOperation(Protocol):
    """What the machine asks of an operation that it prepared for regions of given sizes."""

    refusal: Status

    def execute(self, memory: RegionMemory, upset: Upset | None = None) -> npt.NDArray[np.uint32]:
        """Work on the active elements, whose accumulators `upset` changes; return error bits, (active,)."""
        ...


def prepare(config: OperationConfig, npu: NpuConfig, region_size: RegionSize) -> PreparedOperation:
    """Work out an operation's addresses in regions of the sizes that `region_size` gives."""
    match config:
        case ConvConfig():
            return Conv(config, npu, region_size)
        case PoolConfig():
            return Pool(config, npu, region_size)
        case ElementwiseConfig():
            return Elementwise(config, npu, region_size)


class _Prepared:
    """A lowered stream and its operations, prepared when they are first reached."""

    def __init__(self, program: Program, config: NpuConfig) -> None:
        self.program = program
        self._config = config
        self._operations: dict[int, PreparedOperation] = {}

    def operation(self, action: Execute, memory: RegionMemory) -> PreparedOperation:
        if action.index not in self._operations:
            self._operations[action.index] = prepare(action.config, self._config, memory.size)
        return self._operations[action.index]


class FunctionalModel:
    """Runs command streams on batches of memory images.

    Commands take effect one after another; a copy or an operation is done when the next command is looked at.
    Lowered streams, address tables and decoded weights are kept from run to run.
    """

    def __init__(self, config: NpuConfig) -> None:
        self.config = config
        self._prepared: OrderedDict[tuple[object, ...], _Prepared] = OrderedDict()

    def run(
        self,
        commands: Words,
        regions: Mapping[int, Bytes],
        *,
        read_only: frozenset[int] = frozenset(),
        start_word: int = 0,
    ) -> list[ModelResult]:
        """Execute a command stream from `start_word` to its end.

        Args:
            commands: The stream, uint32, shape (words,).
            regions: By number, uint8: shape (bytes,) if all elements of the batch share the region, else
                (batch, bytes). Written in place. A region that is absent has no bytes, and no memory
                lies behind the others. SHARED_BUFFER
                stands for the shared buffer, of which the model keeps no more than what copies put there.
            read_only: Regions on the read-only port.
            start_word: Index of a command's first word. All commands before it count as executed, copies and
                operations included; the registers and irq_mask are what they left behind.

        Returns:
            How each element of the batch ended.

        Raises:
            ValueError: If the shapes do not fit, a shared region would be written by a batch, `start_word`
                is not the beginning of a command that the stream reaches, or a copy before it went to the
                shared buffer, which is not given.
            HarnessError: An operation is too large for the model.
        """
        steps = self.operations(commands, regions, read_only=read_only, start_word=start_word)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                results: list[ModelResult] = end.value
                return results

    def operations(
        self,
        commands: Words,
        regions: Mapping[int, Bytes],
        *,
        read_only: frozenset[int] = frozenset(),
        start_word: int = 0,
        upset: Upset | None = None,
    ) -> Generator[OperationStep, None, list[ModelResult]]:
        """Execute a command stream as `run` does, and pause after each operation.

        `regions` are written in place, so that they hold the state after the operation whenever one is
        yielded; copy what must outlast the next step. The generator's return value is that of `run`. Of the
        first operation `upset` changes the accumulators, if it has any.
        """
        memory = RegionMemory(regions, self.config.shared_buffer_bytes)
        prepared = self._prepare(commands, read_only, memory)
        program = prepared.program
        if start_word not in program.boundaries:
            raise ValueError(
                f"start_word {start_word} is not the beginning of a command that the stream reaches"
            )
        for region in program.written_regions():
            memory.check_writable(region)
        if SHARED_BUFFER not in regions and program.fills_shared_buffer(start_word):
            raise ValueError(
                f"a copy before start_word {start_word} fills the shared buffer: "
                f"give it as region {SHARED_BUFFER}"
            )
        run = _BatchRun(memory.batch)
        for step in program.steps:
            action = step.action
            if isinstance(action, Execute) and step.word < start_word:
                run.operations_done[:] = action.index + 1
            if step.word < start_word or not len(memory.active):
                continue
            elements = memory.active
            match action:
                case Copy():
                    errors = _copy(action, memory, self.config)
                case Execute():
                    operation = prepared.operation(action, memory)
                    if operation.refusal:
                        errors = np.full(len(elements), int(operation.refusal), dtype=np.uint32)
                    else:
                        errors, upset = operation.execute(memory, upset), None
                        run.operations_done[elements] = action.index + 1
                        yield OperationStep(action.index, step.word, action.kind, errors, elements)
                case StreamEnd():
                    errors = np.full(len(elements), int(action.status), dtype=np.uint32)
            run.end(memory, errors, step.irq_mask)
        return run.results()

    def lower(self, commands: Words, read_only: frozenset[int] = frozenset()) -> Program:
        """Return what a stream does on this accelerator."""
        return lower(commands, self.config, read_only)

    def _prepare(self, commands: Words, read_only: frozenset[int], memory: RegionMemory) -> _Prepared:
        if commands.dtype != np.uint32 or commands.ndim != 1:
            raise ValueError(
                f"expected uint32 words of shape (n,), found {commands.dtype} of {commands.shape}"
            )
        key = (commands.tobytes(), read_only, tuple(memory.size(region) for region in range(8)))
        if key not in self._prepared:
            self._prepared[key] = _Prepared(self.lower(commands, read_only), self.config)
        self._prepared.move_to_end(key)
        if len(self._prepared) > _KEPT_PROGRAMS:
            self._prepared.popitem(last=False)
        return self._prepared[key]


class _BatchRun:
    """What is known of each batch element so far."""

    def __init__(self, batch: int) -> None:
        self.operations_done = np.zeros(batch, dtype=np.int64)
        self._status = np.zeros(batch, dtype=np.uint32)

    def end(self, memory: RegionMemory, bits: npt.NDArray[np.uint32], irq_mask: int) -> None:
        """Stop the active elements whose status `bits`, shape (active,), are not zero."""
        ended = bits != 0
        if ended.any():
            self._status[memory.active[ended]] = bits[ended] | np.uint32(status_word(Status.IRQ, irq_mask))
            memory.retire(ended)

    def results(self) -> list[ModelResult]:
        return [
            ModelResult(status, bool(status & ERRORS), done)
            for status, done in zip(self._status.tolist(), self.operations_done.tolist(), strict=True)
        ]


def _copy(copy: Copy, memory: RegionMemory, npu: NpuConfig) -> npt.NDArray[np.uint32]:
    errors = np.zeros(len(memory.active), dtype=np.uint32)
    inside = copy.source + copy.length <= memory.size(
        copy.source_region
    ) and copy.destination + copy.length <= memory.size(copy.destination_region)
    if not inside and (npu.region_check or copy.length):
        to_buffer = copy.destination_region == SHARED_BUFFER and copy.destination + copy.length > memory.size(
            SHARED_BUFFER
        )
        errors[:] = Status.ADDRESS_ERROR if to_buffer else npu.beyond_region
    elif inside and copy.length:
        data = memory.read(copy.source_region, slice(copy.source, copy.source + copy.length))
        memory.write(
            copy.destination_region, slice(copy.destination, copy.destination + copy.length), data.copy()
        )
    return errors
