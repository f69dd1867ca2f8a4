# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the output unit: whole blocks from the shared buffer to rows of the staging area."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from typing import Any

import cocotb

from testkit.npu.blocks.arithmetic import (
    AVERAGE,
    CONV,
    DEPTHWISE,
    ELEMENTWISE,
    MAX_POOL,
    REDUCE_SUM,
    Combine,
    average_scale,
    op_fields,
    sat32,
)
from testkit.npu.blocks.bench_element import any_bits, any_finish
from testkit.npu.blocks.block import (
    ACC_BANKS,
    BANKS,
    UD,
    UH,
    USABLE,
    Block,
    Values,
    pack,
)
from testkit.npu.blocks.feature_maps import accumulator_row

MASK64 = (1 << 64) - 1


class Case:
    """A block of an operation: its operation, what lies in the shared buffer, and the rows that it gives."""

    def __init__(self, rng: random.Random, kind: int) -> None:
        self.rng, self.kind = rng, kind
        finish = any_finish(rng)
        if rng.random() < 0.5:  # nothing that hides a wrong value
            finish = replace(finish, log2_bytes=2, table=False)
        tables = rng.random() < 0.3
        finish = replace(
            finish, table=tables, clip_int8=finish.clip_int8 or (tables and finish.log2_bytes == 2)
        )
        if tables and not finish.is_signed and not finish.clip_int8:
            finish = replace(finish, low=0)
        self.finish = finish
        self.table_index = rng.randrange((8, 1, 2)[finish.log2_bytes])
        self.table = rng.randbytes(2048)
        bd = rng.choice([1, 3, 8, 16, 17, 31, rng.randint(1, 40)])
        self.step = {
            "ox0": rng.randrange(9), "oy0": rng.randrange(9), "oz0": 16 * rng.randrange(3),
            "bw": rng.randint(1, 4), "bh": rng.randint(1, 4), "bd": 1 if kind == REDUCE_SUM else bd,
        }  # fmt: skip
        one_row = UH == 2 and kind != ELEMENTWISE and rng.random() < 0.4
        if one_row:
            self.step |= {"bw": rng.randint(1, 11), "bh": 1}
        self.acc_buffer, self.ifm_buffer = rng.getrandbits(1), rng.getrandbits(1)
        acc_end = USABLE - 2 if tables and BANKS == USABLE else USABLE
        half = BANKS // 2
        self.op = {
            "kind": kind, "one_row": one_row, "acc_end": acc_end, "ib_end": half,
            "ib2_start": 2 + (half - 2) // 2,
            "ab_start": USABLE - (USABLE - half) // ACC_BANKS * ACC_BANKS, "table_index": self.table_index,
        }  # fmt: skip
        self.words: dict[tuple[int, int], int] = {}
        self.scales = b""
        if tables:
            for at in range(0, 2048, 8):
                self.put(BANKS - 2, at, int.from_bytes(self.table[at : at + 8], "little"), 8)
        self.prepare()
        self.op = {**op_fields(finish), **self.op}

    def put(self, bank: int, at: int, value: int, size: int) -> None:
        """Put `size` bytes at byte `at` counted from the start of a bank; they do not cross a word."""
        key = (bank + at // 1024, at % 1024 // 8)
        self.words[key] = self.words.get(key, 0) | (value & (1 << 8 * size) - 1) << 8 * (at % 8)

    def prepare(self) -> None:
        """Fill in the sources, and note the element of each place by (y, x, channel)."""
        self.elements: dict[tuple[int, int, int], int] = {}
        if self.kind == ELEMENTWISE:
            self._operands()
            return
        s, rng = self.step, self.rng
        if self.kind in (CONV, DEPTHWISE):
            channels = s["oz0"] + s["bd"]
            length = rng.choice([10 * channels, 10 * channels + 7, max(1, 10 * channels - rng.randrange(40))])
            self.scales = b"".join(
                rng.randbytes(3) + rng.choice([b"\0\0", b"\xff\xff", rng.randbytes(2)]) + rng.randbytes(4)
                + bytes([rng.choice([rng.randrange(256), rng.randrange(31, 45)])])
                for _ in range(channels + 1)
            )[:length]  # fmt: skip
            self.op["scale"] = {"length": length}
        if self.kind == AVERAGE:
            self.op |= {
                "stride_x": rng.randint(1, 3), "stride_y": rng.randint(1, 3), "pad_left": rng.randrange(5),
                "pad_top": rng.randrange(5), "taps_x_m1": rng.randrange(8), "taps_y_m1": rng.randrange(8),
                "ifm_w": rng.randint(1, 40), "ifm_h": rng.randint(1, 40),
            }  # fmt: skip
        for y in range(s["bh"]):
            for x in range(s["bw"]):
                for c in range(s["bd"]):
                    acc = any_bits(rng, 32)
                    bank, row, element = self._accumulator(y, x, c)
                    self.put(bank, 16 * row + 4 * element, acc, 4)
                    self.elements[y, x, c] = self.finish.element(self._scaled(acc, y, x, c))

    def _accumulator(self, y: int, x: int, c: int) -> tuple[int, int, int]:
        s, op = self.step, self.op
        row, pixel = accumulator_row(y, x, c, s["bw"], s["bh"], op["one_row"])
        first = (op["ab_start"] - USABLE % ACC_BANKS) // ACC_BANKS
        half = (op["acc_end"] - op["ab_start"]) // 2 // ACC_BANKS
        group = first + self.acc_buffer * half + row // 64
        lane = pixel * UD // 4 + c % UD // 4
        return group * ACC_BANKS + USABLE % ACC_BANKS + lane, row % 64, c % 4

    def _scaled(self, acc: int, y: int, x: int, c: int) -> int:
        finish = self.finish
        if self.kind in (CONV, DEPTHWISE):
            at = 10 * (self.step["oz0"] + c)
            record = self.scales[at : at + 10].ljust(10, b"\0")
            bias = int.from_bytes(record[:5], "little", signed=True)
            return finish.rs(sat32(acc + bias), int.from_bytes(record[5:9], "little"), record[9] & 63)
        if self.kind == AVERAGE and not finish.global_scale:
            return finish.rs(acc, *average_scale(self._under("x", x) * self._under("y", y)))
        return finish.common(acc)

    def _under(self, axis: str, at: int) -> int:
        """Pixels of the IFM under the kernel along an axis."""
        op = self.op
        pad, size = (op["pad_left"], op["ifm_w"]) if axis == "x" else (op["pad_top"], op["ifm_h"])
        first = (self.step[f"o{axis}0"] + at) * op[f"stride_{axis}"] - pad
        return len([p for p in range(first, first + op[f"taps_{axis}_m1"] + 1) if 0 <= p < size])

    def _operands(self) -> None:
        rng, s = self.rng, self.step
        log2_bytes, operation = rng.choice([0, 0, 1, 2]), rng.randrange(10)
        scalar = rng.random() < 0.2
        unary = operation in (5, 6, 7)
        broadcast = [int(rng.random() < 0.3) for _ in range(3)]
        zero = [any_bits(rng, 16) for _ in range(2)]
        signed = [rng.getrandbits(1) for _ in range(2)]
        swapped = int(rng.random() < 0.3) if not unary else 0
        combine = Combine(
            operation, log2_bytes, rng.randrange(3), any_bits(rng, 32, signed=False), rng.randrange(64),
            any_bits(rng, 32, signed=False), self.finish,
        )  # fmt: skip
        number = any_bits(rng, 16, signed=False)
        self.op |= {
            "elementwise": operation, "ifm": {"log2_bytes": log2_bytes}, "ifm2": {"log2_bytes": log2_bytes},
            "operand_to_scale": combine.scaled_operand, "opa_scale": combine.opa_scale,
            "opa_shift": combine.opa_shift, "opb_scale": combine.opb_scale, "reversed": swapped,
            "ifm_signed": signed[0], "ifm2_signed": signed[1], "ifm_zero_point": zero[0],
            "ifm2_zero_point": zero[1], "ifm2_used": not (unary or scalar), "ifm2_scalar_used": scalar,
            "ifm2_scalar": number, "broadcast_h": broadcast[0], "broadcast_w": broadcast[1],
            "broadcast_c": broadcast[2],
        }  # fmt: skip
        size = (s["bh"], s["bw"], s["bd"])
        size2 = tuple(1 if cut else n for cut, n in zip(broadcast, size, strict=True))
        banks = (self.op["ib_end"] if unary or scalar else self.op["ib2_start"]) - 2
        first = self._operand(size, log2_bytes, signed[0], 2 + self.ifm_buffer * (banks // 2))
        second = {}
        if not (unary or scalar):
            start = self.op["ib2_start"]
            half = (self.op["ib_end"] - start) // 2
            second = self._operand(size2, log2_bytes, signed[1], start + self.ifm_buffer * half)
        value2 = number - (1 << 16) if signed[1] and number >> 15 else number
        for (y, x, c), a in first.items():
            at = (0 if broadcast[0] else y, 0 if broadcast[1] else x, 0 if broadcast[2] else c)
            b = value2 if scalar else second.get(at, 0)
            pair = (wrap33(a - zero[0]), wrap33(b - zero[1]))
            self.elements[y, x, c] = combine.element(*(reversed(pair) if swapped else pair))

    def _operand(
        self, size: tuple[int, ...], log2_bytes: int, signed: int, bank: int
    ) -> dict[tuple[int, int, int], int]:
        """Put an operand into its buffer."""
        height, width, depth = size
        words = -(-(depth << log2_bytes) // 8)
        bits = 8 << log2_bytes
        values = {}
        for y in range(height):
            for x in range(width):
                for c in range(depth):
                    raw = any_bits(self.rng, bits, signed=False)
                    at = (y * width + x) * words * 8 + (c << log2_bytes)
                    self.put(bank, at, raw, 1 << log2_bytes)
                    values[y, x, c] = raw - (1 << bits) if signed and raw >> bits - 1 else raw
        return values

    def rows(self) -> list[tuple[int, int]]:
        """The rows that must come, and how many bytes of each count."""
        rows = []
        s, size = self.step, 1 << self.finish.log2_bytes
        for first in range(0, s["bd"], 16):
            for y in range(s["bh"]):
                for x in range(s["bw"]):
                    channels = range(first, min(first + 16, s["bd"]))
                    data = b"".join(self._stored(self.elements[y, x, c]) for c in channels)
                    for start in range(0, len(channels) * size, 16):
                        row = data[start : start + 16]
                        rows.append((int.from_bytes(row, "little"), len(row)))
        return rows

    def _stored(self, value: int) -> bytes:
        finish, size = self.finish, 1 << self.finish.log2_bytes
        if not finish.table:
            return (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        centred = finish.is_signed or finish.clip_int8
        if size == 2:
            index = (value + 32768 if centred else value) & 0xFFFF
            base, slope = struct.unpack_from("<hh", self.table, 4 * (index >> 7))
            return (base + (slope * (index & 127) + 64 >> 7) & 0xFFFF).to_bytes(2, "little")
        index = (value + 128 if centred else value) & 0xFF
        at = 256 * self.table_index + index if size == 1 else 4 * (256 * (self.table_index % 2) + index)
        return self.table[at : at + size]


def wrap33(value: int) -> int:
    return (value + (1 << 32)) % (1 << 33) - (1 << 32)


async def play(block: Block, case: Case) -> list[int]:
    """Run the block and return the rows that came."""
    rng = case.rng
    block.configure("op", pack("op_t", case.op))
    for (bank, word), data in case.words.items():
        await block.cycle(word_wr=1, word_wr_bank=bank, word_wr_addr=word, word_wr_data=data & MASK64)
    beats: list[int] = []
    rows: list[int] = []
    inputs: Values = {
        "out_step": case.step, "out_acc_buffer": case.acc_buffer, "out_ifm_buffer": case.ifm_buffer
    }  # fmt: skip
    end = 0
    for _ in range(20_000):
        offer = bool(beats) and rng.random() < 0.7
        out = await block.cycle(
            **inputs, out_valid=not end, out_ready=not end and rng.random() < 0.95,
            stage_full=rng.random() < 0.1, scale_idle=not beats, scale_valid=offer,
            scale_data=beats[0] if offer else rng.getrandbits(64),
        )  # fmt: skip
        if offer and out["scale_ready"]:
            beats.pop(0)
        if out["scale_start"]:
            start, stop = out["scale_offset"], out["scale_offset"] + out["scale_length"]
            assert stop <= len(case.scales), "no more than the stream is asked for"
            data = case.scales[start:stop]
            data += rng.randbytes(-len(data) % 8)
            beats = [int.from_bytes(data[i : i + 8], "little") for i in range(0, len(data), 8)]
        if out["stage_wr"]:
            rows.append(out["stage_wr_data"])
        end += 1 if end or out["out_done"] else 0
        if end > 15:
            assert not beats, "all that was asked for is taken"
            return rows
    raise AssertionError(f"no end: {case.op} {case.step}")


@cocotb.test()
@cocotb.parametrize(kind=[CONV, DEPTHWISE, MAX_POOL, AVERAGE, REDUCE_SUM, ELEMENTWISE])
async def blocks(dut: Any, kind: int) -> None:
    block, rng = Block(dut, "data"), random.Random(kind)
    await block.reset()
    for _ in range(60 if kind == ELEMENTWISE else 14):
        case = Case(rng, kind)
        found, wanted = await play(block, case), case.rows()
        assert len(found) == len(wanted), f"{len(found)} rows of {len(wanted)}: {case.op} {case.step}"
        for i, (row, (data, size)) in enumerate(zip(found, wanted, strict=True)):
            row &= (1 << 8 * size) - 1
            assert row == data, f"row {i}: expected {data:x}, found {row:x}: {case.op} {case.step}"
