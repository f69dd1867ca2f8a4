# SPDX-License-Identifier: Apache-2.0
"""`blocks.csv`: one row a block, full precision, last row the total."""

from __future__ import annotations

import csv
import io

from resil.record.detection import COLUMNS as TOLD
from resil.record.detection import UNSEEN
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.summary import Block, Summary
from resil.record.summary_json import LATENT

FIGURES = (
    "avf", "avf_lo", "avf_hi", "fit_raw", "fit", "fit_lo", "fit_hi",
    *LATENT,
)  # fmt: skip
_TOLD = tuple(key for key in TOLD if key != UNSEEN)
# What is added stands behind.
COLUMNS = (
    *("block", "ff_bits", "sram_bits", "area", "area_unit", "injections"),
    *(*OUTCOME_KEYS, *FIGURES, *_TOLD, "macro_bits", UNSEEN),
)


def blocks_csv(summary: Summary) -> str:
    """Return the text of `blocks.csv`; what is not known is an empty cell.

    So are the counts of outcomes where a model predicted them and nothing was injected.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for block in (*summary.blocks, summary.total):
        told = {} if summary.told is None else summary.told.blocks[block.name]
        counts = [told.get(key) for key in _TOLD]
        writer.writerow([*_row(block, summary.predicted), *counts, block.macro_bits, told.get(UNSEEN)])
    return stream.getvalue()


def _row(block: Block, predicted: bool) -> list[str | int | float | None]:
    return [
        block.name,
        block.ff_bits,
        block.sram_bits,
        block.area,
        block.area_unit,
        block.injections,
        *(None if predicted else block.counts[key] for key in OUTCOME_KEYS),
        *(_figures(block) if block.sampled else [None] * len(FIGURES)),
    ]


def _figures(block: Block) -> list[float | None]:
    avf, fit, latent = block.avf, block.fit, block.latent
    return [
        *(avf.estimate, avf.lo, avf.hi),
        block.fit_raw,
        *(fit.estimate, fit.lo, fit.hi),
        *(latent.estimate, latent.lo, latent.hi),
    ]
