# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of ao_element: every operation over its whole range.

Of an addition, the operand that is scaled alone is the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cocotb

from testkit.npu.blocks.arithmetic import (
    ADD,
    AVERAGE,
    CONV,
    DEPTHWISE,
    ELEMENTWISE,
    INT32_MAX,
    INT32_MIN,
    MAX_POOL,
    REDUCE_SUM,
    SUB,
    Combine,
    Finish,
    average_scale,
    op_fields,
)
from testkit.npu.blocks.block import Block, pack

Inputs = dict[str, int]
CORNERS = [0, 1, -1, 2, -2, 127, -128, 255, 1 << 15, -(1 << 15), 1 << 30, -(1 << 30), INT32_MAX, INT32_MIN]


def any_bits(rng: random.Random, bits: int, signed: bool = True) -> int:
    """A number of at most `bits` bits, of any magnitude, and often at an end of its range."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    match rng.randrange(4):
        case 0:
            return rng.choice([low, high, low + 1, high - 1, 0, 1, high // 2, min(max(low, -1), high)])
        case 1:
            return min(max(rng.choice(CORNERS), low), high)
        case _:
            magnitude = rng.randrange(1 << rng.randint(0, bits))
            return min(max(-magnitude if signed and rng.random() < 0.5 else magnitude, low), high)


def any_operand(rng: random.Random, log2_bytes: int) -> int:
    """An element less its zero point; those of 32 bits fit 33."""
    bits = 8 << log2_bytes
    low, high = -(1 << bits - 1) - 32767, (1 << bits) - 1 + 32768
    return min(max(any_bits(rng, 33 if bits == 32 else bits + 2), low), min(high, (1 << 32) - 1))


def any_finish(rng: random.Random) -> Finish:
    log2_bytes = rng.choice([0, 0, 1, 2])
    low, high = sorted((any_bits(rng, 16), any_bits(rng, 16)))
    if rng.random() < 0.1:
        low, high = high, low
    return Finish(
        rounding=rng.randrange(3),
        zero_point=any_bits(rng, 16),
        log2_bytes=log2_bytes,
        is_signed=rng.random() < 0.5,
        low=low if rng.random() < 0.5 else -32768,
        high=high if rng.random() < 0.5 else 32767,
        clip_int8=rng.random() < 0.3,
        table=rng.random() < 0.2,
        global_scale=rng.random() < 0.6,
        scale=any_bits(rng, 32, signed=False),
        shift=rng.randrange(64),
    )


async def compare(
    block: Block, op: dict[str, Any], inputs: list[Inputs], expected: Callable[[Inputs], int]
) -> None:
    """Send the inputs one a cycle, with gaps, and compare what comes out in order."""
    block.configure("op", pack("op_t", op))
    waiting: list[Inputs] = []
    todo = list(inputs)
    for _ in range(2 * len(inputs) + 40):
        gap = not todo or block.cycles % 7 == 3
        out = await block.cycle(valid=0 if gap else 1, **({} if gap else todo[0]))
        if out["valid"]:
            given = waiting.pop(0)
            wanted = expected(given)
            assert out["value"] == wanted, f"{given} under {op}: expected {wanted}, found {out['value']}"
        if not gap:
            waiting.append(todo.pop(0))
        if not todo and not waiting:
            return
    raise AssertionError(f"{len(waiting)} of {len(inputs)} results are missing")


@cocotb.test()
async def accumulators_with_channel_scale(dut: Any) -> None:
    block, rng = Block(dut, "element"), random.Random(1)
    await block.reset()
    for case in range(60):
        finish = any_finish(rng)
        inputs = [
            {"first": any_bits(rng, 32), "second": any_bits(rng, 32, signed=False), "shift": (case + i) % 64}
            for i in range(40)
        ]  # fmt: skip
        op = op_fields(finish, kind=rng.choice([CONV, DEPTHWISE]))

        def expected(i: Inputs, finish: Finish = finish) -> int:
            return finish.element(finish.rs(i["first"], i["second"], i["shift"]))

        await compare(block, op, inputs, expected)


@cocotb.test()
async def every_shift_and_rounding_at_the_halves(dut: Any) -> None:
    """Products that lie at, just below and just above a half of the unit that is rounded to."""
    block = Block(dut, "element")
    await block.reset()
    for rounding in range(3):
        finish = Finish(rounding=rounding, log2_bytes=2)
        inputs = []
        for shift in range(64):
            unit = 1 << shift
            for product in {k * unit // 2 + d for k in (-3, -2, -1, 1, 2, 3) for d in (-1, 0, 1)}:
                for factor in (1, 1 << 15, 1 << 30, (1 << 32) - 1):
                    acc, rest = divmod(product, factor)
                    if INT32_MIN <= acc <= INT32_MAX and rest == 0:
                        inputs.append({"first": acc, "second": factor, "shift": shift})

        def expected(i: Inputs, finish: Finish = finish) -> int:
            return finish.element(finish.rs(i["first"], i["second"], i["shift"]))

        await compare(block, op_fields(finish, kind=CONV), inputs, expected)


@cocotb.test()
async def pools(dut: Any) -> None:
    block, rng = Block(dut, "element"), random.Random(2)
    await block.reset()
    for _ in range(40):
        finish, kind, wide = any_finish(rng), rng.choice([MAX_POOL, AVERAGE, REDUCE_SUM]), rng.random() < 0.3
        wide = wide and kind == REDUCE_SUM
        op = op_fields(finish, kind=kind, ifm={"log2_bytes": 2 if wide else 0})
        inputs = [{"first": any_bits(rng, 32), "count": rng.randrange(65)} for _ in range(40)]

        def expected(i: Inputs, finish: Finish = finish, kind: int = kind) -> int:
            if kind == AVERAGE and not finish.global_scale:
                return finish.element(finish.rs(i["first"], *average_scale(i["count"])))
            value = finish.rs(i["first"], finish.scale, finish.shift) if finish.global_scale else i["first"]
            return finish.element(value)

        await compare(block, op, inputs, expected)


@cocotb.test()
@cocotb.parametrize(operation=range(10))
async def elementwise(dut: Any, operation: int) -> None:
    block, rng = Block(dut, "element"), random.Random(operation)
    await block.reset()
    for case in range(30):
        log2_bytes = case % 3
        finish = any_finish(rng)
        combine = Combine(
            operation, log2_bytes, rng.randrange(3), any_bits(rng, 32, signed=False), rng.randrange(64),
            any_bits(rng, 32, signed=False), finish,
        )  # fmt: skip
        op = op_fields(
            finish, kind=ELEMENTWISE, elementwise=operation, ifm={"log2_bytes": log2_bytes},
            operand_to_scale=combine.scaled_operand, opa_scale=combine.opa_scale,
            opa_shift=combine.opa_shift, opb_scale=combine.opb_scale,
        )  # fmt: skip
        swap = operation in (ADD, SUB) and log2_bytes != 2 and combine.scaled_operand == 2
        pairs = [(any_operand(rng, log2_bytes), any_operand(rng, log2_bytes)) for _ in range(40)]
        inputs = [{"first": b, "second": a} if swap else {"first": a, "second": b} for a, b in pairs]

        def expected(i: Inputs, combine: Combine = combine, swap: bool = swap) -> int:
            a, b = (i["second"], i["first"]) if swap else (i["first"], i["second"])
            return combine.element(a, b)

        await compare(block, op, inputs, expected)
