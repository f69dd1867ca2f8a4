# SPDX-License-Identifier: Apache-2.0
"""A study's page and text: valid, self-contained, escaped; no document reads better than its cells."""

from __future__ import annotations

import copy
from xml.etree import ElementTree

import pytest

from resil.record.numbers import NOT_KNOWN
from resil.reports import ReportError, parse_study, render_study, study_text
from resil.reports.study_tables import class_table, time_table
from testkit.errors import about

HOSTILE = "<script>alert('&\"')</script>"


def cell(target, network, verdict="met", **others):
    blocks = [
        {"block": block, "fit": fit, "fit_lo": fit / 2, "fit_hi": fit * 2 + 0.001}
        for block, fit in (("mac", 0.01), ("cc", 0.0), ("total", 0.01))
    ]
    figures = {"fit": 0.01, "fit_lo": 0.005, "fit_hi": 0.02, "injections": 100, "blocks": blocks}
    figures |= {"spfm": [0.99, 0.98, 0.995], "scope": "flip-flops only"}
    figures |= {"margin": 0.8, "half_width": 0.75, "reached": True}
    none = {"fit": None, "fit_lo": None, "fit_hi": None, "injections": 0}
    found = none if verdict in ("failed", "not run") else figures
    return {
        "target": target,
        "network": network,
        "verdict": verdict,
        "predicted": False,
        "run": f"{target}/{network}",
        "error": None,
        **found,
        **others,
    }


def trend(what="fit", block="mac", word="grows"):
    return {
        "what": what,
        "block": block,
        "values": [0.01, 0.02],
        "lo": [0.005, 0.015],
        "hi": [0.02, 0.03],
        "per_doubling": 0.01,
        "per_doubling_lo": 0.002,
        "per_doubling_hi": 0.02,
        "trend": word,
    }


def protection(target, result, **others):
    nothing = dict.fromkeys(("overhead", "overhead_lockstep", "fit_hi", "spfm_lo", "confirmed"))
    return {"target": target, "result": result, "networks": [], "reason": "", **nothing, **others}


def asked(**others):
    budget = {"budget_fit": 0.015, "rationale": HOSTILE, "hazardous": ["hang"], "claims": [], "asil": None}
    return budget | {"protection": {"budget_fit": 0.015, "spfm_target": None}} | others


def document(name="study"):
    return {
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
            "rows": [trend(), trend("bits", "total", "not shown")],
            "reason": "",
        },
        "classes": [
            {
                "target": "npu-32",
                "register_class": "counter",
                "networks": ["digits"],
                "avf": 0.1,
                "avf_lo": 0.05,
                "avf_hi": 0.2,
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
        "rows": [],
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
    fine = study_text(parse_study(with_margins(True, True)))
    assert (
        "Margin asked for: 10.0 % of each total; 2 of 2 injected cells have it; the widest is ±9.00 %."
        in fine
    )
    assert "missed" not in fine.replace("0 missed", "")
    for other, told in ((False, "±12.0 %"), (None, "no failure was found")):
        made = with_margins(True, other)
        text = study_text(parse_study(made))
        assert "1 of 2 injected cells have it" in text
        assert f"The margin that was asked for is missed: other on npu-32 ({told})." in text
        assert text.count("margin missed") == 1
        page = render_study(made)["report.html"]
        assert "margin missed" in page
        assert "is missed: other on npu-32" in page


@pytest.mark.parametrize(
    "wrong", [{"margin": None}, {"reached": None}, {"half_width": None}, {"half_width": -0.1}]
)
def test_a_margin_and_whether_it_is_reached_are_told_together(wrong):
    made = document()
    made["cells"][0] |= wrong
    with pytest.raises(ReportError):
        parse_study(made)


@pytest.mark.parametrize("make", [document, bare, lambda: document(HOSTILE)])
def test_the_page_is_well_formed_loads_nothing_and_escapes(make):
    page = render_study(make())["report.html"]
    ElementTree.fromstring(page.replace("<!doctype html>", "").replace("&#173;", ""))
    for forbidden in ("<script", 'http-equiv="refresh', "src=", "@import", "url(http"):
        assert forbidden not in page.lower()


def test_the_page_and_the_text_say_what_failed_and_what_is_predicted():
    page, text = render_study(document())["report.html"], study_text(parse_study(document()), 80)
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
    own["cells"][0]["golden"] = remark
    page, text = render_study(own)["report.html"], study_text(parse_study(own))
    assert text.count("golden output: see below") == 1
    assert f"digits on npu-32: {remark}" in " ".join(text.split())
    assert "golden output: see below" in page
    assert "golden output" not in study_text(parse_study(document()))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda d: d["cells"][1].update(verdict="met"), "cells[1]"),
        (lambda d: d["cells"][0].update(verdict="failed"), "cells[0]"),
        (lambda d: d["cells"][2].update(verdict="met"), "cells[2]"),
        (lambda d: d["cells"][0].update(verdict="fine"), "cells[0].verdict"),
        (lambda d: d["verdict"].update(result="fine"), "verdict.result"),
        (lambda d: d.pop("cells"), "cells"),
        (lambda d: d["cells"][0].update(fit=-1.0), "cells[0].fit"),
    ],
)
def test_documents_that_claim_too_much_are_refused(change, field):
    found = copy.deepcopy(document())
    change(found)
    with pytest.raises(ReportError, check=about(field)):
        render_study(found)


def test_the_same_document_gives_the_same_bytes():
    assert render_study(document()) == render_study(document())


def all_met(**others):
    found = document()
    found["cells"] = [cell("npu-32", "digits"), cell("npu-64", "digits", titles={"mac": "MAC unit"})]
    found["verdict"] = {"result": "met", "reason": "2 cells: 2 met."}
    found["asked"] = asked(**others)
    return found


def test_a_budget_that_is_kept_is_called_no_more_than_that():
    page, text = render_study(all_met())["report.html"], study_text(parse_study(all_met()), 80)
    assert "FIT budget met in every cell" in page
    assert "STUDY FIT BUDGET MET IN EVERY CELL: 2 cells: 2 met." in text
    for told in ("at most 0.015 FIT of hang, at ", "no row of ISO 26262"):
        assert told in text
        assert told in page
    claimed = all_met(claims=["spfm_transient"], asil="D")
    text = study_text(parse_study(claimed), 80)
    assert "STUDY MET IN EVERY CELL" in text
    assert "Claimed of every cell for ASIL D: spfm_transient." in text
    assert "no row of ISO 26262" not in text


def test_the_figure_has_the_budget_and_blocks_in_words():
    page = render_study(all_met())["report.html"]
    assert page.count(">budget 0.015 FIT</text>") == 2
    assert page.count(">MAC unit (mac)</text>") == 2
    assert "budget 0" not in render_study(all_met(budget_fit=None))["report.html"]


def test_bars_hold_the_figures_of_the_document():
    """Widths of the stacked bars are those of the document, on the scale that the ticks are on."""
    page = render_study(all_met())["report.html"].replace("<!doctype html>", "")
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
    found["growth"]["rows"] = [
        trend("bits", "mac"),
        trend("fit", "mac"),
        trend("area", "mac", "constant"),
        trend("fit", "cc", "not shown"),
    ]
    text = study_text(parse_study(found), 100)
    assert "By a doubling of Macs, FIT grows in mac +67 %; no trend is shown in cc." in text
    assert "By a doubling of Macs, area is the same in mac." in text
    lines = [line for line in text.splitlines() if line.startswith(("FIT ", "storage bits ", "area "))]
    assert [line.split()[0] for line in lines] == ["FIT", "FIT", "storage", "area"]
    assert "+67 %" in lines[0]


def test_a_mean_over_some_of_the_networks_says_so():
    made = document()
    assert class_table(parse_study(made)).rows[0][1].endswith(", of 1 of 2 networks")
    assert "of 1 of 2 networks" in render_study(made)["report.html"]
    made["classes"][0]["networks"].append(HOSTILE)
    assert "networks" not in class_table(parse_study(made)).rows[0][1]


def test_the_page_says_where_the_time_went():
    made = document()
    made["cells"][0]["injections"] = 900
    table = time_table(parse_study(made))
    assert table.rows == (
        ("npu-32", "3.0 s", "4.5 s", "1.0 s", "900", "200"),
        ("npu-64", "0.0 s", "0.0 s", "0.0 s", "0", NOT_KNOWN),
    )
    assert "Where the time went" in render_study(made)["report.html"]
