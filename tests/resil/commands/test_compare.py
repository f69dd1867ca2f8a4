# SPDX-License-Identifier: Apache-2.0
"""`resil compare`: what is said of runs side by side, and what may not be compared."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

import resil
from resil.cli import main
from resil.record.golden import GoldenComparison
from resil.record.interval import RecordedInterval
from resil.results.compare import _part as part
from resil.stats.difference import difference
from resil.stats.intervals import Interval
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


@pytest.fixture
def make(tmp_path, monkeypatch, capsys):
    """Makes a run of the fake bench, by its name and what differs in its campaign."""
    fake.install(monkeypatch)

    def run(name, *changes):
        text = TEXT.replace("seed = 7", f"seed = {sum(name.encode())}")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / name)]) in (0, 1, 3)
        capsys.readouterr()
        return str(tmp_path / name)

    return run


def test_runs_side_by_side(make, capsys):
    paths = [make("one"), make("two", ("injections = 200", "injections = 400")), make("three")]
    assert main(["compare", *paths, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [run["name"] for run in result["runs"]] == ["one", "two", "three"]
    assert [run["injections"] for run in result["runs"]] == [200, 400, 200]
    assert [own["of"] for own in result["differences"]] == ["two", "three"]
    intervals = [Interval(*run["fit"], 0.95) for run in result["runs"]]
    expected = difference(intervals[1], intervals[0])
    found = result["differences"][0]
    assert found["fit"] == [expected.estimate, expected.lo, expected.hi]
    assert found["ratio"] == intervals[1].estimate / intervals[0].estimate
    assert result["warnings"] == []
    assert main(["compare", *paths]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Runs side by side, 95 % intervals")
    assert "FIT less that of one" in out
    assert "FIT by block" in out


REFUSED = {
    "confidence": (
        ("seed = ", "confidence = 0.9\nseed = "),
        "expected the same confidence, found 0.95 and 0.9",
    ),
    "hazardous": (("[budget]", '[budget]\nhazardous = ["due"]'), "expected the same hazardous"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_not_be_compared(case, make, capsys):
    change, message = REFUSED[case]
    assert main(["compare", make("one"), make("two", change)]) == 2
    assert message in capsys.readouterr().err


def test_runs_of_one_and_of_two_inferences_are_not_compared(make, capsys):
    two = make("two", ("seed = ", "inferences = 2\nseed = "))
    assert main(["compare", make("one"), two]) == 2
    assert "expected the same [campaign] inferences, found 1 and 2 with rewrite" in capsys.readouterr().err


def test_runs_with_other_time_outs_are_not_compared(make, capsys):
    own = make("own", ("[budget]", '[execution]\ntimeout = "operation"\n[budget]'))
    assert main(["compare", make("one"), own]) == 2
    told = 'expected the same [execution] timeout, found "inference" and "operation"'
    assert told in capsys.readouterr().err
    again = make("again", ("[budget]", '[execution]\ntimeout = "operation"\n[budget]'))
    assert main(["compare", own, again]) == 0


def test_a_missed_safety_claim_stands_beside_a_budget_that_is_met(make, capsys):
    claims = '[safety]\nspfm = 0.9999\nclaims = ["spfm_transient"]\n'
    same = (("fit = 0.01", "fit = 100.0"), ('["ff"]', '["ff", "sram"]'))
    paths = [make("one", *same), make("two", *same, ("[technology]", f"{claims}[technology]"))]
    assert main(["compare", *paths, "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["verdict"], run["safety"]) for run in runs] == [("met", None), ("met", "missed")]
    assert main(["compare", *paths]) == 0
    lines = {line.split("  ")[0]: line.split() for line in capsys.readouterr().out.splitlines()}
    assert lines["FIT budget"][-2:] == ["met", "met"]
    assert lines["safety claims"][-2:] == ["none", "missed"]


WARNED = {
    "kinds": (('["ff"]', '["ff", "sram"]'), "two: other kinds of storage were injected into"),
    "inputs": (("[0, 3]", "[0, 4]"), "two: other inputs were run"),
    "rates": (("finfet-16nm", "planar-28nm"), "two: raw upset rates are others"),
    "own rates": (("[budget]", "flip_flop_fit = 1e-4\n[budget]"), "two: raw upset rates are others"),
}


@pytest.mark.parametrize("case", WARNED)
def test_what_differs_besides_is_said(case, make, capsys):
    change, message = WARNED[case]
    assert main(["compare", make("one"), make("two", change)]) == 0
    assert f"warning: {message}" in capsys.readouterr().out


def test_a_larger_run_of_the_same_campaign_is_no_other(make, capsys):
    one, two = make("ab"), make("ba", ("injections = 200", "injections = 300"))
    assert main(["compare", one, two]) == 2
    assert "found the same injections in both" in capsys.readouterr().err
    assert main(["compare", one]) == 2
    assert "expected two or more run folders" in capsys.readouterr().err


def test_a_run_that_is_not_whole_is_refused(make, tmp_path, capsys):
    one, two = make("one"), make("two")
    next((tmp_path / "two" / "injections").glob("*.parquet")).unlink()
    assert main(["compare", one, two]) == 2
    assert "two" in capsys.readouterr().err


def test_a_golden_output_that_is_not_the_networks_is_warned_of(make, monkeypatch, capsys):
    """The fault: two figures with a difference and its interval, and not a word of what one is about."""
    paths = [make("one"), make("two")]
    monkeypatch.setattr(GoldenComparison, "caveat", property(lambda self: "not the network's"))
    assert main(["compare", *paths, "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert sum("golden output" in text for text in warnings) == 2


def test_a_page_compares_blocks_and_registers_with_limits(make, capsys, tmp_path):
    paths = [make("one"), make("two", ("injections = 200", "injections = 400"))]
    page = tmp_path / "pages" / "out.html"
    assert main(["compare", *paths, "--json", "--html", str(page)]) == 0
    own = json.loads(capsys.readouterr().out)["differences"][0]
    text = page.read_text()
    ElementTree.fromstring(text.removeprefix("<!doctype html>\n"))
    assert "<script" not in text
    runs = [resil.Run(path) for path in paths]
    frames = [run.registers().set_index(["block", "register"]) for run in runs]
    assert len(own["registers"]) == len(frames[0])
    for row in own["registers"]:
        found = [frame.loc[(row["block"], row["name"])] for frame in frames]
        limits = [Interval(one.fit, one.fit_lo, one.fit_hi, 0.95) for one in found]
        expected = difference(limits[1], limits[0])
        assert row["difference"] == pytest.approx([expected.estimate, expected.lo, expected.hi])
        assert (row["mark"] == "not shown") == (expected.lo <= 0.0 <= expected.hi)
        assert row["name"] in text
    assert {row["name"] for row in own["blocks"]} == {row.name for row in runs[0].summary.blocks}


def test_what_only_one_run_has_is_marked():
    first, other = RecordedInterval(1.0, 0.5, 2.0), RecordedInterval(4.0, 3.0, 6.0)
    assert part("x", "x", None, other, "new", 0.95).mark == "new"
    assert part("x", "x", first, None, "gone", 0.95).mark == "gone"
    assert part("x", "x", first, other, "", 0.95).mark == "higher"
    assert part("x", "x", other, first, "", 0.95).mark == "lower"
    nothing = part("x", "x", first, None, "", 0.95)
    assert (nothing.mark, nothing.difference) == ("not shown", None)


def test_runs_that_differ_only_by_chance_are_seldom_marked(make, capsys):
    paths = [make("first"), make("second")]
    assert main(["compare", *paths, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["differences"][0]["registers"]
    assert sum(row["mark"] != "not shown" for row in rows) <= 0.2 * len(rows)
