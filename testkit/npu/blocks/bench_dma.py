# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the DMA controller: all clients at once, on a memory that stalls and fails at random."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cocotb

from testkit.npu.blocks.axi import Memory, Slave
from testkit.npu.blocks.block import LANES, Block, Values, pack
from testkit.npu.blocks.dma_clients import (
    Client,
    CopyClient,
    OfmClient,
    PieceClient,
    Region,
    StreamClient,
    Words,
)
from testkit.npu.blocks.feature_maps import random_map
from testkit.npu.blocks.structs import enums, structs

IFM, IFM2, OFM, WEIGHT, SCALE, COPY_SRC, COPY_DST, COMMAND = range(8)
BASES = (0x20000000, 0x10000000)
SLOT = 16384
ROOM = 6000
CLIENTS = {
    IFM: "RdIfm", IFM2: "RdIfm", WEIGHT: "RdWeight", SCALE: "RdScale", COPY_SRC: "RdCopy",
    COMMAND: "RdCommand",
}  # fmt: skip


class Scenario:
    """Memories, regions and clients of one random run.

    Args:
        seed: Decides everything.
        stall: Share of cycles in which a bus channel is held back.
        errors: Share of beats whose reads, and of writes, that are answered with an error.
        stray: Feature maps may reach beyond their regions.
        flips: Share of cycles in which a check bit of an answer is wrong.
    """

    def __init__(self, seed: int, stall: float, errors: float, stray: bool, flips: float = 0.0) -> None:
        self.flips, self.flipped = flips, 0
        self.rng = rng = random.Random(seed)
        self.memories = [Memory(base, bytearray(rng.randbytes(8 * SLOT))) for base in BASES]
        self.regions = [self._region(number) for number in range(8)]
        for number, client in CLIENTS.items():
            region = self.regions[number]
            ranges = region.memory.readable.setdefault(enums()[client], [])
            ranges.append((region.base, region.base + region.size))
            beats = range(region.base & ~7, region.base + region.size, 8)
            region.memory.bad |= {beat for beat in beats if rng.random() < errors}
        for number in (OFM, COPY_DST):
            region = self.regions[number]
            region.memory.writable.append((region.base, region.base + region.size))
        self.before = bytes(self.memories[0].data)
        self.slaves = [Slave(f"m{i}", memory, rng, stall, errors) for i, memory in enumerate(self.memories)]
        sizes = [self._size() for _ in range(3)]
        maps = [random_map(rng, n, *size, ROOM, stray and rng.random() < 0.5) for n, size in enumerate(sizes)]
        self.words: Words = {}
        r = self.regions
        weight = StreamClient(rng, 8, "weight", r[WEIGHT], True)
        self.weight = weight.fixed = (16 * rng.randrange(40), 16 * rng.randint(1, 60))
        self.pieces = PieceClient(
            rng, 14, [(maps[i], r[i], sizes[i]) for i in (IFM, IFM2)], LANES, self.words
        )
        self.ofm = OfmClient(rng, 6, maps[OFM], r[OFM], sizes[OFM])
        self.copy = CopyClient(rng, 6, r[COPY_SRC], r[COPY_DST], self.words)
        self.clients: list[Client] = [
            weight,
            StreamClient(rng, 6, "scale", r[SCALE], False),
            StreamClient(rng, 6, "fetch", r[COMMAND], True),
            self.copy,
            self.pieces,
            self.ofm,
        ]
        base, length = self.weight
        self.op = pack(
            "op_t",
            {"ifm": maps[IFM].fields, "ifm2": maps[IFM2].fields, "ofm": maps[OFM].fields,
             "weight": {"region": WEIGHT, "base": base, "length": length},
             "scale": {"region": SCALE, "base": 0, "length": 3000}},
        )  # fmt: skip

    def _region(self, number: int) -> Region:
        """A region anywhere in its slot, often across a page; feature maps need no alignment."""
        port = self.rng.randrange(2) if number not in (OFM, COPY_DST) else 0
        offset = self.rng.choice([0, 4096 - 16 * self.rng.randrange(1, 100), 16 * self.rng.randrange(500)])
        if number in (IFM, IFM2, OFM):
            offset += self.rng.choice([0, self.rng.randrange(16)])
        return Region(port, BASES[port] + SLOT * number + offset, ROOM, self.memories[port])

    def _size(self) -> tuple[int, int, int]:
        width, height = self.rng.randint(1, 9), self.rng.randint(1, 6)
        depth = self.rng.choice([1, 3, 8, 16, 17, 33, 64, 150])
        while width * height * depth > 1400:
            width, height = max(1, width - 1), max(1, height - 1)
        return width, height, depth

    @property
    def region_word(self) -> int:
        words = [
            pack("region_t", {"port": r.port, "base": r.base, "checked": 1, "size": r.size})
            for r in self.regions
        ]
        return sum(word << structs()["region_t"].width * i for i, word in enumerate(words))

    async def play(self, dut: Any) -> dict[str, bool]:
        """Run all clients to their ends; return which errors the block reported."""
        block = Block(dut, "dma")
        block.configure("op", self.op)
        block.configure("regions", self.region_word)
        await block.reset()
        seen = {"bus": False, "address": False}
        quiet = 0
        told, due = False, [False] * 3  # a cycle in the port's registers, another in that of the alarm
        for _ in range(60_000):
            inputs = block.values
            for part in (*self.slaves, *self.clients):
                part.drive(inputs)
            counts = self._flip(inputs)
            out = await block.cycle()
            due = [*due[1:], counts(out)]
            # A beat that its client does not take is looked at again.
            assert due[0] <= out["parity_error"] <= (due[0] or told), f"cycle {block.cycles}"
            told = bool(out["parity_error"])
            if out["word_wr"]:
                self.words[out["word_wr_bank"], out["word_wr_addr"]] = out["word_wr_data"]
            for part in (*self.slaves, *self.clients):
                part.observe(inputs, out)
            seen["bus"] |= bool(out["bus_error"])
            seen["address"] |= bool(out["address_error"])
            idle = out["streams_idle"] and out["fetch_idle"] and not out["copy_busy"]
            quiet = quiet + 1 if idle and all(c.done for c in self.clients) else 0
            if quiet > 20:
                return seen
        waiting = [type(c).__name__ for c in self.clients if not c.done]
        raise AssertionError(f"no end; still at work: {waiting or 'streams'}")

    def _flip(self, inputs: Values) -> Callable[[Values], bool]:
        """Perhaps invert a check bit; return whether it will be found, by the outputs of the cycle."""
        for port in ("m0_r", "m1_r", "m0_b"):
            inputs[f"{port}_flip"] = 0
        if self.rng.random() >= self.flips:
            return lambda _: False
        port = self.rng.choice(["m0_r", "m1_r", "m0_b"])
        width = structs()[f"axi_{port[-1]}_check_t"].width
        bit = self.rng.randrange(width)
        inputs[f"{port}_flip"] = 1 << bit
        # The first bit is that of VALID, which counts in each cycle, the others while it is there.
        counts = inputs[f"{port}_valid"] or bit == width - 1
        # Of a read that failed, the data are zeros whatever came.
        counts = counts and not (
            port != "m0_b" and 2 <= bit <= 9 and inputs[f"{port}_valid"] and inputs[port]["resp"] != 0
        )

        def found(out: Values) -> bool:
            hit = bool(counts and out[f"{port}_ready"])
            self.flipped += hit
            return hit

        return found

    def check_memory(self) -> None:
        """What was written is the blocks and copies, and not a byte beside them."""
        wanted = bytearray(self.before)
        for number, image in ((OFM, self.ofm.image), (COPY_DST, self.copy.written)):
            start = self.regions[number].base - BASES[0]
            wanted[start : start + len(image)] = image
        found = self.memories[0].data
        different = [i for i, (a, b) in enumerate(zip(wanted, found, strict=True)) if a != b]
        assert not different, f"{len(different)} bytes differ, the first at {BASES[0] + different[0]:#x}"


async def _run(dut: Any, seed: int, stall: float, errors: float = 0.0, stray: bool = False) -> Scenario:
    scenario = Scenario(seed, stall, errors, stray)
    seen = await scenario.play(dut)
    scenario.check_memory()
    assert seen["address"] == (scenario.pieces.leaves or scenario.ofm.leaves)
    assert seen["bus"] == (sum(slave.bad_answers for slave in scenario.slaves) > 0)
    return scenario


@cocotb.test()
async def all_clients_on_a_fast_memory(dut: Any) -> None:
    for seed in range(4):
        await _run(dut, seed, stall=0.0)


@cocotb.test()
async def all_clients_with_random_stalls(dut: Any) -> None:
    for seed in range(10, 16):
        await _run(dut, seed, stall=0.15 * (seed - 9))


@cocotb.test()
async def feature_maps_that_leave_their_regions(dut: Any) -> None:
    runs = [await _run(dut, seed, stall=0.3, stray=True) for seed in range(20, 28)]
    assert sum(run.pieces.zero_segments for run in runs) > 20
    assert any(run.ofm.leaves for run in runs)


@cocotb.test()
async def wrong_check_bits_are_reported_and_do_nothing_else(dut: Any) -> None:
    for seed in range(40, 43):
        scenario = Scenario(seed, stall=0.3, errors=0.02, stray=False, flips=0.1)
        await scenario.play(dut)
        scenario.check_memory()
        assert scenario.flipped > 20


@cocotb.test()
async def error_responses_are_reported_and_read_as_zeros(dut: Any) -> None:
    runs = [await _run(dut, seed, stall=0.3, errors=0.02) for seed in range(30, 33)]
    assert all(sum(slave.bad_answers for slave in run.slaves) for run in runs)


class WeightsAhead:
    """The weights of the next operation are read while this one drains.

    Args:
        seed: Decides everything.
        errors: Share of beats that are answered with an error.
    """

    def __init__(self, dut: Any, seed: int, errors: float) -> None:
        self.scenario = scenario = Scenario(seed, 0.2, errors, stray=False)
        self.rng = scenario.rng
        self.block = Block(dut, "dma")
        place = scenario.regions[WEIGHT]
        scenario.regions[WEIGHT] = Region(
            1, place.base % SLOT + BASES[1] + SLOT * WEIGHT, ROOM, scenario.memories[1]
        )
        self.region = scenario.regions[WEIGHT]
        self.region.memory.readable[enums()["RdWeight"]] = [(self.region.base, self.region.base + ROOM)]
        beats = range(self.region.base & ~7, self.region.base + ROOM, 8)
        self.region.memory.bad |= {beat for beat in beats if self.rng.random() < errors}
        self.ahead = (16 * self.rng.randrange(40), 16 * self.rng.randint(4, 60))

    async def begin(self) -> None:
        """Reset, and configure."""
        self.block.configure("op", self.scenario.op)
        self.block.configure("regions", self.scenario.region_word)
        await self.block.reset()
        self.slave = self.scenario.slaves[1]

    async def cycle(self, **inputs: Any) -> dict[str, Any]:
        """Run a cycle with these inputs; those not named are 0."""
        names = ("start", "stop", "ahead", "kept", "flush", "ready")
        values = self.block.values
        values |= {f"weight_{name}": inputs.get(name, 0) for name in names}
        if "next" in inputs:
            values["weight_next"] = inputs["next"]
        for slave in self.scenario.slaves:
            slave.drive(values)
        out: dict[str, Any] = await self.block.cycle()
        for slave in self.scenario.slaves:
            slave.observe(values, out)
        return out

    async def read_ahead(self, cycles: int) -> None:
        """Ask for the next weights and keep them; nothing of it shows."""
        base, length = self.ahead
        out = await self.cycle(stop=1, ahead=1, next={"region": WEIGHT, "base": base, "length": length})
        for _ in range(cycles):
            out = await self.cycle(stop=1, kept=1, ready=1)
            assert out["streams_idle"], "the operation under way waits for weights of the next one"
            assert not out["weight_valid"], "the operation under way gets weights of the next one"
            assert not out["bus_error"], "the operation under way fails by a read for the next one"
        assert not out["fetch_idle"], "the stream may end with reads on their way"

    async def take(self, start: Any, base: int, length: int) -> list[int]:
        """Begin with `start`, take the weights, compare them; return the cycles with an error."""
        errors, found = [], []
        out = await self.cycle(**start)
        errors.append(int(out["bus_error"]))
        while len(found) < length // 8:
            ready = self.rng.random() < 0.7
            out = await self.cycle(ready=ready)
            errors.append(int(out["bus_error"]))
            if ready and out["weight_valid"]:
                found.append(out["weight_data"].to_bytes(8, "little"))
                assert out["weight_last"] == (len(found) == length // 8)
            assert len(errors) < 20_000, "no end"
        assert b"".join(found) == self.region.read(base, length)
        for _ in range(8):
            errors.append(int((await self.cycle())["bus_error"]))
        return errors


@cocotb.test()
async def weights_are_read_ahead(dut: Any) -> None:
    """They come first when their operation begins, which is when a failed read of them is reported."""
    reported = 0
    for seed in range(40, 48):
        run = WeightsAhead(dut, seed, errors=0.05 * (seed % 2))
        await run.begin()
        await run.read_ahead(run.rng.choice([3, 60, 400]))
        before = run.slave.bad_answers
        errors = await run.take({"start": 1, "kept": 1}, *run.ahead)
        assert any(errors) == (run.slave.bad_answers > 0)
        assert not before or errors[0] or any(errors[1:4]), "what was read ahead is reported too late"
        reported += bool(before)
    assert reported


@cocotb.test()
async def weights_that_were_read_ahead_may_be_dropped(dut: Any) -> None:
    """The stream ends without the next operation: all reads end, and none of them is reported."""
    dropped = 0
    for seed in range(50, 56):
        run = WeightsAhead(dut, seed, errors=0.1 * (seed % 2))
        await run.begin()
        await run.read_ahead(run.rng.choice([3, 40, 300]))
        for _ in range(3000):
            out = await run.cycle(stop=1, kept=1, flush=1)
            assert not out["bus_error"]
            if out["fetch_idle"]:
                break
        else:
            raise AssertionError("reads are on their way after 3,000 cycles")
        dropped += run.slave.bad_answers
        await run.cycle(stop=1)
        await run.take({"start": 1}, *run.scenario.weight)
    assert dropped
