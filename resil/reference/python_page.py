# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the public functions and classes as a page; examples stay as they are, and run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from textwrap import wrap

from resil.campaign.campaign import load_campaign
from resil.reference.markdown import WIDTH, entry, paragraph
from resil.run.campaign import run_campaign
from resil.trace.run import Run

_HEADS = re.compile(r"(Args|Attributes|Examples|Raises|Returns|Warning):")


def python_text() -> str:
    """Return what `resil` offers to scripts, in the order of a campaign."""
    parts = [_object(f"resil.{named.__name__}", named) for named in (load_campaign, run_campaign, Run)]
    own = [named for kind in reversed(Run.__mro__) for named in vars(kind).items()]
    methods = [method for name, method in own if _is_public(name, method)]
    parts += [_object(f"Run.{method.__name__}", method) for method in methods]
    return "\n\n".join(parts)


def _is_public(name: str, value: object) -> bool:
    return not name.startswith("_") and inspect.isfunction(value)


def _object(name: str, described: Callable[..., object]) -> str:
    signature = str(inspect.signature(described)).replace("'", "").replace("self, ", "").replace("self", "")
    shown = wrap(
        f"{name}{signature}",
        WIDTH - 4,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    text = inspect.cleandoc(described.__doc__ or "")
    return "\n\n".join([f"## {name}", "\n".join(shown), *_sections(text)])


def _sections(text: str) -> list[str]:
    found, head = [], ""
    for part in _parts(text):
        lines = part.splitlines()
        if match := _HEADS.fullmatch(lines[0]):
            head = match[1]
            found.append(f"**{head}**")
            lines = inspect.cleandoc("\n" + "\n".join(lines[1:])).splitlines()
        elif head:
            lines = inspect.cleandoc("\n" + part).splitlines()
        if lines and head in ("Args", "Attributes", "Raises"):
            found.append(_items(lines))
        elif lines and lines[0].startswith(">>>"):
            found.append("\n".join(f"    {line}" for line in lines))
        elif lines:
            found.append(paragraph("\n".join(lines)))
    return found


def _parts(text: str) -> list[str]:
    return [part for part in text.split("\n\n") if part.strip()]


def _items(lines: list[str]) -> str:
    """Return `name: meaning` with its continued lines as a list."""
    items: list[str] = []
    for line in lines:
        if line.startswith(" ") and items:
            items[-1] += " " + line.strip()
        else:
            items.append(line)
    named = [item.partition(": ") for item in items]
    return "\n".join(entry(name, [], meaning) for name, _, meaning in named)
