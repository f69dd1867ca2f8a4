# SPDX-License-Identifier: Apache-2.0
"""Values of a top's parameters: whole numbers, and literals of SystemVerilog as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from resil.rtl_harness.errors import HarnessError

ParameterValue = int | str
LITERALS = '8\'hff, 1.5 or "text", a text in its own quotes'

_DECIMAL = re.compile(r"[-+]?\d[\d_]*")
_LITERAL = re.compile(
    r"""
    -?\d*\s*'[sS]?(?:[bB][01_]+|[oO][0-7_]+|[dD][\d_]+|[hH][\da-fA-F_]+)   # of a base
    | '[01]
    | [-+]?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)                      # a real number
    | "(?:[^"\\\n]|\\.)*"
    """,
    re.VERBOSE,
)


def parameter_value(text: str) -> ParameterValue | None:
    r"""Return the value that a text gives a parameter; None if it is neither a number nor a literal.

    A literal of a base keeps its width, which is that of a parameter without a type. Digits that are not 0
    or 1 at all times (x, z) are none here.

    >>> parameter_value("32"), parameter_value("8'hff"), parameter_value('"fast"'), parameter_value("fast")
    (32, "8'hff", '"fast"', None)
    """
    if _DECIMAL.fullmatch(text):
        return int(text)
    return text if _LITERAL.fullmatch(text) else None


def require_parameters(name: str, top: Any, given: Mapping[str, ParameterValue]) -> None:  # noqa: ANN401
    """Require that a top has the parameters that it is given: slang drops others without a word.

    Args:
        name: Of the target, for messages.
        top: Instance of slang.
        given: Values by name.

    Raises:
        HarnessError: There is no such parameter, or its value is a type.
    """
    known = {str(own.name): own for own in top.body.parameters if not own.isLocalParam}
    for parameter, value in given.items():
        if parameter not in known:
            fixed = any(own.name == parameter for own in top.body.parameters)
            raise HarnessError(
                f"target {name}: parameters: expected parameters of {top.name} "
                f"({', '.join(known) or 'it has none'}), found {parameter}"
                f"{', which is fixed (localparam)' if fixed else ''}; correct the name, or remove it",
                f"parameters.{parameter}",
            )
        if hasattr(known[parameter], "targetType"):
            raise HarnessError(
                f"target {name}: parameters: expected parameters whose values are numbers or texts, found "
                f"{parameter} = {value}, whose value is a type: types keep their defaults here; put the top "
                "into a module of yours that gives it the type, and name that as the top",
                f"parameters.{parameter}",
            )


@dataclass(frozen=True)
class TopParameter:
    """A parameter that a top can be given, and its value in a design that was read.

    Attributes:
        name: As declared.
        value: Bits as a number that is not negative, a real number, or a text.
        width: In bits; 0 of what is no bits.
        signed: Whether the bits are a number with a sign.
    """

    name: str
    value: int | float | str
    width: int = 0
    signed: bool = False

    def is_recorded(self, value: int | float | str, width: int) -> bool:
        """Whether a recording has this value: the same number, or the same bits, or the same text."""
        if isinstance(self.value, str) or isinstance(value, str):
            return _as_text(self.value, self.width) == _as_text(value, width)
        if isinstance(self.value, float) or isinstance(value, float):
            return float(self.value) == float(value)
        return self._number(self.value, self.width) == self._number(value, width)

    def literal_of(self, value: int | float | str, width: int) -> ParameterValue:
        """Return what gives this parameter a recorded value, with the sign that its own value has."""
        if isinstance(self.value, str) or isinstance(value, str):
            text = _as_text(value, width).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{text}"'
        if isinstance(value, float):
            return repr(value)
        if self.signed and width == _INTEGER:
            return self._number(value, width)
        return f"{width}'{'s' if self.signed else ''}h{value:x}"

    @property
    def literal(self) -> ParameterValue:
        """What gives it its own value."""
        return self.literal_of(self.value, self.width)

    def _number(self, value: int, width: int) -> int:
        return value - (1 << width) if self.signed and value >> (width - 1) else value


# The width of a parameter whose value is a whole number and that has no type.
_INTEGER = 32


def _as_text(value: int | float | str, width: int) -> str:
    """Return a value as the text whose bytes its bits are; zeros before it are none of it."""
    if isinstance(value, int):
        return value.to_bytes(-(-width // 8), "big").lstrip(b"\0").decode("latin-1")
    return str(value)


def parameters_of(top: Any) -> tuple[TopParameter, ...]:  # noqa: ANN401
    """Return those parameters of an instance of slang that can be given, with values that are known."""
    found = []
    for own in top.body.parameters:
        value = getattr(getattr(own, "value", None), "value", None)
        if own.isLocalParam or value is None:
            continue
        if isinstance(value, float | str):
            found.append(TopParameter(str(own.name), value))
        elif hasattr(value, "bitWidth") and not value.hasUnknown:
            width = int(value.bitWidth)
            bits = int(value) & ((1 << width) - 1)
            found.append(TopParameter(str(own.name), bits, width, bool(value.isSigned)))
    return tuple(found)
