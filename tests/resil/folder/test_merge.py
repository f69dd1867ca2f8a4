# SPDX-License-Identifier: Apache-2.0
"""Runs of one campaign that were made apart are joined: nothing lost, nothing twice, others refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.stored_rows import rows


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a campaign with the fake bench; returns its folder."""
    fake.install(monkeypatch)
    monkeypatch.setattr("resil.folder.execute.PART_ROWS", 40)

    def carry_out(name, text=TEXT):
        folder = tmp_path / name
        file = write_campaign(tmp_path, text)
        assert main(["run", str(file), "--out", str(folder), "--quiet"]) in (0, 1, 3)
        return folder

    return carry_out


def parts(folder):
    return sorted((folder / "injections").glob("part-*.parquet"))


def without(folder, name, drop):
    """Copy a run, and remove some of its part files, as if it had been interrupted."""
    other = folder.with_name(name)
    shutil.copytree(folder, other)
    for place in drop:
        parts(folder.with_name(name))[0 if place == 0 else -1].unlink()
    return other


def merge(*arguments):
    return main(["merge", *map(str, arguments)])


def test_halves_become_the_whole(run, tmp_path, capsys):
    whole = run("whole")
    one, other = without(whole, "one", [0]), without(whole, "other", [1])
    assert rows(one).num_rows < 200 > rows(other).num_rows
    assert merge(tmp_path / "out", one, other) == 0
    assert "resil run" in capsys.readouterr().out
    assert rows(tmp_path / "out").equals(rows(whole))
    campaign = tmp_path / "out" / "campaign.toml"
    before = {path.name: path.read_bytes() for path in parts(tmp_path / "out")}
    main(["run", str(campaign), "--out", str(tmp_path / "out"), "--resume", "--quiet"])
    assert {path.name: path.read_bytes() for path in parts(tmp_path / "out")} == before
    made = [json.loads((folder / "summary.json").read_text()) for folder in (whole, tmp_path / "out")]
    assert made[0]["blocks"] == made[1]["blocks"]
    assert made[0]["total"] == made[1]["total"]


def test_a_larger_campaign_holds_the_smaller(run, tmp_path, capsys):
    small, large = run("small"), run("large", TEXT.replace("injections = 200", "injections = 300"))
    capsys.readouterr()
    assert merge(tmp_path / "out", small, large, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["injections"], told["twice"]) == (300, 200)
    assert rows(tmp_path / "out").equals(rows(large))
    assert "injections = 300" in (tmp_path / "out" / "campaign.toml").read_text()
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["finished"] is None


def test_a_merged_run_has_no_result_until_it_is_judged(run, tmp_path, capsys):
    whole = run("whole")
    merge(tmp_path / "out", without(whole, "one", [0]), without(whole, "other", [1]))
    assert not (tmp_path / "out" / "summary.json").exists()
    assert main(["report", str(tmp_path / "out")]) == 2
    assert "unfinished" in capsys.readouterr().err


def test_other_campaigns_are_refused_with_what_differs(run, tmp_path, capsys):
    one, other = run("one"), run("other", TEXT.replace("seed = 7", "seed = 8"))
    assert merge(tmp_path / "out", one, other) == 2
    message = capsys.readouterr().err
    assert "these differ: seed (8 there, 7 here)" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("fit = 0.01", "fit = 0.1", "[budget] fit: 0.01 and 0.1"),
        ("fit = 0.01", 'fit = 0.01\nhazardous = ["hang"]', "[budget] hazardous: "),
        ('"finfet-16nm"', '"planar-28nm"', "[technology] name"),
    ],
)
def test_runs_judged_by_different_rules_are_refused(run, tmp_path, capsys, old, new, told):
    assert old in TEXT
    one, other = run("one"), run("other", TEXT.replace(old, new).replace("= 200", "= 300"))
    capsys.readouterr()
    assert merge(tmp_path / "out", one, other) == 2
    message = capsys.readouterr().err
    assert "expected the same rules of judging" in message
    assert told in message
    assert not (tmp_path / "out").exists()


def test_runs_for_declared_and_for_any_cluster_shares_are_not_joined(run, tmp_path, capsys):
    """The fault: the joined run was judged by the shares of the larger one, and nothing said so."""
    declared = TEXT.replace("[technology]", "clusters = { 1 = 0.8, 2 = 0.2 }\n[technology]")
    strict = declared.replace("\n[technology]", '\ncluster_shares = "any"\n[technology]')
    one, other = run("one", strict), run("other", declared.replace("= 200", "= 300"))
    capsys.readouterr()
    assert merge(tmp_path / "out", one, other) == 2
    assert "[faults] cluster_shares: any and None" in capsys.readouterr().err


def test_injections_that_contradict_each_other_are_refused(run, tmp_path, capsys, monkeypatch):
    one = run("one")
    monkeypatch.setattr(fake.FakeEngine, "outcome", _another(fake.FakeEngine.outcome))
    other = run("other")
    assert merge(tmp_path / "out", one, other) == 4
    assert "stored twice with different outcomes" in capsys.readouterr().err
    assert not (tmp_path / "out" / "injections").exists()


def _another(outcome):
    return lambda self, fault: replace(outcome(self, fault), end_cycle=4999)


def test_damaged_and_failed_runs_are_refused(run, tmp_path, capsys):
    one, other = run("one"), without(run("two"), "other", [])
    part = parts(other)[0]
    part.write_bytes(part.read_bytes()[:100])
    assert merge(tmp_path / "out", one, other) == 2
    assert "cannot be read as Parquet" in capsys.readouterr().err
    failed = without(one, "failed", [])
    facts = json.loads((failed / "provenance.json").read_text()) | {"failed": "an audit"}
    (failed / "provenance.json").write_text(json.dumps(facts))
    assert merge(tmp_path / "out", one, failed) == 4
    assert "has failed and stays so" in capsys.readouterr().err


@pytest.mark.parametrize("case", ["one", "same", "full", "file"])
def test_what_cannot_be_merged_is_said(run, tmp_path, capsys, case):
    one = run("one")
    out = tmp_path / "out"
    other = without(one, "other", [])
    if case == "full":
        out.mkdir()
        (out / "x").write_text("")
    if case == "file":
        out.write_text("")
    given = {"one": [one], "same": [one, one]}.get(case, [one, other])
    assert merge(out, *given) == 2
    assert "expected" in capsys.readouterr().err


def test_no_injection_stands_twice(run, tmp_path):
    whole = run("whole")
    merge(tmp_path / "out", whole, without(whole, "one", [0]), without(whole, "other", [1]))
    numbers = [n for part in parts(tmp_path / "out") for n in pq.read_table(part)["injection"].to_pylist()]
    assert len(numbers) == len(set(numbers)) == 200
