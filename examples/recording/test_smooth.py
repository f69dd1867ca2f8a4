# SPDX-License-Identifier: Apache-2.0
"""A testbench of `smooth`, as anybody writes one with cocotb: it knows nothing of faults."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.queue import Queue
from cocotb.triggers import ClockCycles, FallingEdge, with_timeout

WORDS = 120


async def reset(dut):
    """Drive all inputs, and reset the design."""
    dut.gain_we_i.value = 0
    dut.gain_i.value = 0
    dut.in_valid_i.value = 0
    dut.in_data_i.value = 0
    dut.out_ready_i.value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 3)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def drive(dut, samples):
    """Offer samples with pauses, each until it is taken."""
    for sample in samples:
        while random.random() < 0.3:
            await FallingEdge(dut.clk_i)
        dut.in_valid_i.value = 1
        dut.in_data_i.value = sample
        taken = False
        while not taken:
            taken = dut.in_ready_o.value == 1
            await FallingEdge(dut.clk_i)
        dut.in_valid_i.value = 0


async def collect(dut, found, count):
    """Take words, not always ready for them."""
    while found.qsize() < count:
        ready = random.random() < 0.7
        dut.out_ready_i.value = ready
        word = int(dut.out_data_o.value) if dut.out_valid_o.value == 1 else None
        await FallingEdge(dut.clk_i)
        if ready and word is not None:
            found.put_nowait(word)
    dut.out_ready_i.value = 0


@cocotb.test()
async def streams_words(dut):
    """Each word is the sum of the last four samples, divided by the gain."""
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    await reset(dut)
    gain = random.randrange(3)
    dut.gain_we_i.value = 1
    dut.gain_i.value = gain
    await FallingEdge(dut.clk_i)
    dut.gain_we_i.value = 0
    samples = [random.randrange(256) for _ in range(WORDS)]
    found = Queue()
    cocotb.start_soon(drive(dut, samples))
    await with_timeout(collect(dut, found, WORDS), 20, "us")
    expected = [sum(samples[max(0, i - 3) : i + 1]) >> gain for i in range(WORDS)]
    assert [found.get_nowait() for _ in range(WORDS)] == expected
