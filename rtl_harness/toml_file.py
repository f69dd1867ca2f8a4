# SPDX-License-Identifier: Apache-2.0
"""Reading a TOML file, whatever is in it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.plain_file import read_plain


def read_toml(path: Path, what: str) -> tuple[str, dict[str, Any]]:
    """Return the text of a TOML file, and its tables.

    Args:
        path: Of the file.
        what: For messages: "campaign file", for instance.

    Raises:
        HarnessError: the file cannot be read, is not text, or is not TOML; a fault in TOML is named with its
            line and column.
    """
    try:
        text = read_plain(path).decode()
    except FileNotFoundError:
        raise HarnessError(f"{path}: no such file; give the path of a {what}", "file") from None
    except OSError as error:
        raise HarnessError(
            f"{path}: cannot be read ({error.strerror}); give a readable {what}", "file"
        ) from None
    except UnicodeDecodeError as error:
        raise HarnessError(
            f"{path}: not UTF-8 text (byte {error.start}); a {what} is TOML text: save it as UTF-8",
            "file",
        ) from None
    return text, parse_toml(text, str(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the tables of a TOML text; `where` is its name in messages.

    Raises:
        HarnessError: the text is not TOML.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise HarnessError(
            f"{where}: tables or arrays are nested deeper than can be read; nothing that resil knows needs "
            "more than four levels: remove them",
            "file",
        ) from None
    except ValueError as error:  # TOMLDecodeError, and numbers of thousands of digits
        raise HarnessError(f"{where}: not valid TOML: {error}; correct the line named", "file") from None
