# SPDX-License-Identifier: Apache-2.0
"""What the `tflite` package's generated classes say about the file format, found by reflection.

The schema has more than a hundred options tables; reading and writing them by their generated accessors,
whose names follow one rule, needs no table of our own and follows the schema of the installed package.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import tflite
from tflite.utils import BUILTIN_OPCODE2NAME

Generated: TypeAlias = Any  # generated code has no types

OPERATOR_NAMES: dict[int, str] = dict(BUILTIN_OPCODE2NAME)
OPERATOR_CODES: dict[str, int] = {name: code for code, name in OPERATOR_NAMES.items()}


def _constants(table: type) -> dict[str, int]:
    return {name: value for name, value in vars(table).items() if isinstance(value, int)}


OPTIONS_TABLES: dict[str, int] = _constants(tflite.BuiltinOptions)
PADDING: dict[str, int] = _constants(tflite.Padding)
ACTIVATION: dict[str, int] = _constants(tflite.ActivationFunctionType)
NAMED_FIELDS: dict[str, dict[str, int]] = {"padding": PADDING, "fused_activation_function": ACTIVATION}

TENSOR_TYPES: dict[str, int] = {
    name.lower(): code
    for name, code in _constants(tflite.TensorType).items()
    if name not in ("STRING", "RESOURCE", "VARIANT", "INT4", "BFLOAT16")
}
HANDLE_TYPES: dict[str, int] = {"resource": tflite.TensorType.RESOURCE}
"""Types of tensors without values: handles of variables."""


@dataclass(frozen=True)
class OptionField:
    """A field of an options table.

    Attributes:
        accessor: Name of the reading method.
        name: The name in snake case.
        is_vector: A vector of numbers; else a number or a bool.
    """

    accessor: str
    name: str
    is_vector: bool


@dataclass(frozen=True)
class OptionsTable:
    """An options table: its generated module and its fields."""

    name: str
    module: Generated
    fields: tuple[OptionField, ...]

    @property
    def reader(self) -> Generated:
        """The class that reads the table."""
        return getattr(self.module, self.name)


@cache
def options_table(name: str) -> OptionsTable:
    """Return the options table of that name; KeyError if the schema has none."""
    if name not in OPTIONS_TABLES or name == "NONE":
        raise KeyError(name)
    module = importlib.import_module(f"tflite.{name}")
    reader = getattr(module, name)
    prefix = f"{name}Add"
    accessors = [key.removeprefix(prefix) for key in vars(module) if key.startswith(prefix)]
    fields = tuple(OptionField(a, _snake_case(a), hasattr(reader, f"{a}Length")) for a in accessors)
    return OptionsTable(name, module, fields)


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
