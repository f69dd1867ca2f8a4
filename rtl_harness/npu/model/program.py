# SPDX-License-Identifier: Apache-2.0
"""A command stream, lowered: what it does to memory, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from resil.rtl_harness.npu.model.checks import (
    OperationRequest,
    check_aligned,
    check_bits,
    region_number,
    written_region,
)
from resil.rtl_harness.npu.model.commands import (
    Command,
    CommandError,
    Opcode,
    Register,
    Registers,
    Words,
    parse,
)
from resil.rtl_harness.npu.model.config import NpuConfig
from resil.rtl_harness.npu.model.conv_config import ConvConfig, conv_config, depthwise_config
from resil.rtl_harness.npu.model.elementwise_config import (
    ElementwiseConfig,
    elementwise_config,
)
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.pool_config import PoolConfig, pool_config
from resil.rtl_harness.npu.model.status import Status

OperationConfig = ConvConfig | PoolConfig | ElementwiseConfig

CONFIGURE: dict[Opcode, Callable[[OperationRequest], OperationConfig]] = {
    Opcode.CONV: conv_config,
    Opcode.DEPTHWISE: depthwise_config,
    Opcode.POOL: pool_config,
    Opcode.ELEMENTWISE: elementwise_config,
}

_TO_SHARED_BUFFER = 1 << 8


@dataclass(frozen=True)
class Copy:
    """A DMA copy of `length` bytes from one region to another or to SHARED_BUFFER; offsets in bytes."""

    source_region: int
    source: int
    destination_region: int
    destination: int
    length: int


@dataclass(frozen=True)
class Execute:
    """An operation: its number from 0, its kind and its configuration."""

    index: int
    kind: Opcode
    config: OperationConfig


@dataclass(frozen=True)
class StreamEnd:
    """The end of the stream: STOP (CMD_END) or a command that sets CMD_ERROR, and why."""

    status: Status
    reason: str


@dataclass(frozen=True)
class ProgramStep:
    """One step of a program.

    Attributes:
        word: Index of the command's first word.
        next_word: Index of the word after it.
        irq_mask: OR of the parameters of IRQ commands before it, and of STOP's own.
        action: What it does.
    """

    word: int
    next_word: int
    irq_mask: int
    action: Copy | Execute | StreamEnd


@dataclass(frozen=True)
class Program:
    """What a stream does.

    Attributes:
        steps: In order; the last is the only one that holds a `StreamEnd`.
        boundaries: Index of the first word of every command up to the end.
    """

    steps: tuple[ProgramStep, ...]
    boundaries: frozenset[int]

    @property
    def operations(self) -> tuple[ProgramStep, ...]:
        """The steps that are operations."""
        return tuple(step for step in self.steps if isinstance(step.action, Execute))

    def written_regions(self) -> frozenset[int]:
        """Numbers of the regions that the steps write to."""
        copies = {s.action.destination_region for s in self.steps if isinstance(s.action, Copy)}
        return frozenset(
            copies | {s.action.config.output.ofm.region for s in self.steps if isinstance(s.action, Execute)}
        )

    def fills_shared_buffer(self, before: int) -> bool:
        """Return whether a copy at a word before `before` goes to the shared buffer."""
        return any(
            isinstance(step.action, Copy) and step.action.destination_region == SHARED_BUFFER
            for step in self.steps
            if step.word < before
        )

    def resume_word(self, operations_done: int) -> int:
        """Return the index of the word after the operation that is number `operations_done`; 0 for none.

        Raises:
            ValueError: If the program has fewer operations.
        """
        if not 0 <= operations_done <= len(self.operations):
            raise ValueError(f"expected 0 to {len(self.operations)} operations, found {operations_done}")
        return self.operations[operations_done - 1].next_word if operations_done else 0


def lower(words: Words, npu: NpuConfig, read_only: frozenset[int] = frozenset()) -> Program:
    """Lower a command stream; never raises, since a bad stream is a program that ends with CMD_ERROR.

    Args:
        words: The stream, shape (QSIZE / 4,).
        npu: The accelerator.
        read_only: Regions on the read-only port.
    """
    return _Lowering(npu, read_only).run(words)


def refused_commands(
    words: Words, npu: NpuConfig, read_only: frozenset[int] = frozenset()
) -> tuple[tuple[int, str], ...]:
    """Return index and reason of every command that would set CMD_ERROR, as if the others went on.

    A word that is no command ends the list. The arguments are those of `lower`.
    """
    lowering, word = _Lowering(npu, read_only), 0
    found: list[tuple[int, str]] = []
    try:
        for command in parse(words):
            word = command.end
            try:
                if isinstance(lowering.action(command), StreamEnd):
                    return tuple(found)
            except CommandError as error:
                found.append((command.word, error.reason))
        raise CommandError("the stream ends without STOP")
    except CommandError as error:
        return (*found, (word, error.reason))


class _Lowering:
    def __init__(self, npu: NpuConfig, read_only: frozenset[int]) -> None:
        self._npu = npu
        self._read_only = read_only
        self._registers = Registers()
        self._operations = 0
        self._irq_mask = 0
        self._steps: list[ProgramStep] = []

    def run(self, words: Words) -> Program:
        word, next_word, boundaries = 0, 0, set()
        try:
            for command in parse(words):
                word, next_word = command.word, command.end
                boundaries.add(word)
                action = self.action(command)
                if action is not None:
                    self._steps.append(ProgramStep(word, next_word, self._irq_mask, action))
                if isinstance(action, StreamEnd):
                    return Program(tuple(self._steps), frozenset(boundaries))
                word = next_word
            raise CommandError("the stream ends without STOP")
        except CommandError as error:
            boundaries.add(word)
            self._steps.append(
                ProgramStep(word, next_word, self._irq_mask, StreamEnd(Status.CMD_ERROR, error.reason))
            )
            return Program(tuple(self._steps), frozenset(boundaries))

    def action(self, command: Command) -> Copy | Execute | StreamEnd | None:
        target = command.target
        if isinstance(target, Register):
            self._registers.write(target, command.parameter, command.payload)
            return None
        match target:
            case Opcode.STOP:
                self._irq_mask |= command.parameter
                return StreamEnd(Status.CMD_END, "STOP")
            case Opcode.IRQ:
                self._irq_mask |= command.parameter
            case Opcode.DMA_START:
                return self._copy()
            case kind if kind in CONFIGURE:
                request = OperationRequest(self._registers, command.parameter, self._npu, self._read_only)
                config = CONFIGURE[kind](request)
                self._operations += 1
                return Execute(self._operations - 1, kind, config)
        return None

    def _copy(self) -> Copy:
        r = self._registers
        source, destination, length = (
            check_aligned(r, register)
            for register in (Register.DMA0_SRC, Register.DMA0_DST, Register.DMA0_LEN)
        )
        request = OperationRequest(r, 0, self._npu, self._read_only)
        if check_bits(r, Register.DMA0_DST_REGION, _TO_SHARED_BUFFER | 7) & _TO_SHARED_BUFFER:
            region = SHARED_BUFFER
        else:
            region = written_region(request, Register.DMA0_DST_REGION)
        return Copy(
            source_region=region_number(r, Register.DMA0_SRC_REGION),
            source=source,
            destination_region=region,
            destination=destination,
            length=length,
        )
