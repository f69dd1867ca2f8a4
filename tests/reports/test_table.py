# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from resil.reports import rich_report, text_report
from resil.reports.table import Column, Table, wrapped
from resil.reports.tables import block_table, fit_table, operation_table, protection_table
from tests.reports.example import (
    SEVEN,
    example_protection,
    example_summary,
    many_blocks,
    protection_of,
    summary_of,
)

WIDTHS = (80, 40)
LONG = "StatefulPartitionedCall/functional_1/model/conv2d_10/BiasAdd_12345678;conv2d_10/Relu"
NUMBER = re.compile(r"\d(?:[\d.,]*\d)?(?:e[+-]\d+)?")


def hard_document():
    """Large counts, long names, exponents."""
    document = example_summary(blocks=(*SEVEN, *many_blocks(6)))
    document["network"]["operations"][1].update(name=LONG, cycles=123_456_789, vela_cycles=98_765_432)
    document["target"]["titles"] = {"cc": "central control", "dma": "DMA controller"}
    for row in (*document["blocks"], document["total"], *document["storage"]):
        if "area" in row:
            row["area"] *= 1234.0
        row.update({key: row[key] * 1.234e-6 for key in ("fit_raw", "fit", "fit_lo", "fit_hi")})
    return document


def tables():
    document = hard_document()
    summary = summary_of(document)
    made = [block_table(summary), fit_table(summary), operation_table(summary)]
    plan = protection_of(example_protection(document, 1e-8))
    assert plan.plan.protects
    return {table.title: table for table in (*made, protection_table(plan, "GE"))}


def numbers_of(text):
    return sorted(NUMBER.findall(text))


def in_rich(renderable, width):
    stream = io.StringIO()
    Console(file=stream, width=width, color_system=None).print(renderable, crop=False)
    return stream.getvalue()


RENDERERS = {"plain": lambda table, width: table.text(width), "rich": in_rich}


@pytest.mark.parametrize("how", RENDERERS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("title", tables())
def test_every_number_stands_at_every_width(title, width, how):
    table = tables()[title]
    text = RENDERERS[how](table, width)
    assert max(map(len, text.splitlines())) <= width
    groups = text.count("\n\n")
    own, keys = (
        [cell for row in table.rows for cell in part(row)]
        for part in (lambda row: row[table.keys :], lambda row: row[: table.keys])
    )
    heads = [column.head for column in table.columns]
    said = " ".join([table.title, *heads[table.keys :], *own, *(heads[: table.keys] + keys) * groups])
    assert numbers_of(text) == numbers_of(said)


@pytest.mark.parametrize("width", WIDTHS)
def test_both_reports_say_the_same_at_every_width(width):
    document = hard_document()
    summary, plan = summary_of(document), protection_of(example_protection(document, 1e-8))
    plain = text_report(summary, plan, width)
    assert re.sub(r"\s+", " ", in_rich(rich_report(summary, plan), width)) == re.sub(r"\s+", " ", plain)


def test_plain_text_is_aligned_and_has_every_cell():
    table = Table("T", (Column("name", numeric=False), Column("n")), (("a", "1,000"), ("long one", "2")), 1)
    assert table.text() == (
        "T\n\nname          n\n--------  -----\na         1,000\n--------  -----\nlong one      2\n"
    )


def test_columns_that_do_not_fit_stand_below_with_the_name_again():
    columns = (Column("block", numeric=False), Column("first"), Column("second"))
    table = Table("T", columns, (("cc", "123,456", "1,234,567"),))
    assert table.text(22) == (
        "T\n\nblock    first\n-----  -------\ncc     123,456\n"
        "\nblock     second\n-----  ---------\ncc     1,234,567\n"
    )
    assert table.text(30).count("block") == 1


def test_an_interval_that_is_wider_than_the_line_breaks_between_its_numbers():
    table = Table("T", (Column("block", numeric=False), Column("FIT")), (("cc", "0.0152 [0.00960, 0.0226]"),))
    lines = table.text(24).splitlines()
    assert lines[-2:] == ["cc      0.0152 [0.00960,", "                 0.0226]"]


def test_a_number_wider_than_the_line_stands_whole():
    table = Table("T", (Column("block", numeric=False), Column("n")), (("cc", "1,234,567,890,123"),))
    assert "1,234,567,890,123" in in_rich(table, 10)
    assert "1,234,567,890,123" in table.text(10)


@pytest.mark.parametrize("width", [1, 2, 5, 13, 40])
def test_wrapping_loses_nothing_and_breaks_no_number(width):
    for text in (LONG, "a b  c", "", "7.20e-05 [1.00e-06, 12,345.5]", "x" * 50):
        lines = wrapped(text, width)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert numbers_of(" ".join(lines)) == numbers_of(text)
        assert all(len(line) <= width or NUMBER.search(line) for line in lines)
