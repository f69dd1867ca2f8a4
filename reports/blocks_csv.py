# SPDX-License-Identifier: Apache-2.0
"""`blocks.csv`: one row a block, full precision, last row the total."""

from __future__ import annotations

from resil.record.blocks import LATENT, Block
from resil.record.csv_cells import csv_text
from resil.record.detection import COLUMNS as REPORTED
from resil.record.detection import UNSEEN
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.summary import Summary

FIGURES = (
    "avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi",
    *LATENT,
)  # fmt: skip
_REPORTED = tuple(key for key in REPORTED if key != UNSEEN)
# What is added stands behind.
COLUMNS = (
    *("block", "ff_bits", "sram_bits", "area", "area_unit", "injections"),
    *(*OUTCOME_KEYS, *FIGURES, *_REPORTED, "macro_bits", UNSEEN),
)


def blocks_csv(summary: Summary) -> str:
    """Return the text of `blocks.csv`; what is not known is an empty cell.

    So are the counts of outcomes where a model predicted them and nothing was injected.
    """
    rows = () if summary.detection is None else summary.detection.blocks
    reported = {row.name: row.counts for row in rows}
    cells = []
    for block in (*summary.blocks, summary.total):
        own = reported.get(block.name, {})
        counts = [own.get(key) for key in _REPORTED]
        cells.append([*_row(block, summary.predicted), *counts, block.macro_bits, own.get(UNSEEN)])
    return csv_text(COLUMNS, cells)


def _row(block: Block, predicted: bool) -> list[str | int | float | None]:
    return [
        block.name,
        block.ff_bits,
        block.sram_bits,
        block.area,
        block.area_unit,
        block.injections,
        *(None if predicted else block.counts[key] for key in OUTCOME_KEYS),
        *(getattr(block, name) for name in FIGURES),
    ]
