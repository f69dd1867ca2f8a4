# SPDX-License-Identifier: Apache-2.0
"""Every verdict stands over the ranges of raw rates, and also if nobody reacts to alarms."""

from __future__ import annotations

import pytest

from resil.results.safety_rows import safety_verdict
from resil.results.views import CENTRE, views_of
from resil.stats.evidence import Evidence, PooledGroup
from testkit.campaigns import TEXT
from tests.resil.results.test_like_these import run
from tests.resil.results.test_safety_rows import HEAD, SAFETY, grounds, rows

CORNERS = {"raw rates of flip-flops lowest": {"ff": 0.5}, "raw rates of flip-flops highest": {"ff": 1.5}}
COUNTS = {"masked": 9700, "sdc_critical": 100, "due:sdc_critical:error": 150, "due:masked:error": 50}


def test_what_an_alarm_is_worth_is_the_difference_of_the_views():
    evidence = Evidence((PooledGroup("mac", "ff", 10.0, COUNTS),))
    total = evidence.rate({"sdc_critical"})
    found = views_of(evidence, frozenset({"sdc_critical", "hang"}), {}, total)
    assert found.aided.fit is total
    assert found.unaided.fit.estimate == pytest.approx(2.5 * total.estimate)
    assert found.unaided.corner == CENTRE


def test_a_fault_whose_run_the_alarm_ended_counts_as_the_worst_if_nobody_reacts():
    evidence = Evidence((PooledGroup("mac", "ff", 10.0, {"masked": 900, "due::error": 100}),))
    found = views_of(evidence, frozenset({"sdc_critical"}), {}, evidence.rate(()))
    assert found.unaided.fit.estimate == pytest.approx(1.0)


def test_the_worst_corner_decides_and_is_named():
    evidence = Evidence((PooledGroup("mac", "ff", 10.0, COUNTS),))
    total = evidence.rate({"sdc_critical"})
    found = views_of(evidence, frozenset({"sdc_critical"}), CORNERS, total).aided
    assert found.corner == "raw rates of flip-flops highest"
    assert found.worst.hi == pytest.approx(1.5 * total.hi)
    worst, centre = found.verdicts(1.2 * total.hi, 0.95)
    assert (worst.result, centre.result) == ("inconclusive", "met")


def test_a_budget_that_the_centre_alone_meets_is_not_met(tmp_path, monkeypatch, capsys):
    _, first = run(tmp_path, monkeypatch, TEXT, "first")
    high = first["total"]["fit_hi"]
    worst = first["verdict"]["corner_fit"][2]
    assert worst > 1.1 * high
    budget = f"fit = {(high + worst) / 2:.6g}"
    code, summary = run(tmp_path, monkeypatch, TEXT.replace("fit = 0.01", budget), "second")
    assert (code, summary["verdict"]["result"], summary["verdict"]["centre"]) == (3, "inconclusive", "met")
    out = " ".join(capsys.readouterr().out.split())
    assert "at the raw rates of flip-flops highest" in out
    assert "Unaided, with nobody to react:" in out


def test_spfm_unprotected_stands_unaided_and_with_the_error_flag(tmp_path, monkeypatch, capsys):
    text = HEAD.replace("injections = 200", "injections = 4000")
    _, summary = run(tmp_path, monkeypatch, text)
    unaided, aided = (summary["metrics"][key] for key in ("spfm_unaided", "spfm"))
    assert unaided[0] < aided[0]
    out = " ".join(capsys.readouterr().out.split())
    assert "unprotected and unaided:" in out
    assert "with the error flag and a host that reacts:" in out


def test_rows_hold_over_the_raw_rates_and_show_the_unaided_view(tmp_path, monkeypatch):
    found = rows(safety_verdict(grounds(COUNTS, rates=CORNERS)))
    row = found["pmhf_share"]
    assert row.corner == "raw rates of flip-flops highest"
    assert row.corner_limit == pytest.approx(1.5 * row.hi)
    assert row.unaided.value == pytest.approx(2.5 * row.value)
    assert found["due_rate"].unaided is None
    run(tmp_path, monkeypatch, HEAD + SAFETY)
    assert "decided at" in (tmp_path / "run" / "report.html").read_text()


def test_an_unaided_miss_beside_a_met_row_is_in_the_table():
    counts = {"masked": 99_000, "sdc_critical": 1, "due:sdc_critical:error": 5000}
    row = rows(safety_verdict(grounds(counts)))["spfm_transient"]
    assert (row.state, row.unaided.state) == ("met", "missed")
