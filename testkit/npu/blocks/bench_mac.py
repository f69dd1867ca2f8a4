# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the MAC unit on the shared buffer: steps of every kind against sums in Python."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import cocotb

from testkit.npu.blocks.arithmetic import (
    AVERAGE,
    CONV,
    DEPTHWISE,
    MAX_POOL,
    REDUCE_SUM,
)
from testkit.npu.blocks.block import (
    ACC_BANKS,
    BANKS,
    LANES,
    UD,
    UH,
    USABLE,
    Block,
    Values,
    pack,
)
from testkit.npu.blocks.feature_maps import accumulator_row, piece_word, place

LOWEST = -(1 << 31)


def wrap32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@dataclass
class Step:
    """One step of an operation with random sizes, its IFM piece and weights."""

    rng: random.Random
    kind: int
    op: Values = field(default_factory=dict)
    step: Values = field(default_factory=dict)
    pixels: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    vectors: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rng, kind = self.rng, self.kind
        weighted = kind in (CONV, DEPTHWISE)
        stride_x, stride_y = (rng.randint(1, 3) for _ in range(2))
        upscale = rng.random() < 0.3 and kind in (CONV, DEPTHWISE)
        dilate = [int(rng.random() < 0.3) if weighted else 0 for _ in range(2)]
        if upscale or kind == REDUCE_SUM:
            stride_x = stride_y = 1
        tw, th = (rng.randint(1, 3), rng.randint(1, 3)) if kind != REDUCE_SUM else (1, 1)
        bw, bh = rng.randint(1, 5), rng.randint(1, 4)
        one_row = UH == 2 and rng.random() < 0.4
        if one_row:
            bw, bh, th, stride_x = rng.randint(1, 15), 1, 1, 1 if upscale else stride_x
        part_kernel = kind == CONV and rng.getrandbits(1)
        size = 0
        if kind in (MAX_POOL, AVERAGE, REDUCE_SUM):
            size = rng.choice([0, 1, 2] if kind == REDUCE_SUM else [0, 1])
        bd = 1 if kind == REDUCE_SUM else rng.randint(1, 20)
        zc = {
            CONV: rng.randint(1, 16 if part_kernel else 32),
            REDUCE_SUM: rng.randint(1, 32 >> size),
        }.get(kind, bd)
        depth_beyond = 0 if kind in (CONV, REDUCE_SUM) and (zc << size) % 8 else rng.choice([0, 40])
        x0, y0 = rng.randint(-3, 5), rng.randint(-3, 5)
        x1 = x0 + (bw - 1) * stride_x + (tw - 1 << dilate[0])
        y1 = y0 + (bh - 1) * stride_y + (th - 1 << dilate[1])
        if one_row:
            y0 = y1 = 0
        zeros = upscale and rng.getrandbits(1)
        up = int(upscale)
        from_x, from_y = x0 + zeros >> up, y0 + zeros >> up
        iz0 = 8 * rng.randrange(3)
        banks = BANKS // 2 // 2 * 2
        self.op = {
            "kind": kind, "part_kernel": part_kernel, "one_row": one_row,
            "stride_x": stride_x, "stride_y": stride_y, "dilate_x": dilate[0], "dilate_y": dilate[1],
            "upscale": up, "upscale_zeros": zeros,
            "ifm_w": max(1, x1 + 1 - rng.randrange(3)), "ifm_h": max(1, y1 + 1 - rng.randrange(3)),
            "ifm_d_m1": iz0 + zc - 1 + depth_beyond, "ifm_signed": rng.getrandbits(1),
            "ifm_zero_point": rng.choice([0, -128, 127, 255, rng.randint(-256, 255)]),
            "ib_end": banks, "ab_start": USABLE - (USABLE - banks) // ACC_BANKS * ACC_BANKS,
            "acc_end": USABLE, "ifm": {"log2_bytes": size},
        }  # fmt: skip
        self.step = {
            "bw": bw, "bh": bh, "bd": bd, "iz0": iz0, "zc": zc, "ix0": x0, "iy0": y0, "tw": tw, "th": th,
            "iw": max(1, (x1 >> up) - from_x + 1), "ih": max(1, (y1 >> up) - from_y + 1), "first": 1,
        }  # fmt: skip
        self.origin = (from_x, from_y)
        self._fill(8 << size)

    @property
    def words(self) -> int:
        return -(-self.step["zc"] * (1 << self.op["ifm"]["log2_bytes"]) // 8)

    def _fill(self, bits: int) -> None:
        """Random elements, and the vectors of weights in the order of the stream."""
        rng = self.rng
        extreme = rng.random() < 0.2
        for y in range(self.step["ih"]):
            for x in range(self.step["iw"]):
                self.pixels[x, y] = [
                    rng.choice([0, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1]) if extreme
                    else rng.getrandbits(bits) for _ in range(self.words * 64 // bits)
                ]  # fmt: skip
        size = {CONV: 8 * UD, DEPTHWISE: UD}.get(self.kind, 0)
        if not size:
            return
        for _ in range(len(list(self.order()))):
            self.vectors.append(
                [rng.choice([-255, 255]) if extreme else rng.randint(-255, 255) for _ in range(size)]
            )

    def order(self) -> Any:
        """Yield (group of OFM channels, element, word) as the weight order of the operation goes."""
        taps = self.step["tw"] * self.step["th"]
        groups = -(-self.step["bd"] // UD)
        if self.kind == CONV and not self.op["part_kernel"]:
            yield from ((u, e, z) for u in range(groups) for e in range(taps) for z in range(4))
        elif self.kind == CONV:
            padded = -(-taps // 4) * 4
            yield from ((u, e, z) for z in range(self.words) for u in range(groups) for e in range(padded))
        else:
            padded = -(-taps // 4) * 4
            yield from ((u, e, 0) for u in range(groups) for e in range(padded))

    def value(self, x: int, y: int, z: int) -> int | None:
        """An element of the upscaled IFM less its zero point; None where it contributes nothing."""
        op = self.op
        if not (0 <= x < op["ifm_w"] and 0 <= y < op["ifm_h"]):
            return None
        if op["upscale_zeros"] and (x & 1 or y & 1):
            return None
        at = (x >> op["upscale"]) - self.origin[0], (y >> op["upscale"]) - self.origin[1]
        raw = self.pixels[at][z]
        if op["ifm"]["log2_bytes"] == 2:
            return raw
        zero = (op["ifm_zero_point"] + 256) % 512 - 256
        bits = 8 << op["ifm"]["log2_bytes"]
        return (raw - (1 << bits) if op["ifm_signed"] and raw >> bits - 1 else raw) - zero

    def accumulate(self, acc: dict[tuple[int, int, int], int], first: bool) -> None:
        """Add this step to the accumulators, by (y, x, channel)."""
        s, op = self.step, self.op
        depth = op["ifm_d_m1"] + 1 - s["iz0"]
        for y in range(s["bh"]):
            for x in range(s["bw"]):
                for c in range(s["bd"]):
                    key = (y, x, c)
                    start = LOWEST if self.kind == MAX_POOL else 0
                    old = start if first else acc[key]
                    acc[key] = self._element(old, y, x, c, depth)

    def _element(self, old: int, y: int, x: int, c: int, depth: int) -> int:
        s = self.step
        position = 0
        for u, e, w in self.order() if self.vectors else []:
            vector = self.vectors[position]
            position += 1
            if u != c // UD or e >= s["tw"] * s["th"] or w >= self.words:
                continue
            at = self._at(x, y, e)
            for z in range(8) if self.kind == CONV else [c]:
                channel = 8 * w + z if self.kind == CONV else c
                if channel >= depth:
                    continue
                value = self.value(*at, channel)
                weight = vector[8 * (c % UD) + z] if self.kind == CONV else vector[c % UD]
                old = wrap32(old + (value or 0) * weight)
        if self.vectors:
            return old
        for e in range(s["tw"] * s["th"]):
            at = self._at(x, y, e)
            for channel in range(min(s["zc"], depth)) if self.kind == REDUCE_SUM else [c]:
                value = self.value(*at, channel)
                if value is not None:
                    old = max(old, value) if self.kind == MAX_POOL else wrap32(old + value)
        return old

    def _at(self, x: int, y: int, e: int) -> tuple[int, int]:
        s, op = self.step, self.op
        ty, tx = divmod(e, s["tw"])
        return (
            s["ix0"] + x * op["stride_x"] + (tx << op["dilate_x"]),
            s["iy0"] + y * op["stride_y"] + (ty << op["dilate_y"]),
        )


async def fill_piece(block: Block, step: Step, buffer: int) -> None:
    """Write the piece into one of the two IFM buffers, spread over the lanes."""
    bank = 2 + buffer * ((step.op["ib_end"] - 2) // 2 // LANES * LANES)
    bits = 8 << step.op["ifm"]["log2_bytes"]
    per_word = 64 // bits
    for (x, y), elements in step.pixels.items():
        strides = step.op["stride_x"], step.op["stride_y"]
        start = piece_word(x, y, step.step["iw"], step.words, strides, 0, step.op["one_row"])
        lane, first = start[0] % LANES, start[0] // LANES * 128 + start[1]
        for w in range(step.words):
            chunk = elements[per_word * w : per_word * (w + 1)]
            word = sum(v << bits * i for i, v in enumerate(chunk))
            bank_at, address = place(bank, lane, LANES, first + w)
            assert bank_at < step.op["ib_end"]
            await block.cycle(word_wr=1, word_wr_bank=bank_at, word_wr_addr=address, word_wr_data=word)


def accumulator_place(step: Step, buffer: int, y: int, x: int, c: int) -> tuple[int, int, int]:
    """Bank, row and element of an accumulator."""
    s, op = step.step, step.op
    row, pixel = accumulator_row(y, x, c, s["bw"], s["bh"], op["one_row"])
    first = (op["ab_start"] - USABLE % ACC_BANKS) // ACC_BANKS
    half = (op["acc_end"] - op["ab_start"]) // 2 // ACC_BANKS
    group = first + buffer * half + row // 64
    lane = pixel * UD // 4 + c % UD // 4
    return group * ACC_BANKS + USABLE % ACC_BANKS + lane, row % 64, c % 4


async def compute(
    block: Block, turns: list[Step], firsts: list[bool], ifm: list[int], acc: int, rng: random.Random
) -> None:
    """Run steps one after another, each as soon as the one before is taken, to the end of their block."""
    vectors = [vector for step in turns for vector in step.vectors]
    taken = done = 0
    offered = False
    steady = rng.random() < 0.5
    for _ in range(20_000):
        offered = bool(vectors) and (offered or steady or rng.random() < 0.8)
        flat = (
            sum((w & 0x1FF) << 9 * i for i, w in enumerate(vectors[0])) if offered else rng.getrandbits(576)
        )
        inputs: Values = {"vec_valid": offered, "vec": flat}
        if taken < len(turns):
            last = taken == len(turns) - 1
            step = {**turns[taken].step, "first": firsts[taken], "last": last, "row_last": last}
            inputs |= {"mac_valid": 1, "mac_step": step, "mac_ifm_buffer": ifm[taken], "mac_acc_buffer": acc}
        out = await block.cycle(**inputs)
        taken += bool(taken < len(turns) and out["mac_ready"])
        if offered and out["vec_ready"]:
            vectors.pop(0)
            offered = False
        done += out["mac_step_done"]
        assert done <= taken
        assert out["mac_row_done"] == (out["mac_step_done"] and done == len(turns))
        if out["mac_block_done"]:
            assert done == len(turns)
            assert not vectors, f"{len(vectors)} vectors were not taken"
            return
    raise AssertionError(f"no end, {len(vectors)} vectors left: {turns[0].op} {turns[0].step}")


async def check_block(block: Block, kind: int, rng: random.Random) -> None:
    """One or two steps into the same accumulators, each with its IFM piece."""
    step = Step(rng, kind)
    block.configure("op", pack("op_t", step.op))
    acc_buffer, ifm_buffer = rng.getrandbits(1), rng.getrandbits(1)
    found: dict[tuple[int, int, int], int] = {}
    turns, buffers = [], [ifm_buffer, 1 - ifm_buffer][: rng.randint(1, 2)]
    for turn, buffer in enumerate(buffers):
        again = copy.copy(step)
        again.pixels, again.vectors = {}, []
        again._fill(8 << step.op["ifm"]["log2_bytes"])
        await fill_piece(block, again, buffer)
        again.accumulate(found, turn == 0)
        turns.append(again)
    await compute(block, turns, [turn == 0 for turn in range(len(turns))], buffers, acc_buffer, rng)
    for (y, x, c), wanted in found.items():
        if kind == REDUCE_SUM and c:
            continue
        bank, row, element = accumulator_place(step, acc_buffer, y, x, c)
        await block.cycle(probe=1, probe_bank=bank, probe_row=row)
        data = (await block.settle())["probe_data"]
        value = wrap32(data >> 32 * element & 0xFFFFFFFF)
        assert value == wanted, (
            f"accumulator y {y} x {x} channel {c}: expected {wanted}, found {value}\n{step.op}\n{step.step}"
        )


@cocotb.test()
@cocotb.parametrize(kind=[CONV, DEPTHWISE, MAX_POOL, AVERAGE, REDUCE_SUM])
async def steps(dut: Any, kind: int) -> None:
    block, rng = Block(dut, "data"), random.Random(kind)
    await block.reset()
    for _ in range(14):
        await check_block(block, kind, rng)
