# SPDX-License-Identifier: Apache-2.0
"""cocotb tests of the codes of the shared buffer's words: every pattern of one, two and three wrong bits.

The check matrix is read off the encoder, which is linear; what the decoder must say follows from it.
"""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import cocotb

from testkit.npu.blocks.block import Block, Values

DATA, CODED = 32, 39
# Of all patterns of three wrong bits, those that look like a single one: SECDED mends a bit that is right.
MISTAKEN_TRIPLES = 5452


async def _columns(block: Block) -> list[int]:
    """What each bit of a word adds to the syndrome."""
    columns = []
    for bit in range(DATA):
        (coded, _) = (await block.cycle(data=[1 << bit, 0], flips=[0, 0]))["coded"]
        assert coded % (1 << DATA) == 1 << bit, "a word is kept as it is beside its check bits"
        columns.append(coded >> DATA)
    return [*columns, *(1 << bit for bit in range(CODED - DATA))]


def _expected(columns: list[int], bits: tuple[int, ...]) -> tuple[int, bool, bool]:
    """Wrong data bits after decoding, and whether the word counts as corrected, or as wrong."""
    syndrome, flips = 0, 0
    for bit in bits:
        syndrome ^= columns[bit]
        flips ^= 1 << bit
    if syndrome == 0:
        return flips % (1 << DATA), False, False
    if syndrome in columns:
        return (flips ^ 1 << columns.index(syndrome)) % (1 << DATA), True, False
    return flips % (1 << DATA), False, True


async def _disturbed(
    block: Block, rng: random.Random, bits: tuple[int, ...]
) -> tuple[Values, list[int], int]:
    """Outputs with these bits wrong in one of two words, the words, and which of them it was."""
    words, which = [rng.getrandbits(DATA), rng.getrandbits(DATA)], rng.getrandbits(1)
    flips = [0, 0]
    flips[which] = sum(1 << bit for bit in bits)
    return await block.cycle(data=words, flips=flips), words, which


@cocotb.test()
async def the_code_has_distance_four(dut: Any) -> None:
    block = Block(dut, "code")
    columns = await _columns(block)
    assert len(set(columns)) == CODED
    assert {column.bit_count() for column in columns[:DATA]} == {3}
    assert (await block.cycle(data=[0, 0], flips=[0, 0]))["coded"] == [0, 0]
    rng = random.Random(1)
    for _ in range(200):
        words = [rng.getrandbits(DATA) for _ in range(2)]
        for word, coded in zip(words, (await block.cycle(data=words, flips=[0, 0]))["coded"], strict=True):
            wanted = 0
            for bit in range(DATA):
                wanted ^= columns[bit] if word >> bit & 1 else 0
            assert coded == word | wanted << DATA


@cocotb.test()
async def secded_mends_one_finds_two_and_counts_three(dut: Any) -> None:
    block, rng = Block(dut, "code"), random.Random(2)
    columns = await _columns(block)
    mistaken = 0
    for wrong in range(4):
        for bits in combinations(range(CODED), wrong):
            out, words, which = await _disturbed(block, rng, bits)
            left, corrected, error = _expected(columns, bits)
            words[which] ^= left
            assert out["secded_data"] == words, f"wrong bits {bits}"
            assert (out["secded_corrected"], out["secded_error"]) == (corrected, error), f"wrong bits {bits}"
            assert wrong != 1 or (corrected and not left)
            assert wrong != 2 or error
            mistaken += wrong == 3 and corrected
    assert mistaken == MISTAKEN_TRIPLES


@cocotb.test()
async def words_are_told_apart(dut: Any) -> None:
    """One wrong bit in each of two words is mended in both; two in one are found beside one in the other."""
    block, rng = Block(dut, "code"), random.Random(3)
    for case in range(400):
        words, double = [rng.getrandbits(DATA) for _ in range(2)], case % 2
        bits = [rng.sample(range(CODED), 1 + double), rng.sample(range(CODED), 1)]
        out = await block.cycle(data=words, flips=[sum(1 << b for b in own) for own in bits])
        assert out["secded_corrected"] == 1
        assert out["secded_error"] == double
        assert out["secded_data"][1] == words[1]


@cocotb.test()
async def parity_finds_odd_numbers_of_wrong_bits(dut: Any) -> None:
    block, rng = Block(dut, "code"), random.Random(4)
    for wrong in range(3):
        for bits in combinations(range(DATA + 1), wrong):
            out, words, which = await _disturbed(block, rng, bits)
            words[which] ^= sum(1 << bit for bit in bits) % (1 << DATA)
            assert out["parity_data"] == words
            assert out["parity_corrected"] == 0
            assert out["parity_error"] == wrong % 2, f"wrong bits {bits}"
