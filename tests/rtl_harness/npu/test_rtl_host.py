# SPDX-License-Identifier: Apache-2.0
"""What the host finds at the NPU beside streams: soft reset and performance monitor, in the whole NPU."""

from __future__ import annotations

import numpy as np
import pytest

from resil.rtl_harness.engine.fast.native.runner import PlainRun
from resil.rtl_harness.npu.model.status import ERRORS, Status
from resil.rtl_harness.npu.workload import QBASE, RSIZE
from testkit.npu.model_support import CONSTANTS, RAM, Case, command, settings, stream
from testkit.npu.rtl_support import run_stream
from tests.rtl_harness.npu.test_model_machine import flash, ram

RESET = 0x00C
PMCR, CNTENSET, INTSET, COUNT, TYPE = 0x180, 0x184, 0x194, 0x300, 0x380
AXI0_READ, AXI0_WRITE, AXI1_READ = 0x82, 0x87, 0x182
PMU_IRQ = 1 << 6
BEATS = 12
COPY = {
    "DMA0_SRC_REGION": CONSTANTS,
    "DMA0_DST_REGION": RAM,
    "DMA0_SRC": 0,
    "DMA0_DST": 0,
    "DMA0_LEN": 8 * BEATS,
}


def run(*before: tuple[int, int], mask: int | None = None) -> PlainRun:
    """A copy of so many beats from M1 to M0, counted from PMU_MASK on."""
    masking = [] if mask is None else command("OP_PMU_MASK", mask)
    words = stream(
        masking, settings(COPY), command("OP_DMA_START"), command("OP_DMA_WAIT"), command("OP_STOP", 1)
    )
    return run_stream(words, {CONSTANTS: flash(), RAM: ram(1)[0][:1024]}, first_writes=before)


def until(event: int, count: int, control: int = 1) -> list[tuple[int, int]]:
    """Writes that make the monitor interrupt at so many events."""
    return [(TYPE, event), (COUNT, (1 << 32) - count), (CNTENSET, 1), (INTSET, 1), (PMCR, control)]


@pytest.mark.parametrize("event", [AXI0_WRITE])
def test_the_beats_of_a_copy_are_counted(event: int):
    assert not run(*until(event, BEATS + 1)).status & PMU_IRQ
    assert run(*until(event, BEATS)).status & PMU_IRQ


def test_reads_of_the_read_only_port_are_those_of_stream_and_copy():
    words = len(
        stream(settings(COPY), command("OP_DMA_START"), command("OP_DMA_WAIT"), command("OP_STOP", 1))
    )
    expected = BEATS + -(-words // 2)
    assert run(*until(AXI1_READ, expected)).status & PMU_IRQ
    assert not run(*until(AXI1_READ, expected + 1)).status & PMU_IRQ
    assert not run(*until(AXI0_READ, 1)).status & PMU_IRQ


HEIGHT, WIDTH, APART = 8, 24, 32
SCATTERED = {
    "IFM_REGION": RAM,
    "IFM_BASE0": 0,
    "IFM_STRIDE_Y": 8 * WIDTH,
    "IFM_STRIDE_X": 8,
    "IFM_WIDTH0_M1": WIDTH - 1,
    "IFM_HEIGHT0_M1": HEIGHT - 1,
    "IFM_HEIGHT1_M1": HEIGHT - 1,
    "IFM_DEPTH_M1": 7,
    "IFM_IB_END": 12,
    "OFM_REGION": RAM,
    "OFM_BASE0": 8 * WIDTH * HEIGHT,
    "OFM_STRIDE_Y": APART * WIDTH,
    "OFM_STRIDE_X": APART,
    "OFM_WIDTH0_M1": WIDTH - 1,
    "OFM_HEIGHT0_M1": HEIGHT - 1,
    "OFM_HEIGHT1_M1": HEIGHT - 1,
    "OFM_WIDTH_M1": WIDTH - 1,
    "OFM_HEIGHT_M1": HEIGHT - 1,
    "OFM_DEPTH_M1": 7,
    "OFM_BLK_WIDTH_M1": 7,
    "OFM_BLK_HEIGHT_M1": 7,
    "OFM_BLK_DEPTH_M1": 15,
    "ACTIVATION_MIN": 0,
    "ACTIVATION_MAX": 255,
    "OFM_SCALE": 1,
}
"""CLZ of a map into one of which every pixel lies in a beat, and a burst, of its own."""


@pytest.mark.parametrize("more", [0, 1])
def test_beats_that_wait_for_the_memory_are_counted_once(more: int):
    """The memory takes four bursts at a time, and answers each after 32 cycles."""
    beats = HEIGHT * WIDTH
    memory = np.zeros(8 * beats + APART * beats, np.uint8)
    case = Case(SCATTERED, flash(), memory, kind="ELEMENTWISE", parameter=7)
    regions = {CONSTANTS: flash(), RAM: memory}
    ended = run_stream(case.stream, regions, first_writes=until(AXI0_WRITE, beats + more))
    assert not ended.status & ERRORS
    assert (memory.reshape(-1, 8)[beats::4] == 32).all(), "each pixel is written"
    assert bool(ended.status & PMU_IRQ) != bool(more)


def test_the_stream_says_from_where_on_is_counted_if_the_host_lets_it():
    masked = until(AXI0_WRITE, 1, control=1 | 8)
    assert not run(*masked).status & PMU_IRQ
    assert not run(*masked, mask=0).status & PMU_IRQ
    assert run(*masked, mask=1).status & PMU_IRQ


def test_a_soft_reset_clears_the_registers_and_the_npu_works_on():
    """What was set before it has no effect; a write that comes while it lasts waits."""
    settings_before = [(QBASE, 0x123), (RSIZE + 4 * 5, 99), *until(AXI0_WRITE, 1)]
    assert run(*settings_before).status & PMU_IRQ
    after = run(*settings_before, (RESET, 0))
    assert after.status & 0xFFFF == Status.IRQ | Status.CMD_END
    assert not after.status & ERRORS
