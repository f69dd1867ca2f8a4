# SPDX-License-Identifier: Apache-2.0
"""Runs the command streams of the model's tests on the RTL."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache

import numpy as np

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.runner import PlainRun, Runner
from resil.rtl_harness.engine.workload import OutputSpec, Workload
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
from testkit.npu.model_support import CONSTANTS, RAM, padded

WORDS = {"flash": 4096, "sram": 1024}
SRAM_BYTES = 8 * WORDS["sram"]
# What surrounds the region in the SRAM, so that a write outside it shows.
FENCE = 64


@cache
def runner(accelerator: str, clock_gates: bool = False, region_check: bool = True) -> Runner:
    return Runner(load_target(accelerator), _parameters(clock_gates, region_check))


def _parameters(clock_gates: bool, region_check: bool) -> dict[str, int]:
    return ({"ClockGates": 1} if clock_gates else {}) | ({} if region_check else {"RegionCheck": 0})


def run_stream(
    commands: np.ndarray,
    regions: dict[int, np.ndarray],
    accelerator: str = "ethos-u55-32",
    limit: int = 500_000,
    clock_gates: bool = False,
    region_check: bool = True,
    first_writes: Sequence[tuple[int, int]] = (),
) -> PlainRun:
    """Execute `commands`; the read/write region is changed in place, as the functional model does.

    `first_writes` are register writes that precede the others. The run's output is the whole SRAM. Asserts
    that nothing outside the region was written, if it is checked.
    """
    constants = padded(regions[CONSTANTS].tobytes(), 64)
    flash = constants + commands.astype("<u4").tobytes()
    ram = regions[RAM]
    around = bytes(range(FENCE))
    sram = (around + ram.tobytes() + around).ljust(SRAM_BYTES, b"\xa5")
    assert len(sram) == SRAM_BYTES
    assert len(flash) <= 8 * WORDS["flash"]
    writes = [
        *first_writes,
        (QBASE, FLASH_BASE + len(constants)),
        (QSIZE, commands.nbytes),
        (QCONFIG, 1),
        (REGIONCFG, 1 << CONSTANTS),
        (BASEP + 8 * CONSTANTS, FLASH_BASE),
        (RSIZE + 4 * CONSTANTS, regions[CONSTANTS].size),
        (BASEP + 8 * RAM, SRAM_BASE + FENCE),
        (RSIZE + 4 * RAM, ram.size),
        (CMD, START),
        (BOOT_END, 0),
    ]
    boot = b"".join(struct.pack("<II", data, address) for address, data in writes)
    whole = OutputSpec("sram", 0, (SRAM_BYTES,), "uint8")
    images = {"flash": flash, "sram": sram, "boot": boot}
    workload = Workload("stream", images, whole, _parameters(clock_gates, region_check), words=WORDS)
    run = runner(accelerator, clock_gates, region_check).run(workload, limit)
    assert run.finished, f"no end within {limit} cycles, status {run.status:#x}"
    after = np.frombuffer(run.output, np.uint8)
    before = np.frombuffer(sram, np.uint8)
    inside = slice(FENCE, FENCE + ram.size)
    outside = np.ones(SRAM_BYTES, bool)
    outside[inside] = False
    assert not region_check or np.array_equal(after[outside], before[outside]), "a write outside the region"
    ram[:] = after[inside]
    return run
