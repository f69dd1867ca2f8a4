# SPDX-License-Identifier: Apache-2.0
"""Part files: injections on disk, each file complete and verifiable by itself."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from resil.files import read_parquet, write_file

# `outcome` is without a limit on the time of the alarm. `alarm` is the first that reported a detection, in
# `alarm_cycle`, `correction` the first that reported a correction; "" and -1 where there was none. `first`
# and `second` are the outcomes of two inferences, each by itself; "" where there is none. `untestable` says
# why nothing could come of a fault, "" where that is not known.
SCHEMA = pa.schema(
    [
        ("injection", pa.int64()),
        ("stratum", pa.string()),
        ("site", pa.int64()),
        ("path", pa.string()),
        ("word", pa.int64()),
        ("bit", pa.int64()),
        ("bits", pa.int64()),
        ("fault", pa.string()),
        ("block", pa.string()),
        ("kind", pa.string()),
        ("input", pa.int64()),
        ("cycle", pa.int64()),
        ("outcome", pa.string()),
        ("seen", pa.string()),
        ("reported", pa.string()),
        ("alarm", pa.string()),
        ("alarm_cycle", pa.int64()),
        ("correction", pa.string()),
        ("correction_cycle", pa.int64()),
        ("first", pa.string()),
        ("second", pa.string()),
        ("end_cycle", pa.int64()),
        ("status", pa.int64()),
        ("output_hash", pa.string()),
        ("untestable", pa.string()),
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
    metadata = {
        _IDENTITY: identity.encode(),
        _CONTENT: _content(rows),
    }
    table = rows.cast(SCHEMA).replace_schema_metadata(metadata)
    write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read_part(path: Path, identity: str) -> pa.Table:
    """Return the rows of a part file.

    Raises:
        PartError: the file is truncated, altered, of another layout or of another campaign.
    """
    try:
        table = read_parquet(path)
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


def _content(rows: pa.Table) -> bytes:
    """Return the digest of the values, however they are laid out in memory."""
    digest = sha256(f"{rows.num_rows} rows".encode())
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        digest.update(f"{name}: {column.null_count} without a value".encode())
        if pa.types.is_string(column.type):
            digest.update(pc.fill_null(pc.binary_length(column), -1).to_numpy())
            for chunk in column.chunks:
                digest.update(_characters(chunk))
        else:
            digest.update(pc.fill_null(column, 0).to_numpy())
    return digest.hexdigest().encode()


def _characters(strings: pa.StringArray) -> bytes:
    """Return all strings of an array one after the other, UTF-8."""
    _, offsets, data = strings.buffers()
    if data is None or not len(strings):
        return b""
    ends = np.frombuffer(offsets, np.int32)[strings.offset : strings.offset + len(strings) + 1]
    return memoryview(data)[int(ends[0]) : int(ends[-1])].tobytes()
