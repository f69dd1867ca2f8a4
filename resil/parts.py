"""Part files: injections on disk, each file complete and verifiable by itself."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from resil.files import write_file

SCHEMA = pa.schema(
    [
        ("injection", pa.int64()),
        ("stratum", pa.string()),
        ("site", pa.int64()),
        ("path", pa.string()),
        ("word", pa.int64()),
        ("bit", pa.int64()),
        ("block", pa.string()),
        ("kind", pa.string()),
        ("input", pa.int64()),
        ("cycle", pa.int64()),
        ("outcome", pa.string()),
        ("seen", pa.string()),
        ("detected", pa.string()),
        ("end_cycle", pa.int64()),
        ("status", pa.int64()),
        ("output_hash", pa.string()),
        ("operation", pa.int64()),
        ("corruption", pa.string()),
    ]
)
_IDENTITY = b"resil.campaign"
_CONTENT = b"resil.content"


class PartError(Exception):
    """A part file that cannot be used; the message says why."""


def write_part(path: Path, rows: pa.Table, identity: str) -> None:
    """Write `rows`, of `SCHEMA`, as a part of the campaign `identity`."""
    metadata = {_IDENTITY: identity.encode(), _CONTENT: _content(rows)}
    table = rows.cast(SCHEMA).replace_schema_metadata(metadata)
    write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read_part(path: Path, identity: str) -> pa.Table:
    """Return the rows of a part file.

    Raises:
        PartError: the file is truncated, altered, of another layout or of another campaign.
    """
    try:
        table = pq.read_table(path, memory_map=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise PartError(f"cannot be read as Parquet ({str(error).splitlines()[0]})") from None
    metadata = table.schema.metadata or {}
    rows = table.replace_schema_metadata(None)
    if not rows.schema.equals(SCHEMA):
        raise PartError("has columns other than those of an injection part")
    if metadata.get(_CONTENT) != _content(rows):
        raise PartError("is altered: its content does not match its checksum")
    if metadata.get(_IDENTITY) != identity.encode():
        raise PartError("belongs to another campaign")
    return rows


def empty() -> pa.Table:
    """Return a table of `SCHEMA` without rows."""
    return SCHEMA.empty_table()


def _content(rows: pa.Table) -> bytes:
    return sha256(json.dumps(rows.to_pydict(), sort_keys=True).encode()).hexdigest().encode()
