# SPDX-License-Identifier: Apache-2.0
"""Runs trials on the verilated bench, in this process, and checks what must hold for each."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.native.build import SourceVariable
from resil.rtl_harness.engine.fast.native.library import ModelInstance, OutputPort, Stop
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.fast.native.storage import StoragePlace
from resil.rtl_harness.npu.model.commands import Words
from resil.rtl_harness.npu.workload import (
    BASEP,
    BOOT_END,
    CMD,
    FLASH_BASE,
    QBASE,
    QCONFIG,
    QSIZE,
    REGIONCFG,
    RSIZE,
    SRAM_BASE,
    START,
)
from testkit.npu.fuzz.damage import Trial
from testkit.npu.fuzz.operations import CONSTANTS, RAM

FLASH_BYTES, SRAM_BYTES = 32 * 1024, 16 * 1024
PARAMETERS = {"FlashWords": FLASH_BYTES // 8, "SramWords": SRAM_BYTES // 8, "BootWords": 64, "BusFaults": 1}
FAULT_WORDS = {"sram": "gen_faults.u_sram_faults.config_q", "flash": "gen_faults.u_flash_faults.config_q"}
BACKGROUND = 0xA5

# Where each walker's position is, outermost first
_BLOCK = ("oy_q", "ox_q", "oz_q")
_STEP = (*(f"u_blocks.{name}" for name in _BLOCK), "iz_q", "ky_q", "kx_q")
_WALKERS = {
    "u_pieces.u_walker": ("u_blocks.valid_q", *_STEP),
    "u_mac_walker": ("u_blocks.valid_q", *_STEP),
    "u_out_walker": ("valid_q", *_BLOCK),
    "u_ofm_walker": ("valid_q", *_BLOCK),
}
_COPY = "u_npu.u_dma.u_copy.addr_q"
_QREAD = "u_npu.u_cc.u_decode.u_control.index_q"
_VARIABLES = (
    *(SourceVariable("cc_blocks", name) for name in ("valid_q", *_BLOCK)),
    *(SourceVariable("cc_steps", name) for name in ("iz_q", "ky_q", "kx_q")),
    SourceVariable("dma_copy", "addr_q"),
    SourceVariable("cc_control", "index_q"),
    SourceVariable("bus_faults", "config_q"),
)

Image = npt.NDArray[np.uint8]
# Commands read, operations and copies done, position of each walker: never goes back, see `Bench.progress`
Progress = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a trial ended.

    Attributes:
        finished: The interrupt came within the limit.
        cycles: Cycles that were simulated.
        status: STATUS at the end, or 0.
        qread: Command words that were read.
        sram: The whole SRAM afterwards.
        stray: Addresses in the SRAM that were written though they lie outside region 1.
        stuck: Not finished, and nothing moved in the last `patience` cycles.
        long: The limit was not enough, but there was headway, so that it went on.
    """

    finished: bool
    cycles: int
    status: int
    qread: int
    sram: bytes
    stray: tuple[int, ...]
    stuck: bool
    long: bool

    def region(self, trial: Trial) -> bytes:
        """Return region 1 afterwards, which lies in the SRAM."""
        first = trial.starts[RAM] - SRAM_BASE
        return self.sram[first : first + trial.sizes[RAM]]


def commands_at(trial: Trial) -> int:
    """Byte offset of the command stream in the flash."""
    return -(-len(trial.case.constants) // 64) * 64


def flash_image(trial: Trial) -> Image:
    """Constants, then commands, then zeros."""
    content = (
        trial.case.constants.ljust(commands_at(trial), b"\0") + trial.case.commands.astype("<u4").tobytes()
    )
    return np.frombuffer(content.ljust(FLASH_BYTES, b"\0"), np.uint8)


def stream_seen(trial: Trial) -> Words:
    """The command words at the address that the NPU is told; zeros where that is not in the flash."""
    start = commands_at(trial) + trial.stream_offset
    positions = start + np.arange(trial.case.commands.nbytes)
    inside = (positions >= 0) & (positions < FLASH_BYTES)
    seen = np.where(inside, flash_image(trial)[np.where(inside, positions, 0)], 0).astype(np.uint8)
    return np.frombuffer(seen.tobytes(), "<u4").astype(np.uint32)


def sram_image(trial: Trial) -> Image:
    """Region 1 where a sound trial has it, and a pattern around it, so that a stray write shows."""
    image = (np.arange(SRAM_BYTES) * 7 + BACKGROUND).astype(np.uint8)
    at = 64
    image[at : at + len(trial.case.ram)] = np.frombuffer(trial.case.ram, np.uint8)
    return image


def inside_region(trial: Trial) -> npt.NDArray[np.bool_]:
    """The bytes of the SRAM that the trial may write, shape (SRAM_BYTES,)."""
    addresses = np.arange(SRAM_BYTES, dtype=np.int64) + SRAM_BASE
    return (addresses - trial.starts[RAM]) % (1 << 32) < trial.sizes[RAM]


class Bench:
    """The bench of one accelerator with its unreliable bus.

    Args:
        target: A shipped target by its name, or one that was made of it.
        variables: Further variables that will be read or written.
        assertions: Check those in the target's sources.
    """

    def __init__(
        self, target: str | Target, variables: Sequence[SourceVariable] = (), assertions: bool = False
    ) -> None:
        target = load_target(target) if isinstance(target, str) else target
        self.runner = Runner(target, PARAMETERS, (*_VARIABLES, *variables), assertions)
        self._pristine = self.runner.library.create()
        self._instance = self.runner.library.create()
        memories = self.runner.target.memories
        self._memories = {name: self._instance.find(memories[name].path) for name in memories}
        self._faults = {name: self._instance.find(path) for name, path in FAULT_WORDS.items()}
        self._walkers = {
            walker: [self._instance.find(f"u_npu.u_cc.u_sequencer.{walker}.{name}") for name in names]
            for walker, names in _WALKERS.items()
        }
        self._copy, self._index = (self._instance.find(path) for path in (_COPY, _QREAD))

    def close(self) -> None:
        """Free the simulation."""
        self._instance.close()
        self._pristine.close()

    def run(self, trial: Trial, limit: int, patience: int, longest: int = 0) -> Outcome:
        """Run a trial for at most `limit` cycles; if that is not enough, see whether it moves.

        Args:
            trial: What to run.
            limit: Cycles that should be enough.
            patience: Cycles after these in which something must move, else the run is stuck.
            longest: Cycles after which a run that moves is given up.
        """
        instance = self._start(trial)
        finished = instance.run(limit) is Stop.DONE
        long = not finished
        stuck = long and self._stuck(instance, patience)
        if long and not stuck:
            finished = instance.run(longest) is Stop.DONE
        sram = self._content("sram").tobytes()
        return Outcome(
            finished=finished,
            cycles=instance.cycle,
            status=instance.port(OutputPort.STATUS) if finished else 0,
            qread=instance.read(self._index),
            sram=sram,
            stray=self.stray(trial, sram),
            stuck=stuck,
            long=long and not stuck,
        )

    def stray(self, trial: Trial, sram: bytes) -> tuple[int, ...]:
        """Return the addresses of the SRAM, as a run left it, that changed outside the trial's region 1."""
        changed = np.frombuffer(sram, np.uint8) != sram_image(trial)
        return tuple(np.flatnonzero(changed & ~inside_region(trial)).tolist())

    def progress(self) -> Progress:
        """Return what only grows while the NPU works its way through a stream."""

        def position(parts: list[StoragePlace]) -> tuple[int, ...]:
            valid, *coordinates = (self._instance.read(part) for part in parts)
            return (1 - valid, *coordinates)

        done = (self._instance.read(self._index), self._instance.port(OutputPort.OPERATION))
        walkers = (position(parts) for parts in self._walkers.values())
        return (done, (self._instance.read(self._copy),), *walkers)

    def _start(self, trial: Trial) -> ModelInstance:
        instance = self._instance
        instance.copy_from(self._pristine)
        self._content("flash")[:] = flash_image(trial)
        self._content("sram")[:] = sram_image(trial)
        boot = np.frombuffer(boot_image(trial), np.uint8)
        self._content("boot")[: len(boot)] = boot
        for name, faults in (("sram", trial.sram_faults), ("flash", trial.flash_faults)):
            for word, value in enumerate(faults.words):
                instance.write(self._faults[name], value, word)
        instance.settle()
        instance.reset(self.runner.target.reset_cycles)
        return instance

    def _content(self, memory: str) -> Image:
        return self._instance.view(self._memories[memory]).reshape(-1)

    def _stuck(self, instance: ModelInstance, patience: int) -> bool:
        before, end = self.progress(), instance.cycle + patience
        while instance.cycle < end:
            step = min(end, instance.cycle + max(2_000, patience // 20))
            if instance.run(step) is Stop.DONE or self.progress() != before:
                return False
        return True


def boot_image(trial: Trial) -> bytes:
    """The register writes that start the trial."""
    writes = [
        (QBASE, (FLASH_BASE + commands_at(trial) + trial.stream_offset) & 0xFFFF_FFFF),
        (QSIZE, trial.case.commands.nbytes),
        (QCONFIG, 1),
        (REGIONCFG, 1 << CONSTANTS),
    ]
    for region in (CONSTANTS, RAM):
        writes += [(BASEP + 8 * region, trial.bases[region]), (RSIZE + 4 * region, trial.sizes[region])]
    writes += [(CMD, START), (BOOT_END, 0)]
    return b"".join(struct.pack("<II", data, address) for address, data in writes)
