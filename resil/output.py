# SPDX-License-Identifier: Apache-2.0
"""What commands print, and what becomes of it where nobody takes it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from resil.errors import ResilError


class OutputError(ResilError):
    """Stdout does not take what a command has to say."""


def show(value: Mapping[str, Any], as_json: bool, text: Callable[[], None]) -> None:
    """Print `value` as JSON, or call `text`, which prints for a person.

    Raises:
        OutputError: stdout was closed, or is full.
    """
    try:
        if as_json:
            print(json.dumps(dict(value), indent=1, ensure_ascii=False))
        else:
            text()
        sys.stdout.flush()
    except OSError as error:
        raise output_error(error) from error


def output_error(error: OSError) -> OutputError:
    """Return what is to be said when stdout fails; nothing more is written to it."""
    with suppress(OSError, ValueError):  # a stand-in for stdout may have no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return OutputError("stdout was closed by its reader before all was written; files are complete")
    return OutputError(
        f"stdout cannot be written ({error.strerror}); free the space or send the output elsewhere; "
        "files are complete"
    )


def width() -> int | None:
    """Characters of a line of the terminal; None where stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def complain(message: str) -> None:
    """Say something on stderr, where there is one."""
    with suppress(OSError):
        print(f"resil: {message}", file=sys.stderr)
