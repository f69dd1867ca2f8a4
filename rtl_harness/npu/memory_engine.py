# SPDX-License-Identifier: Apache-2.0
"""Upsets of the memories outside the NPU, as an engine: the model answers, some answers are tried on the RTL.

The model has no clock. Every answer bears the last cycle of the run without a fault, alarms too. A hang is
what no answer says, and what the audit looks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np

from resil.networks.command_stream import Words, commands, encode
from resil.rtl_harness.design.operations import operation_ends
from resil.rtl_harness.design.sites import EXTERNAL_KINDS, Kind, SiteTable, StorageElement
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.engine.contract import Audited, Engine, GoldenRun
from resil.rtl_harness.engine.fast.native.library import OutputPort, Stop
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.workload import Workload, classify
from resil.rtl_harness.errors import AuditError, HarnessError, SimulationError
from resil.rtl_harness.faults import Fault, Injection, Reported, Rise, RunEnd, digest
from resil.rtl_harness.npu.images import ImageHistory, batch_size
from resil.rtl_harness.npu.infer import SHORTEST_LIMIT, STALL_FACTOR
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.machine import FunctionalModel
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER, Bytes
from resil.rtl_harness.npu.model.status import ERRORS
from resil.rtl_harness.npu.tail import NpuTail
from resil.rtl_harness.npu.workload import CONSTANTS, boot_image, layout

WEIGHTS, ACTIVATIONS = EXTERNAL_KINDS
BLOCK = "external memory"
_SRAM, _FLASH = "sram", "flash"
_TO_SHARED_BUFFER = 1 << 8
_BATCH = 32
_AUDITED_OF, _AUDITED_LEAST = 50, 8


def memory_sites(workload: Workload) -> SiteTable:
    """Return the bits outside the NPU that a network lies in, as memories of bytes.

    `weights`: region 0 in the flash, weights as the compiler packed them, biases, scales and tables; not the
    command stream. `activations`: the SRAM in use.

    Raises:
        HarnessError: The workload is no compiled network's.
    """
    compiled = _tail(workload).compiled
    sizes: dict[Kind, tuple[str, int]] = {
        WEIGHTS: (_FLASH, len(compiled.constants)),
        ACTIVATIONS: (_SRAM, len(workload.images[_SRAM])),
    }
    return SiteTable.of(
        [
            StorageElement(f"{memory}.{kind}", kind, 8, size, BLOCK, register_class="memory")
            for kind, (memory, size) in sizes.items()
            if size
        ]
    )


def _tail(workload: Workload) -> NpuTail:
    if not isinstance(workload.tail, NpuTail):
        raise HarnessError(
            f"{workload.name}: expected one inference of a network that was compiled for the NPU, found "
            "another workload; only of such is it known what lies where in the memories outside",
            "workload",
        )
    return workload.tail


class MemoryEngine:
    """Injects into the memories outside the NPU, for one input.

    An upset of `weights` is there from the beginning to the end of the inference, whatever its cycle. One of
    `activations` is inverted before the operation in whose time its cycle lies begins to work, and is free
    from then on.

    Args:
        target: The NPU on its bench.
        workload: One inference of a compiled network.
        sites: As `memory_sites` gives them.
        timeout_factor: A run on the RTL that takes so many times the cycles of the golden run is a hang.
    """

    name = "model"

    def __init__(
        self, target: Target, workload: Workload, sites: SiteTable, timeout_factor: float = 2.0
    ) -> None:
        self.notes: list[str] = []
        self._target, self._workload, self._sites = target, workload, sites
        self._factor = timeout_factor
        self._tail = _tail(workload)
        self._compiled = self._tail.compiled
        self._model = FunctionalModel(npu_config(self._compiled.accelerator))
        self._program = self._model.lower(self._compiled.commands, frozenset({CONSTANTS}))
        self._constants = np.frombuffer(self._compiled.constants, np.uint8)
        self._alarm = next(
            (n for n, a in target.alarms.items() if Reported(a.reports) is Reported.DETECTED), "error"
        )
        self._answers = self._tried = 0

    def golden(self) -> GoldenRun:
        """Run without a fault on the RTL, and on the model, which must leave the same memory.

        Raises:
            SimulationError: The RTL does not finish, or the two differ.
        """
        return self._golden

    def expect(self, faults: int, first: Engine | None = None) -> None:
        """Nothing is made ahead."""

    def run(self, faults: Sequence[Fault], workers: int = 1) -> Iterator[Injection]:
        """Yield the answers of the model, then try some on the RTL; AuditError if one differs.

        A fiftieth is tried, and at least eight: evenly through the faults, and as many of what the NPU
        reported.
        """
        groups: dict[tuple[str, int], list[Fault]] = {}
        for fault in faults:
            groups.setdefault((self._kind(fault), self._operation(fault)), []).append(fault)
        answered: list[Injection] = []
        for (kind, operation), members in sorted(groups.items()):
            size = batch_size(len(self._constants) + self._history.size, _BATCH)
            for start in range(0, len(members), size):
                found = self._answer(kind, operation, members[start : start + size])
                answered += found
                yield from found
        self._audit(answered)

    def replay(self, fault: Fault) -> Injection:
        """Answer for one fault, and try it on the RTL; AuditError if that differs."""
        (found,) = self._answer(self._kind(fault), self._operation(fault), [fault])
        self._try(found)
        return found

    @property
    def audits(self) -> Mapping[str, Audited]:
        """Answers of the model, and those tried on the RTL."""
        return {"functional model": Audited(self._answers, self._tried)} if self._answers else {}

    def audit_kept(self, injections: Iterable[Injection], workers: int = 1) -> None:
        """Try some answers of another session on the RTL; AuditError if one differs."""
        self._audit(list(injections))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _kind(self, fault: Fault) -> str:
        return self._sites.elements[self._sites.element_index(fault.site)].kind

    def _operation(self, fault: Fault) -> int:
        """Return how many operations have ended when the bit is inverted."""
        if self._kind(fault) == WEIGHTS:
            return 0
        return int(np.searchsorted(self._golden.operation_ends, fault.cycle, side="right"))

    def _struck(self, image: Bytes, faults: Sequence[Fault]) -> Bytes:
        """Return an image for each fault, (faults, bytes), with what the fault inverts."""
        found = np.repeat(image[None], len(faults), axis=0)
        for row, fault in zip(found, faults, strict=True):
            place = fault.site - self._sites.offsets[self._sites.element_index(fault.site)]
            row[place >> 3] ^= ((1 << fault.bits) - 1) << (place & 7)
        return found

    def _answer(self, kind: str, operation: int, faults: Sequence[Fault]) -> list[Injection]:
        image = self._history.at(operation)
        if kind == WEIGHTS:
            constants = self._struck(self._constants, faults)
            images = np.repeat(image[None], len(faults), axis=0)
        else:
            constants, images = self._constants, self._struck(image, faults)
        buffers = np.repeat(self._buffers[operation][None], len(faults), axis=0)
        ends = self._model.run(
            self._compiled.commands,
            self._regions(images, buffers, constants),
            read_only=frozenset({CONSTANTS}),
            start_word=self._program.resume_word(operation),
        )
        self._answers += len(faults)
        return [
            classify(fault, self._end, self._run_end(end.status, image), self._workload)
            for fault, end, image in zip(faults, ends, images, strict=True)
        ]

    def _run_end(self, status: int, image: Bytes) -> RunEnd:
        cycles = self._golden_run.cycles
        alarms = (Rise(self._alarm, Reported.DETECTED, cycles),) if status & int(ERRORS) else ()
        same = np.array_equal(image, self._history.at(len(self._history) - 1))
        state = self._golden_run.end.state_hash if same else "another"
        return RunEnd(True, cycles, status, self._output(image), state, alarms)

    def _output(self, image: Bytes) -> bytes:
        specs = self._workload.outputs
        return b"".join(image[s.offset : s.offset + s.size].tobytes() for s in specs)

    def _regions(self, images: Bytes, buffers: Bytes, constants: Bytes) -> dict[int, Bytes]:
        regions = {CONSTANTS: constants, SHARED_BUFFER: buffers}
        for region, offset in self._tail.regions.items():
            if region != CONSTANTS:
                regions[region] = images[:, offset : offset + self._tail.sizes[region]]
        return regions

    @cached_property
    def _run_of_model(self) -> tuple[ImageHistory, list[Bytes]]:
        """Memory and shared buffer after each number of operations of the run without a fault."""
        image = np.frombuffer(self._workload.images[_SRAM], np.uint8)[None].copy()
        buffer = np.zeros((1, self._model.config.shared_buffer_bytes), np.uint8)
        history, buffers = ImageHistory(image[0]), [buffer[0].copy()]
        regions = self._regions(image, buffer, self._constants)
        for _ in self._model.operations(self._compiled.commands, regions, read_only=frozenset({CONSTANTS})):
            history.add(image[0])
            buffers.append(buffer[0].copy())
        return history, buffers

    @property
    def _history(self) -> ImageHistory:
        return self._run_of_model[0]

    @property
    def _buffers(self) -> list[Bytes]:
        return self._run_of_model[1]

    @cached_property
    def _runner(self) -> Runner:
        return Runner(self._target, self._workload.parameters)

    @cached_property
    def _golden_run(self) -> GoldenRun:
        end, ends = self._simulated(self._workload, max(SHORTEST_LIMIT, self._most_cycles))
        if not end.finished:
            raise SimulationError(
                f"{self._target.name} running {self._workload.name}: no end without a fault", "golden"
            )
        return GoldenRun(end, ends)

    @property
    def _most_cycles(self) -> int:
        return STALL_FACTOR * self._compiled.vela_total_cycles

    @cached_property
    def _golden(self) -> GoldenRun:
        found, history = self._golden_run, self._history
        expected = digest(history.at(len(history) - 1).tobytes())
        if found.end.state_hash != expected or len(history) != len(found.operation_ends) + 1:
            raise SimulationError(
                f"{self._target.name} running {self._workload.name}: expected RTL and functional model to "
                "leave the same memory without a fault, found another",
                "golden",
            )
        return found

    @property
    def _end(self) -> RunEnd:
        return self._golden.end

    def _simulated(self, workload: Workload, limit: int) -> tuple[RunEnd, tuple[int, ...]]:
        runner, size = self._runner, len(self._workload.images[_SRAM])
        with runner.started(workload) as instance:
            finished = instance.run(limit) is Stop.DONE
            status = instance.port(OutputPort.STATUS)
            image = runner.memory(instance, _SRAM, workload)[:size]
            alarms = (Rise(self._alarm, Reported.DETECTED, instance.cycle),) if status & int(ERRORS) else ()
            output = self._output(np.frombuffer(image, np.uint8))
            end = RunEnd(finished, instance.cycle, status, output, digest(image), alarms)
            return end, tuple(operation_ends(instance.operations()))

    def _audit(self, answered: Sequence[Injection]) -> None:
        wanted = max(_AUDITED_LEAST, len(answered) // _AUDITED_OF)
        detected = [injection for injection in answered if injection.detected is not None]
        chosen = {i.fault: i for some in (answered, detected) for i in some[:: max(1, len(some) // wanted)]}
        for injection in chosen.values():
            self._try(injection)

    def _try(self, injection: Injection) -> None:
        """Run a fault on the RTL; AuditError if it ends in another way than the model says."""
        fault = injection.fault
        kind, operation = self._kind(fault), self._operation(fault)
        workload = self._damaged(kind, operation, fault)
        limit = int(np.ceil(self._factor * self._end.end_cycle))
        found, _ = self._simulated(workload, limit)
        self._tried += 1
        if found.finished:
            found = replace(found, end_cycle=self._end.end_cycle, alarms=self._at_end(found.alarms))
        if (tried := classify(fault, self._end, found, self._workload)) != injection:
            raise AuditError(
                f"{self._workload.name}: the functional model says {injection}, the RTL {tried}",
                fault,
                "model",
            )

    def _at_end(self, alarms: Sequence[Rise]) -> tuple[Rise, ...]:
        return tuple(replace(rise, cycle=self._end.end_cycle) for rise in alarms)

    def _damaged(self, kind: str, operation: int, fault: Fault) -> Workload:
        """Return the images with the fault in them; operations that had ended before it are left out."""
        image, flash = self._history.at(operation), self._constants
        if kind == WEIGHTS:
            (flash,) = self._struck(flash, [fault])
        else:
            (image,) = self._struck(image, [fault])
        stream = remainder(self._compiled.commands, self._program.resume_word(operation))
        rest, placed = replace(self._compiled, commands=stream), layout(self._compiled)
        images = {
            _FLASH: flash.tobytes().ljust(placed.commands, b"\0") + stream.astype("<u4").tobytes(),
            _SRAM: image.tobytes(),
            "boot": boot_image(rest, placed),
        }
        return replace(self._workload, images=images)


def remainder(stream: Words, word: int) -> Words:
    """Return a command stream that does what is left of `stream` from `word` on, the beginning of a command.

    All that its commands before set is set; of what they do, tables are copied to the shared buffer again.
    """
    if not word:
        return stream
    out, region = bytearray(), 0
    for command in commands(stream):
        if command.word >= word:
            break
        if command.mnemonic == "NPU_SET_DMA0_DST_REGION":
            region = command.parameter
        copies_table = command.mnemonic == "NPU_OP_DMA_START" and region & _TO_SHARED_BUFFER
        if command.mnemonic.startswith("NPU_SET_") or copies_table:
            out += encode(command.mnemonic, command.parameter, command.payload)
        if copies_table:
            out += encode("NPU_OP_DMA_WAIT")
    return np.concatenate([np.frombuffer(bytes(out), "<u4").astype(np.uint32), stream[word:]])
