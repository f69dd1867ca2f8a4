"""A study's page and text: valid, self-contained, escaped; no document reads better than its cells."""

from __future__ import annotations

import copy
from xml.etree import ElementTree

import pytest

from reports import ReportError, parse_study, render_study, study_text

HOSTILE = "<script>alert('&\"')</script>"


def cell(target, network, verdict="met", **others):
    blocks = [
        {"block": block, "fit": fit, "fit_lo": fit / 2, "fit_hi": fit * 2 + 0.001}
        for block, fit in (("mac", 0.01), ("cc", 0.0), ("total", 0.01))
    ]
    figures = {"fit": 0.01, "fit_lo": 0.005, "fit_hi": 0.02, "injections": 100, "blocks": blocks}
    figures |= {"spfm": [0.99, 0.98, 0.995], "scope": "flip-flops only", "reached": True}
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


def document(name="study"):
    return {
        "name": name,
        "resil": "0.1.0",
        "verdict": {"result": "inconclusive", "reason": "4 cells: 1 failed, 1 inconclusive, 2 met."},
        "confidence": 0.95,
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
            {"target": "npu-32", "register_class": "counter", "avf": 0.1, "avf_lo": 0.05, "avf_hi": 0.2}
        ],
        "seconds": 12.0,
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
    assert "STUDY INCONCLUSIVE" in text
    assert 'class="verdict inconclusive"' in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["cells"][1].update(verdict="met"), "figures with a verdict"),
        (lambda d: d["cells"][0].update(verdict="failed"), "figures with a verdict"),
        (lambda d: d["cells"][2].update(verdict="met"), "no decision of a cell that is only predicted"),
        (lambda d: d["cells"][0].update(verdict="fine"), "one of"),
        (lambda d: d["verdict"].update(result="fine"), "one of"),
        (lambda d: d.pop("cells"), "this field is missing"),
        (lambda d: d["cells"][0].update(fit=-1.0), "finite number"),
    ],
)
def test_documents_that_claim_too_much_are_refused(change, message):
    found = copy.deepcopy(document())
    change(found)
    with pytest.raises(ReportError, match=message):
        render_study(found)


def test_the_same_document_gives_the_same_bytes():
    assert render_study(document()) == render_study(document())
