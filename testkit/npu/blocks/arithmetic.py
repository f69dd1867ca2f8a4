# SPDX-License-Identifier: Apache-2.0
"""The output unit's arithmetic in Python's integers, written from README.md section 5 line by line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1
DOUBLE, TRUNCATE, NATURAL = 0, 1, 2
MUL, ADD, SUB, MIN, MAX, LRELU, ABS, CLZ, SHR, SHL = range(10)
CONV, DEPTHWISE, MAX_POOL, AVERAGE, REDUCE_SUM, ELEMENTWISE = range(6)


def sat32(value: int) -> int:
    return min(max(value, INT32_MIN), INT32_MAX)


def half(shift: int) -> int:
    return 1 << shift - 1 if shift else 0


def truncated(value: int, shift: int) -> int:
    return -(-value >> shift) if value < 0 else value >> shift


def round_product(product: int, shift: int, rounding: int) -> int:
    if rounding == TRUNCATE:
        return sat32(truncated(product, shift))
    if rounding == DOUBLE and shift > 31:
        high = sat32(product + (1 << 30) >> 31)
        rest = shift - 31
        return sat32(high + half(rest) - (high < 0) >> rest)
    return sat32(product + half(shift) >> shift)


@dataclass(frozen=True)
class Finish:
    """How results become elements, and the scale that is common to all of them."""

    rounding: int = DOUBLE
    zero_point: int = 0
    log2_bytes: int = 0
    is_signed: bool = True
    low: int = -32768
    high: int = 32767
    clip_int8: bool = False
    table: bool = False
    global_scale: bool = False
    scale: int = 1
    shift: int = 0

    def rs(self, value: int, scale: int, shift: int) -> int:
        return round_product(value * scale, shift, self.rounding)

    def common(self, value: int) -> int:
        """RS with the common scale if there is one."""
        return self.rs(value, self.scale, self.shift) if self.global_scale else sat32(value)

    def element(self, value: int) -> int:
        """FINISH, before the look-up."""
        value += self.zero_point
        if self.log2_bytes == 2 and not self.table:
            return sat32(value)
        value = min(max(value, self.low), self.high)
        if self.clip_int8:
            return min(max(value, -128), 127)
        low, high = {
            (0, False): (0, 255), (0, True): (-128, 127), (1, False): (0, 65535),
        }.get((self.log2_bytes, self.is_signed), (-32768, 32767))  # fmt: skip
        return min(max(value, low), high)


def average_scale(count: int) -> tuple[int, int]:
    if count == 0:
        return 0, 0
    bits = (count - 1).bit_length()
    return ((1 << 31 + bits) + (1 << bits)) // count, 31 + bits


@dataclass(frozen=True)
class Combine:
    """How the operands of an elementwise operation are combined."""

    operation: int
    log2_bytes: int
    scaled_operand: int = 0
    opa_scale: int = 1
    opa_shift: int = 0
    opb_scale: int = 1
    finish: Finish = field(default_factory=Finish)

    def element(self, a: int, b: int) -> int:
        """The element for operands without their zero points."""
        wide = self.log2_bytes == 2
        finish = replace(self.finish, scale=1) if wide else self.finish
        match self.operation:
            case op if op in (ADD, SUB):
                sign = 1 if op == ADD else -1
                return finish.element(finish.common(self._sum(a, b, sign, wide)))
            case op if op == MUL and wide:
                shift = finish.shift if finish.global_scale else 0
                return finish.element(round_product(a * b, shift, finish.rounding))
            case op if op == LRELU:
                return finish.element(sat32(a) if a >= 0 else finish.common(a))
        value = {
            MUL: lambda: a * b,
            MIN: lambda: min(a, b),
            MAX: lambda: max(a, b),
            ABS: lambda: abs(a),
            CLZ: lambda: 32 - (a & 0xFFFFFFFF).bit_length(),
            SHL: lambda: sat32(a << b % 64),
            SHR: lambda: a + (half(b % 64) if finish.rounding == NATURAL else 0) >> b % 64,
        }[self.operation]()
        return finish.element(finish.common(value))

    def _sum(self, a: int, b: int, sign: int, wide: bool) -> int:
        headroom = 15 if self.log2_bytes == 1 else 20
        if wide:
            return a + sign * b
        if self.scaled_operand == 1:
            return self._scaled(a, headroom) + sign * sat32(b << headroom - 1)
        if self.scaled_operand == 2:
            return sat32(a << headroom - 1) + sign * self._scaled(b, headroom)
        return sat32(a * self.opa_scale) + sign * sat32(b * self.opb_scale)

    def _scaled(self, value: int, headroom: int) -> int:
        first = 31 - headroom
        high = sat32(value * self.opa_scale + half(first) >> first)
        rest = max(self.opa_shift - first, 0)
        return high + half(rest) - (high < 0 and rest > 0) >> rest


def op_fields(finish: Finish, **others: Any) -> dict[str, Any]:
    """Members of the RTL's operation that say the same as `finish`."""
    return {
        "rounding": finish.rounding, "ofm_zero_point": finish.zero_point, "ofm_signed": finish.is_signed,
        "activation_min": finish.low, "activation_max": finish.high, "clip_int8": finish.clip_int8,
        "table_used": finish.table, "global_scale": finish.global_scale, "ofm_scale": finish.scale,
        "ofm_shift": finish.shift, "ofm": {"log2_bytes": finish.log2_bytes}, **others,
    }  # fmt: skip
