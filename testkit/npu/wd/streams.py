# SPDX-License-Identifier: Apache-2.0
"""Weight arrays of many shapes, their streams, and streams that are damaged, invented, or made by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ethosu import mlw_codec


def encode(weights: np.ndarray) -> bytes:
    return bytes(mlw_codec.encode([int(weight) for weight in weights]))


def golden(stream: bytes) -> np.ndarray:
    return np.array(mlw_codec.decode(bytearray(stream)), np.int16)


def weight_arrays(seed: int, longest: int) -> Iterator[tuple[str, np.ndarray]]:
    """One array of each kind: (name, int16 weights)."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, longest + 1))
    few = random.integers(-255, 256, random.integers(1, 40))
    laplace = random.laplace(0, random.uniform(0.5, 40), n)
    full = random.integers(-255, 256, n)
    arrays = {
        "zeros": np.zeros(n),
        "one value": np.full(n, random.integers(-255, 256)),
        "full range": full,
        "largest": random.choice([-255, 255], n),
        "normal": random.normal(0, random.uniform(0.3, 80), n),
        "laplace": laplace,
        "sparse": full * (random.random(n) < random.uniform(0, 0.6)),
        "very sparse": full * (random.random(n) < 0.01),
        "palette": random.choice(few, n),
        "sparse palette": random.choice(few, n) * (random.random(n) < 0.4),
        "blocks": np.repeat(random.integers(-10, 10, n // 50 + 1), 50)[:n],
        "changing": np.where(np.arange(n) // 200 % 2, full, random.integers(-2, 3, n)),
        "long runs": np.where(np.arange(n) // 300 % 2, 0, laplace),
    }
    for name, weights in arrays.items():
        yield name, np.clip(np.round(weights), -255, 255).astype(np.int16)


def damaged(stream: bytes, random: np.random.Generator) -> bytes:
    """The stream with some bits flipped, or cut, or both; its length a multiple of 16, not 0."""
    data = bytearray(stream)
    kind = random.integers(3)
    if kind != 1:
        for bit in random.integers(0, 8 * len(data), random.integers(1, 4)):
            data[bit >> 3] ^= 1 << (bit & 7)
    if kind != 0:
        del data[16 * random.integers(1, len(data) // 16 + 1) :]
    return bytes(data)


def invented(random: np.random.Generator, longest: int) -> bytes:
    """Random bytes whose bits are fair or biased, in part behind a header that is well formed."""
    length = 16 * int(random.integers(1, longest // 16 + 1))
    density = random.choice([0.05, 0.3, 0.5, 0.7, 0.95, 1.0])
    bits = (random.random(8 * length) < density).astype(np.uint8)
    fields = [
        (random.choice([0, 1, 2, 3, 6]), 3),
        (random.integers(0, 2**15) >> random.integers(0, 12), 15),
        (random.choice([0, 1, 2, 3, 4, 5, 7]), 3),
        (random.integers(2), 1),
        (random.integers(2), 1),
    ]
    position = 0
    if random.random() < 0.9:
        for value, width in fields:
            bits[position : position + width] = [value >> bit & 1 for bit in range(width)]
            position += width
    return np.packbits(bits, bitorder="little").tobytes()


def by_hand(*fields: tuple[int, int]) -> bytes:
    """A stream of (value, bits) fields, filled up with ones to a multiple of 16 bytes."""
    word = position = 0
    for value, width in fields:
        word |= value << position
        position += width
    size = 16 * -(-position // 128)
    word |= (1 << 8 * size) - (1 << position)
    return word.to_bytes(size, "little")


def header(zdiv: int, indices: int, wdiv: int, wtrunc: int = 0, newpal: int = 0) -> list[tuple[int, int]]:
    return [(zdiv, 3), (indices - 1, 15), (wdiv, 3), (wtrunc, 1), (newpal, 1)]
