# SPDX-License-Identifier: Apache-2.0
"""Cells of CSV files: text that a spreadsheet would take for a formula is marked, and read back as it was.

Names in RTL may begin with anything (`\\=cmd ` is a name in Verilog). The mark is an apostrophe, as OWASP's
page on CSV injection advises; `plain_file.read_cell` takes it off again. Numbers stay as they are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from resil.rtl_harness.plain_file import FORMULA, MARK

if TYPE_CHECKING:
    import pyarrow as pa


def csv_cell(cell: object) -> object:
    """Return a cell as CSV files hold it: text that begins as a formula does has the mark before it."""
    return f"{MARK}{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with its texts as `csv_cell` has them."""
    # Half of the pages that use this module have no columns.
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return column
    asks = pc.match_substring_regex(column, f"^[{re.escape(''.join(FORMULA))}]")
    return pc.if_else(asks, pc.binary_join_element_wise(MARK, column, ""), column)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([csv_cell("" if cell is None else cell) for cell in row] for row in rows)
    return out.getvalue()
