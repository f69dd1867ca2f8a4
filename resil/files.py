# SPDX-License-Identifier: Apache-2.0
"""Files that are there in full or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from resil.errors import StoreError
from resil.rtl_harness.plain_file import read_plain

TEMPORARY_SUFFIX = ".tmp"


def write_file(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` make a temporary file beside `path`, then give it its name.

    Raises:
        StoreError: the folder cannot be written.
    """
    # Absolute: Arrow takes a relative path that begins like an address for one.
    temporary = path.absolute().with_name(f".{path.name}.{os.getpid()}{TEMPORARY_SUFFIX}")
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror}); free the space or give a folder "
            "that you may write to",
            "file",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` in one step; see `write_file`."""
    write_file(path, lambda temporary: _write_bytes(temporary, text.encode()))


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` to `path` in one step; see `write_file`."""
    write_file(path, lambda temporary: _write_bytes(temporary, data))


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a table, or these columns of it; the file may be replaced meanwhile.

    Raises:
        OSError, pyarrow.ArrowException: it cannot be read.
    """
    return pq.read_table(path.absolute(), columns=columns, memory_map=False)  # absolute: see `write_file`


def json_text(value: object) -> str:
    """Return `value` as indented JSON; NaN and infinity are refused."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_bytes(path: Path, remedy: str) -> bytes:
    """Return the content of a file; StoreError, which ends with `remedy`, if it cannot be read."""
    try:
        return read_plain(path)
    except FileNotFoundError:
        raise StoreError(f"{path}: expected a file, found none; {remedy}", "file") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror}); {remedy}", "file") from None


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        StoreError: the file is missing or holds no JSON object; the message ends with `remedy`.
    """
    data = read_bytes(path, remedy)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: damaged, expected JSON, found: {error}; {remedy}", "content") from None
    if not isinstance(value, dict):
        raise StoreError(
            f"{path}: damaged, expected a JSON object, found {type(value).__name__}; {remedy}", "content"
        )
    return value


def _write_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)
