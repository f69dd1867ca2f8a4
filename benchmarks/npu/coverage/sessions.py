# SPDX-License-Identifier: Apache-2.0
"""Runs that follow one another in one simulation: the host starts the NPU again and again.

Between two runs of one simulation registers go back, which they never do within a run. Regions lie anywhere,
their numbers and sizes are any, and offsets use all their bits.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from resil.rtl_harness.npu.model.commands import Opcode, Register, Words, parse
from resil.rtl_harness.npu.workload import (
    BASEP,
    BOOT_END,
    BOOT_PAUSE,
    CMD,
    FLASH_BASE,
    QBASE,
    QCONFIG,
    QSIZE,
    REGIONCFG,
    RSIZE,
    START,
)
from testkit.npu.fuzz.bench import (
    FLASH_BYTES,
    SRAM_BYTES,
    commands_at,
    flash_image,
    sram_image,
)
from testkit.npu.fuzz.damage import BusFaults, Trial
from testkit.npu.fuzz.operations import CONSTANTS, RAM

RUNS = 16
PARAMETERS = {
    "FlashWords": RUNS * FLASH_BYTES // 8,
    "SramWords": RUNS * SRAM_BYTES // 8,
    "BootWords": 1024,
    "BusFaults": 1,
    "Inferences": 2,
}
REGIONS = 8
WHOLE = 0xFFFF_FFF0
# Of the performance monitor: enables, overflows, interrupts, cycles, counters, what they count; control last
PMU = (*range(0x184, 0x19C, 4), 0x1A0, 0x1A4, *range(0x300, 0x310, 4), *range(0x380, 0x390, 4), 0x180)
_CLEAR = 2
_PAYLOAD = 0x4000
_SHARED_BUFFER = 1 << 8
_OFFSETS = (
    *(f"{tensor}_BASE{tile}" for tensor in ("IFM", "IFM2", "OFM") for tile in range(4)),
    *("WEIGHT_BASE", "SCALE_BASE", "DMA0_SRC", "DMA0_DST"),
)
_REGIONS = ("IFM_REGION", "IFM2_REGION", "OFM_REGION", "WEIGHT_REGION", "SCALE_REGION")
_COPIES = ("DMA0_SRC_REGION", "DMA0_DST_REGION")


@dataclass
class Images:
    """The contents of the bench's memories for one simulation."""

    flash: bytes
    sram: bytes
    boot: bytes
    sram_faults: BusFaults
    flash_faults: BusFaults


def moved(trial: Trial, delta: int, numbers: Sequence[int]) -> Trial:
    """Return a sound trial whose regions begin `delta` bytes earlier and have other numbers.

    Its streams have offsets `delta` larger, so that they mean the same; the regions reach as far as they can.

    Args:
        trial: Whose streams set every region and offset that they use, the region first.
        delta: A multiple of 16.
        numbers: Of region 0, and of region 1.
    """
    words: Words = trial.case.commands.copy()
    to_memory = True
    for found in parse(words):
        name = found.target.name if isinstance(found.target, Register) else ""
        if name == "DMA0_DST_REGION":
            to_memory = not found.parameter & _SHARED_BUFFER
        if name in _OFFSETS and (to_memory or name != "DMA0_DST"):
            words[found.word + 1] = np.uint32((found.payload + delta) & 0xFFFF_FFFF)
        elif name in _REGIONS or (name in _COPIES and found.parameter < len(numbers)):
            words[found.word] = np.uint32(int(words[found.word]) & 0xFFFF | numbers[found.parameter] << 16)
    bases = {numbers[region]: (base - delta) & 0xFFFF_FFFF for region, base in trial.bases.items()}
    return replace(
        trial,
        case=replace(trial.case, commands=words),
        bases=bases,
        sizes=dict.fromkeys(bases, WHOLE),
    )


def used_before(trial: Trial, rng: np.random.Generator) -> Trial:
    """Return a sound trial whose registers had other values before the stream gives them theirs.

    Those with a payload keep them unless the stream sets them: what is not used may be anything.
    """
    values = {register: int(rng.integers(0, 1 << 32)) for register in Register}
    words = []
    for register, value in values.items():
        if register & _PAYLOAD:
            words += [int(register), value]
        else:
            words.append(int(register) | value & 0xFFFF << 16)
    words += [int(register) for register in Register if not register & _PAYLOAD]
    words += [int(opcode) | int(rng.integers(0, 1 << 16)) << 16 for opcode in (Opcode.IRQ, Opcode.PMU_MASK)]
    commands = np.concatenate([np.array(words, np.uint32), trial.case.commands])
    return replace(trial, case=replace(trial.case, commands=commands))


def session(trials: Sequence[Trial], numbers: Sequence[Sequence[int]], rng: np.random.Generator) -> Images:
    """Return the images of a simulation that does `trials` one after the other.

    Args:
        trials: At most `RUNS`; all have the bus of the first.
        numbers: Of each, the numbers of its regions 0 and 1.
        rng: Of what is written to registers before they get their values.
    """
    flash, sram, boot = b"", b"", []
    for place, (trial, (constants, ram)) in enumerate(zip(trials, numbers, strict=True)):
        image = replace(trial, bases={CONSTANTS: 0, RAM: 0}, sizes={CONSTANTS: 0, RAM: 0})
        flash += flash_image(image).tobytes()
        sram += sram_image(image).tobytes()
        stream = FLASH_BASE + place * FLASH_BYTES + commands_at(trial) + trial.stream_offset
        offsets = {constants: place * FLASH_BYTES, ram: place * SRAM_BYTES}
        boot += list(_noise(rng))
        boot += [
            (QBASE, stream & 0xFFFF_FFFF), (QSIZE, trial.case.commands.nbytes), (QCONFIG, 1),
            (REGIONCFG, 1 << constants),
        ]  # fmt: skip
        for region, base in trial.bases.items():
            boot += [
                (BASEP + 8 * region, (base + offsets[region]) & 0xFFFF_FFFF),
                (RSIZE + 4 * region, trial.sizes[region]),
            ]
        last = place + 1 == len(trials)
        boot += [(CMD, START), (BOOT_END if last else BOOT_PAUSE, 0)] + ([] if last else [(CMD, _CLEAR)])
    content = b"".join(struct.pack("<II", data, address) for address, data in boot)
    return Images(flash, sram, content, trials[0].sram_faults, trials[0].flash_faults)


def _noise(rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield writes of anything to every register that does not start the NPU, and one where none is."""
    addresses = [QBASE, QSIZE, QCONFIG, REGIONCFG]
    addresses += [BASEP + 8 * i for i in range(REGIONS)] + [RSIZE + 4 * i for i in range(REGIONS)]
    for address in addresses:
        yield address, int(rng.integers(0, 1 << 32))
    for address in PMU:
        yield address, int(rng.choice([rng.integers(0, 1 << 32), 0xFFFF_FF00, rng.integers(0, 16), 7]))
    yield int(rng.integers(0x100, 0x400)) * 4, int(rng.integers(0, 1 << 32))
