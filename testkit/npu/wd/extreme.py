# SPDX-License-Identifier: Apache-2.0
"""Well-formed slices of random codes that strain the balance between indices and zero runs."""

from __future__ import annotations

import numpy as np

from testkit.npu.wd.streams import by_hand, header

MOST_CHUNKS = 60


def extreme_stream(random: np.random.Generator, slices: int) -> bytes:
    """Slices whose fields of codes are all zeros, all ones, or something between.

    So indices run far ahead of zero runs, zero runs ahead of indices, and quotients over many chunks.
    """
    fields: list[tuple[int, int]] = []
    for _ in range(slices):
        fields += _Slice(random).fields
    return by_hand(*fields)


def stream_ending_in_an_open_run() -> tuple[bytes, int]:
    """A stream of 16 bytes whose last bit is the last of a chunk with an open run, and its weights."""
    chunks = 7
    first = [*header(2, 1, 0), (0x1FF, 12), (0xFFF, 12), (0, 9)]
    stream = by_hand(*first, *[(0xFFF, 12)] * (chunks - 1))
    return stream, 1 + (chunks - 1) * (12 << 2)


class _Slice:
    """One slice, built chunk by chunk; what the fields hold is left to `random`."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        zdiv = int(random.choice([0, 1, 2, 3, 6]))
        wdiv = int(random.choice([0, 0, 1, 5, 7]))
        self._indices_left = int(random.integers(1, 120))
        self._truncated = bool(random.integers(2))
        self._uncompressed = wdiv == 7
        newpal = int(self._uncompressed or random.random() < 0.75)
        self._runs_left = 0 if zdiv == 6 else self._indices_left + newpal
        self._run_width = zdiv
        self._index_width = wdiv
        self.fields = header(zdiv, self._indices_left, wdiv, int(self._truncated), newpal)
        if newpal:
            self._palette()
        self._chunks(newpal)

    def _palette(self) -> None:
        palsize, palbits = int(self._random.choice([0, 1, 30])), int(self._random.integers(8))
        entries = palsize + 1 if palsize else 0
        self.fields += [(int(self._random.integers(32)), 5), (palsize, 5), (palbits, 3)]
        self.fields += [(self._number(palbits + 2), palbits + 2)] * entries
        if self._uncompressed:
            self._index_width = palsize.bit_length() if palsize else palbits + 2

    def _chunks(self, newpal: int) -> None:
        indices = runs = 0
        for _ in range(MOST_CHUNKS):
            lead = self._runs_left - self._indices_left - newpal if self._run_width != 6 else 0
            has_indices = lead < 8 and self._indices_left > 0
            has_runs = lead >= 0 and self._runs_left > 0
            some = self._codes(12) if has_indices and not self._uncompressed else []
            ones = self._codes(8 if self._run_width == 3 else 12) if has_runs else []
            more = self._codes(sum(some))
            for code in (some, ones, more):
                self.fields += [(bit, 1) for bit in code]
            self.fields += [(self._number(self._index_width), self._index_width) for _ in range(indices)]
            self.fields += [(self._number(self._run_width), self._run_width) for _ in range(runs)]
            if not (has_indices or has_runs):
                return
            second = iter(more)
            ends = sum(self._truncated or not (bit and next(second)) for bit in some)
            if has_indices and self._uncompressed:
                ends = 8 if self._index_width > 5 else 12
            indices = min(ends, self._indices_left)
            runs = min(ones.count(0), self._runs_left)
            self._indices_left -= indices
            self._runs_left -= runs

    def _codes(self, count: int) -> list[int]:
        density = self._random.choice([0.0, 0.0, 0.1, 0.5, 0.9, 1.0, 1.0])
        return (self._random.random(count) < density).astype(int).tolist()

    def _number(self, bits: int) -> int:
        return int(self._random.integers(1 << bits)) if bits else 0
