# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io

import pandas as pd

from resil.record.detection import COLUMNS
from resil.reports.blocks_csv import FIGURES, blocks_csv
from tests.reports.example import SEVEN, example_summary, renamed, summary_of

DESIGNED = (
    "block, ff_bits, sram_bits, area, area_unit, injections, masked, latent, sdc_tolerable, sdc_critical,"
    " due, hang, avf, avf_lo, avf_hi, fit_raw, fit, fit_lo, fit_hi,"
    " latent_share, latent_lo, latent_hi,"
    " due_harmless, due_sdc_tolerable, due_sdc_critical, due_hang, late, corrected, macro_bits, due_unseen"
)


def test_columns_are_those_of_the_design(summary):
    assert blocks_csv(summary).splitlines()[0] == DESIGNED.replace(" ", "")


def test_rows_hold_the_document_in_full_precision(summary_document):
    frame = pd.read_csv(io.StringIO(blocks_csv(summary_of(summary_document))))
    rows = [*summary_document["blocks"], summary_document["total"]]
    for column in frame.columns.drop(list(COLUMNS)):
        assert frame[column].tolist() == [row[column] for row in rows]
    assert frame["block"].iloc[-1] == "total"
    assert frame["injections"].iloc[:-1].sum() == frame["injections"].iloc[-1]


def test_a_block_that_was_not_injected_has_empty_cells_not_zeros():
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 9, 800.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    frame = pd.read_csv(io.StringIO(blocks_csv(summary_of(document))))
    assert frame.loc[2, list(FIGURES)].isna().all()
    assert frame.loc[0, list(FIGURES)].notna().all()
    assert frame["injections"][2] == 0


def test_names_with_commas_and_missing_estimates(summary_document):
    renamed(summary_document, 'a,"b"')
    summary_document["blocks"][0]["fit"] = None
    frame = pd.read_csv(io.StringIO(blocks_csv(summary_of(summary_document))))
    assert frame["block"][0] == 'a,"b"'
    assert pd.isna(frame["fit"][0])
