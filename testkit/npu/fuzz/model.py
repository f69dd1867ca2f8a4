# SPDX-License-Identifier: Apache-2.0
"""What the functional model says of a trial, and how much of that the RTL must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.commands import Command, CommandError, Opcode, Words, parse
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.elementwise_config import ElementwiseConfig
from resil.rtl_harness.npu.model.feature_map import place
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.program import Copy, Execute, OperationConfig, Program, StreamEnd
from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.model.tensors import FeatureMap
from resil.rtl_harness.npu.workload import FLASH_BASE, SRAM_BASE
from testkit.npu.fuzz.bench import (
    FLASH_BYTES,
    SRAM_BYTES,
    commands_at,
    flash_image,
    sram_image,
    stream_seen,
)
from testkit.npu.fuzz.damage import Trial
from testkit.npu.fuzz.operations import CONSTANTS, RAM

Mask = npt.NDArray[np.bool_]
TABLE_BYTES = 2048


@dataclass(frozen=True, eq=False)
class Prediction:
    """What must come out.

    Attributes:
        status: The STATUS word; None if it hangs on timing or on things that the model does not know.
        ram: Region 1 afterwards; None likewise, and if the run ends in an error.
        why: Why something is None, "" if nothing is.
    """

    status: int | None
    ram: bytes | None
    why: str = ""


def region_images(trial: Trial) -> dict[int, npt.NDArray[np.uint8]] | None:
    """Return the regions as the NPU sees them; None if one of them is not whole in its memory."""
    images = {}
    memories = {CONSTANTS: (FLASH_BASE, flash_image(trial)), RAM: (SRAM_BASE, sram_image(trial))}
    for region, (start, memory) in memories.items():
        first, size = trial.starts[region] - start, trial.sizes[region]
        if first < 0 or first + size > len(memory):
            return None
        images[region] = memory[first : first + size].copy()
    return images


class Model:
    """The functional model of one accelerator, as a judge of trials."""

    def __init__(self, accelerator: str) -> None:
        self._npu = npu_config(accelerator)
        self._model = FunctionalModel(self._npu)

    def predict(self, trial: Trial) -> Prediction:
        """Return what must come out of a trial that ended; error responses of the bus are not modelled."""
        if trial.bus_errs:
            return Prediction(None, None, "bus errors")
        if trial.stream_offset % 8:
            return Prediction(int(Status.IRQ | Status.CMD_ERROR), None, "no stream")
        regions, commands = region_images(trial), stream_seen(trial)
        start = commands_at(trial) + trial.stream_offset
        if regions is None or start < 0 or start + commands.nbytes > FLASH_BYTES:
            return Prediction(None, None, "a region outside the memory")
        program = self._model.lower(commands, frozenset({CONSTANTS}))
        sizes = {region: len(image) for region, image in regions.items()}
        hazard = _Hazards(program, sizes, self._npu.table_base, self._npu.usable_banks < self._npu.sb_banks)
        hazard.walk(commands)
        batch = {region: image[None] if region == RAM else image for region, image in regions.items()}
        try:
            (result,) = self._model.run(commands, batch, read_only=frozenset({CONSTANTS}))
        except HarnessError as error:
            return Prediction(None, None, str(error))
        ram = None if result.error or hazard.memory else batch[RAM].tobytes()
        status = None if hazard.status else result.status
        return Prediction(status, ram, hazard.status or hazard.memory)


@dataclass
class _Use:
    """Bytes of region 1 that something reads and writes, shape (bytes,)."""

    reads: Mask
    writes: Mask
    internal: bool = False

    def clashes(self, other: _Use) -> bool:
        return bool((self.writes & (other.reads | other.writes)).any() or (self.reads & other.writes).any())


@dataclass
class _Hazards:
    """Finds what README.md leaves open: data that are read and written at the same time.

    Attributes:
        memory: Why the memory hangs on timing, "" if it does not.
        status: Why even STATUS does.
    """

    program: Program
    sizes: dict[int, int]
    table_base: int
    tables_apart: bool
    memory: str = ""
    status: str = ""
    _copy: _Use | None = None
    _operation: _Use | None = None
    _tables: Mask = field(default_factory=lambda: np.zeros(TABLE_BYTES, bool))

    def walk(self, commands: Words) -> None:
        actions = {
            step.word: step.action for step in self.program.steps if not isinstance(step.action, StreamEnd)
        }
        for found in _commands(commands):
            if found.word not in self.program.boundaries:
                return
            if found.target == Opcode.DMA_WAIT:
                self._copy = None
            elif found.target == Opcode.KERNEL_WAIT and not found.parameter:
                self._operation = None
            match actions.get(found.word):
                case Copy() as copy:
                    self._start_copy(copy)
                case Execute() as execute:
                    self._start_operation(execute.config)

    def _start_copy(self, copy: Copy) -> None:
        use = _Use(self._nothing(), self._nothing(), copy.destination_region == SHARED_BUFFER)
        for region, first, mask in (
            (copy.source_region, copy.source, use.reads),
            (copy.destination_region, copy.destination, use.writes),
        ):
            if region == RAM:
                mask[first : first + copy.length] = True
        if use.internal:
            first = max(0, copy.destination - self.table_base)
            self._tables[first : max(0, copy.destination + copy.length - self.table_base)] = True
        self._copy = use
        self._check_both(False)
        if copy.source_region == copy.destination_region == RAM and use.clashes(
            replace(use, writes=use.reads)
        ):
            self.memory = self.memory or "a copy onto itself"

    def _start_operation(self, config: OperationConfig) -> None:
        use = _Use(self._nothing(), self._nothing())
        ofm = config.output.ofm
        streams = [config.weights, config.scales] if isinstance(config, ConvConfig) else []
        self._mark(use.writes, ofm)
        for stream in streams:
            if stream.region == RAM:
                use.reads[stream.base : stream.base + stream.length] = True
        streams_clash = bool((use.reads & use.writes).any())
        for tensor in _inputs(config):
            if not (isinstance(config, ElementwiseConfig) and _same_place(tensor, ofm)):
                self._mark(use.reads, tensor)
        self._operation = use
        if (use.reads & use.writes).any():
            self.memory = self.memory or "an operation overwrites what it reads"
        if streams_clash:
            self.status = "an operation overwrites its weights"
        if config.output.activation.table is not None:
            if not self._tables.all():
                self.memory = self.memory or "a table that was not filled"
        elif not self.tables_apart:
            self._tables[:] = False
        self._check_both(bool(streams))

    def _check_both(self, streams: bool) -> None:
        copy, operation = self._copy, self._operation
        if copy and operation and (copy.internal or copy.clashes(operation)):
            self.memory = self.memory or "a copy and an operation at the same time"
            if copy.writes.any():
                self.status = self.status or "a copy overwrites what an operation reads"

    def _mark(self, mask: Mask, tensor: FeatureMap) -> None:
        if tensor.region != RAM or tensor.elements > 1 << 22:
            return
        offsets = place(tensor, [0], self.sizes[RAM]).offsets.reshape(-1)
        for byte in range(tensor.element_bytes):
            inside = (offsets + byte) % (1 << 32)
            mask[inside[inside < len(mask)]] = True

    def _nothing(self) -> Mask:
        return np.zeros(self.sizes.get(RAM, SRAM_BYTES), bool)


def _commands(words: Words) -> Iterator[Command]:
    with suppress(CommandError):
        yield from parse(words)


def _inputs(config: OperationConfig) -> Iterator[FeatureMap]:
    for name in ("ifm", "ifm2"):
        tensor = getattr(config, name, None)
        if isinstance(tensor, FeatureMap):
            yield tensor


def _same_place(tensor: FeatureMap, ofm: FeatureMap) -> bool:
    return replace(tensor, signed=ofm.signed, zero_point=ofm.zero_point) == ofm
