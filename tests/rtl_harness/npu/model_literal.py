# SPDX-License-Identifier: Apache-2.0
"""Section 5 of the NPU's page, word for word and loop for loop: the slow twin of the functional model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from resil.rtl_harness.npu.model.weight_stream import decode
from tests.rtl_harness.npu.literal_arithmetic import elementwise, rs, sat32, signed
from tests.rtl_harness.npu.literal_memory import LiteralMemory

WEIGHT_ERROR, SCALE_ERROR = 1 << 7, 1 << 10
CONV, DEPTHWISE, POOL, ELEMENTWISE = 2, 3, 5, 6
MAX, AVERAGE, REDUCE_SUM = 0, 1, 2
UNARY = (5, 6, 7)

Pixel = tuple[int, int]
Piece = dict[Pixel, list[int]]


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


class Literal(LiteralMemory):
    """One operation on one memory image; `run` returns its error bits."""

    def __init__(
        self,
        registers: Mapping[str, int],
        regions: Mapping[int, np.ndarray],
        kind: int = CONV,
        parameter: int = 0,
        unit_depth: int = 4,
        tables: bytes = bytes(2048),
    ) -> None:
        """`unit_depth` is UD; `tables` are the last two banks of the shared buffer."""
        super().__init__(registers, regions, tables)
        self.kind, self.parameter, self.ud = kind, parameter, unit_depth
        self.wo, self.ho, self.do = (self.r(f"OFM_{d}_M1") + 1 for d in ("WIDTH", "HEIGHT", "DEPTH"))
        self.conv = kind == CONV
        self.reduce = kind == POOL and parameter == REDUCE_SUM
        self.di = self.r("IFM_DEPTH_M1") + 1 if self.conv or self.reduce else self.do
        self.read_kernel()

    def read_kernel(self) -> None:
        r, stride = self.r, self.r("KERNEL_STRIDE")
        self.sx = 1 + (stride & 1) + 2 * (stride >> 6 & 1)
        self.sy = 1 + (stride >> 1 & 1) + 2 * (stride >> 9 & 1)
        self.dx, self.dy = 1 + (stride >> 3 & 1), 1 + (stride >> 4 & 1)
        self.part = bool(stride >> 2 & 1)
        s = 4 if stride >> 5 & 1 else 8
        self.tw_max, self.th_max = s // self.dx, s // self.dy
        self.kw, self.kh = r("KERNEL_WIDTH_M1") // self.dx + 1, r("KERNEL_HEIGHT_M1") // self.dy + 1
        self.top, self.left = r("IFM_PAD_TOP"), r("IFM_PAD_LEFT")
        self.w = (self.wo - 1) * self.sx + r("KERNEL_WIDTH_M1") + 1 - self.left - r("IFM_PAD_RIGHT")
        self.h = (self.ho - 1) * self.sy + r("KERNEL_HEIGHT_M1") + 1 - self.top - r("IFM_PAD_BOTTOM")
        self.up = r("IFM_UPSCALE")
        self.zp = r.signed("IFM_ZERO_POINT", 9)

    def run(self) -> int:
        r = self.r
        bh, bw, bd = (r(f"OFM_BLK_{d}_M1") + 1 for d in ("HEIGHT", "WIDTH", "DEPTH"))
        if self.kind in (CONV, DEPTHWISE):
            base = r("WEIGHT_BASE")
            self.weight_bytes = self.regions[r("WEIGHT_REGION")][base : base + r("WEIGHT_LENGTH")].tobytes()
            self.decoded: list[int] = []
            self.vector_weights = self.ud * (8 if self.conv else 1)
        for oy0 in range(0, self.ho, bh):
            for ox0 in range(0, self.wo, bw):
                self.taken = 0
                for oz0 in range(0, self.do, bd):
                    sizes = (min(bh, self.ho - oy0), min(bw, self.wo - ox0), min(bd, self.do - oz0))
                    self.where, self.sizes = (oy0, ox0, oz0), sizes
                    if self.kind == ELEMENTWISE:
                        self.elementwise_block()
                    else:
                        self.kernel_block()
                if self.kind in (CONV, DEPTHWISE) and decode(self.weight_bytes, self.taken)[1]:
                    self.errors |= WEIGHT_ERROR
        return self.errors

    # Operations with a kernel

    def kernel_block(self) -> None:
        oz0, (bh, bw, bd) = self.where[2], self.sizes
        start = -(1 << 31) if self.kind == POOL and self.parameter == MAX else 0
        channels = self.ud * ceil_div(bd, self.ud)
        self.acc = {(y, x, c): start for y in range(bh) for x in range(bw) for c in range(channels)}
        zc, first, last = bd, oz0, oz0 + bd
        if self.conv:
            zc, first, last = 16 if self.part else 32, 0, self.di
        elif self.reduce:
            zc, first, last = 32 // self.r.element_bytes("IFM"), 0, self.di
        for iz0 in range(first, last, zc):
            for ky0 in range(0, self.kh, self.th_max):
                for kx0 in range(0, self.kw, self.tw_max):
                    self.subkernel(iz0, min(iz0 + zc, last), ky0, kx0)
        self.write_block(self.where, self.sizes, self.kernel_value)

    def subkernel(self, iz0: int, iz1: int, ky0: int, kx0: int) -> None:
        th, tw = min(self.th_max, self.kh - ky0), min(self.tw_max, self.kw - kx0)
        piece = self.fetch(iz0, iz1, ky0, kx0, th, tw)
        units = range(ceil_div(self.sizes[2], self.ud))
        padded = ceil_div(th * tw, 4) * 4
        if self.kind == POOL:
            for e in range(th * tw):
                self.pool(piece, ky0 + e // tw, kx0 + e % tw, iz0, iz1)
            return
        order: list[tuple[int, int, int]]
        if self.kind == DEPTHWISE:
            order = [(u, e, 0) for u in units for e in range(padded)]
        elif self.part:
            order = [
                (u, e, z) for z in range(0, min(16, self.di - iz0), 8) for u in units for e in range(padded)
            ]
        else:
            order = [(u, e, z) for u in units for e in range(th * tw) for z in (0, 8, 16, 24)]
        for u, e, z in order:
            weights = self.vector()
            if e < th * tw and iz0 + z < (self.di if self.conv else iz1):
                self.accumulate(weights, piece, u, ky0 + e // tw, kx0 + e % tw, z)

    def vector(self) -> list[int]:
        start = self.taken
        self.taken += self.vector_weights
        if self.taken > len(self.decoded):
            self.decoded = decode(self.weight_bytes, 2 * self.taken)[0].tolist()
        return self.decoded[start : self.taken]

    def stored(self, first: int, last: int, size: int) -> list[int]:
        """Rows or columns of memory that upscaled ones `first` .. `last` need, below `size`."""
        if self.up == 1:
            first, last, size = first // 2, last // 2, ceil_div(size, 2)
        elif self.up == 2:
            first, size = (first + 1) // 2, ceil_div(size, 2)
            last = max(first, last // 2)
        return [i for i in range(first, last + 1) if 0 <= i < size]

    def fetch(self, iz0: int, iz1: int, ky0: int, kx0: int, th: int, tw: int) -> Piece:
        """The pixels in memory of the rectangle that the block's subkernel spans."""
        (oy0, ox0, _), (bh, bw, _) = self.where, self.sizes
        y0 = oy0 * self.sy + ky0 * self.dy - self.top
        x0 = ox0 * self.sx + kx0 * self.dx - self.left
        rows = self.stored(y0, y0 + (bh - 1) * self.sy + (th - 1) * self.dy, self.h)
        columns = self.stored(x0, x0 + (bw - 1) * self.sx + (tw - 1) * self.dx, self.w)
        return {(y, x): self.read_pixel("IFM", y, x, iz0, iz1) for y in rows for x in columns}

    def tap(self, piece: Piece, y: int, x: int, ky: int, kx: int) -> list[int] | None:
        """What the block's pixel (y, x) sees at a tap; None if that is padding or between the pixels."""
        iy = (self.where[0] + y) * self.sy + ky * self.dy - self.top
        ix = (self.where[1] + x) * self.sx + kx * self.dx - self.left
        if not (0 <= iy < self.h and 0 <= ix < self.w) or (self.up == 2 and (iy % 2 or ix % 2)):
            return None
        return piece[(iy // 2, ix // 2) if self.up else (iy, ix)]

    def accumulate(self, weights: list[int], piece: Piece, u: int, ky: int, kx: int, z: int) -> None:
        for y in range(self.sizes[0]):
            for x in range(self.sizes[1]):
                seen = self.tap(piece, y, x, ky, kx)
                for c in range(self.ud):
                    total, channel = 0, self.ud * u + c
                    if seen is not None and self.conv:
                        pairs = zip(seen[z : z + 8], weights[8 * c : 8 * c + 8], strict=False)
                        total = sum((e - self.zp) * w for e, w in pairs)
                    elif seen is not None and channel < len(seen):
                        total = (seen[channel] - self.zp) * weights[c]
                    self.acc[y, x, channel] = signed(self.acc[y, x, channel] + total, 32)

    def pool(self, piece: Piece, ky: int, kx: int, iz0: int, iz1: int) -> None:
        zp = 0 if self.r.element_bytes("IFM") == 4 else self.zp
        for y in range(self.sizes[0]):
            for x in range(self.sizes[1]):
                seen = self.tap(piece, y, x, ky, kx)
                for c in range(iz1 - iz0 if seen is not None else 0):
                    at = (y, x, 0 if self.reduce else c)
                    value = seen[c] - zp
                    self.acc[at] = (
                        max(self.acc[at], value)
                        if self.parameter == MAX
                        else signed(self.acc[at] + value, 32)
                    )

    def kernel_value(self, y: int, x: int, c: int) -> int:
        r, acc = self.r, self.acc[y, x, c]
        rounding = r("OFM_PRECISION") >> 14
        if self.kind in (CONV, DEPTHWISE):
            bias, scale, shift = self.scale_entry(self.where[2] + c)
            return rs(sat32(acc + bias) * scale, shift, rounding)
        scale, shift = 1, 0
        if r("OFM_PRECISION") >> 8 & 1:
            scale, shift = r("OFM_SCALE") & 0xFFFFFFFF, r("OFM_SCALE") >> 32 & 63
        padded = any(r(f"IFM_PAD_{side}") for side in ("TOP", "LEFT", "RIGHT", "BOTTOM"))
        if self.parameter == AVERAGE and (padded or not r("OFM_PRECISION") >> 8 & 1):
            n = self.taps_inside(self.where[0] + y, self.where[1] + x)
            k = (n - 1).bit_length() if n else 0
            scale, shift = (((1 << 31 + k) + (1 << k)) // n, 31 + k) if n else (0, 0)
        return rs(acc * scale, shift, rounding)

    def taps_inside(self, oy: int, ox: int) -> int:
        rows = [oy * self.sy + ky - self.top for ky in range(self.kh)]
        columns = [ox * self.sx + kx - self.left for kx in range(self.kw)]
        return sum(0 <= y < self.h for y in rows) * sum(0 <= x < self.w for x in columns)

    def scale_entry(self, c: int) -> tuple[int, int, int]:
        memory, base = self.regions[self.r("SCALE_REGION")], self.r("SCALE_BASE")
        data = bytearray(10)
        for i in range(10):
            if 10 * c + i >= self.r("SCALE_LENGTH"):
                self.errors |= SCALE_ERROR
            else:
                data[i] = int(memory[base + 10 * c + i])
        bias = signed(int.from_bytes(data[0:5], "little"), 40)
        return bias, int.from_bytes(data[5:9], "little"), data[9] & 63

    # Elementwise operations

    def elementwise_block(self) -> None:
        (oy0, ox0, oz0), (bh, bw, bd) = self.where, self.sizes
        bits = 0 if self.parameter in UNARY else self.r("IFM2_BROADCAST")
        second = self.parameter not in UNARY and not bits >> 7 & 1
        pixels = [(y, x) for y in range(bh) for x in range(bw)]
        first = {(y, x): self.read_pixel("IFM", oy0 + y, ox0 + x, oz0, oz0 + bd) for y, x in pixels}
        other: Piece = {}
        if second:
            c0, c1 = (0, 1) if bits & 4 else (oz0, oz0 + bd)
            for y, x in pixels:
                at = (0 if bits & 1 else oy0 + y, 0 if bits & 2 else ox0 + x)
                other[y, x] = self.read_pixel("IFM2", *at, c0, c1)

        def value(y: int, x: int, c: int) -> int:
            b = 0
            if second:
                b = other[y, x][0 if bits & 4 else c]
            elif bits >> 7 & 1:
                b = self.r.signed("IFM2_SCALAR") if self.r.is_signed("IFM2") else self.r("IFM2_SCALAR")
            a = signed(first[y, x][c] - self.r.signed("IFM_ZERO_POINT"), 33)
            b = signed(b - self.r.signed("IFM2_ZERO_POINT"), 33)
            return elementwise(self.r, self.parameter, *((b, a) if bits >> 6 & 1 else (a, b)))

        self.write_block(self.where, self.sizes, value)
