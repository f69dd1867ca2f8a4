# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the small blocks: clock and power, APB slave, shared buffer, multipliers, bench memory."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb

from testkit.npu.blocks.block import (
    ACC_BANKS,
    BANKS,
    LANES,
    UD,
    USABLE,
    Block,
    Values,
)

IDLE_CYCLES = 7


@cocotb.test()
async def cpm_releases_reset_in_step_with_the_clock(dut: Any) -> None:
    block = Block(dut, "cpm")
    await block.reset()
    assert [(await block.cycle())["rst_n"] for _ in range(4)] == [0, 0, 1, 1]
    block.values["rst_n"] = 0
    assert (await block.settle())["rst_n"] == 0, "the reset must reach the blocks at once"
    await block.reset()
    for _ in range(4):
        await block.cycle()
    await block.cycle(soft_reset=1)
    seen = [(await block.cycle())["rst_n"] for _ in range(12)]
    low = seen.count(0)
    assert 3 <= low <= 6, f"a soft reset must hold the blocks for a few cycles, found {seen}"
    assert seen[-1] == 1
    assert sorted(seen[seen.index(0) :]) == seen[seen.index(0) :], "the reset must fall and rise once"


@cocotb.test()
async def cpm_in_a_scan_test_is_reset_by_its_input_alone(dut: Any) -> None:
    block = Block(dut, "cpm")
    await block.reset()
    block.values["scan_mode"] = 1
    assert (await block.settle())["rst_n"] == 1, "the first cycle after reset"
    for _ in range(4):
        assert (await block.cycle(soft_reset=1))["rst_n"] == 1
    assert [(await block.cycle())["rst_n"] for _ in range(12)] == [1] * 12
    block.values["rst_n"] = 0
    assert (await block.settle())["rst_n"] == 0


@cocotb.test()
async def cpm_enables_follow_their_wakes(dut: Any) -> None:
    block, rng = Block(dut, "cpm"), random.Random(1)
    await block.reset()
    idle = [0] * 5
    quiescent = 0
    for step in range(3000):
        block.values["wake"] = sum((rng.random() < (0.02, 0.3)[step // 500 % 2]) << d for d in range(5))
        out = await block.cycle()
        wake = block.values["wake"]
        enable = [wake >> d & 1 or idle[d] != IDLE_CYCLES for d in range(5)]
        assert out["enable"] == sum(bool(e) << d for d, e in enumerate(enable)), f"cycle {step}"
        assert out["quiescent"] == quiescent, f"cycle {step}"
        quiescent = not any(enable)
        idle = [0 if wake >> d & 1 else min(idle[d] + 1, IDLE_CYCLES) for d in range(5)]


async def _write(block: Block, address: int, data: int) -> Values:
    await block.cycle(psel=1, pwrite=1, paddr=address, pwdata=data)
    out = await block.cycle(psel=1, penable=1, pwrite=1, paddr=address, pwdata=data)
    assert out["pready"] == 1
    return out


async def _read(block: Block, address: int) -> int:
    await block.cycle(psel=1, paddr=address)
    return int((await block.cycle(psel=1, penable=1, paddr=address))["prdata"])


@cocotb.test()
async def apb_register_map(dut: Any) -> None:
    block, rng = Block(dut, "apb"), random.Random(1)
    await block.reset()
    assert (await block.cycle(psel=1, penable=1, pwrite=1, paddr=0x10, pwdata=5))["pready"] == 0
    kept = {0x10: 0xFFFFFFFF, 0x20: 0xFFFFFFFF, 0x1C: 1, 0x3C: 0xFF}
    kept |= {0x80 + 8 * i: 0xFFFFFFF0 for i in range(8)} | {0x100 + 4 * i: 0xFFFFFFFF for i in range(8)}
    values = dict.fromkeys(kept, 0)
    for _ in range(600):
        block.values |= {"status": rng.getrandbits(32), "qread": rng.getrandbits(32)}
        others = [0x0, 0x4, 0x8, 0xC, 0x14, 0x18, 0x24, 0x40, 0x84, 0xBC, 0x120, 0x101, 0xFFC, 0x480, 0x500]
        address = rng.choice([*kept, *kept, *others, rng.randrange(0, 0x1000)])
        data = rng.getrandbits(32)
        out = await _write(block, address, data)
        assert out["start"] == (address == 8 and data & 1)
        assert out["clear_irq"] == (address == 8 and data >> 1 & 1)
        assert out["soft_reset"] == (address == 0xC)
        if address in kept:
            values[address] = data & kept[address]
        address = rng.choice([*kept, *others])
        wanted = {0x0: 0x10060000, 0x4: block.values["status"], 0x18: block.values["qread"]}
        found = await _read(block, address)
        assert found == {**values, **wanted}.get(address, 0), f"register {address:#x}: {found:#x}"
        out = await block.cycle()
        assert out["stream"] == {"port": values[0x1C], "addr": values[0x10], "length": values[0x20]}
        for i, region in enumerate(out["regions"]):
            assert region == {
                "port": values[0x3C] >> i & 1, "base": values[0x80 + 8 * i], "size": values[0x100 + 4 * i],
                "checked": 1,
            }  # fmt: skip


@cocotb.test()
async def shared_buffer_ports(dut: Any) -> None:
    """All ports at once, each on banks of its own, against an array of rows."""
    block, rng = Block(dut, "sb"), random.Random(2)
    await block.reset()
    rows: dict[tuple[int, int], int] = {}
    offset = USABLE % ACC_BANKS
    groups = (BANKS - offset) // ACC_BANKS
    for bank in range(BANKS):
        for address in range(16):
            data = rng.getrandbits(64)
            await block.cycle(word_wr=1, word_wr_bank=bank, word_wr_addr=address, word_wr_data=data)
            rows[bank, address // 2] = rows.get((bank, address // 2), 0) | data << 64 * (address & 1)
    expected: Values = {}
    for step in range(1500):
        free = rng.sample(range(2, BANKS), BANKS - 2)
        group = rng.randrange(-(-(2 - offset) // ACC_BANKS), groups)
        banks = [group * ACC_BANKS + offset + j for j in range(ACC_BANKS)]
        free = [b for b in free if b not in banks]
        row = [rng.randrange(8) for _ in range(9)]
        inputs: Values = {
            "stage_wr": rng.getrandbits(1), "stage_wr_addr": rng.randrange(16),
            "stage_wr_data": rng.getrandbits(128),
            "acc_wr": rng.getrandbits(1), "acc_wr_group": group, "acc_wr_row": row[0],
            "acc_wr_data": rng.getrandbits(128 * ACC_BANKS),
            "word_wr": rng.getrandbits(1), "word_wr_bank": free[0], "word_wr_addr": rng.randrange(16),
            "word_wr_data": rng.getrandbits(64),
        }  # fmt: skip
        reads = rng.sample([b for b in range(2, BANKS) if b not in banks], LANES + 3)
        inputs |= {
            "stage_rd": rng.getrandbits(1), "stage_rd_addr": rng.randrange(16),
            "acc_rd": rng.getrandbits(1), "acc_rd_group": group, "acc_rd_row": row[1],
            "word_rd": rng.getrandbits(LANES), "word_rd_bank": reads[:LANES],
            "word_rd_addr": [rng.randrange(16) for _ in range(LANES)],
            "out_rd": rng.getrandbits(3), "out_rd_bank": reads[LANES:], "out_rd_row": row[2:5],
        }  # fmt: skip
        out = await block.cycle(**inputs)
        assert (out["corrected"], out["error"]) == (0, 0), f"step {step}: an alarm without a fault"
        for name, value in expected.items():
            port, _, index = name.partition(" ")
            found = out[port][int(index)] if index else out[port]
            assert found == value, f"step {step}: {name}: expected {value:#x}, found {found:#x}"
        if inputs["stage_rd"]:
            at = inputs["stage_rd_addr"]
            expected["stage_rd_data"] = rows[at & 1, at >> 1]
        if inputs["acc_rd"]:
            expected["acc_rd_data"] = sum(rows[b, row[1]] << 128 * j for j, b in enumerate(banks))
        for lane in range(LANES):
            if inputs["word_rd"] >> lane & 1:
                at = inputs["word_rd_addr"][lane]
                word = rows[reads[lane], at >> 1] >> 64 * (at & 1) & (1 << 64) - 1
                expected[f"word_rd_data {lane}"] = word
        for p in range(3):
            if inputs["out_rd"] >> p & 1:
                expected[f"out_rd_data {p}"] = rows[reads[LANES + p], row[2 + p]]
        expected = {n: v for n, v in expected.items() if _still(n, inputs, reads)}
        if inputs["stage_wr"]:
            at = inputs["stage_wr_addr"]
            rows[at & 1, at >> 1] = inputs["stage_wr_data"]
        if inputs["acc_wr"]:
            for j, bank in enumerate(banks):
                rows[bank, row[0]] = inputs["acc_wr_data"] >> 128 * j & (1 << 128) - 1
        if inputs["word_wr"]:
            at, bank = inputs["word_wr_addr"], inputs["word_wr_bank"]
            shift = 64 * (at & 1)
            keep = rows[bank, at >> 1] & ~(((1 << 64) - 1) << shift)
            rows[bank, at >> 1] = keep | inputs["word_wr_data"] << shift


def _still(name: str, inputs: Values, reads: list[int]) -> bool:
    """Whether a port read in this cycle, so that its data are checked in the next."""
    port, _, index = name.partition(" ")
    request = inputs[port.removesuffix("_data")]
    return bool(request >> int(index) & 1 if index else request)


@cocotb.test()
async def multipliers(dut: Any) -> None:
    """Dot products a cycle after their factors, kept without work; sums of 32-bit elements in their place."""
    block, rng = Block(dut, "array"), random.Random(3)
    await block.reset()
    wanted = [0] * UD
    for case in range(1500):
        extreme = case % 4 == 0
        ifm = [rng.choice([0, 127, 128, 255]) if extreme else rng.randrange(256) for _ in range(8)]
        weights = [
            [rng.choice([-255, 255]) if extreme else rng.randint(-255, 255) for _ in range(8)]
            for _ in range(UD)
        ]
        count, is_signed = rng.choice([8, rng.randint(1, 8)]), rng.getrandbits(1)
        absent, wide = rng.random() < 0.1, case // 500 == 1
        multiply = case % 500 == 0 or rng.random() < 0.9
        flat = sum((w & 0x1FF) << 9 * i for i, w in enumerate(w for row in weights for w in row))
        zero = rng.choice([-256, 255, 0, rng.randint(-256, 255)])
        block.values |= {
            "ifm": sum(v << 8 * z for z, v in enumerate(ifm)), "channels_m1": count - 1, "absent": absent,
            "is_signed": is_signed, "wide": wide, "zero_point": zero, "multiply": multiply,
            "weights": flat,
        }  # fmt: skip
        await block.cycle()
        values = [(v - 256 if is_signed and v > 127 else v) - zero for v in ifm[:count]]
        if multiply:
            wanted = [
                0 if absent else sum(v * w for v, w in zip(values, row, strict=False)) for row in weights
            ]
        if multiply and wide:
            words = [int.from_bytes(ifm[z : z + 4], "little") for z in (0, 4)][: min(2, count)]
            wanted = [0 if absent else sum(words) % (1 << 32)]
        found = (await block.settle())["dot"]
        for c, value in enumerate(wanted):
            assert found[c] == value % (1 << 32), f"channel {c}: {block.values}"


@cocotb.test()
async def bench_memory(dut: Any) -> None:
    """Bursts with stalls, no more than are allowed; what is outside is answered SLVERR and unchanged."""
    block, rng = Block(dut, "mem"), random.Random(4)
    await block.reset()
    base, words, most_reads, most_writes = 0x20000000, 512, 4, 3
    memory = [0] * words
    reads: deque[tuple[int, int, int, int, bool]] = deque()
    write: tuple[int, int, int, int] | None = None  # identifier, word, beats left, 1: not served, 2: failed
    answers: deque[tuple[int, int, int]] = deque()
    seen = {"reads": 0, "writes": 0, "errors": 0, "most reads": 0, "most writes": 0}
    last_beat = -10

    def address() -> Values:
        kind = {"size": 2, "burst": 1} if rng.random() < 0.03 else {"size": 3, "burst": rng.random() >= 0.03}
        return {"id": rng.randrange(8), "addr": base + 8 * rng.randrange(-6, words + 4),
                "len": rng.choice([0, 1, 7]), **kind}  # fmt: skip

    for cycle in range(6000):
        last = write is not None and write[2] == 0
        inputs: Values = {
            "ar_valid": rng.random() < 0.4, "ar": address(), "r_ready": rng.random() < 0.7,
            "aw_valid": rng.random() < 0.4, "aw": address(), "w_valid": rng.random() < 0.8,
            "w": {"data": rng.getrandbits(64), "strb": rng.randrange(256),
                  "last": last != (rng.random() < 0.01)},
            "b_ready": rng.random() < 0.7,
        }  # fmt: skip
        out = await block.cycle(**inputs)
        on_way = len(answers) + (write is not None)
        assert out["ar_ready"] == (len(reads) < most_reads)
        assert not (out["aw_ready"] and on_way == most_writes)
        if out["r_valid"] and inputs["r_ready"]:
            name, at, left, since, served = reads[0]
            assert cycle - since > 5, "earlier than the latency"
            assert cycle - last_beat >= 2, "faster than a beat in two cycles"
            last_beat = cycle
            good = served and 0 <= at < words
            wanted = {"id": name, "data": memory[at] if good else 0, "resp": 0 if good else 2,
                      "last": int(left == 0)}  # fmt: skip
            assert out["r"] == wanted, f"cycle {cycle}: {out['r']}, expected {wanted}"
            seen["reads"] += 1
            seen["errors"] += not good
            reads.popleft()
            if left:
                reads.appendleft((name, at + 1, left - 1, since, served))
        if out["b_valid"] and inputs["b_ready"]:
            name, response, since = answers.popleft()
            assert cycle - since >= 3, "earlier than the latency"
            assert out["b"] == {"id": name, "resp": response}
            seen["writes"] += 1
        if inputs["ar_valid"] and out["ar_ready"]:
            ar = inputs["ar"]
            served = ar["size"] == 3 and ar["burst"] == 1
            reads.append((ar["id"], (ar["addr"] - base) // 8, ar["len"], cycle, served))
        if inputs["w_valid"] and out["w_ready"]:
            assert write is not None, "a beat without an address"
            name, word, left, failed = write
            good = 0 <= word < words and inputs["w"]["last"] == last and not failed & 1
            for i in range(8):
                if good and inputs["w"]["strb"] >> i & 1:
                    mask = 0xFF << 8 * i
                    memory[word] = memory[word] & ~mask | inputs["w"]["data"] & mask
            failed |= 0 if good else 2
            write = (name, word + 1, left - 1, failed) if left else None
            if not left:
                answers.append((name, 2 if failed else 0, cycle))
        if inputs["aw_valid"] and out["aw_ready"]:
            assert write is None, "two bursts at once"
            aw = inputs["aw"]
            served = aw["size"] == 3 and aw["burst"] == 1
            write = (aw["id"], (aw["addr"] - base) // 8, aw["len"], 0 if served else 1)
        seen["most reads"] = max(seen["most reads"], int(len(reads) == most_reads))
        seen["most writes"] = max(seen["most writes"], int(len(answers) + (write is not None) == most_writes))
    assert min(seen["reads"], seen["writes"], seen["errors"]) > 20, seen
    assert seen["most reads"], seen
    assert seen["most writes"], seen
