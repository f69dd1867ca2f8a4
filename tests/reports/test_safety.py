# SPDX-License-Identifier: Apache-2.0
"""The safety verdict in every output; a verdict that is better than its rows is refused."""

import io
from copy import deepcopy

import pytest
from openpyxl import load_workbook

from resil.reports import ReportError, render, text_report
from resil.reports.narrative import protection_meaning
from resil.reports.safety import safety_line
from testkit.errors import about
from tests.reports.example import example_protection, example_summary, protection_of, summary_of

ROWS = [
    {
        "name": "spfm_transient",
        "state": "met",
        "unit": "share",
        "value": 0.9962,
        "lo": 0.9917,
        "hi": 0.9985,
        "at_least": True,
        "target": 0.99,
        "confidence": 0.975,
        "origin": "1,200 injections into 72 flip-flops",
        "reason": "The lower limit meets the target.",
        "centre_state": "missed",
        "corner": "centre of the raw rates",
        "corner_limit": None,
        "unaided": None,
    },
    {
        "name": "pmhf_share",
        "state": "missed",
        "unit": "FIT",
        "value": 0.05,
        "lo": 0.04,
        "hi": 0.06,
        "at_least": False,
        "target": 0.01,
        "confidence": 0.975,
        "origin": "the same",
        "reason": "Even the lower limit misses the target.",
        "centre_state": "missed",
        "corner": "centre of the raw rates",
        "corner_limit": None,
        "unaided": None,
    },
    {
        "name": "lfm_permanent",
        "state": "not assessed",
        "unit": "share",
        "value": None,
        "lo": None,
        "hi": None,
        "at_least": True,
        "target": 0.9,
        "confidence": None,
        "origin": "",
        "reason": "No stuck-at campaign was given.",
        "centre_state": "missed",
        "corner": "centre of the raw rates",
        "corner_limit": None,
        "unaided": None,
    },
]


def document():
    summary = example_summary()
    summary["safety"] = {
        "result": "missed",
        "reason": "1 of 2 claimed rows are met; missed: pmhf_share.",
        "confidence": 0.975,
        "joint_confidence": 0.95,
        "claims": ["spfm_transient", "pmhf_share"],
        "asil": "D",
        "rows": deepcopy(ROWS),
        "sensitivity": [{"title": "detection not credited", "rows": deepcopy(ROWS[:1])}],
    }
    summary["assumptions"] = [{"topic": "watchdog", "text": "None is assumed: a <hang> is hazardous."}]
    return summary


@pytest.mark.parametrize("budget", [0.01, 5.0, 1e-9])
def test_protection_never_stands_for_claims_that_are_not_met(budget):
    told = "The safety claims stay missed"
    plan = protection_of(example_protection(document(), budget))
    assert told in text_report(summary_of(document()), plan).rstrip().splitlines()[-1]
    assert any(told in text for text in protection_meaning(summary_of(document()), plan))
    unclaimed = summary_of(example_summary())
    assert told not in text_report(unclaimed, plan)
    met = document()
    met["safety"].update(result="met", claims=["spfm_transient"])
    assert told not in text_report(summary_of(met), plan)


def test_the_terminal_has_every_row_and_the_verdict_last():
    text = text_report(summary_of(document()))
    for told in ("Safety verdict, ASIL D", "99.62 % [99.17 %, 99.85 %]", ">= 99 %", "<= 0.01 FIT", "97.5 %"):
        assert told in text
    assert "LFM, permanent faults: not assessed. No stuck-at campaign was given." in text
    assert text.rstrip().splitlines()[-1].startswith("SAFETY CLAIMS MISSED: 1 of 2 claimed rows are met")


def test_claims_that_are_met_on_one_input_say_what_they_are_about():
    """The fault: the last line said that all claims are met, of whatever was run."""
    met = document()
    met["safety"].update(result="met", claims=["spfm_transient"])
    about = (
        "the network digits; this input alone (0), which says nothing of others; every cycle of an inference"
    )
    met["verdict"]["population"] = about
    last = text_report(summary_of(met)).rstrip().splitlines()[-1]
    assert last.startswith("SAFETY CLAIMS MET")
    assert last.endswith(f"It is about {about}.")


def test_a_fit_budget_alone_is_called_that_and_no_more():
    text = text_report(summary_of(example_summary(budget=10.0)))
    assert "FIT BUDGET MET" in text
    assert "SAFETY" not in text
    page = str(render(summary_of(example_summary(budget=10.0)))["report.html"])
    assert "FIT budget met" in page
    assert 'id="safety"' not in page


def test_the_page_leads_with_the_safety_verdict():
    page = str(render(summary_of(document()))["report.html"])
    assert "<title>A safety claim is missed" in page
    assert page.index('id="safety"') < page.index('id="verdict"')
    assert "No stuck-at campaign was given." in page
    assert "detection not credited" in page
    assert "a &lt;hang&gt; is hazardous" in page


def test_a_page_without_assumptions_says_so():
    assert "records no assumptions of use" in str(render(summary_of(example_summary()))["report.html"])


def test_the_workbook_has_sheets_of_verdict_and_assumptions():
    data = render(summary_of(document()))["fmeda.xlsx"]
    assert isinstance(data, bytes)
    book = load_workbook(io.BytesIO(data))
    assert book.sheetnames == [
        *("Summary", "FMEDA", "Base rates", "Safety verdict", "Assumptions of use", "Assumptions & sources"),
        "Change history",
    ]
    rows = {row[0]: row for row in book["Safety verdict"].iter_rows(min_row=2, values_only=True)}
    assert rows["SPFM, transient faults"][1:4] == ("yes", "met", "share")
    assert rows["SPFM, transient faults; detection not credited"][1] == "no"
    assert rows["LFM, permanent faults"][4] is None
    assert rows["whole"][2] == "missed"
    assert ["watchdog", "None is assumed: a <hang> is hazardous."] in [
        list(row) for row in book["Assumptions of use"].iter_rows(values_only=True)
    ]
    summary = {row[0]: row[1] for row in book["Summary"].iter_rows(values_only=True)}
    assert str(summary["Safety verdict"]).startswith("missed: 1 of 2")


def test_a_verdict_without_confidence_tells_none():
    changed = document()
    changed["safety"] |= {"result": "not assessed", "confidence": None, "joint_confidence": None}
    safety = summary_of(changed).safety
    assert safety is not None
    assert "confidence" not in safety_line(safety, "")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"result": "met"}, "safety.result"),
        ({"result": "met", "claims": []}, "safety.result"),
        ({"result": "met", "claims": ["spfm_permanent"]}, "safety.result"),
        ({"result": "fine"}, "safety.result"),
        ({"rows": [ROWS[0] | {"lo": 0.98}]}, "safety.rows[0].state"),
        ({"rows": [ROWS[0] | {"value": None}]}, "safety.rows[0].value"),
        ({"rows": [ROWS[0] | {"target": None}]}, "safety.rows[0].state"),
        ({"rows": [ROWS[1] | {"state": "met"}]}, "safety.rows[0].state"),
    ],
)
def test_a_verdict_better_than_its_rows_is_refused(change, field):
    changed = document()
    changed["safety"] |= change
    with pytest.raises(ReportError, check=about(field)):
        summary_of(changed)
