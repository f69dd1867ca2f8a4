# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of feature maps in section 5 of the NPU's page, word for word."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.rtl_harness.npu.literal_arithmetic import finish, signed

ADDRESS_ERROR = 1 << 9


class Registers:
    """Registers by name, zero by default, and the fields that section 5 speaks of."""

    def __init__(self, registers: Mapping[str, int]) -> None:
        self.values = {name: int(value) for name, value in registers.items()}

    def __call__(self, name: str) -> int:
        value = self.values.get(name, 0)
        if name in ("OFM_SCALE", "OPA_SCALE"):
            return value & 0xFFFFFFFFFFFF
        long = any(k in name for k in ("BASE", "_STRIDE_", "LENGTH", "OPB"))
        return value & (0xFFFFFFFF if long else 0xFFFF)

    def signed(self, name: str, bits: int = 16) -> int:
        return signed(self(name), bits)

    def element_bytes(self, fm: str) -> int:
        return 1 << (self(f"{fm}_PRECISION") >> (1 if fm == "OFM" else 2) & 3)

    def bricks(self, fm: str) -> bool:
        return bool(self(f"{fm}_PRECISION") >> 6 & 3)

    def is_signed(self, fm: str) -> bool:
        return bool(self(f"{fm}_PRECISION") & 1)


class LiteralMemory:
    """Registers, regions, tables (the last two banks of the shared buffer), and the errors so far."""

    def __init__(
        self, registers: Mapping[str, int], regions: Mapping[int, np.ndarray], tables: bytes
    ) -> None:
        self.r = Registers(registers)
        self.regions = {n: regions.get(n, np.zeros(0, np.uint8)) for n in range(8)}
        self.tables = tables
        self.errors = 0

    def address(self, fm: str, y: int, x: int, c: int) -> int:
        r = self.r
        base = 0
        if x > r(f"{fm}_WIDTH0_M1"):
            x, base = x - r(f"{fm}_WIDTH0_M1") - 1, 1
        height = r(f"{fm}_HEIGHT{base}_M1")
        if y > height:
            y, base = y - height - 1, base + 2
        e = r.element_bytes(fm)
        if r.bricks(fm):
            channel, step_x = c // 16 * r(f"{fm}_STRIDE_C") + c % 16 * e, 16 * e
        else:
            channel, step_x = c * e, r(f"{fm}_STRIDE_X")
        return (r(f"{fm}_BASE{base}") + y * r(f"{fm}_STRIDE_Y") + x * step_x + channel) % (1 << 32)

    def segment(self, fm: str, y: int, x: int, first: int, last: int) -> slice | None:
        """The bytes of a segment in its region, None if it reaches beyond."""
        at = self.address(fm, y, x, first)
        end = at + (last - first) * self.r.element_bytes(fm)
        if end > len(self.regions[self.r(f"{fm}_REGION")]):
            self.errors |= ADDRESS_ERROR
            return None
        return slice(at, end)

    def read_pixel(self, fm: str, y: int, x: int, first: int, last: int) -> list[int]:
        e = self.r.element_bytes(fm)
        cut = 16 if self.r.bricks(fm) and e == 1 else 32 // e
        elements: list[int] = []
        for c in range(first, last, cut):
            end = min(c + cut, last)
            at = self.segment(fm, y, x, c, end)
            memory = self.regions[self.r(f"{fm}_REGION")]
            raw = bytes((end - c) * e) if at is None else memory[at].tobytes()
            for i in range(0, len(raw), e):
                elements.append(int.from_bytes(raw[i : i + e], "little", signed=self.r.is_signed(fm)))
        return elements

    def write_block(
        self, where: tuple[int, ...], sizes: tuple[int, ...], value: Callable[[int, int, int], int]
    ) -> None:
        """Store finish(value(y, x, c)) for the block's y, x and c."""
        (oy0, ox0, oz0), (bh, bw, bd) = where, sizes
        memory, e = self.regions[self.r("OFM_REGION")], self.r.element_bytes("OFM")
        for group in range(0, bd, 16):
            for y in range(bh):
                for x in range(bw):
                    end_of_group = min(group + 16, bd)
                    for c in range(group, end_of_group, 16 // e):
                        end = min(c + 16 // e, end_of_group)
                        elements = [finish(self.r, self.tables, value(y, x, z)) for z in range(c, end)]
                        at = self.segment("OFM", oy0 + y, ox0 + x, oz0 + c, oz0 + end)
                        if at is not None:
                            data = b"".join((v % (1 << 8 * e)).to_bytes(e, "little") for v in elements)
                            memory[at] = np.frombuffer(data, np.uint8)
