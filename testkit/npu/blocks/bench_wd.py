# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the weight decoder: whole vectors, and a depthwise operation's short ones."""

from __future__ import annotations

import random
from typing import Any

import cocotb
import numpy as np

from resil.rtl_harness.npu.model.weight_stream import decode
from testkit.npu.blocks.block import UD, Block
from testkit.npu.wd.extreme import extreme_stream
from testkit.npu.wd.streams import damaged, encode, invented, weight_arrays


async def check(block: Block, stream: bytes, short: bool, vectors: int, rng: random.Random) -> bool:
    """Decode `vectors` vectors with stalls on both sides; return whether the error rose."""
    size = UD if short else 8 * UD
    weights, error = decode(stream, vectors * size)
    beats = [int.from_bytes(stream[i : i + 8], "little") for i in range(0, len(stream), 8)]
    stall = rng.choice([0.0, 0.5])
    await block.cycle(start=1, is_short=short)
    taken = 0
    for _ in range(40 * (vectors + len(beats)) + 500):
        offer, take = bool(beats) and rng.random() >= stall, rng.random() >= stall
        out = await block.cycle(
            is_short=short, in_valid=offer, in_data=beats[0] if offer else rng.getrandbits(64),
            in_last=offer and len(beats) == 1, vec_ready=take,
        )  # fmt: skip
        if offer and out["in_ready"]:
            beats.pop(0)
        if take and out["vec_valid"]:
            found = [out["vec"] >> 9 * i & 0x1FF for i in range(size)]
            found = [v - 512 if v > 255 else v for v in found]
            assert found == weights[taken * size : (taken + 1) * size].tolist(), f"vector {taken}"
            taken += 1
            if taken == vectors:
                break
    assert taken == vectors, f"{taken} of {vectors} vectors came"
    risen = bool((await block.cycle(is_short=short))["error"])
    assert risen == error
    return risen


@cocotb.test()
@cocotb.parametrize(short=[True, False])
async def streams(dut: Any, short: bool) -> None:
    block, rng, random_np = Block(dut, "wd"), random.Random(short), np.random.default_rng(5)
    await block.reset()
    errors = 0
    runs = 0
    size = UD if short else 8 * UD
    for seed in range(6):
        for _, weights in weight_arrays(400 + seed, 300):
            valid = encode(weights)
            stream = damaged(valid, random_np) if runs % 3 == 2 else valid
            errors += await check(block, stream, short, max(1, min(len(weights) // size + runs % 2, 60)), rng)
            runs += 1
    assert 0 < errors < runs


@cocotb.test()
@cocotb.parametrize(short=[True, False])
async def streams_that_no_encoder_makes(dut: Any, short: bool) -> None:
    """Uncompressed indices of few bits, indices far ahead of zero runs and behind them, random bits."""
    block, rng, random_np = Block(dut, "wd"), random.Random(short), np.random.default_rng(6)
    await block.reset()
    errors = 0
    for number in range(120):
        if number % 2:
            stream = extreme_stream(random_np, int(random_np.integers(1, 4)))
        else:
            stream = invented(random_np, 300)
        errors += await check(block, stream, short, rng.randint(1, 30), rng)
    assert 0 < errors < 120
