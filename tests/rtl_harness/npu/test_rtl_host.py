# SPDX-License-Identifier: Apache-2.0
"""What the host finds at the NPU beside streams: soft reset and performance monitor, in the whole NPU."""

from __future__ import annotations

import pytest

from resil.rtl_harness.engine.fast.native.runner import PlainRun
from resil.rtl_harness.npu.model.status import ERRORS, Status
from resil.rtl_harness.npu.workload import QBASE, RSIZE
from testkit.npu.model_support import CONSTANTS, RAM, command, settings, stream
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
