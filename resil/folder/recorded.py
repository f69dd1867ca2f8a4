# SPDX-License-Identifier: Apache-2.0
"""Documents of a folder of results, read; values of records."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from resil.errors import StoreError
from resil.files import read_bytes
from resil.record.errors import ReportError
from resil.record.typed import Document

_NUMBER = (int, float)
Read = TypeVar("Read", bound=Document)


def read_document(path: Path, document: type[Read], remedy: str) -> Read:
    """Return the document in a file.

    Raises:
        StoreError: the file is missing or damaged; the message ends with `remedy`.
    """
    data = read_bytes(path, remedy)
    try:
        return document.read(data, f"{path}: damaged", remedy)
    except ReportError as error:
        raise StoreError(str(error), error.field) from None


def is_amount(value: object) -> bool:
    """Whether a value is a finite number of at least 0; true is none."""
    if isinstance(value, bool) or not isinstance(value, _NUMBER):
        return False
    return 0 <= value < float("inf")
