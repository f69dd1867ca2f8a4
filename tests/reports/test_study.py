# SPDX-License-Identifier: Apache-2.0
"""A study's page and text: valid, self-contained, escaped; no document reads better than its cells."""

from __future__ import annotations

import copy
import json
from xml.etree import ElementTree

import pytest

from resil.record.numbers import NOT_KNOWN
from resil.record.study import StudyRecord
from resil.reports import ReportError, render_study, study_text
from resil.reports.study_tables import class_table, time_table
from testkit.errors import about
from testkit.study_cells import cell, view

HOSTILE = "<script>alert('&\"')</script>"


def parsed(made):
    return StudyRecord.read(json.dumps(made))


def trend(what="fit", block="mac", word="grows"):
    return {
        "what": what,
        "block": block,
        "values": [[0.01, 0.005, 0.02], [0.02, 0.015, 0.03]],
        "per_doubling": [0.01, 0.002, 0.02],
        "trend": word,
    }


def protection(target, result, **others):
    limits = ("corner", "fit_hi", "unaided_hi", "spfm_lo")
    nothing = dict.fromkeys(("overhead", "overhead_lockstep", *limits, "confirmed", "plan"))
    known = {"target": target, "result": result, "networks": [], "waived": [], "reason": ""}
    return {**known, **nothing, **others}


def asked(**others):
    budget = {"budget_fit": 0.015, "rationale": HOSTILE, "hazardous": ["hang"], "claims": [], "asil": None}
    kept = {"budget_fit": 0.015, "spfm_target": None, "fit_share": None, "due_budget": None}
    kept |= {"waived": []}
    return budget | {"protection": kept} | others


def document(name="study"):
    return {
        "schema": StudyRecord.SCHEMA,
        "name": name,
        "resil": "0.1.0",
        "verdict": {"result": "inconclusive", "reason": "4 cells: 1 failed, 1 inconclusive, 2 met."},
        "confidence": 0.95,
        "asked": asked(),
        "cells": [
            cell("npu-32", "digits"),
            cell("npu-32", HOSTILE, "failed", error=HOSTILE),
            cell("npu-64", "digits", "inconclusive", predicted=True, foreseen="to meet", injections=0),
            cell("npu-64", HOSTILE, "not run"),
        ],
        "protection": [
            protection("npu-32", "not assessed", reason=HOSTILE),
            protection("npu-64", "reached", overhead=0.025, fit_hi=0.01, spfm_lo=0.991, networks=[HOSTILE]),
        ],
        "claims": [{"claim": HOSTILE, "result": "open", "evidence": [HOSTILE]}],
        "growth": {
            "parameter": "Macs",
            "targets": ["npu-32", "npu-64"],
            "sizes": [32, 64],
            "networks": ["digits"],
            "trends": [trend(), trend("bits", "total", "not shown")],
            "reason": "",
        },
        "classes": [
            {
                "target": "npu-32",
                "register_class": "counter",
                "networks": ["digits"],
                "avf": [0.1, 0.05, 0.2],
            }
        ],
        "seconds": 12.0,
        "spent": [
            {"target": "npu-32", "builds": 3.0, "cells": 4.5, "protection": 1.0},
            {"target": "npu-64", "builds": 0.0, "cells": 0.0, "protection": 0.0},
        ],
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:01:00+00:00",
        "definition": {"seed": "7", HOSTILE: HOSTILE},
    }


def bare():
    found = document()
    found["cells"] = [cell("npu-32", "digits", "failed", error="broken")]
    found |= {"protection": [], "claims": [], "classes": []}
    found["growth"] = {
        "parameter": None,
        "targets": [],
        "sizes": [],
        "networks": [],
        "trends": [],
        "reason": "none",
    }
    return found


def with_margins(*reached):
    """Two injected cells that have the margin of 10 %, or not; of None no failure was found."""
    found = document()
    widths = {True: 0.09, False: 0.12, None: None}
    found["cells"] = [
        cell("npu-32", name, margin=0.1, half_width=widths[own], reached=own is True)
        for name, own in zip(("digits", "other"), reached, strict=True)
    ]
    return found


def test_a_margin_that_is_missed_is_said_where_the_figures_are():
    fine = study_text(parsed(with_margins(True, True)))
    assert (
        "Margin asked for: 10.0 % of each total; 2 of 2 injected cells have it; the widest is ±9.00 %."
        in fine
    )
    assert "missed" not in fine.replace("0 missed", "")
    for other, told in ((False, "±12.0 %"), (None, "no failure was found")):
        made = with_margins(True, other)
        text = study_text(parsed(made))
        assert "1 of 2 injected cells have it" in text
        assert f"The margin that was asked for is missed: other on npu-32 ({told})." in text
        assert text.count("margin missed") == 1
        page = render_study(parsed(made))["report.html"]
        assert "margin missed" in page
        assert "is missed: other on npu-32" in page


@pytest.mark.parametrize(
    "wrong", [{"margin": None}, {"reached": None}, {"half_width": None}, {"half_width": -0.1}]
)
def test_a_margin_and_whether_it_is_reached_are_told_together(wrong):
    made = document()
    made["cells"][0]["results"] |= wrong
    with pytest.raises(ReportError):
        parsed(made)


def test_both_views_of_the_host_and_what_was_waived_are_in_text_and_page():
    made = document()
    corner = "high end of the flip-flop rate"
    views = made["cells"][0]["results"]
    views["unaided"] = view("missed", fit=[0.02, 0.01, 0.03], corner=corner, corner_fit=[0.04, 0.02, 0.06])
    made["protection"][1] |= {"unaided_hi": 0.037, "corner": corner, "waived": ["the budget is waived"]}
    made["asked"]["protection"]["waived"] = ["the budget is waived"]
    for text in (study_text(parsed(made)), render_study(parsed(made))["report.html"]):
        assert "unaided" in text
        assert corner in text
        assert "0.0400" in text
        assert "0.0370" in text
        assert text.count("WAIVED: the budget is waived.") == 2


@pytest.mark.parametrize("make", [document, bare, lambda: document(HOSTILE)])
def test_the_page_is_well_formed_loads_nothing_and_escapes(make):
    page = render_study(parsed(make()))["report.html"]
    ElementTree.fromstring(page.replace("<!doctype html>", "").replace("&#173;", ""))
    for forbidden in ("<script", 'http-equiv="refresh', "src=", "@import", "url(http"):
        assert forbidden not in page.lower()


def test_the_page_and_the_text_say_what_failed_and_what_is_predicted():
    page, text = render_study(parsed(document()))["report.html"], study_text(parsed(document()), 80)
    for told in ("predicted: to meet", "failed", "not run"):
        assert told in page
        assert told in text
    assert "Predicted, nothing was injected: digits on npu-64." in text
    assert "Protection of npu-32: not assessed" in text
    assert "STUDY NOT DECIDED" in text
    assert 'class="verdict inconclusive"' in page


def test_a_golden_output_that_is_not_the_networks_marks_its_cell():
    remark = "The golden output is not the network's, which was accepted: 2 of 4 elements differ."
    own = document()
    own["cells"][0]["results"]["golden"] = remark
    page, text = render_study(parsed(own))["report.html"], study_text(parsed(own))
    assert text.count("golden output: see below") == 1
    assert f"digits on npu-32: {remark}" in " ".join(text.split())
    assert "golden output: see below" in page
    assert "golden output" not in study_text(parsed(document()))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda d: d["cells"][1].update(verdict="met", error=None), "cells[1].results"),
        (lambda d: d["cells"][0].update(verdict="failed"), "cells[0].results"),
        (lambda d: d["cells"][0].update(error="broken"), "cells[0].error"),
        (lambda d: d["cells"][2].update(verdict="met"), "cells[2].verdict"),
        (lambda d: d["cells"][0].update(verdict="fine"), "cells[0].verdict"),
        (lambda d: d["cells"][0].update(unknown=1), "cells[0].unknown"),
        (lambda d: d["cells"][0]["results"].update(fit=-1.0), "cells[0].results.fit"),
        (lambda d: d["verdict"].update(result="fine"), "verdict.result"),
        (lambda d: d["verdict"].update(result="met"), "verdict.result"),
        (lambda d: d["cells"].pop(), "cells"),
        (lambda d: d.pop("cells"), "cells"),
        (lambda d: d.update(schema=3), "schema"),
    ],
)
def test_documents_that_claim_too_much_are_refused(change, field):
    found = copy.deepcopy(document())
    change(found)
    with pytest.raises(ReportError, check=about(field)):
        parsed(found)


def test_the_same_document_gives_the_same_bytes():
    assert render_study(parsed(document())) == render_study(parsed(document()))


def all_met(**others):
    found = document()
    found["cells"] = [cell("npu-32", "digits"), cell("npu-64", "digits", titles={"mac": "MAC unit"})]
    found["verdict"] = {"result": "met", "reason": "2 cells: 2 met."}
    found["asked"] = asked(**others)
    return found


def test_a_budget_that_is_kept_is_called_no_more_than_that():
    page, text = render_study(parsed(all_met()))["report.html"], study_text(parsed(all_met()), 80)
    assert "FIT budget met in every cell" in page
    assert "STUDY FIT BUDGET MET IN EVERY CELL: 2 cells: 2 met." in text
    for told in ("at most 0.015 FIT of hang, at ", "no row of ISO 26262"):
        assert told in text
        assert told in page
    claimed = all_met(claims=["spfm_transient"], asil="D")
    text = study_text(parsed(claimed), 80)
    assert "STUDY MET IN EVERY CELL" in text
    assert "Claimed of every cell for ASIL D: spfm_transient." in text
    assert "no row of ISO 26262" not in text


def test_the_figure_has_the_budget_and_blocks_in_words():
    page = render_study(parsed(all_met()))["report.html"]
    assert page.count(">budget 0.015 FIT</text>") == 2
    assert page.count(">MAC unit (mac)</text>") == 2
    assert "budget 0" not in render_study(parsed(all_met(budget_fit=None)))["report.html"]


def test_bars_hold_the_figures_of_the_document():
    """Widths of the stacked bars are those of the document, on the scale that the ticks are on."""
    page = render_study(parsed(all_met()))["report.html"].replace("<!doctype html>", "")
    wide = next(own for own in ElementTree.fromstring(page).iter() if "wide" in own.get("class", "").split())
    bars = [
        own for own in wide.iter() if "digits on npu-32, mac" in "".join(own.itertext()) and own.get("width")
    ]
    whiskers = [own for own in wide.iter() if own.get("class") == "whisker"]
    (bar,), start = bars, float(bars[0].get("x"))
    a_fit = float(bar.get("width")) / 0.01
    assert [round((float(whiskers[0].get(end)) - start) / a_fit, 5) for end in ("x1", "x2")] == [0.005, 0.02]


def test_what_grows_is_said_figure_by_figure():
    found = document()
    found["growth"]["trends"] = [
        trend("bits", "mac"),
        trend("fit", "mac"),
        trend("area", "mac", "constant"),
        trend("fit", "cc", "not shown"),
    ]
    text = study_text(parsed(found), 100)
    assert "By a doubling of Macs, FIT grows in mac +67 %; no trend is shown in cc." in text
    assert "By a doubling of Macs, area is the same in mac." in text
    lines = [line for line in text.splitlines() if line.startswith(("FIT ", "storage bits ", "area "))]
    assert [line.split()[0] for line in lines] == ["FIT", "FIT", "storage", "area"]
    assert "+67 %" in lines[0]


def test_a_mean_over_some_of_the_networks_says_so():
    made = document()
    assert class_table(parsed(made)).rows[0][1].endswith(", of 1 of 2 networks")
    assert "of 1 of 2 networks" in render_study(parsed(made))["report.html"]
    made["classes"][0]["networks"].append(HOSTILE)
    assert "networks" not in class_table(parsed(made)).rows[0][1]


def test_the_page_says_where_the_time_went():
    made = document()
    made["cells"][0]["results"]["injections"] = 900
    table = time_table(parsed(made))
    assert table.rows == (
        ("npu-32", "3.0 s", "4.5 s", "1.0 s", "900", "200"),
        ("npu-64", "0.0 s", "0.0 s", "0.0 s", "0", NOT_KNOWN),
    )
    assert "Where the time went" in render_study(parsed(made))["report.html"]


def undecided(**others):
    found = document()
    found["cells"] = [cell("npu-32", "digits"), cell("npu-32", "other", "inconclusive", **others)]
    return found


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (
            {
                "budget": "inconclusive",
                "aided": view("inconclusive", corner="ff", corner_fit=[0.012, 0.006, 0.024]),
            },
            "the FIT budget: 0.0120 [0.00600, 0.0240] FIT at the ff against 0.015; about 1,600 injections",
        ),
        (
            {
                "safety": "inconclusive",
                "spfm_asked": 0.99,
                "aided": view("inconclusive", spfm=[0.995, 0.985, 0.999], spfm_corner_lo=0.98),
            },
            "SPFM: at least 98 % at the centre of the raw rates, 99 % claimed; about 900 injections",
        ),
        ({"safety": "not assessed"}, "a safety claim is not assessed: the cell's own page says which row"),
    ],
)
def test_a_cell_that_is_not_decided_says_which_row_decides_and_what_would_settle_it(others, told):
    made = parsed(undecided(**others))
    page = render_study(made)["report.html"]
    assert told in page.replace("&#39;", "'").replace("\u00a0", " ")
    assert told in study_text(made)
    assert "would settle" not in study_text(parsed(document()))


def test_a_change_that_nobody_would_see_is_called_none():
    made = document()
    exact = trend("raw fit", "mac", "shrinks") | {"per_doubling": [-1e-7, -1e-7, -1e-7]}
    made["growth"]["trends"] = [exact, trend()]
    page = render_study(parsed(made))["report.html"].replace("\u00a0", " ")
    assert "raw FIT changes by less than 0.1 % in mac" in page
    assert "the same within 0.1 %" in page
    assert "FIT grows in mac +67 %" in page


def test_a_network_that_runs_on_named_targets_has_cells_there_alone():
    """In the matrix the others say that there is none; a cell that should be there is missed."""
    found = document()
    gone = found["cells"].pop()
    other = next(own["target"] for own in found["cells"] if own["target"] != gone["target"])
    found["definition"] |= {f"place {gone['network']} on {other}": "named"}
    record = parsed(found)
    assert record.cell(gone["target"], gone["network"]) is None
    assert "not in the study" in study_text(record)
    found["definition"] |= {f"place {gone['network']} on {gone['target']}": "named"}
    with pytest.raises(ReportError, check=about("cells")):
        parsed(found)
