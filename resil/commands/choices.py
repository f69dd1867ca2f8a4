# SPDX-License-Identifier: Apache-2.0
"""Options that take one of some names: help shows them, shells complete them, others are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from resil.campaign.engines import engines
from resil.errors import ResilError
from resil.rtl_harness.npu.model.config import CONFIGS


def _engines() -> Sequence[str]:
    return [engine.name for engine in engines()]


def _npus() -> Sequence[str]:
    return list(CONFIGS)


def _shown(names: Callable[[], Sequence[str]]) -> str:
    try:
        return f"[{'|'.join(names())}]"
    except ResilError:  # an engine of another package cannot be loaded, which is said when one is asked for
        return "NAME"


def _completed(names: Callable[[], Sequence[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _one_of(names: Callable[[], Sequence[str]]) -> Callable[[str | None], str | None]:
    def check(value: str | None) -> str | None:
        if value is not None and value not in names():
            raise typer.BadParameter(
                f"expected one of {', '.join(names())}, found {value!r}; change the value"
            )
        return value

    return check


Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar=_shown(_engines),
        autocompletion=_completed(_engines),
        callback=_one_of(_engines),
        help="Engine in place of the campaign's.",
    ),
]
Npu = Annotated[
    str,
    typer.Option(
        "--npu",
        metavar=_shown(_npus),
        autocompletion=_completed(_npus),
        callback=_one_of(_npus),
        help="NPU configuration.",
    ),
]
