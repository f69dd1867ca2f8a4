# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the command processor: streams, sound and damaged, with stand-ins for what it starts."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import cocotb
import numpy as np

from resil.rtl_harness.npu.model.commands import (
    Command,
    CommandError,
    Opcode,
    Register,
    Words,
    parse,
)
from resil.rtl_harness.npu.model.config import npu_config
from resil.rtl_harness.npu.model.conv_config import ConvConfig
from resil.rtl_harness.npu.model.memory import SHARED_BUFFER
from resil.rtl_harness.npu.model.program import Copy, Execute, StreamEnd, lower
from resil.rtl_harness.npu.model.status import Status
from testkit.npu.blocks.block import MACS, Block, pack
from testkit.npu.blocks.structs import enums, structs
from testkit.npu.fuzz.cases import random_case
from testkit.npu.fuzz.damage import DAMAGES, damaged
from testkit.npu.fuzz.operations import CONSTANTS

ACCELERATOR = f"ethos-u55-{MACS}"
NPU = npu_config(ACCELERATOR)
READ_ONLY = frozenset({CONSTANTS})
BASES = [0x1234560 * (i + 1) for i in range(8)]
KINDS = {
    Opcode.CONV: ("Conv",), Opcode.DEPTHWISE: ("Depthwise",), Opcode.ELEMENTWISE: ("Elementwise",),
    Opcode.POOL: ("MaxPool", "AveragePool", "ReduceSum"),
}  # fmt: skip
ERRORS = {
    "bus": Status.BUS_ERROR, "weight": Status.WEIGHT_ERROR, "address": Status.ADDRESS_ERROR,
    "scale": Status.SCALE_ERROR,
}  # fmt: skip
LIMIT = 60_000


class Unit:
    """What an operation or a copy keeps busy for a while."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._left = 0
        self._error = ""
        self.errors: set[str] = set()

    @property
    def busy(self) -> bool:
        return self._left > 0

    def start(self, fails: float) -> None:
        """Be busy from the next cycle on; with this probability something goes wrong on the way."""
        assert not self.busy, "a second one begins while the first is under way"
        self._left = self._rng.choice([1, 2, self._rng.randint(3, 80)])
        self._error = self._rng.choice(["bus", "weight", "address"]) if self._rng.random() < fails else ""

    def cycle(self) -> dict[str, int]:
        """Pass a cycle; return what is told of errors in it."""
        told = {}
        if self._error and self._left == 1:
            told = {self._error: 1}
            self.errors.add(self._error)
        self._left = max(0, self._left - 1)
        return told


def waits(command: Command) -> tuple[str, ...]:
    """What must be idle before the command behind this one is read."""
    if command.target == Opcode.KERNEL_WAIT and not command.parameter:
        return ("op",)
    if command.target == Opcode.DMA_WAIT:
        return ("copy",)
    return ("op", "copy") if command.target == Opcode.IRQ else ()


def commands(words: Words) -> list[Command]:
    """The commands up to the first that is none."""
    found = []
    with suppress(CommandError):
        for command in parse(words):
            found.append(command)
    return found


class Stream:
    """One stream on the command processor, and what must come of it by README.md, sections 2 and 3."""

    def __init__(
        self, block: Block, words: Words, rng: random.Random, read_only: frozenset[int] = READ_ONLY
    ) -> None:
        self.block, self.words, self.rng, self.read_only = block, words, rng, read_only
        self.commands = commands(words)
        self.ends = {4 * command.end: command for command in self.commands}
        self.steps = {step.word: step for step in lower(words, NPU, read_only).steps}
        self.op, self.copy = Unit(rng), Unit(rng)
        self.started: list[int] = []  # words
        self.starting: Execute | None = None  # in the last cycle
        self.running: int | None = None  # word of the last operation
        self.failed: int | None = None  # word of the one that failed
        self.pmu_irq = rng.getrandbits(1)

    async def run(self, stall: float, fails: float) -> Status:
        """Run to the end, compare; return the error bits."""
        block, rng = self.block, self.rng
        padded = [*map(int, self.words), rng.getrandbits(32)]
        beats = [padded[i] | padded[i + 1] << 32 for i in range(0, len(self.words), 2)]
        block.values |= {"stream": {"addr": 8, "length": 4 * len(self.words)}, "pmu_irq": self.pmu_irq}
        await block.cycle(start=1, fetch_idle=1)
        fetching, stopping, taken, seen, stopped = False, 0, 0, False, False
        idle = {"op": True, "copy": True}  # was so since the last command was read
        for _ in range(LIMIT):
            busy = {"op": self.op.busy, "copy": self.copy.busy}
            offer = fetching and bool(beats) and rng.random() >= stall
            out = await block.cycle(
                fetch_valid=offer, fetch_data=beats[0] if offer else rng.getrandbits(64),
                fetch_idle=not fetching, op_busy=busy["op"], copy_busy=busy["copy"],
                op_error=self.op.cycle(),
            )  # fmt: skip
            self.copy.cycle()
            if self.failed is None and self.op.errors:
                self.failed = self.running
            if seen and not out["running"]:
                return self._compare(out)
            seen = seen or bool(out["running"])
            assert out["status"] & 3 == out["running"], "irq during the stream, or not running"
            if out["qread"] != taken and out["qread"]:
                for name in waits(self.ends[taken]) if taken in self.ends else ():
                    assert idle[name], f"{self.ends[taken]} did not wait"
                taken, idle = out["qread"], {"op": False, "copy": False}
            idle = {name: idle[name] or not busy[name] for name in busy}
            self._check_operation(out)
            assert not out["next_weighted"] or out["op_start"] or busy["op"], "no operation waits"
            assert not out["flushing"] or stopped, "commands are still to be read"
            stopped = stopped or bool(out["fetch_stop"])
            self._take_starts(out, taken, fails)
            if offer and out["fetch_ready"]:
                beats.pop(0)
            if stopping:
                stopping -= 1
                fetching = stopping > 0
            elif out["fetch_stop"]:
                stopping = rng.randint(1, 9)
            fetching = fetching or bool(out["fetch_start"])
        raise AssertionError(f"no end; {taken // 4} of {len(self.words)} words read")

    def _take_starts(self, out: dict[str, Any], taken: int, fails: float) -> None:
        if not (out["op_start"] or out["copy_start"]):
            return
        assert taken in self.ends
        command = self.ends[taken]
        step = self.steps.get(command.word)
        assert step is not None, f"{command} starts something"
        self.started.append(command.word)
        if out["copy_start"]:
            assert isinstance(step.action, Copy)
            assert out["copy"] == self._copy(step.action)
            self.copy.start(0)
        else:
            assert isinstance(step.action, Execute)
            self._check_next_weights(out, step.action)
            self.op.start(fails)
            self.running = command.word
            self.starting = step.action

    def _check_next_weights(self, out: dict[str, Any], action: Execute) -> None:
        """Of an operation that starts now, the weights could be read ahead if nothing can write them."""
        config = action.config
        weights = config.weights if isinstance(config, ConvConfig) else None
        ahead = weights is not None and weights.region in self.read_only
        assert out["next_weighted"] == ahead
        if weights is not None and ahead:
            found = {"region": weights.region, "base": weights.base, "length": weights.length}
            assert out["next_weight"] == found

    def _copy(self, copy: Copy) -> dict[str, Any]:
        internal = copy.destination_region == SHARED_BUFFER
        base = 0 if internal else BASES[copy.destination_region]
        source = {
            "port": int(copy.source_region in self.read_only), "length": copy.length,
            "addr": (BASES[copy.source_region] + copy.source) % (1 << 32),
        }  # fmt: skip
        return {"src": source, "internal": int(internal), "dst": (base + copy.destination) % (1 << 32)}

    def _check_operation(self, out: dict[str, Any]) -> None:
        """An operation that was started in the last cycle is there."""
        if self.starting is None:
            return
        assert out["kind"] in [enums()[kind] for kind in KINDS[self.starting.kind]]
        config = self.starting.config
        assert out["ofm_w_m1"] == config.output.ofm.width - 1
        if isinstance(config, ConvConfig):
            for name, found in (("weight", config.weights), ("scale", config.scales)):
                assert out[name] == {"region": found.region, "base": found.base, "length": found.length}
            if 10 * config.output.ofm.depth > config.scales.length:
                self.op.errors.add("scale")
        self.starting = None

    def _compare(self, out: dict[str, Any]) -> Status:
        """Compare the end with what the commands ask for; an error counts from the next one that waits."""
        mask = counted = 0
        expected: list[int] = []
        status, last = Status.CMD_ERROR, range(max(self.steps), len(self.words) + 1)
        for command in self.commands:
            step = self.steps.get(command.word)
            action = step.action if step else None
            checks = isinstance(action, Execute | StreamEnd) or "op" in waits(command)
            if checks and self.failed in expected:
                status, last = Status.NONE, range(command.end - 1, command.end + 1)
                break
            if isinstance(action, StreamEnd):
                if action.status == Status.CMD_END:
                    status, last = Status.CMD_END, range(command.end, command.end + 1)
                    mask |= command.parameter
                break
            if isinstance(action, Copy):
                beyond = action.destination + action.length > NPU.shared_buffer_bytes
                if action.destination_region == SHARED_BUFFER and beyond:
                    status, last = Status.ADDRESS_ERROR, range(command.end, command.end + 1)
                    break
            if action is not None:
                expected.append(command.word)
            if command.target == Opcode.IRQ:
                mask |= command.parameter
            if command.target == Opcode.PMU_MASK:
                counted = command.parameter & 1
        if self.op.errors:
            status &= ~Status.CMD_ERROR
            for name in self.op.errors:
                status |= ERRORS[name]
        assert self.started == expected, f"started {self.started}, expected {expected}"
        assert out["status"] == status | Status.IRQ | self.pmu_irq << 6 | mask << 16, f"{Status(status)!r}"
        assert out["qread"] % 4 == 0
        assert out["qread"] // 4 in last, f"{out['qread'] // 4} words read, expected {last}"
        assert out["counted"] == counted
        assert out["irq"]
        return status


def varied(words: Words, rng: random.Random) -> Words:
    """The stream with commands between its own that a compiler does not put there."""
    parts, place = [], 0
    for command in commands(words):
        if rng.random() < 0.08:
            opcode = rng.choice([Opcode.KERNEL_WAIT, Opcode.DMA_WAIT, Opcode.IRQ, Opcode.PMU_MASK])
            parts.append([int(opcode) | rng.choice([0, 1, rng.randrange(1 << 16)]) << 16])
        if rng.random() < 0.02:
            parts.append([int(rng.choice([Register.DMA0_SKIP0, Register.SCALE1_BASE])), rng.getrandbits(32)])
        parts.append(words[command.word : command.end])
        place = command.end
    return np.concatenate([np.asarray(part, np.uint32) for part in [*parts, words[place:]]])


def streams(seed: int, count: int) -> list[Words]:
    """Sound streams, and streams damaged as the fuzzer does it."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    kinds = [name for name in DAMAGES if name.startswith("commands") or name == "streams truncated"]
    found = []
    for number in range(count):
        case, other = random_case(ACCELERATOR, numbers), random_case(ACCELERATOR, numbers)
        kind = kinds[number // 2 % len(kinds)] if number % 2 else "none"
        words = damaged(kind, case, other, numbers).case.commands
        found.append(varied(words, rng))
    return [words for words in found if len(words)]


def configure_regions(block: Block, read_only: frozenset[int]) -> None:
    """Place the regions, those of `read_only` on that port."""
    region = structs()["region_t"].width
    regions = [
        pack("region_t", {"port": int(i in read_only), "base": base, "size": 0}) << region * i
        for i, base in enumerate(BASES)
    ]
    block.configure("regions", sum(regions))


@cocotb.test()
async def streams_in_order(dut: Any) -> None:
    block, rng = Block(dut, "decode"), random.Random(1)
    await block.reset()
    configure_regions(block, READ_ONLY)
    seen = Status.NONE
    for words in streams(1, 160):
        stream = Stream(block, words, rng)
        seen |= await stream.run(rng.choice([0.0, 0.5]), rng.choice([0.0, 0.0, 0.3]))
        block.values["pmu_irq"] = 0
        await block.cycle(clear_irq=1)
        out = await block.cycle()
        assert not out["irq"]
        assert not out["status"] & Status.IRQ
    assert seen == Status.CMD_END | Status.CMD_ERROR | Status.BUS_ERROR | Status.WEIGHT_ERROR | (
        Status.ADDRESS_ERROR | Status.SCALE_ERROR
    ), seen


@cocotb.test()
async def weights_that_may_be_written_are_not_read_ahead(dut: Any) -> None:
    """No region is on the read-only port."""
    block, rng = Block(dut, "decode"), random.Random(3)
    await block.reset()
    configure_regions(block, frozenset())
    operations = 0
    for words in streams(3, 24):
        stream = Stream(block, words, rng, frozenset())
        await stream.run(0.2, 0.0)
        operations += len(stream.started)
        block.values["pmu_irq"] = 0
        await block.cycle(clear_irq=1)
    assert operations


@cocotb.test()
async def streams_that_cannot_begin(dut: Any) -> None:
    """An address that is no multiple of 8, or a length that is none of 4: nothing is fetched."""
    block = Block(dut, "decode")
    await block.reset()
    for addr, length in ((4, 8), (8, 6), (1, 8), (0, 1)):
        block.values["stream"] = {"addr": addr, "length": length}
        await block.cycle(start=1, fetch_idle=1)
        fetched = 0
        for _ in range(12):
            out = await block.cycle(fetch_idle=1, fetch_valid=1)
            fetched |= out["fetch_start"] | out["fetch_ready"]
        assert not fetched
        assert out["status"] == Status.IRQ | Status.CMD_ERROR
        await block.cycle(clear_irq=1)
