# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of section 5 of the NPU's page, word for word, in Python's unbounded integers."""

from __future__ import annotations

from typing import Protocol

DOUBLE, TRUNCATE, NATURAL = 0, 1, 2
MUL, ADD, SUB, MIN, MAX, LRELU, ABS, CLZ, SHR, SHL = range(10)


class RegisterFile(Protocol):
    def __call__(self, name: str) -> int: ...
    def signed(self, name: str, bits: int = 16) -> int: ...
    def element_bytes(self, fm: str) -> int: ...
    def is_signed(self, fm: str) -> bool: ...


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def sat32(value: int) -> int:
    return max(-(1 << 31), min((1 << 31) - 1, value))


def half(shift: int) -> int:
    return 1 << (shift - 1) if shift else 0


def rs(p: int, shift: int, rounding: int) -> int:
    """RS, of the exact product."""
    if rounding == TRUNCATE:
        return sat32(p >> shift if p >= 0 else -(-p >> shift))
    if rounding == DOUBLE and shift > 31:
        h = sat32((p + (1 << 30)) >> 31)
        r = shift - 31
        return sat32((h + half(r) - (1 if h < 0 else 0)) >> r)
    return sat32((p + half(shift)) >> shift)


def finish(r: RegisterFile, tables: bytes, value: int) -> int:
    """FINISH: the element, or the bytes of a table's entry as a number."""
    size, is_signed = r.element_bytes("OFM"), r.is_signed("OFM")
    function, int8 = r("ACTIVATION") & 31, r("ACTIVATION") >> 12 & 3 == 3
    value += r.signed("OFM_ZERO_POINT")
    if size == 4 and not function:
        return sat32(value)
    value = max(value, r.signed("ACTIVATION_MIN"))
    value = min(value, r.signed("ACTIVATION_MAX"))
    if int8 or (size == 1 and is_signed):
        low, high = -128, 127
    elif size == 1:
        low, high = 0, 255
    elif size == 2 and not is_signed:
        low, high = 0, 65535
    else:
        low, high = -32768, 32767
    value = max(low, min(high, value))
    if not function:
        return value
    table = function - 16
    if size == 2:
        index = (value + 32768) & 0xFFFF if is_signed or int8 else value
        entry = int.from_bytes(tables[4 * (index >> 7) : 4 * (index >> 7) + 4], "little")
        return signed(entry + (signed(entry >> 16, 16) * (index & 127) + 64 >> 7), 16)
    index = (value + 128) & 255 if is_signed or int8 else value
    if size == 1:
        return tables[256 * table + index]
    word = 256 * (table % 2) + index
    return int.from_bytes(tables[4 * word : 4 * word + 4], "little")


def elementwise(r: RegisterFile, function: int, a: int, b: int) -> int:
    """The scaled value of operands from which the zero points are taken."""
    precision = r("OFM_PRECISION")
    rounding, with_scale = precision >> 14, precision >> 8 & 1
    wide = r.element_bytes("IFM") == 4
    shift = r("OFM_SCALE") >> 32 & 63 if with_scale else 0
    scale = r("OFM_SCALE") & 0xFFFFFFFF if with_scale and not wide else 1

    def scaled(v: int) -> int:
        return rs(v * scale, shift, rounding)

    if function in (ADD, SUB):
        if not wide:
            a, b = operands(r, a, b)
        return scaled(a + b if function == ADD else a - b)
    if function == MUL:
        return rs(a * b, shift, rounding) if wide else scaled(a * b)
    if function in (MIN, MAX):
        return scaled(min(a, b) if function == MIN else max(a, b))
    if function == ABS:
        return scaled(abs(a))
    if function == LRELU:
        return sat32(a) if a >= 0 else scaled(a)
    if function == CLZ:
        return scaled(32 - (a & 0xFFFFFFFF).bit_length())
    places = b % 64
    if function == SHL:
        return scaled(sat32(a << places))
    return scaled((a + half(places)) >> places if rounding == NATURAL else a >> places)


def operands(r: RegisterFile, a: int, b: int) -> tuple[int, int]:
    h = {1: 20, 2: 15}[r.element_bytes("IFM")]
    opa, shift, opb = r("OPA_SCALE") & 0xFFFFFFFF, r("OPA_SCALE") >> 32 & 63, r("OPB_SCALE")

    def scaled(v: int) -> int:
        t = 31 - h
        p = sat32((v * opa + half(t)) >> t)
        rest = max(shift - t, 0)
        return (p + half(rest) - (1 if p < 0 and rest > 0 else 0)) >> rest

    match r("IFM_PRECISION") >> 8 & 3:
        case 1:
            return scaled(a), sat32(b << h - 1)
        case 2:
            return sat32(a << h - 1), scaled(b)
    return sat32(a * opa), sat32(b * opb)
