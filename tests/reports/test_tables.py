# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from resil.reports import (
    rich_report,
    text_report,
    verdict_line,
)
from resil.reports.tables import (
    block_table,
    fit_table,
    inputs_line,
    operation_table,
    protection_line,
    protection_table,
)
from tests.reports.example import SEVEN, example_protection, example_summary, protection_of, summary_of


def test_block_table_shows_counts(summary):
    lines = block_table(summary).text().splitlines()
    assert len({len(line) for line in lines if line.startswith("---")}) == 1
    row = next(line for line in lines if line.startswith("cc "))
    assert row.split()[1:] == ["1,912", "0", "24,100", "190", "125", "11", "10", "10", "23", "11"]
    assert lines[-1].startswith("total")
    assert "1,210" in lines[-1]


def test_a_block_is_named_in_words_once(summary_document):
    summary_document["target"]["titles"] = {"cc": "central control"}
    text = text_report(summary_of(summary_document))
    assert text.count("central control") == 1
    assert "cc central control" in text


def test_fit_table_shows_intervals_and_shares(summary):
    table = fit_table(summary)
    assert table.title == "Hazardous failures by block, 95 % intervals"
    assert table.rows[0] == (
        "cc",
        "28.4 % [22.1, 35.4]",
        "5.79 % [2.93, 10.1]",
        "0.138",
        "0.0152 [0.00960, 0.0226]",
        "24.0 %",
        "6.62 %",
    )
    assert table.rows[-1][-2:] == ("100 %", "100 %")


def test_blocks_without_injections_say_so():
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 0, 800.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    table = fit_table(summary_of(document))
    assert table.rows[2] == ("cpm", "not injected", "n/a", "n/a", "n/a", "n/a", "1.41 %")


@pytest.mark.parametrize("blocks", [SEVEN, SEVEN[:1]])
def test_tables_fit_a_terminal(blocks):
    document = example_summary(blocks=blocks)
    text = text_report(summary_of(document), protection_of(example_protection(document)))
    assert max(len(line) for line in text.splitlines() if "  " in line) <= 110


def test_operation_table_joins_inputs_of_equal_length(summary_document):
    table = operation_table(summary_of(summary_document))
    assert table.rows[0] == ("0", "conv_1", "conv2d", "4,210", "3,190", "1.32x")
    assert table.totals == 1
    assert table.rows[-1][1] == "inference"
    summary_document["golden"]["cycles"] = [100, 200]
    summary_document["network"]["operations"][0].update(cycles=None, vela_cycles=None)
    table = operation_table(summary_of(summary_document))
    assert [row[1] for row in table.rows[-2:]] == ["inference, input 0", "inference, input 1"]
    assert table.rows[0][3:] == ("n/a", "n/a", "n/a")


def test_a_design_that_vela_knows_nothing_of_has_no_estimate(summary_document):
    summary_document["golden"]["vela_cycles"] = None
    summary_document["network"]["operations"] = []
    table = operation_table(summary_of(summary_document))
    assert [column.head for column in table.columns] == ["#", "operation", "kind", "cycles"]
    assert [row[1] for row in table.rows] == ["inference"]
    assert table.totals == 1


@pytest.mark.parametrize(
    ("budget", "head"),
    [
        (0.01, "FIT BUDGET MISSED: "),
        (0.08, "FIT BUDGET MET: "),
        (0.06, "FIT BUDGET INCONCLUSIVE: "),
        (None, "NO BUDGET: "),
    ],
)
def test_verdict_line(budget, head):
    line = verdict_line(summary_of(example_summary(budget=budget)))
    assert line.startswith(head + "0.0634 [0.0517, 0.0769] FIT (95 % confidence)")
    assert (f"budget {budget} FIT" in line) == (budget is not None)
    assert "\n" not in line


def test_protection_table_adds_up(summary, protection):
    table = protection_table(protection, "GE")
    assert [row[0] for row in table.rows] == ["cc", "dma", "wd", "mac", "ao", "sb", "cpm", "total"]
    assert table.rows[-1][3] == f"{sum(choice.area_added for choice in protection.choices):,.0f}"


def test_protection_table_has_what_lies_in_no_block(protection_document):
    watchdog = {"option": "watchdog", "option_title": "watchdog", "area_added": 321.0, "source": "test"}
    protection_document["mechanisms"] = [{**watchdog, "limit": 100, "watched": ["digits"]}]
    rows = protection_table(protection_of(protection_document), "GE").rows
    assert ("watchdog", "added beside the blocks", "n/a", "321", "n/a", "n/a", "") in rows[-2:]


@pytest.mark.parametrize(
    ("budget", "head"), [(0.01, "PROTECTED: at most"), (5.0, "NO PROTECTION"), (1e-9, "INFEASIBLE")]
)
def test_protection_line(summary_document, budget, head):
    protection = protection_of(example_protection(summary_document, budget))
    assert protection_line(protection).startswith(head)
    assert f"a budget of {budget:g} FIT" in protection_line(protection)


def test_text_and_rich_reports_show_the_same_figures(summary, protection):
    plain = text_report(summary, protection)
    stream = io.StringIO()
    Console(file=stream, width=260, color_system=None).print(rich_report(summary, protection))
    for figure in re.findall(r"\d[\d.,]*\d", plain):
        assert figure in stream.getvalue()
    assert plain.rstrip().splitlines()[-1] == protection_line(protection)


def test_rich_takes_no_markup_from_names(summary_document):
    summary_document["network"]["operations"][0]["name"] = "[red]x[/red]"
    stream = io.StringIO()
    Console(file=stream, width=260).print(rich_report(summary_of(summary_document)))
    assert "[red]x[/red]" in stream.getvalue()


def test_a_target_for_spfm_alone_is_told(summary_document, protection_document):
    protection_document.update(budget_fit=None, spfm_target=0.99)
    protection = protection_of(protection_document)
    assert "(asked: SPFM of at least 99.0 %; optimality gap 0 %)" in protection_line(protection)
    assert "SPFM of at least 99.0 %" in text_report(summary_of(summary_document), protection)


def test_a_plan_that_adds_nothing_has_no_table(summary_document):
    document = example_protection(summary_document, 5.0)
    assert {choice["option"] for choice in document["choices"]} == {"none"}
    text = text_report(summary_of(summary_document), protection_of(document))
    assert "Protection of least area" not in text
    assert "NO PROTECTION NEEDED" in text


def test_each_option_has_its_source_once(summary, protection):
    text = text_report(summary, protection)
    assert text.count("CLEAR, DAC 2016") == 2


def test_the_verdict_names_its_scope_and_population(summary):
    line = verdict_line(summary)
    assert "Scope: flip-flops only; 131,072 SRAM bits not injected. " in line
    assert line.endswith(
        " It is about the network lenet; this input alone (0), which says nothing of others."
    )


def test_drawn_inputs_have_a_line_on_the_bound_and_the_worst(summary_document):
    assert inputs_line(summary_of(summary_document)) == ""
    over = summary_document["sampling"]["over_inputs"]
    over |= {
        "data_set": "the held-out split",
        "tolerance": {"part": 0.95, "confidence": 0.95, "fit": 0.25},
        "worst": [{"input": 7, "fit": 0.2, "fit_lo": 0.1, "fit_hi": 0.4}],
    }
    summary = summary_of(summary_document)
    assert inputs_line(summary) == (
        "Inputs: 95 % of inputs like these lie below 0.25 FIT (95 % confidence); the worst that ran is "
        "input 7 with 0.200 [0.100, 0.400] FIT."
    )
    assert inputs_line(summary) in text_report(summary, None)


@pytest.mark.parametrize(("model", "faults"), [("upset", "transient"), ("stuck_at", "permanent")])
def test_spfm_is_called_by_the_faults_that_it_is_about(model, faults):
    document = example_summary()
    document["campaign"]["fault_model"] = model
    assert f"SPFM of {faults} faults, unprotected, with the error flag" in text_report(summary_of(document))
