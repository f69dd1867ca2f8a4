# SPDX-License-Identifier: Apache-2.0
"""Weight stream of section 6 of the NPU's page: what the weight decoder makes of any bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RUNS_OFF = 6
END_CODE = 7
UNCOMPRESSED = 7
RESERVED_ZDIV = (4, 5)
RESERVED_WDIV = 6
CODES_PER_CHUNK = 12
LONGEST_WEIGHT_CODE = 31
INDEX_MASK = 0x1FF

Weights = NDArray[np.int16]


def decode(data: bytes, count: int) -> tuple[Weights, bool]:
    """Return the first `count` weights of a weight stream, and whether one of them is missing.

    Defined for any bytes. Weights that the stream does not hold are zero.

    Args:
        data: The stream, WEIGHT_LENGTH bytes.
        count: Weights wanted.

    Returns:
        Weights of shape (count,), -255..255, in stream order; and weight_error.

    Raises:
        ValueError: If `count` is negative.
    """
    if count < 0:
        raise ValueError(f"expected a count of weights of at least 0, found {count}")
    weights = np.zeros(count, np.int16)
    bits = _Bits(data)
    palette = _Palette()
    filled = 0
    try:
        while filled < count:
            header = _read_header(bits)
            if header is None:
                continue
            if header.new_palette:
                palette = _read_palette(bits)
            values = _Slice(header, palette)
            try:
                _read_chunks(bits, values, count - filled)
            finally:
                filled += values.place(weights[filled:])
    except _StreamEndError:
        pass
    return weights, filled < count


class _StreamEndError(Exception):
    """The bytes are exhausted, or the decoder met a reserved code."""


class _Bits:
    """Reads fields of a byte string, least significant bit first."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self._length = 8 * len(data)

    def take(self, bits: int) -> int:
        """Return the next field of `bits` bits; _StreamEndError if it is not complete."""
        start = self._position
        end = start + bits
        if end > self._length:
            raise _StreamEndError
        self._position = end
        word = int.from_bytes(self._data[start >> 3 : (end + 7) >> 3], "little")
        return (word >> (start & 7)) & ((1 << bits) - 1)

    def take_many(self, count: int, bits: int) -> list[int]:
        """Return the next fields of `bits` bits, at most `count`, fewer if the bytes end before."""
        if bits == 0:
            return [0] * count
        count = min(count, (self._length - self._position) // bits)
        word = self.take(count * bits)
        mask = (1 << bits) - 1
        return [(word >> shift) & mask for shift in range(0, count * bits, bits)]

    def align(self) -> None:
        """Skip to the next byte."""
        self._position = (self._position + 7) & ~7


@dataclass(frozen=True)
class _SliceHeader:
    run_shift: int | None
    length: int
    weight_code: int
    truncated: bool
    new_palette: bool


@dataclass(frozen=True)
class _Palette:
    """How an index becomes a weight; the default holds before the first palette of a stream."""

    entries: tuple[int, ...] = ()
    offset: int = 0
    bits: int = 2

    @property
    def index_bits(self) -> int:
        return (len(self.entries) - 1).bit_length() if self.entries else self.bits

    def weights(self, indices: list[int]) -> Weights:
        """Return the weights of `indices`."""
        direct = np.arange(INDEX_MASK + 1) - len(self.entries) + self.offset
        table = direct & INDEX_MASK
        table[: len(self.entries)] = self.entries
        signed = np.where(table & 1, -(table >> 1), table >> 1).astype(np.int16)
        picked: Weights = signed[np.array(indices, np.intp)]
        return picked


def _read_header(bits: _Bits) -> _SliceHeader | None:
    """Read a slice header; None if an end code stands in its place."""
    zdiv = bits.take(3)
    if zdiv == END_CODE:
        bits.align()
        return None
    if zdiv in RESERVED_ZDIV:
        raise _StreamEndError
    length = bits.take(15) + 1
    weight_code = bits.take(3)
    if weight_code == RESERVED_WDIV:
        raise _StreamEndError
    truncated = bool(bits.take(1))
    new_palette = bool(bits.take(1))
    return _SliceHeader(None if zdiv == RUNS_OFF else zdiv, length, weight_code, truncated, new_palette)


def _read_palette(bits: _Bits) -> _Palette:
    offset = bits.take(5)
    size = bits.take(5)
    width = bits.take(3) + 2
    entries = tuple(bits.take(width) for _ in range(size + 1 if size else 0))
    return _Palette(entries, offset, width)


@dataclass
class _Slice:
    """What has been read of a slice.

    Attributes:
        indices: Weight indices.
        runs: Complete zero runs.
        open_run: Zeros of a run whose end has not been read.
    """

    header: _SliceHeader
    palette: _Palette
    indices: list[int] = field(default_factory=list)
    runs: list[int] = field(default_factory=list)
    open_run: int = 0

    @property
    def certain(self) -> int:
        """A number of weights that `place` can deliver at least."""
        if self.header.run_shift is None:
            return len(self.indices)
        return min(len(self.indices), len(self.runs))

    def place(self, out: Weights) -> int:
        """Write the weights to `out`, which is all zero; return how many `out` received."""
        runs_first = self.header.new_palette
        if self.header.run_shift is None:
            placed = len(self.indices)
            gaps = np.zeros(placed, np.int64)
            zeros = 0
        else:
            placed = min(len(self.indices), len(self.runs) + (not runs_first))
            before = self.runs if runs_first else [0, *self.runs]
            gaps = np.array(before[:placed], np.int64)
            zeros = before[placed] if placed < len(before) else self.open_run
        positions = np.cumsum(gaps + 1) - 1
        fitting = int(np.searchsorted(positions, len(out)))
        out[positions[:fitting]] = self.palette.weights(self.indices[:fitting])
        return min(len(out), placed + int(gaps.sum()) + zeros)


def _read_chunks(bits: _Bits, values: _Slice, wanted: int) -> None:
    """Read the chunks of a slice, or at least as many as hold `wanted` weights."""
    header = values.header
    run_shift = header.run_shift
    uncompressed = header.weight_code == UNCOMPRESSED
    shift = values.palette.index_bits if uncompressed else header.weight_code
    plain_codes = 8 if shift > 5 else CODES_PER_CHUNK
    run_codes = 8 if run_shift == 3 else CODES_PER_CHUNK
    weights_left = header.length
    runs_left = 0 if run_shift is None else header.length + header.new_palette
    carry = open_quotient = 0
    pending_weights: tuple[int, ...] = ()
    pending_runs: tuple[int, ...] = ()
    pending_ones = 0
    while True:
        lead = 0 if run_shift is None else runs_left - weights_left - header.new_palette
        weights_on = lead < 8 and weights_left > 0
        runs_on = lead >= 0 and runs_left > 0
        quotients: tuple[int, ...] = ()
        run_quotients: tuple[int, ...] = ()
        ones = 0
        some = bits.take(CODES_PER_CHUNK) if weights_on and not uncompressed else 0
        if runs_on:
            run_quotients, ones = _run_symbols(bits.take(run_codes), run_codes)
            run_quotients = run_quotients[:runs_left]
            runs_left -= len(run_quotients)
        if weights_on and uncompressed:
            quotients = (0,) * min(plain_codes, weights_left)
        elif weights_on:
            two = bits.take(some.bit_count())
            quotients, open_quotient = _weight_symbols(some, two, header.truncated)
            if carry + (quotients[0] if quotients else open_quotient) > LONGEST_WEIGHT_CODE:
                raise _StreamEndError
            if quotients:
                quotients = (quotients[0] + carry, *quotients[1:weights_left])
                carry = open_quotient
            else:
                carry += open_quotient
        weights_left -= len(quotients)

        rests = bits.take_many(len(pending_weights), shift)
        values.indices += [
            (q << shift | rest) & INDEX_MASK for q, rest in zip(pending_weights, rests, strict=False)
        ]
        if len(rests) < len(pending_weights):
            raise _StreamEndError
        if run_shift is not None:
            _read_run_rests(bits, values, run_shift, pending_runs)
            values.open_run += pending_ones << run_shift
        if not (weights_on or runs_on) or values.certain >= wanted:
            return
        pending_weights, pending_runs = quotients, run_quotients
        pending_ones = ones if runs_left else 0


def _read_run_rests(bits: _Bits, values: _Slice, shift: int, quotients: tuple[int, ...]) -> None:
    rests = bits.take_many(len(quotients), shift)
    for quotient, rest in zip(quotients, rests, strict=False):
        values.runs.append(values.open_run + (quotient << shift | rest))
        values.open_run = 0
    if len(rests) < len(quotients):
        raise _StreamEndError


@lru_cache(maxsize=1 << 14)
def _weight_symbols(some: int, two: int, truncated: bool) -> tuple[tuple[int, ...], int]:
    """Return the quotients of a chunk's weight codes, and the quotient that it leaves open."""
    quotients = []
    open_quotient = 0
    for position in range(CODES_PER_CHUNK):
        code = some >> position & 1
        if code:
            code += two & 1
            two >>= 1
        open_quotient += code
        if code < 2 or truncated:
            quotients.append(open_quotient)
            open_quotient = 0
    return tuple(quotients), open_quotient


@lru_cache(maxsize=1 << 13)
def _run_symbols(unary: int, codes: int) -> tuple[tuple[int, ...], int]:
    """Return the quotients of a chunk's run codes, and the quotient that it leaves open."""
    *quotients, open_quotient = (len(ones) for ones in f"{unary:0{codes}b}"[::-1].split("0"))
    return tuple(quotients), open_quotient
