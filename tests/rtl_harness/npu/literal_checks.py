# SPDX-License-Identifier: Apache-2.0
"""Section 4 of the NPU's page, rule by rule: whether an operation starts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.rtl_harness.npu.literal_memory import Registers

CONV, DEPTHWISE, POOL, ELEMENTWISE = 2, 3, 5, 6
MAX, AVERAGE, REDUCE_SUM = 0, 1, 2
UNARY = (5, 6, 7)
# W, H and D of the OFM micro-block, banks, USABLE
SIZES = {
    "ethos-u55-32": (1, 1, 4, 16, 16),
    "ethos-u55-64": (1, 1, 8, 16, 16),
    "ethos-u55-128": (2, 1, 8, 24, 22),
    "ethos-u55-256": (2, 2, 8, 48, 46),
}


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


class LiteralChecks:
    """The rules for one operation; each method yields whether its rules hold."""

    def __init__(
        self,
        accelerator: str,
        kind: int,
        parameter: int,
        registers: dict[str, int],
        read_only: frozenset[int] = frozenset(),
    ) -> None:
        self.uw, self.uh, self.ud, self.banks, self.usable = SIZES[accelerator]
        self.r, self.kind, self.parameter, self.read_only = Registers(registers), kind, parameter, read_only
        self.lanes, self.ag = self.uw * self.uh, self.uw * self.uh * self.ud // 4
        table = bool(self.r("ACTIVATION") & 31)
        self.acc_end = self.usable - 2 if table and self.banks == 16 else self.usable
        self.bw, self.bh, self.bd = (self.r(f"OFM_BLK_{d}_M1") + 1 for d in ("WIDTH", "HEIGHT", "DEPTH"))
        self.do = self.r("OFM_DEPTH_M1") + 1
        self.ib_end = self.r("IFM_IB_END")

    def accepts(self) -> bool:
        return all(self.rules())

    def rules(self) -> Iterator[bool]:
        if self.kind == POOL:
            yield self.parameter in (0, 1, 2)
        if self.kind == ELEMENTWISE:
            yield self.parameter in range(10)
        yield from self.every_operation()
        if self.kind == ELEMENTWISE:
            yield from self.elementwise()
            return
        yield from self.kernel()
        yield from self.pool() if self.kind == POOL else self.streams()

    def precision(self, fm: str) -> Iterator[bool]:
        value = self.r(f"{fm}_PRECISION")
        yield value >> 2 & 3 != 3
        yield value >> 6 & 3 in (0, 1)
        yield not value & ~(1 | 3 << 2 | 3 << 6 | 3 << 8 | 3 << 14)

    def every_operation(self) -> Iterator[bool]:
        r = self.r
        yield from self.precision("IFM")
        ofm = r("OFM_PRECISION")
        yield ofm >> 1 & 3 != 3
        yield ofm >> 6 & 3 in (0, 1)
        yield ofm >> 14 in (0, 1, 2)
        yield not ofm & ~(1 | 3 << 1 | 3 << 6 | 1 << 8 | 3 << 14)
        activation = r("ACTIVATION")
        function, clip = activation & 31, activation >> 12 & 3
        yield function == 0 or 16 <= function <= 23
        yield clip in (0, 3)
        yield not activation & ~(31 | 3 << 12)
        if function:
            yield ofm >> 1 & 3 != 1 or function == 16
            yield ofm >> 1 & 3 != 2 or (function <= 17 and clip == 3)
        yield r("IFM_REGION") <= 7
        yield r("OFM_REGION") <= 7
        yield r("OFM_REGION") not in self.read_only
        yield self.bw <= 64
        yield self.bh <= 64
        yield self.bd <= 128
        yield self.bd % 16 == 0 or r("OFM_BLK_DEPTH_M1") >= r("OFM_DEPTH_M1")
        yield 2 <= self.ib_end <= self.banks

    def kernel(self) -> Iterator[bool]:
        r, stride = self.r, self.r("KERNEL_STRIDE")
        sx = 1 + (stride & 1) + 2 * (stride >> 6 & 1)
        sy = 1 + (stride >> 1 & 1) + 2 * (stride >> 9 & 1)
        dx, dy = 1 + (stride >> 3 & 1), 1 + (stride >> 4 & 1)
        up = r("IFM_UPSCALE")
        yield up in (0, 1, 2)
        yield not up or sx == sy == 1
        size = r("IFM_PRECISION") >> 2 & 3
        reduces = self.kind == POOL and self.parameter == REDUCE_SUM
        yield r("ACC_FORMAT") in ((0, 1) if reduces and size == 1 else (0,))
        yield not stride & ~(0x7F | 1 << 9)
        yield sx <= 3
        yield sy <= 3
        kw, kh = r("KERNEL_WIDTH_M1"), r("KERNEL_HEIGHT_M1")
        yield kw <= 127
        yield kh <= 127
        yield dx == 1 or kw % 2 == 0
        yield dy == 1 or kh % 2 == 0
        pads = {side: r(f"IFM_PAD_{side}") for side in ("TOP", "LEFT", "RIGHT", "BOTTOM")}
        for pad in pads.values():
            yield pad < 128
        w = r("OFM_WIDTH_M1") * sx + kw + 1 - pads["LEFT"] - pads["RIGHT"]
        h = r("OFM_HEIGHT_M1") * sy + kh + 1 - pads["TOP"] - pads["BOTTOM"]
        for side in (w, h):
            yield side >= 1
            yield (ceil_div(side, 2) if up else side) <= 65536
        yield size == 0 or (self.kind == POOL and size == 1) or (reduces and size == 2)
        ab_start = r("AB_START")
        yield self.ib_end <= ab_start <= self.acc_end
        yield (ab_start - self.usable) % self.ag == 0 or r("ACC_FORMAT") == 1
        s = 4 if stride >> 5 & 1 else 8
        pw = (self.bw - 1) * sx + min(kw + 1, s)
        ph = (self.bh - 1) * sy + min(kh + 1, s)
        if up == 1:
            pw, ph = pw // 2 + 1, ph // 2 + 1
        elif up == 2:
            pw, ph = (pw + 1) // 2, (ph + 1) // 2
        words = self.words(stride, size)
        available = 128 * ((self.ib_end - 2) // 2 // self.lanes)
        groups = (self.acc_end - ab_start) // 2 // self.ag
        if self.uh == 2 and r("OFM_HEIGHT_M1") == 0 and kh == 0:
            yield ceil_div(self.bw, 2) * ceil_div(self.bd, self.ud) <= 128 * groups
            yield ceil_div(pw, 4) * words <= available
            return
        nb = ceil_div(self.bw, self.uw) * ceil_div(self.bh, self.uh)
        yield nb * ceil_div(self.bd, self.ud) <= 64 * groups
        yield ceil_div(pw, self.uw) * ceil_div(ph, self.uh) * words <= available

    def words(self, stride: int, size: int) -> int:
        di = self.r("IFM_DEPTH_M1") + 1
        if self.kind == CONV:
            return min(ceil_div(di, 8), 2 if stride >> 2 & 1 else 4)
        if self.kind == POOL and self.parameter == REDUCE_SUM:
            return min(ceil_div(di << size, 8), 4)
        return ceil_div(min(self.bd, self.do) << size, 8)

    def streams(self) -> Iterator[bool]:
        r = self.r
        for kind in ("WEIGHT", "SCALE"):
            yield r(f"{kind}_REGION") <= 7
            yield r(f"{kind}_LENGTH") > 0
        for name in ("WEIGHT_BASE", "WEIGHT_LENGTH", "SCALE_BASE"):
            yield r(name) % 16 == 0
        yield not r("OFM_PRECISION") >> 8 & 1

    def pool(self) -> Iterator[bool]:
        r, stride = self.r, self.r("KERNEL_STRIDE")
        kw, kh = r("KERNEL_WIDTH_M1") + 1, r("KERNEL_HEIGHT_M1") + 1
        if self.parameter == REDUCE_SUM:
            yield self.do == 1
            yield kw == kh == 1
            yield not stride & (1 | 1 << 1 | 1 << 6 | 1 << 9)
            yield r("IFM_UPSCALE") == 0
            return
        yield not stride & (1 << 3 | 1 << 4)
        if self.parameter == AVERAGE:
            padded = any(r(f"IFM_PAD_{side}") for side in ("TOP", "LEFT", "RIGHT", "BOTTOM"))
            yield kw * kh <= 64 or not (padded or not r("OFM_PRECISION") >> 8 & 1)

    def elementwise(self) -> Iterator[bool]:
        r = self.r
        yield r("IFM_UPSCALE") == 0
        yield r("IFM_PRECISION") >> 8 & 3 < 3
        yield self.ib_end <= self.acc_end
        size, pixels, channels = 1 << (r("IFM_PRECISION") >> 2 & 3), self.bw * self.bh, min(self.bd, self.do)
        need, start = pixels * ceil_div(channels * size, 8), r("IFM2_IB_START")
        bits = 0 if self.parameter in UNARY else r("IFM2_BROADCAST")
        if self.parameter not in UNARY:
            yield not bits & ~(7 | 1 << 6 | 1 << 7)
            yield from self.precision("IFM2")
            yield 1 << (r("IFM2_PRECISION") >> 2 & 3) == size
        if self.parameter in UNARY or bits >> 7 & 1:
            yield need <= 128 * ((self.ib_end - 2) // 2)
            return
        yield r("IFM2_REGION") <= 7
        yield 2 <= start <= self.ib_end
        yield need <= 128 * ((start - 2) // 2)
        pixels2 = (1 if bits & 2 else self.bw) * (1 if bits & 1 else self.bh)
        need2 = pixels2 * ceil_div((1 if bits & 4 else channels) * size, 8)
        yield need2 <= 128 * ((self.ib_end - start) // 2)
