# SPDX-License-Identifier: Apache-2.0
"""`study.parquet`: a row for each cell and block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from resil.files import write_file
from resil.record.study_cell import CellRecord
from resil.record.summary import Summary
from resil.stats.rates import OUTCOMES

_CELL = ("target", "network", "verdict", "predicted")
_TEXTS = ("block", "area_unit")
_COUNTS = ("ff_bits", "macro_bits", "sram_bits", "injections", *OUTCOMES)
_RATES = (
    *("area", "avf", "avf_lo", "avf_hi", "latent_share", "latent_lo", "latent_hi"),
    *("fit_raw", "fit", "fit_lo", "fit_hi"),
)
SCHEMA = pa.schema(
    [
        *((name, pa.bool_() if name == "predicted" else pa.string()) for name in _CELL),
        *((name, pa.string()) for name in _TEXTS),
        *((name, pa.int64()) for name in _COUNTS),
        *((name, pa.float64()) for name in _RATES),
    ]
)
Row = Mapping[str, str | float | None]


def block_rows(record: CellRecord, summary: Summary) -> list[Row]:
    """Return the rows of a cell: its blocks without their total; counts of a prediction are unknown.

    Args:
        record: Of the cell.
        summary: Of its run or estimate.
    """
    cell = {key: getattr(record, key) for key in _CELL}
    unknown = dict.fromkeys(("injections", *OUTCOMES)) if record.predicted else {}
    return [
        cell
        | {"block": block.name}
        | {key: getattr(block, key) for key in ("area_unit", *_COUNTS, *_RATES)}
        | unknown
        for block in summary.blocks
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows of all cells in one step; StoreError if the folder cannot be written."""
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMA)
    write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))
