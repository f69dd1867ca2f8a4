# SPDX-License-Identifier: Apache-2.0
"""The page of the command line, from the functions that are its commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, CommandInfo, OptionInfo, ParameterInfo

from resil.cli.app import app
from resil.reference.markdown import entry, paragraph

_KINDS = {str: "text", int: "integer", float: "number", Path: "path"}


def commands_text() -> str:
    """Return every command with its arguments and options."""
    epilog = str(app.info.epilog or "")
    return "\n\n".join([paragraph(epilog), *map(_command, app.registered_commands)])


def _command(info: CommandInfo) -> str:
    command = info.callback
    assert command is not None
    name = info.name or command.__name__.replace("_", "-")
    parameters = _parameters(command)
    usage = " ".join(_usage(own, word) for word, own, _, _ in parameters if isinstance(own, ArgumentInfo))
    first, *rest = inspect.cleandoc(str(info.help or command.__doc__ or "")).split("\n\n")
    parts = [f"## resil {name}", f"    resil {name} [OPTIONS] {usage}".rstrip(), paragraph(first)]
    parts += [_prose(part) for part in rest if part.strip()]
    parts.append("\n".join(_parameter(*parameter) for parameter in parameters))
    parts += [_prose(part) for part in inspect.cleandoc(str(info.epilog or "")).split("\n\n") if part.strip()]
    return "\n\n".join(part for part in parts if part)


def _parameters(command: Callable[..., object]) -> list[tuple[str, ParameterInfo, type, object]]:
    """Return name, declaration, type and default of each argument and option that is shown."""
    hints = get_type_hints(command, include_extras=True)
    found = []
    for name, parameter in inspect.signature(command).parameters.items():
        kind, *metadata = get_args(hints[name]) or (hints[name],)
        own = [data for data in metadata if isinstance(data, ParameterInfo)]
        if own and not own[0].hidden:
            found.append((name, own[0], kind, parameter.default))
    return found


def _usage(own: ParameterInfo, word: str) -> str:
    return str(own.metavar or word.upper())


def _prose(part: str) -> str:
    """Return a paragraph; examples, which are indented, as code."""
    lead, *lines = part.replace("\b\n", "").splitlines()
    if not any(line.startswith("  ") for line in lines):
        return paragraph(part)
    return "\n".join([lead, "", *(f"    {line.strip()}" for line in lines)])


def _parameter(word: str, own: ParameterInfo, kind: type, default: object) -> str:
    text = str(own.help or "")
    if isinstance(own, ArgumentInfo):
        return entry(_usage(own, word), ["argument"], text)
    assert isinstance(own, OptionInfo)
    # With Annotated the first name stands where the default would.
    given = (own.default if isinstance(own.default, str) else None, *(own.param_decls or ()))
    names = ", ".join(name for name in given if name) or f"--{word.replace('_', '-')}"
    shown = f"default `{default}`" if type(default) in (int, float, str) and default != "" else ""
    return entry(names, [_kind(kind), shown], text)


def _kind(kind: type) -> str:
    inner = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) is Literal:
        return " or ".join(f"`{choice}`" for choice in inner)
    if get_origin(kind) is list:
        return f"{_kind(inner[0])}; repeatable"
    if inner:
        return _kind(inner[0])
    if kind is bool:
        return "flag"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return " or ".join(f"`{choice.value}`" for choice in kind)
    return _KINDS[kind]
