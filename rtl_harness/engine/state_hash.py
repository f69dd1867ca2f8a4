# SPDX-License-Identifier: Apache-2.0
"""One digest of a design's final state, the same for every engine.

The digest is `faults.digest` (64-bit BLAKE2b) of these bytes, one after the other:

1. for each element of the `SiteTable`, in its order: words 0 .. depth-1, each as an unsigned number of
   ceil(width / 8) bytes, little endian; word 0 is the one with the lowest declared index, bit 0 the least
   significant; bits above the width are zero, and so are bits that are no hardware;
2. for each observed memory of the target, in the order of their names: words 0 .. depth-1, each as
   `word_bytes` bytes, little endian.

Where a bit was held, its place has the value of the golden run's end: by itself it is no difference.

State is taken in the last cycle of the run, after its rising clock edge has settled and after a fault of
that cycle, before the clock falls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.faults import digest


def pack_words(words: Iterable[int], width: int) -> bytes:
    """Return words of `width` bits as bytes, each filled up to whole bytes.

    >>> pack_words([1, 0x1ff], 9).hex()
    '0100ff01'
    """
    size = (width + 7) // 8
    return b"".join(word.to_bytes(size, "little") for word in words)


def bit_place(sites: SiteTable, site: int) -> tuple[int, int]:
    """Return byte and bit of a fault site among the packed elements of a site table."""
    return _place(sites, site, _starts(sites))


def _starts(sites: SiteTable) -> list[int]:
    """Return the first byte of each packed element."""
    return [0, *accumulate(e.depth * ((e.width + 7) // 8) for e in sites.elements)]


def _place(sites: SiteTable, site: int, starts: Sequence[int]) -> tuple[int, int]:
    found, before = sites[site], starts[sites.element_index(site)]
    return before + found.word * ((found.element.width + 7) // 8) + found.bit // 8, found.bit % 8


def kept_mask(sites: SiteTable) -> bytes:
    """Return the packed elements of a site table with ones where hardware is; empty if nothing is absent."""
    if not sites.absent:
        return b""
    mask = bytearray(b"".join(pack_words([(1 << e.width) - 1] * e.depth, e.width) for e in sites.elements))
    starts = _starts(sites)
    for run in sites.absent:
        for site in range(run.first, run.end):
            byte, bit = _place(sites, site, starts)
            mask[byte] &= ~(1 << bit)
    return bytes(mask)


def state_hash(elements: Iterable[bytes], memories: Mapping[str, bytes]) -> str:
    """Return the digest of a state.

    Args:
        elements: Packed words of each element of the `SiteTable`, in its order.
        memories: Packed words of each observed memory, by name.
    """
    return digest(b"".join([*elements, *(memories[name] for name in sorted(memories))]))
