# SPDX-License-Identifier: Apache-2.0
"""Which faults to inject: sampling without replacement from populations too large to list.

A stratum with `size` members (sites x cycles x inputs) is sampled by a keyed permutation of `range(size)`:
draw i is the image of i. It depends on the seed, the stratum's name, its size and i only, so that a
campaign may be stopped, resumed, enlarged or split over any number of workers without changing a single
fault. Nothing is stored but the key.

The permutation is a Feistel network over pairs (l, r) with `0 <= l < a`, `0 <= r < b` and `a b` just above
`size`; images beyond the end are permuted again until they fall inside (cycle walking). Populations of up
to 4096 members, where a Feistel network is a poor shuffle, are ordered by a keyed hash instead.

References:
    J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, LNCS 2271, 114-130.
    G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
    mixing function).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from math import isqrt

import numpy as np
import numpy.typing as npt

from resil.stats.errors import ArgumentError

IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]

MAX_SIZE = 2**62
_SMALL = 4096
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Stratum:
    """A part of the population that is sampled on its own.

    Attributes:
        name: Keys the sampling; unique within a campaign.
        sites: Number of fault sites.
        cycles: Length of the inference, one for each input.

    Raises:
        ValueError: a number is negative, there is no input, or the size is above 2^62.
    """

    name: str
    sites: int
    cycles: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.sites < 0 or not self.cycles or min(self.cycles) < 0:
            raise ArgumentError(
                f"a stratum needs sites >= 0 and, for each input, cycles >= 0, found {self}", "sites"
            )
        _check_size(self.size)

    @property
    def size(self) -> int:
        """Number of faults: sites times the cycles of all inputs."""
        return self.sites * sum(self.cycles)

    def locate(self, members: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return site, cycle and input of each member, all counted from 0.

        Args:
            members: Numbers in 0 .. size-1, as `draw` gives them.

        Raises:
            ValueError: a member is outside that range.
        """
        numbers = np.asarray(members, dtype=np.int64)
        if numbers.size and not (int(numbers.min()) >= 0 and int(numbers.max()) < self.size):
            raise ArgumentError(
                f"members of stratum {self.name} are 0 .. {self.size - 1}, found others", "members"
            )
        moment, site = np.divmod(numbers, max(self.sites, 1))
        starts = np.array([0, *accumulate(self.cycles)], dtype=np.int64)
        inputs = np.searchsorted(starts, moment, side="right") - 1
        return site, moment - starts[inputs], inputs.astype(np.int64)


def draw(seed: int, name: str, size: int, count: int, start: int = 0) -> IntArray:
    """Return draws `start .. start + count - 1` from the population `range(size)`.

    No member comes twice, whatever the division into calls; after `size` draws all have come.

    Args:
        seed: Of the campaign.
        name: Of the stratum.
        size: Members of the population, at most 2^62.
        count: Number of draws.
        start: Number of the first.

    Returns:
        Members, shape (count,).

    Raises:
        ValueError: the draws asked for are not among 0 .. size-1, or the size is above 2^62.

    Examples:
        >>> draw(1, "mac/ff", 10**12, 3)
        array([...])
        >>> sorted(draw(1, "mac/ff", 5, 5).tolist())
        [0, 1, 2, 3, 4]
    """
    _check_size(size)
    if count < 0 or start < 0 or start + count > size:
        raise _too_many(name, size, start, start + count - 1)
    return drawn(seed, name, size, np.arange(start, start + count, dtype=np.int64))


def drawn(seed: int, name: str, size: int, numbers: npt.ArrayLike) -> IntArray:
    """Return the draws with these numbers, as `draw` does of consecutive ones.

    Args:
        seed: Of the campaign.
        name: Of the stratum.
        size: Members of the population, at most 2^62.
        numbers: Of the draws, in any order.

    Returns:
        Members, of the shape of `numbers`.

    Raises:
        ValueError: a number is not among 0 .. size-1, or the size is above 2^62.

    Examples:
        >>> drawn(1, "mac/ff", 10**12, [2, 0]).tolist() == draw(1, "mac/ff", 10**12, 3)[[2, 0]].tolist()
        True
    """
    _check_size(size)
    asked = np.asarray(numbers, dtype=np.int64)
    if asked.size and not (int(asked.min()) >= 0 and int(asked.max()) < size):
        raise _too_many(name, size, int(asked.min()), int(asked.max()))
    keys = _keys(seed, name, size)
    if size <= _SMALL:
        order = np.argsort(mix(np.arange(size, dtype=np.uint64) ^ keys[0]), kind="stable")
        return order[asked].astype(np.int64)
    return _walk(asked.astype(np.uint64), size, keys).astype(np.int64)


def uniforms(seed: int, name: str, count: int) -> npt.NDArray[np.float64]:
    """Return random numbers in [0, 1) that depend on the seed, the name and their place only.

    Args:
        seed: Of the campaign.
        name: Another name gives other numbers.
        count: How many.

    Returns:
        Multiples of 2^-53, shape (count,).

    Examples:
        >>> uniforms(1, "pilot", 3).round(3).tolist() == uniforms(1, "pilot", 4)[:3].round(3).tolist()
        True
    """
    keys = _keys(seed, name, 0)
    words = mix(mix(np.arange(count, dtype=np.uint64) ^ keys[0]) ^ keys[1])
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _too_many(name: str, size: int, first: int, last: int) -> ArgumentError:
    return ArgumentError(
        f"stratum {name} has {size} members; draws {first} .. {last} were asked for: draw fewer, since "
        "sampling is without replacement",
        "draws",
    )


def _check_size(size: int) -> None:
    if not 0 <= size <= MAX_SIZE:
        raise ArgumentError(
            f"a population has between 0 and 2^62 members, found {size}: divide it into strata", "size"
        )


def _keys(seed: int, name: str, size: int) -> WordArray:
    text = f"{seed}\0{name}\0{size}".encode()
    words = [blake2b(text, digest_size=8, salt=bytes([r])).digest() for r in range(_ROUNDS)]
    return np.frombuffer(b"".join(words), dtype="<u8").astype(np.uint64)


def mix(words: WordArray) -> WordArray:
    """Return 64-bit words with all bits mixed, each word another one: the finaliser of SplitMix64.

    Reference: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA
    2014.
    """
    mixed = words.copy()
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _walk(numbers: WordArray, size: int, keys: WordArray) -> WordArray:
    rows = isqrt(size - 1) + 1
    columns = -(-size // rows)
    images = _feistel(numbers, rows, columns, keys)
    while (outside := np.flatnonzero(images >= size)).size:
        images[outside] = _feistel(images[outside], rows, columns, keys)
    return images


def _feistel(numbers: WordArray, rows: int, columns: int, keys: WordArray) -> WordArray:
    left, right = np.divmod(numbers, np.uint64(columns))
    for number, key in enumerate(keys):
        if number % 2 == 0:
            left = (left + mix(right ^ key) % np.uint64(rows)) % np.uint64(rows)
        else:
            right = (right + mix(left ^ key) % np.uint64(columns)) % np.uint64(columns)
    return left * np.uint64(columns) + right
