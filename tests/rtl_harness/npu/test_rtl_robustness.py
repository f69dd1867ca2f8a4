# SPDX-License-Identifier: Apache-2.0
"""The RTL takes damaged streams, data and buses well; `benchmarks.npu.fuzz` does the same at length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from resil.rtl_harness.npu.model.status import Status
from resil.rtl_harness.npu.workload import SRAM_BASE
from testkit.npu.fuzz.bench import Bench
from testkit.npu.fuzz.cases import Case, network_cases
from testkit.npu.fuzz.damage import DAMAGES, BusFaults, sound
from testkit.npu.fuzz.judge import LIMIT, PATIENCE, STALLED_LIMIT, broken_rules, fuzz
from testkit.npu.fuzz.model import Model, Prediction
from testkit.npu.model_support import command, setting, stream

ACCELERATOR = "ethos-u55-32"
CLEAN = Status.IRQ | Status.CMD_END


@pytest.fixture(scope="module")
def bench():
    bench = Bench(ACCELERATOR)
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def digits():
    return sound(network_cases(ACCELERATOR)[0])


def test_two_hundred_damaged_runs():
    summary = fuzz([ACCELERATOR], range(200), seed=7)
    assert summary.findings == []
    assert set(summary.runs) == set(DAMAGES)
    assert {column for _, column in summary.table} >= {
        "completed",
        "bus",
        "cmd",
        "weight",
        "address",
        "scale",
    }
    assert summary.compared["STATUS"] > 120
    assert summary.compared["memory"] > 60


def test_stalls_of_each_channel_change_the_time_alone(bench, digits):
    plain = bench.run(digits, LIMIT, PATIENCE)
    assert plain.status & 0xFFFF == CLEAN
    for channel in range(5):
        stalls = tuple(48 * (channel == i) for i in range(5))
        slow = replace(digits, sram_faults=BusFaults(5, stalls), flash_faults=BusFaults(6, stalls))
        run = bench.run(slow, STALLED_LIMIT, PATIENCE)
        assert (run.status, run.sram) == (plain.status, plain.sram)
        assert run.cycles > plain.cycles


@pytest.mark.parametrize("port", ["sram_faults", "flash_faults"])
@pytest.mark.parametrize("number", [0, 1, 4, 9])
def test_a_read_burst_in_error_ends_the_stream(bench, digits, port, number):
    run = bench.run(replace(digits, **{port: BusFaults(read_burst=number)}), LIMIT, PATIENCE)
    assert run.finished
    assert run.status & (Status.IRQ | Status.BUS_ERROR) == Status.IRQ | Status.BUS_ERROR
    assert not run.stray


def test_a_write_in_error_ends_the_stream_and_is_not_done(bench, digits):
    plain = bench.run(digits, LIMIT, PATIENCE)
    for number in (0, 3, 7):
        run = bench.run(replace(digits, sram_faults=BusFaults(write=number)), LIMIT, PATIENCE)
        assert run.finished
        assert run.status & 0xFFFF == Status.IRQ | Status.BUS_ERROR
        assert run.sram != plain.sram


def test_the_unreliable_bus_without_faults_is_a_bus(bench, digits):
    """The judge agrees with what is right and objects to what is not."""
    run = bench.run(digits, LIMIT, PATIENCE)
    prediction = Model(ACCELERATOR).predict(digits)
    assert broken_rules(digits, run, run.cycles, prediction) == []
    assert broken_rules(digits, run, run.cycles - 1, prediction)
    assert broken_rules(digits, run, run.cycles, Prediction(run.status ^ 1 << 16, None))
    assert prediction.ram is not None
    changed = bytes([prediction.ram[0] ^ 1]) + prediction.ram[1:]
    assert broken_rules(digits, run, run.cycles, Prediction(run.status, changed))
    assert broken_rules(digits, replace(run, stray=(3,)), run.cycles, prediction)


def test_a_write_outside_the_region_is_seen(bench, digits):
    """Of a region that the trial, not the NPU, believes to be shorter."""
    run = bench.run(digits, LIMIT, PATIENCE)
    shifted = replace(digits, bases={0: digits.bases[0], 1: SRAM_BASE + (1 << 20)})
    stray = bench.stray(shifted, run.sram)
    assert len(stray) > 100


def test_a_hang_is_told_from_a_long_run(bench, digits):
    """Before the boot sequencer has written its first register nothing moves; a slow copy does."""
    copy = stream(
        setting("DMA0_SRC_REGION", 0), setting("DMA0_DST_REGION", 1), setting("DMA0_LEN", 8192),
        command("OP_DMA_START"), command("OP_DMA_WAIT"), command("OP_STOP"),
    )  # fmt: skip
    long = sound(Case("copy", ACCELERATOR, copy, bytes(8192), bytes(8192)))
    waiting, copying = bench.run(digits, 1, 8), bench.run(long, 2_000, 4_000)
    assert not waiting.finished
    assert waiting.stuck
    assert not copying.finished
    assert not copying.stuck
    whole = bench.run(long, LIMIT, PATIENCE)
    assert whole.finished
    assert np.frombuffer(whole.region(long), np.uint8).max() == 0
