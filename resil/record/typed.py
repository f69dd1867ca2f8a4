# SPDX-License-Identifier: Apache-2.0
"""What documents are made of: frozen classes whose fields are checked, and that are the same as their JSON.

Every document is one class, with its schema number beside it. It is written by `Document.text` and read by
`Document.read`, nowhere else. The text below a field says what it is; `docs/files.md` is made from that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from resil.record.errors import ReportError

Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0.0)]
# A last digit more than 1 is rounding.
Share = Annotated[float, Field(ge=0.0, le=1.0 + 1e-9)]

_WRONG = "wrong"
_SHOWN = 60
_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a finite number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "model_type": "an object",
    "mapping_type": "an object",
    "dict_type": "an object",
    "tuple_type": "a list",
    "list_type": "a list",
    "arguments_type": "a list",
    "too_long": "a shorter list",
    "unexpected_positional_argument": "a shorter list",
    "extra_forbidden": "no field of this name",
    "json_invalid": "JSON",
}


@dataclass(frozen=True, slots=True)
class OneOf:
    """Says of a text that it is one of some words."""

    words: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return what pydantic checks."""
        return core_schema.literal_schema(list(self.words))


class Typed(BaseModel):
    """A part of a document: its fields never change, and none is unknown or of another type."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    def changed(self, **fields: object) -> Self:
        """Return the same with other values in these fields; they are checked as all are."""
        return type(self).model_validate({**dict(self), **fields})

    @classmethod
    def from_plain(cls, value: Mapping[str, object]) -> Self:
        """Return what `plain` gave; ValueError if it is none of this class."""
        return cls.model_validate_json(json.dumps(value))

    def plain(self) -> dict[str, Any]:
        """Return the JSON value: what the file holds."""
        return self.model_dump(mode="json", by_alias=True)


class Document(Typed):
    """A whole file.

    Attributes:
        FILE: Its name.
        SCHEMA: Number of the version of its fields and of what they mean; raised when either changes.
        REMEDY: What the user can do where it is wrong.
    """

    FILE: ClassVar[str]
    SCHEMA: ClassVar[int]
    REMEDY: ClassVar[str]

    @classmethod
    def read(cls, data: str | bytes, file: str = "", remedy: str = "") -> Self:
        """Return the document of a JSON text.

        Args:
            data: The text.
            file: Its name for messages; `FILE` if empty.
            remedy: What the user can do where it is wrong; `REMEDY` if empty.

        Raises:
            ReportError: it is no JSON, of another schema, has a missing, an unknown or a wrong field, or its
                parts contradict each other; the message says where, what was expected and what was found.
        """
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            message, field = failure_text(error), failed_field(error)
        raise ReportError(f"{file or cls.FILE}: {message}; {remedy or cls.REMEDY}", field)

    def text(self) -> str:
        """Return the document as JSON, as its file holds it."""
        return self.model_dump_json(by_alias=True, indent=1) + "\n"


def wrong(where: str, expected: str, found: object) -> NoReturn:
    """Refuse a document, from a check inside one of its classes.

    Args:
        where: Fields from the class that checks down to the wrong one, such as `blocks[2].fit_lo`.
        expected: What should stand there.
        found: What does.
    """
    raise PydanticCustomError(
        _WRONG, "{where}: expected {expected}", {"where": where, "expected": expected, "found": found}
    )


def failure_text(error: ValidationError) -> str:
    """Return the first thing that is wrong with a document: where, what was expected, what was found."""
    first = error.errors(include_url=False)[0]
    where, context = failed_field(error), first.get("ctx", {})
    if first["type"] == _WRONG:
        return f"{where}: expected {context['expected']}, found {_shown(context['found'])}"
    if first["type"] == "missing":
        return f"{where}: this field is missing"
    return f"{where or 'the document'}: expected {_expected(first)}, found {_shown(first['input'])}"


def failed_field(error: ValidationError) -> str:
    """Return where the first thing is that is wrong, as `ReportError.field` has it."""
    first = error.errors(include_url=False)[0]
    where = _path(first["loc"])
    if first["type"] != _WRONG:
        return where
    return ".".join(part for part in (where, first["ctx"]["where"]) if part).replace(".[", "[")


def _expected(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "literal_error":
        return (
            f"schema {context['expected']}"
            if error["loc"] == ("schema",)
            else f"one of {context['expected']}"
        )
    if kind in ("greater_than_equal", "less_than_equal"):
        bound = f"at least {context['ge']:g}" if "ge" in context else f"at most {context['le']:.6g}"
        return f"a number of {bound}"
    return _EXPECTED.get(kind, error["msg"].removeprefix("Input should be ").lower())


def _path(steps: tuple[int | str, ...]) -> str:
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps]
    return "".join(parts).removeprefix(".")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
