# SPDX-License-Identifier: Apache-2.0
"""An AXI memory for the tests of the DMA controller: stalls at random, watches every access."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from testkit.npu.blocks.block import Values

PAGE = 4096
# Of every address: beats of eight bytes, INCR, Normal Non-cacheable Non-bufferable, data, non-secure
ATTRIBUTES = {"size": 3, "burst": 1, "cache": 2, "prot": 2}


@dataclass
class Memory:
    """The bytes behind a port, and which of them its clients may touch: ranges of addresses by client.

    Reads of the beats at the addresses `bad` are answered with an error, and are to count as zeros.
    """

    base: int
    data: bytearray
    readable: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    writable: list[tuple[int, int]] = field(default_factory=list)
    bad: set[int] = field(default_factory=set)

    def read(self, address: int, size: int) -> bytes:
        start = address - self.base
        assert 0 <= start <= len(self.data) - size, f"the test itself reads {address:#x}"
        data = bytearray(self.data[start : start + size])
        for beat in range(address & ~7, address + size, 8) if self.bad else ():
            if beat in self.bad:
                first, last = max(beat - address, 0), min(beat + 8 - address, size)
                data[first:last] = bytes(last - first)
        return bytes(data)

    def write(self, address: int, data: bytes) -> None:
        start = address - self.base
        self.data[start : start + len(data)] = data


def odd(value: int, width: int, group: int = 0) -> int:
    """Return the bits that make the number of ones odd: of a value, or of each group of its bits."""
    group = group or width
    parts = [value >> at & (1 << group) - 1 for at in range(0, width, group)]
    return sum((1 - part.bit_count() % 2) << i for i, part in enumerate(parts))


def check_bits(channel: str, valid: int, values: Values) -> Values:
    """Return the check bits of a channel, without those that do not count because it is not valid."""
    check: Values = {"valid": 1 - valid}
    if not valid:
        return check
    if channel == "w":
        return check | {
            "data": odd(values["data"], 64, 8), "strb": odd(values["strb"], 8), "last": 1 - values["last"]
        }  # fmt: skip
    ones = sum(values[key].bit_count() for key in ATTRIBUTES)
    return check | {
        "id": odd(values["id"], 3), "addr": odd(values["addr"], 32, 8), "len": odd(values["len"], 8),
        "ctl": 1 - ones % 2,
    }  # fmt: skip


def overlaps(ranges: Iterable[tuple[int, int]], first: int, last: int) -> bool:
    return any(first < end and last >= start for start, end in ranges)


class Slave:
    """Answers one port of the DMA controller in order.

    Args:
        name: "m0" or "m1".
        memory: What it reads and writes.
        rng: For the stalls.
        stall: Share of cycles in which each channel is held back.
        errors: Share of writes that are answered SLVERR; reads are where the memory is bad.
    """

    def __init__(self, name: str, memory: Memory, rng: random.Random, stall: float, errors: float) -> None:
        self.name, self.memory, self.rng, self.stall, self.errors = name, memory, rng, stall, errors
        self.reads: deque[tuple[int, int, int]] = deque()
        self.addresses: deque[Values] = deque()
        self.beats: deque[Values] = deque()
        self.answers: deque[Values] = deque()
        self.bad_answers = 0
        self.accesses = {"reads": 0, "writes": 0}
        self._r: Values | None = None
        self._b: Values | None = None
        self._held: dict[str, Values] = {}

    def _go(self) -> bool:
        return self.rng.random() >= self.stall

    def drive(self, inputs: Values) -> None:
        """Set this port's inputs of the coming cycle."""
        n = self.name
        inputs[f"{n}_ar_ready"] = self._go() and len(self.reads) < 12
        if self._r is None and self.reads and self._go():
            client, address, left = self.reads[0]
            bad = address in self.memory.bad
            data = int.from_bytes(self.memory.read(address, 8), "little")
            data = self.rng.getrandbits(64) if bad else data
            self._r = {"id": client, "data": data, "resp": 2 if bad else 0, "last": left == 0}
        inputs[f"{n}_r_valid"] = self._r is not None
        # What is not valid is anything.
        inputs[f"{n}_r"] = self._r or self.rng.getrandbits(70)
        if n == "m1":
            return
        inputs["m0_aw_ready"], inputs["m0_w_ready"] = self._go(), self._go()
        if self._b is None and self.answers and self._go():
            self._b = self.answers.popleft()
        inputs["m0_b_valid"] = self._b is not None
        inputs["m0_b"] = self._b or self.rng.getrandbits(5)

    def observe(self, inputs: Values, out: Values) -> None:
        """Take what the cycle transferred, and check it."""
        n = self.name
        self._check_held(inputs, out)
        for channel in ("ar", "aw", "w") if n == "m0" else ("ar",):
            wanted = check_bits(channel, out[f"{n}_{channel}_valid"], out[f"{n}_{channel}"])
            assert wanted.items() <= out[f"{n}_{channel}_check"].items(), f"{n}_{channel}_check"
        if out[f"{n}_ar_valid"] and inputs[f"{n}_ar_ready"]:
            self._take_read(out[f"{n}_ar"])
        if self._r is not None and out[f"{n}_r_ready"]:
            client, address, left = self.reads.popleft()
            if left:
                self.reads.appendleft((client, address + 8, left - 1))
            self.bad_answers += self._r["resp"] != 0
            self.accesses["reads"] += 1
            self._r = None
        if n == "m1":
            return
        if out["m0_aw_valid"] and inputs["m0_aw_ready"]:
            self.addresses.append(out["m0_aw"])
        if out["m0_w_valid"] and inputs["m0_w_ready"]:
            self.beats.append(out["m0_w"])
        if self._b is not None and out["m0_b_ready"]:
            self.bad_answers += self._b["resp"] != 0
            self._b = None
        while self.addresses and len(self.beats) > self.addresses[0]["len"]:
            address = self.addresses.popleft()
            self._write(address, [self.beats.popleft() for _ in range(address["len"] + 1)])

    def _check_held(self, inputs: Values, out: Values) -> None:
        """A request that is not taken stays as it is."""
        for channel in ("ar", "aw", "w") if self.name == "m0" else ("ar",):
            key = f"{self.name}_{channel}"
            if key in self._held:
                now = out[key] if out[f"{key}_valid"] else None
                assert now == self._held[key], f"{key} changed while it waited"
                del self._held[key]
            if out[f"{key}_valid"] and not inputs[f"{key}_ready"]:
                self._held[key] = out[key]

    def _take_read(self, request: Values) -> None:
        first, beats = self._burst(request)
        ranges = self.memory.readable.get(request["id"], [])
        for beat in range(beats):
            at = first + 8 * beat
            assert overlaps(ranges, at, at + 7), f"client {request['id']} reads {at:#x}, allowed: {ranges}"
        self.reads.append((request["id"], first, beats - 1))

    def _burst(self, request: Values) -> tuple[int, int]:
        """Check what every address must be; return the first one and the number of beats."""
        first, beats = request["addr"], request["len"] + 1
        last = first + 8 * beats - 1
        assert first % 8 == 0
        assert first // PAGE == last // PAGE, f"the burst {first:#x}..{last:#x} crosses a page"
        assert {key: request[key] for key in ATTRIBUTES} == ATTRIBUTES
        return first, beats

    def _write(self, address: Values, beats: list[Values]) -> None:
        first, count = self._burst(address)
        assert [beat["last"] for beat in beats] == [0] * (count - 1) + [1]
        bad = self.rng.random() < self.errors
        for i in range(8 * count):
            beat, at = beats[i // 8], first + i
            if beat["strb"] >> i % 8 & 1:
                inside = overlaps(self.memory.writable, at, at)
                assert inside, f"write of {at:#x}, allowed: {self.memory.writable}"
                self.memory.write(at, bytes([beat["data"] >> 8 * (i % 8) & 0xFF]))
        self.accesses["writes"] += 1
        self.answers.append({"id": address["id"], "resp": 2 if bad else 0})
