"""Section 5 of the NPU's page, word for word and loop for loop: the slow twin of the functional model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rtl_harness.npu.model.weight_stream import decode

WEIGHT_ERROR, ADDRESS_ERROR, SCALE_ERROR = 1 << 7, 1 << 9, 1 << 10


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def sat32(value: int) -> int:
    return max(-(1 << 31), min((1 << 31) - 1, value))


def scaled(acc: int, bias: int, scale: int, shift: int) -> int:
    v = sat32(acc + bias)
    if shift < 31:
        v = sat32(v << (31 - shift))
    h = sat32((v * scale + (1 << 30)) >> 31)
    r = shift - 31 if shift > 31 else 0
    return h if r == 0 else (h + (1 << (r - 1)) - (1 if h < 0 else 0)) >> r


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


class LiteralConv:
    """One CONV on one memory image; `run` returns its error bits."""

    def __init__(self, registers: Mapping[str, int], regions: Mapping[int, np.ndarray]) -> None:
        self.r = {name: int(value) for name, value in registers.items()}
        self.regions = {n: regions.get(n, np.zeros(0, np.uint8)) for n in range(8)}
        self.errors = 0

    def get(self, name: str) -> int:
        value = self.r.get(name, 0)
        return value & (0xFFFFFFFF if any(k in name for k in ("BASE", "STRIDE_", "LENGTH")) else 0xFFFF)

    def address(self, fm: str, y: int, x: int, c: int) -> int:
        base, stride_y = self.get(f"{fm}_BASE0"), self.get(f"{fm}_STRIDE_Y")
        if self.get(f"{fm}_PRECISION") >> 6 & 3:
            offset = base + y * stride_y + c // 16 * self.get(f"{fm}_STRIDE_C") + 16 * x + c % 16
        else:
            offset = base + y * stride_y + x * self.get(f"{fm}_STRIDE_X") + c
        return offset % (1 << 32)

    def read_segment(self, y: int, x: int, first: int, last: int) -> list[int]:
        memory, at = self.regions[self.get("IFM_REGION")], self.address("IFM", y, x, first)
        if at + (last - first) > len(memory):
            self.errors |= ADDRESS_ERROR
            return [0] * (last - first)
        return memory[at : at + last - first].tolist()

    def read_piece(self, y: int, x: int, iz0: int, zc: int) -> list[int]:
        end = min(iz0 + zc, self.get("IFM_DEPTH_M1") + 1)
        raw: list[int] = []
        cut = 16 if self.get("IFM_PRECISION") >> 6 & 3 else zc
        while iz0 < end:
            raw += self.read_segment(y, x, iz0, min(iz0 + cut, end))
            iz0 += cut
        zero = signed(self.get("IFM_ZERO_POINT"), 9)
        is_signed = self.get("IFM_PRECISION") & 1
        return [(signed(b, 8) if is_signed else b) - zero for b in raw]

    def scale_entry(self, c: int) -> tuple[int, int, int]:
        memory, base = self.regions[self.get("SCALE_REGION")], self.get("SCALE_BASE")
        data = bytearray(10)
        for i in range(10):
            if 10 * c + i >= self.get("SCALE_LENGTH"):
                self.errors |= SCALE_ERROR
            else:
                data[i] = int(memory[base + 10 * c + i])
        bias = signed(int.from_bytes(data[0:5], "little"), 40)
        return bias, int.from_bytes(data[5:9], "little"), data[9] & 63

    def run(self) -> int:
        g = self.get
        stride = g("KERNEL_STRIDE")
        self.sx, self.sy = (
            1 + (stride & 1) + 2 * (stride >> 6 & 1),
            1 + (stride >> 1 & 1) + 2 * (stride >> 9 & 1),
        )
        self.dx, self.dy = 1 + (stride >> 3 & 1), 1 + (stride >> 4 & 1)
        self.part = bool(stride >> 2 & 1)
        s = 4 if stride >> 5 & 1 else 8
        self.tw_max, self.th_max = s // self.dx, s // self.dy
        self.kw, self.kh = g("KERNEL_WIDTH_M1") // self.dx + 1, g("KERNEL_HEIGHT_M1") // self.dy + 1
        self.wo, self.ho, self.do = g("OFM_WIDTH_M1") + 1, g("OFM_HEIGHT_M1") + 1, g("OFM_DEPTH_M1") + 1
        self.di = g("IFM_DEPTH_M1") + 1
        self.top, self.left = g("IFM_PAD_TOP"), g("IFM_PAD_LEFT")
        self.w = (self.wo - 1) * self.sx + g("KERNEL_WIDTH_M1") + 1 - self.left - g("IFM_PAD_RIGHT")
        self.h = (self.ho - 1) * self.sy + g("KERNEL_HEIGHT_M1") + 1 - self.top - g("IFM_PAD_BOTTOM")
        bw, bh, bd = g("OFM_BLK_WIDTH_M1") + 1, g("OFM_BLK_HEIGHT_M1") + 1, g("OFM_BLK_DEPTH_M1") + 1
        base, length = g("WEIGHT_BASE"), g("WEIGHT_LENGTH")
        self.weight_bytes = self.regions[g("WEIGHT_REGION")][base : base + length].tobytes()
        self.decoded: list[int] = []
        for oy0 in range(0, self.ho, bh):
            for ox0 in range(0, self.wo, bw):
                self.taken = 0
                for oz0 in range(0, self.do, bd):
                    self.block(
                        oy0, ox0, oz0, min(bh, self.ho - oy0), min(bw, self.wo - ox0), min(bd, self.do - oz0)
                    )
                if decode(self.weight_bytes, 32 * self.taken)[1]:
                    self.errors |= WEIGHT_ERROR
        return self.errors

    def vector(self) -> list[int]:
        start = 32 * self.taken
        self.taken += 1
        if start + 32 > len(self.decoded):
            self.decoded = decode(self.weight_bytes, 2 * (start + 32))[0].tolist()
        return self.decoded[start : start + 32]

    def block(self, oy0: int, ox0: int, oz0: int, bh: int, bw: int, bd: int) -> None:
        units = ceil_div(bd, 4)
        self.acc = {(y, x, c): 0 for y in range(bh) for x in range(bw) for c in range(4 * units)}
        self.where = (oy0, ox0, bh, bw)
        zc = 16 if self.part else 32
        for iz0 in range(0, self.di, zc):
            for ky0 in range(0, self.kh, self.th_max):
                for kx0 in range(0, self.kw, self.tw_max):
                    self.subkernel(units, iz0, zc, ky0, kx0)
        for y in range(bh):
            for x in range(bw):
                self.output(oy0 + y, ox0 + x, oz0, bd, y, x)

    def subkernel(self, units: int, iz0: int, zc: int, ky0: int, kx0: int) -> None:
        th, tw = min(self.th_max, self.kh - ky0), min(self.tw_max, self.kw - kx0)
        piece = self.fetch(iz0, zc, ky0, kx0, th, tw)
        order: list[tuple[int, int, int]]
        if self.part:
            e_count = ceil_div(th * tw, 4) * 4
            depths = range(0, min(16, self.di - iz0), 8)
            order = [(u, e, z) for z in depths for u in range(units) for e in range(e_count)]
        else:
            order = [(u, e, z) for u in range(units) for e in range(th * tw) for z in (0, 8, 16, 24)]
        for u, e, z in order:
            weights = self.vector()
            if e < th * tw and iz0 + z < self.di:
                self.accumulate(weights, piece, u, ky0 + e // tw, kx0 + e % tw, z)

    def fetch(
        self, iz0: int, zc: int, ky0: int, kx0: int, th: int, tw: int
    ) -> dict[tuple[int, int], list[int]]:
        """The rectangle of pixels that the block's subkernel spans."""
        oy0, ox0, bh, bw = self.where
        piece = {}
        for y in range((bh - 1) * self.sy + (th - 1) * self.dy + 1):
            for x in range((bw - 1) * self.sx + (tw - 1) * self.dx + 1):
                iy = oy0 * self.sy + ky0 * self.dy - self.top + y
                ix = ox0 * self.sx + kx0 * self.dx - self.left + x
                if 0 <= iy < self.h and 0 <= ix < self.w:
                    piece[iy, ix] = self.read_piece(iy, ix, iz0, zc)
        return piece

    def accumulate(self, weights: list[int], piece, u: int, ky: int, kx: int, z: int) -> None:
        oy0, ox0, bh, bw = self.where
        for y in range(bh):
            for x in range(bw):
                iy = (oy0 + y) * self.sy + ky * self.dy - self.top
                ix = (ox0 + x) * self.sx + kx * self.dx - self.left
                elements = piece.get((iy, ix), [])[z : z + 8]
                for c in range(4):
                    total = sum(e * w for e, w in zip(elements, weights[8 * c : 8 * c + 8], strict=False))
                    self.acc[y, x, 4 * u + c] = signed(self.acc[y, x, 4 * u + c] + total, 32)

    def output(self, oy: int, ox: int, oz0: int, bd: int, y: int, x: int) -> None:
        memory = self.regions[self.get("OFM_REGION")]
        low, high = (signed(self.get(f"ACTIVATION_{k}"), 16) for k in ("MIN", "MAX"))
        floor, ceiling = (-128, 127) if self.get("OFM_PRECISION") & 1 else (0, 255)
        c = oz0
        while c < oz0 + bd:
            end = min(c // 16 * 16 + 16, oz0 + bd)
            at = self.address("OFM", oy, ox, c)
            inside = at + end - c <= len(memory)
            if not inside:
                self.errors |= ADDRESS_ERROR
            for channel in range(c, end):
                o = scaled(self.acc[y, x, channel - oz0], *self.scale_entry(channel))
                o = min(max(o + signed(self.get("OFM_ZERO_POINT"), 16), low), high)
                if inside:
                    memory[at + channel - c] = max(floor, min(ceiling, o)) & 0xFF
            c = end
