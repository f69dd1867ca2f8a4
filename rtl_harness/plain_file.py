# SPDX-License-Identifier: Apache-2.0
"""Reading what a person has named as a file, which may be something else."""

from __future__ import annotations

import errno
from pathlib import Path

MARK = "'"
"""What stands in a CSV file before text that a spreadsheet would take for a formula."""

# A name that begins with the mark gets one more, so that each text is read back as it was.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", MARK)
"""How such text begins."""


def read_plain(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: it cannot be read; a pipe, a socket or a device is none, for reading it might never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "a pipe, socket or device, where a file was expected", str(path))
    return path.read_bytes()


def listed_lines(text: str) -> list[str]:
    """Return the lines of a list that say something: neither empty ones nor comments, which begin with #."""
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def read_listed(path: Path) -> list[str]:
    """Return `listed_lines` of a file.

    Raises:
        OSError: As `read_plain`.
        UnicodeDecodeError: It is no text in UTF-8.
    """
    return listed_lines(read_plain(path).decode("utf-8-sig"))


def read_cell(text: str) -> str:
    """Return the text of a cell of a CSV file, without the mark that it may have."""
    return text[1:] if text.startswith(MARK) and text[1:].startswith(FORMULA) else text
