# SPDX-License-Identifier: Apache-2.0
"""`study.parquet`: a row for each cell and block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from resil.files import write_file
from resil.record.summary import Summary
from resil.stats.rates import OUTCOMES

_TEXTS = ("target", "network", "verdict", "block", "area_unit")
_COUNTS = ("ff_bits", "macro_bits", "sram_bits", "injections", *OUTCOMES)
_RATES = (
    *("area", "avf", "avf_lo", "avf_hi", "latent_share", "latent_lo", "latent_hi"),
    *("fit_raw", "fit", "fit_lo", "fit_hi"),
)
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in _TEXTS[:3]),
        ("predicted", pa.bool_()),
        *((name, pa.string()) for name in _TEXTS[3:]),
        *((name, pa.int64()) for name in _COUNTS),
        *((name, pa.float64()) for name in _RATES),
    ]
)


def block_rows(record: Mapping[str, Any], summary: Summary) -> list[dict[str, Any]]:
    """Return the rows of a cell: its blocks without their total; counts of a prediction are unknown.

    Args:
        record: Of the cell, as in `study.json`.
        summary: Of its run or estimate.
    """
    cell = {key: record[key] for key in ("target", "network", "verdict", "predicted")}
    rows = []
    for block in summary.blocks:
        figures = {key: getattr(block, key) for key in ("area_unit", *_COUNTS, *_RATES)}
        row = cell | {"block": block.name} | figures
        if record["predicted"]:
            row |= dict.fromkeys(("injections", *OUTCOMES))
        rows.append(row)
    return rows


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the rows of all cells in one step; StoreError if the folder cannot be written."""
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=SCHEMA)
    write_file(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))
