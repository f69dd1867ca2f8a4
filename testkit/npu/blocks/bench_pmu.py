# SPDX-License-Identifier: Apache-2.0
"""cocotb test of the performance monitor, through the APB slave, against counters in Python."""

from __future__ import annotations

import random
from typing import Any

import cocotb

from testkit.npu.blocks.block import Block

PMCR, CNTEN, OVS, INT, CYCLES = 0x180, (0x184, 0x188), (0x18C, 0x190), (0x194, 0x198), 0x1A0
COUNT, TYPE = 0x300, 0x380
ON, RESET_COUNTS, RESET_CYCLES, MASKED = 1, 2, 4, 8
CYCLE_COUNTER = 1 << 31
FOUR = 4 << 11  # number of event counters, as PMCR tells
EVENTS = {
    0x00: lambda e: 0, 0x11: lambda e: 1, 0x20: lambda e: not e["active"], 0x23: lambda e: e["active"],
    0x30: lambda e: e["mac"], 0x40: lambda e: e["ao"], 0x82: lambda e: e["m0_read"],
    0x87: lambda e: e["m0_write"], 0x182: lambda e: e["m1_read"],
}  # fmt: skip


class Monitor:
    """The monitor behind the APB slave, with events that are drawn; each access takes two cycles."""

    def __init__(self, dut: Any) -> None:
        self.block, self.rng = Block(dut, "apb"), random.Random(1)
        self.seen: list[dict[str, int]] = []  # events of each cycle
        self.irq = 0

    async def cycle(self, **inputs: Any) -> dict[str, Any]:
        events = {
            name: self.rng.getrandbits(1)
            for name in ("active", "mac", "ao", "m0_read", "m0_write", "m1_read")
        }
        out = await self.block.cycle(events=events, **inputs)
        self.seen.append(events)
        self.irq = out["pmu_irq"]
        return out

    async def start(self) -> None:
        await self.block.reset()
        await self.cycle()

    async def write(self, address: int, data: int) -> None:
        await self.cycle(psel=1, pwrite=1, paddr=address, pwdata=data)
        await self.cycle(psel=1, penable=1, pwrite=1, paddr=address, pwdata=data)

    async def read(self, address: int) -> int:
        await self.cycle(psel=1, paddr=address)
        return int((await self.cycle(psel=1, penable=1, paddr=address))["prdata"])


@cocotb.test()
async def off_after_reset(dut: Any) -> None:
    monitor = Monitor(dut)
    await monitor.start()
    assert await monitor.read(PMCR) == FOUR
    for address in (*CNTEN, *OVS, *INT, CYCLES, CYCLES + 4, *(COUNT + 4 * i for i in range(4))):
        assert await monitor.read(address) == 0
    await monitor.write(CNTEN[0], CYCLE_COUNTER | 15)
    for _ in range(20):
        await monitor.cycle()
    assert await monitor.read(CYCLES) == 0, "what is enabled counts only while the monitor is on"


@cocotb.test()
async def sets_clears_and_numbers(dut: Any) -> None:
    monitor = Monitor(dut)
    await monitor.start()
    for pair in (CNTEN, OVS, INT):
        expected = 0
        for _ in range(20):
            clears, mask = monitor.rng.getrandbits(1), monitor.rng.getrandbits(32)
            await monitor.write(pair[clears], mask)
            known = mask & (CYCLE_COUNTER | 15)
            expected = expected & ~known if clears else expected | known
            assert await monitor.read(pair[0]) == await monitor.read(pair[1]) == expected
    for number in (*EVENTS, 0x1, 0x83, 0x3FF):
        await monitor.write(TYPE + 8, number)
        assert await monitor.read(TYPE + 8) == (number if number in EVENTS else 0)


@cocotb.test()
async def every_event_is_counted(dut: Any) -> None:
    monitor = Monitor(dut)
    await monitor.start()
    names = sorted(EVENTS)
    for first in range(0, len(names), 3):
        chosen = (names[first : first + 4] + names)[:4]
        for i, number in enumerate(chosen):
            await monitor.write(TYPE + 4 * i, number)
        await monitor.write(CNTEN[0], CYCLE_COUNTER | 15)
        await monitor.write(PMCR, ON | RESET_COUNTS | RESET_CYCLES)
        begin = len(monitor.seen)
        for _ in range(monitor.rng.randrange(20, 200)):
            await monitor.cycle()
        await monitor.write(PMCR, 0)
        counted = monitor.seen[begin : len(monitor.seen)]
        assert await monitor.read(CYCLES) == len(counted)
        for i, number in enumerate(chosen):
            wanted = sum(bool(EVENTS[number](events)) for events in counted)
            assert await monitor.read(COUNT + 4 * i) == wanted, f"event {number:#x}"


@cocotb.test()
async def overflow_wraps_sets_its_bit_and_interrupts_if_asked(dut: Any) -> None:
    monitor = Monitor(dut)
    await monitor.start()
    await monitor.write(TYPE, 0x11)
    await monitor.write(COUNT, 0xFFFFFFF0)
    await monitor.write(CYCLES, 0xFFFFFFF8)
    await monitor.write(CYCLES + 4, 0xFFFF)
    await monitor.write(CNTEN[0], CYCLE_COUNTER | 1)
    await monitor.write(INT[0], 1)
    await monitor.write(PMCR, ON)
    for _ in range(10):
        await monitor.cycle()
    assert await monitor.read(OVS[0]) == CYCLE_COUNTER
    assert not monitor.irq, "the cycle counter's overflow was not asked for"
    for _ in range(10):
        await monitor.cycle()
    assert await monitor.read(OVS[0]) == CYCLE_COUNTER | 1
    assert monitor.irq
    assert await monitor.read(CYCLES + 4) == 0
    await monitor.write(OVS[1], 1)
    await monitor.cycle()
    assert not monitor.irq


@cocotb.test()
async def the_stream_masks_only_if_the_host_lets_it(dut: Any) -> None:
    monitor = Monitor(dut)
    await monitor.start()
    await monitor.write(CNTEN[0], CYCLE_COUNTER)
    for control, unmasked, counts in ((ON, 0, True), (ON | MASKED, 0, False), (ON | MASKED, 1, True)):
        monitor.block.values["unmasked"] = unmasked
        await monitor.write(PMCR, control | RESET_CYCLES)
        for _ in range(10):
            await monitor.cycle()
        assert (await monitor.read(CYCLES) > 0) == counts
        assert await monitor.read(PMCR) == FOUR | control
        await monitor.write(PMCR, 0)
