# SPDX-License-Identifier: Apache-2.0
"""Testbenches of bench_counter, good and bad ones; run by cocotb inside a simulator."""

import os
import random
import threading
import time
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer


async def started(dut):
    dut.valid_i.value = 0
    dut.data_i.value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(2):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def add(dut, values):
    for value in values:
        dut.valid_i.value = 1
        dut.data_i.value = value
        await FallingEdge(dut.clk_i)
    dut.valid_i.value = 0


@cocotb.test()
async def sums(dut):
    await started(dut)
    values = [random.randrange(15) for _ in range(10)]
    await add(dut, values)
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    assert int(dut.sum_o.value) == sum(values) % 256


@cocotb.test(timeout_time=400, timeout_unit="ns")
async def waits(dut):
    """Goes on until the sum is what it shall be: a wrong one never is."""
    await started(dut)
    await add(dut, [3] * 5)
    while dut.sum_o.value != 15:
        await RisingEdge(dut.clk_i)


@cocotb.test()
async def waits_for_ever(dut):
    await started(dut)
    await add(dut, [3] * 5)
    while dut.sum_o.value != 15:
        await RisingEdge(dut.clk_i)


@cocotb.test()
async def looks_up(dut):
    """A scoreboard that trips over what it did not expect."""
    await started(dut)
    await add(dut, [1, 1])
    names = ["none", "one", "two"]
    assert names[int(dut.sum_o.value)] == "two"


@cocotb.test()
async def spins(dut):
    """Lets no time pass while something is wrong."""
    await started(dut)
    await add(dut, [1, 1])
    while dut.sum_o.value != 2:
        pass


@cocotb.test()
async def has_a_thread(dut):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        await started(dut)
        await add(dut, [1, 2, 3])
        assert dut.sum_o.value == 6
    finally:
        stop.set()
        thread.join()


@cocotb.test()
async def goes_by_the_time_of_day(dut):
    await started(dut)
    await add(dut, [time.monotonic_ns() % 14 for _ in range(8)])


@cocotb.test()
async def fails(dut):
    await started(dut)
    assert dut.sum_o.value == 1, "the sum is one"


@cocotb.test(expect_error=ZeroDivisionError)
async def expects_an_error(dut):
    await started(dut)
    await add(dut, [1, 1])
    1 // (int(dut.sum_o.value) - 2)


@cocotb.test()
async def is_given(dut):
    assert os.environ["DEPTH"] == "8"
    assert cocotb.plusargs["mode"] == "fast"
    assert Path("data/vector.txt").read_text() == "7"
    await started(dut)
    await add(dut, [7])


@cocotb.test()
async def checks_at_the_edge(dut):
    """Drives and reads at rising edges, as many testbenches do."""
    await started(dut)
    await RisingEdge(dut.clk_i)
    for value in (1, 2, 3, 4):
        dut.valid_i.value = 1
        dut.data_i.value = value
        await RisingEdge(dut.clk_i)
    dut.valid_i.value = 0
    await RisingEdge(dut.clk_i)
    await Timer(1, unit="ns")
    assert dut.sum_o.value == 10
