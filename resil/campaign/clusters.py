# SPDX-License-Identifier: Apache-2.0
"""How many bits an upset flips: the campaign's shares of cluster sizes, and the words that bound them.

The population of clusters is that of single bits: every storage bit of a stratum, in every cycle, is the
lowest bit of one upset. The size of the upset is random, with the campaign's shares; a cluster that would
reach beyond its word is cut off there, since the netlist does not say which cells lie next to it. With a
placement the first bit has the others nearest to it, in whatever word, as far as an upset reaches. So each
place where a cluster can begin counts once, and a block's raw upset rate is the same whatever the shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from resil.campaign.section import Section
from resil.stats.categories import categories

# In 16/12 nm FinFET processes at most 3 bits were seen (Sakamoto et al., IEEE TNS, 2025).
LARGEST = 3
# What verdicts hold for: the shares of sizes as they are declared, or any of the declared sizes.
DECLARED, ANY = SHARES = ("declared", "any")

IntArray = npt.NDArray[np.int64]


def read_clusters(section: Section) -> tuple[float, ...]:
    """Take the key `clusters`: part of the upsets that flip 1, 2, ... bits; all flip one if there is none."""
    if not section.has("clusters"):
        return (1.0,)
    sizes = [str(size) for size in range(1, LARGEST + 1)]
    expected = f"a table of sizes ({', '.join(sizes)}) and their shares, such as {{ 1 = 0.95, 2 = 0.05 }}"
    value = section.raw("clusters", expected)
    if not isinstance(value, dict) or not value or not value.keys() <= set(sizes):
        section.wrong("clusters", expected, repr(value), "change the value")
        return (1.0,)
    table = section.table("clusters", expected)
    shares = [table.number(size) if size in value else 0.0 for size in sizes]
    if abs(sum(shares) - 1.0) > 1e-9:
        section.wrong("clusters", "shares that sum to 1", f"{sum(shares):.10g}", "correct the shares")
    return tuple(shares[: int(max(value))])


def cluster_bits(
    seed: int, stratum: str, shares: Sequence[float], draws: IntArray, room: IntArray
) -> IntArray:
    """Return the bits that draws of a stratum flip.

    Args:
        seed: Of the campaign.
        stratum: Its name.
        shares: Part of the upsets that flip 1, 2, ... bits.
        draws: Their numbers, shape (draws,).
        room: For each draw, how many bits its word has from the site on.
    """
    bits: IntArray = np.minimum(cluster_sizes(seed, stratum, shares, draws), room)
    return bits


def cluster_sizes(seed: int, stratum: str, shares: Sequence[float], draws: IntArray) -> IntArray:
    """Return the sizes of the clusters of draws of a stratum, whatever room their words have.

    The arguments are those of `cluster_bits`.
    """
    if len(shares) == 1 or not len(draws):
        return np.ones(len(draws), dtype=np.int64)
    first, last = int(draws.min()), int(draws.max())
    sizes: IntArray = categories(seed, f"{stratum} clusters", shares, last + 1 - first, first) + 1
    return sizes[draws - first]


def declared_sizes(shares: Sequence[float]) -> list[int]:
    """Return the sizes that upsets have, by the part of them that flip 1, 2, ... bits."""
    return [size for size, share in enumerate(shares, start=1) if share > 0.0]


def size_alone(size: int) -> str:
    """Return the name of the corner in which all upsets have one size."""
    return f"upsets of {'one bit' if size == 1 else f'{size} adjacent bits'} alone"


def clusters_text(shares: Sequence[float], any_shares: bool = False, placed: bool = False) -> str:
    """Return what upsets the shares stand for, and whether verdicts hold for other shares of these sizes.

    Args:
        shares: Part of the upsets that flip 1, 2, ... bits.
        any_shares: Verdicts hold for any.
        placed: Bits of an upset are neighbours by a placement.
    """
    if len(shares) == 1:
        return "Every upset flips one bit: multi-cell upsets are not in these figures."
    parts = [f"{share:.3g} flip {bits}" for bits, share in enumerate(shares, start=1) if share]
    which = "adjacent bits of a word, fewer at its end"
    if placed:
        which = "bits that lie nearest on the die, fewer where they are out of reach"
    said = f"Of all upsets {', '.join(parts)} {which}."
    return f"{said} What is met is met whatever the shares of these sizes are." if any_shares else said
