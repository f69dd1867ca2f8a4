# SPDX-License-Identifier: Apache-2.0
"""What an interrupted session kept without an audit is audited before results rest on it."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from resil.bench.identity import Identity
from resil.cli import main
from resil.folder.audits import Audits
from resil.folder.row_maker import injections_of
from resil.folder.store import RunFolder
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a campaign with the fake bench, with faults of its own; returns the exit code."""
    monkeypatch.setattr("resil.folder.execute.PART_ROWS", 40)

    def carry_out(*arguments, text=TEXT, **faults):
        fake.install(monkeypatch, **faults)
        file = write_campaign(tmp_path, text)
        return main(["run", str(file), "--out", str(tmp_path / "run"), *arguments])

    return carry_out


def audit(folder):
    return json.loads((folder / "provenance.json").read_text()).get("audit")


def numbers(folder):
    return [n for part in parts(folder) for n in pq.read_table(part)["injection"].to_pylist()]


def parts(folder):
    return sorted((folder / "injections").glob("part-*.parquet"))


def test_a_run_tells_what_was_audited(run, tmp_path, capsys):
    run()
    counts = {"answers": 200, "tried": 2}
    expected = {
        "parts": len(parts(tmp_path / "run")),
        **counts,
        "kinds": {"guessed": counts},
        "workers": None,
    }
    assert audit(tmp_path / "run") == expected
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["provenance"]["audit"] == expected
    assert "audit: 2 of 200 answers, of 1 kinds, run to the end: none differs" in capsys.readouterr().err
    run()
    assert audit(tmp_path / "run") == expected


def test_an_enlarged_run_adds_to_what_was_audited(run, tmp_path):
    run()
    run(text=TEXT.replace("injections = 200", "injections = 300"))
    assert audit(tmp_path / "run")["kinds"] == {"guessed": {"answers": 300, "tried": 4}}
    assert audit(tmp_path / "run")["parts"] == len(parts(tmp_path / "run"))


def test_what_was_kept_without_an_audit_is_audited_when_the_run_goes_on(run, tmp_path, capsys):
    """The fault: a run is killed before its engine has audited anything; resumed, it counts as audited."""
    assert run(breaks=5) == 2
    kept = len(numbers(tmp_path / "run"))
    assert 0 < kept < 200
    assert audit(tmp_path / "run") is None
    run("--resume")
    assert "audit of injections that an earlier session kept" in capsys.readouterr().err
    found = audit(tmp_path / "run")["kinds"]
    assert found["kept"]["answers"] == kept
    assert found["guessed"]["answers"] == 200 - kept


def test_what_the_audit_of_a_call_has_covered_is_not_audited_again(run, tmp_path, monkeypatch):
    monkeypatch.setattr("resil.folder.execute.CALL_FAULTS", 30)
    assert run(breaks=5) == 2
    covered = audit(tmp_path / "run")
    kept = len(numbers(tmp_path / "run"))
    assert covered["answers"] % 30 == 0
    assert 0 < covered["answers"] < kept
    run("--resume")
    assert audit(tmp_path / "run")["kinds"]["kept"]["answers"] == kept - covered["answers"]


def test_a_wrong_outcome_that_was_kept_fails_the_run_for_good(run, tmp_path, capsys):
    assert run(breaks=5) == 2
    rows = pq.read_table(parts(tmp_path / "run")[0]).to_pylist()
    (tmp_path / "run" / "summary.json").unlink(missing_ok=True)
    capsys.readouterr()
    assert run("--resume", refutes=rows[0]["site"]) == 4
    said = capsys.readouterr().err
    assert "an earlier session kept what the cocotb engine refutes" in said
    shown = next(row for row in rows if row["site"] == rows[0]["site"])
    assert f"resil replay {tmp_path / 'run'} {shown['injection']} --engine cocotb" in said
    assert not (tmp_path / "run" / "summary.json").exists()
    assert run("--resume") == 4
    assert "this run has failed and stays so" in capsys.readouterr().err


def test_merged_runs_are_audited_when_they_are_judged(run, tmp_path):
    run()
    (tmp_path / "run").rename(tmp_path / "one")
    run(text=TEXT.replace("injections = 200", "injections = 150"))
    assert main(["merge", *(str(tmp_path / name) for name in ("both", "one", "run"))]) == 0
    assert audit(tmp_path / "both") is None
    main(["run", str(tmp_path / "both" / "campaign.toml"), "--out", str(tmp_path / "both"), "--resume"])
    assert audit(tmp_path / "both")["kinds"] == {"kept": {"answers": 200, "tried": 2}}


def test_rows_say_again_what_injections_were(run, tmp_path):
    run(text=TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600"))
    found = [i for part in parts(tmp_path / "run") for i in injections_of(pq.read_table(part))]
    inputs = [i for part in parts(tmp_path / "run") for i in pq.read_table(part)["input"].to_pylist()]
    engines = {label: fake.FakeEngine(place) for place, label in enumerate(sorted(set(inputs)))}
    assert len(found) == 600
    for label, injection in zip(inputs, found, strict=True):
        assert injection == engines[label].outcome(injection.fault)
    assert any(injection.detected for injection in found)
    assert any(injection.corrected for injection in found)


def test_nothing_is_covered_of_a_folder_that_does_not_say_so(run, tmp_path):
    assert run(breaks=5) == 2
    folder = RunFolder(tmp_path / "run", Identity({}))
    assert Audits(folder, []).uncovered == parts(tmp_path / "run")
