"""`blocks.csv`: one row a block, full precision, last row the total."""

from __future__ import annotations

import csv
import io

from reports.outcomes import OUTCOME_KEYS
from reports.summary import Block, Summary

COLUMNS = (
    "block", "ff_bits", "sram_bits", "area", "area_unit", "injections", *OUTCOME_KEYS,
    "avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi",
)  # fmt: skip


def blocks_csv(summary: Summary) -> str:
    """Return the text of `blocks.csv`; an estimate that does not exist is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for block in (*summary.blocks, summary.total):
        writer.writerow(_row(block))
    return stream.getvalue()


def _row(block: Block) -> list[str | int | float | None]:
    return [
        block.name,
        block.ff_bits,
        block.sram_bits,
        block.area,
        block.area_unit,
        block.injections,
        *(block.counts[key] for key in OUTCOME_KEYS),
        block.avf.estimate,
        block.avf.lo,
        block.avf.hi,
        block.fit_raw,
        block.fit.estimate,
        block.fit.lo,
        block.fit.hi,
    ]
