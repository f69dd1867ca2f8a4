# SPDX-License-Identifier: Apache-2.0
"""A campaign from file to run folder, on a bench without a simulator."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import signal
import sys
import time

import pyarrow.parquet as pq
import pytest

import resil.run.campaign
from resil.cli import main
from resil.record.summary import Summary
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.forked import Forked

FILES = {
    "blocks.csv",
    "campaign.toml",
    "fmeda.xlsx",
    "injections",
    "provenance.json",
    "report.html",
    "sites.parquet",
    "strata.parquet",
    "summary.json",
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command line with the fake bench; returns exit code."""
    fake.install(monkeypatch)

    def command(*arguments):
        return main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), *arguments])

    return command


def injections(folder):
    tables = [pq.read_table(path).to_pylist() for path in (folder / "injections").glob("part-*.parquet")]
    return sorted((row for table in tables for row in table), key=lambda row: row["injection"])


def results(folder):
    """What must not depend on how often a run was interrupted."""
    summary = json.loads((folder / "summary.json").read_text())
    del summary["provenance"], summary["campaign"]["seconds"], summary["campaign"]["workers"]
    return injections(folder), summary, (folder / "blocks.csv").read_text()


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_leaves_a_whole_folder_and_prints_the_verdict(run, tmp_path, capsys):
    code = run()
    out, err = capsys.readouterr()
    folder = tmp_path / "run"
    assert {p.name for p in folder.iterdir()} - {".lock"} == FILES
    summary = json.loads((folder / "summary.json").read_text())
    verdict = Summary.read(json.dumps(summary)).verdict.result
    assert code == {"met": 0, "missed": 1, "inconclusive": 3}[verdict]
    assert verdict.upper() in out
    assert "200 of 200 injections" in err
    assert summary["total"]["injections"] == len(injections(folder)) == 200
    assert [b["block"] for b in summary["blocks"]] == ["cc", "mac", "sb", "cpm", "(no block)"]
    assert all(b["injections"] >= 10 for b in summary["blocks"] if b["ff_bits"])


def test_what_engines_note_is_told_once(run, capsys):
    run()
    assert capsys.readouterr().err.count("note: of the fake") == 1


def test_rows_say_where_and_what(run, tmp_path):
    run()
    for row in injections(tmp_path / "run"):
        site = fake.SITES[row["site"]]
        assert row["path"] == site.element.path
        assert row["bit"] == site.bit + site.element.lsb
        assert row["stratum"] == f"{row['block']}/ff"
        assert row["input"] in (0, 3)
        assert row["outcome"] in ("masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang")
    sites = pq.read_table(tmp_path / "run" / "sites.parquet").to_pylist()
    assert len(sites) == fake.SITES.size
    listed = {s["site"]: (s["path"], s["word"], s["bit"], s["block"]) for s in sites}
    for row in injections(tmp_path / "run"):
        assert listed[row["site"]] == (row["path"], row["word"], row["bit"], row["block"])


def test_the_number_of_workers_changes_nothing(run, tmp_path):
    run("--workers", "1")
    (tmp_path / "run").rename(tmp_path / "one")
    run("--workers", "7")
    assert results(tmp_path / "one") == results(tmp_path / "run")


def test_a_finished_run_is_only_judged_again(run, tmp_path, capsys):
    code = run()
    before = snapshot(tmp_path / "run")
    first = capsys.readouterr().out
    assert run() == code
    assert snapshot(tmp_path / "run") == before
    assert capsys.readouterr().out == first


def test_json_is_the_summary(run, tmp_path, capsys):
    run("--json")
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "run" / "summary.json").read_text())


def test_another_budget_judges_the_same_injections(run, tmp_path):
    run()
    before = injections(tmp_path / "run")
    parts = snapshot(tmp_path / "run" / "injections")
    for fit, code in (("1e-9", 1), ("1e3", 0)):
        campaign = write_campaign(tmp_path, TEXT.replace("fit = 0.01", f"fit = {fit}"))
        assert main(["run", str(campaign), "--out", str(tmp_path / "run")]) == code
    assert injections(tmp_path / "run") == before
    assert snapshot(tmp_path / "run" / "injections") == parts


def test_without_a_budget_there_is_no_verdict(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    campaign = write_campaign(tmp_path, TEXT.split("[budget]")[0])
    assert main(["run", str(campaign), "--out", str(tmp_path / "run")]) == 0
    assert "NO BUDGET" in capsys.readouterr().out


def test_a_larger_campaign_keeps_what_is_there(run, tmp_path):
    run()
    before = injections(tmp_path / "run")
    campaign = write_campaign(tmp_path, TEXT.replace("injections = 200", "injections = 300"))
    main(["run", str(campaign), "--out", str(tmp_path / "run")])
    after = injections(tmp_path / "run")
    assert len(after) == 300
    assert all(row in after for row in before)


def test_a_damaged_part_is_made_again(run, tmp_path, capsys):
    run()
    before = results(tmp_path / "run")
    part = next((tmp_path / "run" / "injections").glob("part-*.parquet"))
    part.write_bytes(part.read_bytes()[:-100])
    run()
    assert "set aside, its injections will be made again" in capsys.readouterr().err
    assert results(tmp_path / "run") == before


def test_another_campaign_is_refused(run, tmp_path, capsys):
    run()
    before = snapshot(tmp_path / "run")
    campaign = write_campaign(tmp_path, TEXT.replace("seed = 7", "seed = 8"))
    assert main(["run", str(campaign), "--out", str(tmp_path / "run"), "--resume"]) == 2
    assert "these differ: seed (7 there, 8 here)" in capsys.readouterr().err
    assert snapshot(tmp_path / "run") == before


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"forgets": 5}, "engine left out"),
        ({"repeats": 5}, "engine answered twice, or unasked"),
        ({"withdraws": 5}, "withdrew its answers: the audit found a difference; to see the run to its end: "),
    ],
)
def test_an_engine_that_contradicts_itself_fails_the_run_for_good(
    fault, message, tmp_path, monkeypatch, capsys
):
    arguments = ["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), "--resume"]
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fake.install(monkeypatch, **fault)
    assert main(arguments) == 4
    said = capsys.readouterr().err
    assert message in said
    if "withdraws" in fault:
        lowest = min(injections(tmp_path / "run"), key=lambda row: (row["site"], row["cycle"]))
        assert f"resil replay {tmp_path / 'run'} {lowest['injection']} --engine cocotb" in said
    assert not (tmp_path / "run" / "summary.json").exists()
    fake.install(monkeypatch)
    assert main(arguments) == 4
    assert "this run has failed and stays so" in capsys.readouterr().err


def test_a_simulator_that_breaks_leaves_a_run_to_resume(run, tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch, breaks=5)
    assert run() == 2
    assert "the simulator died" in capsys.readouterr().err
    kept = injections(tmp_path / "run")
    assert 0 < len(kept) < 200
    fake.install(monkeypatch)
    run("--resume")
    assert len(injections(tmp_path / "run")) == 200


def start(folder, *arguments, seconds="0.01"):
    command = [sys.executable, "-m", "testkit.fake", "run", str(write_campaign(folder)), *arguments]
    number = len(list(folder.glob("said-*")))
    return Forked(
        [*command, "--out", str(folder / "run")], folder / f"said-{number}", {"FAKE_SECONDS": seconds}
    )


def test_interrupted_in_the_synthesis_keeps_its_injections(tmp_path, monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    def prepare(campaign, progress, simulates=False):
        return dataclasses.replace(fake.fake_bench(campaign), area=interrupted)

    monkeypatch.setattr(resil.run.campaign, "prepare", prepare)
    out = tmp_path / "run"
    arguments = ["run", str(write_campaign(tmp_path)), "--out", str(out)]
    assert main(arguments) == 130
    assert "all injections are kept" in capsys.readouterr().err
    assert not (out / "summary.json").exists()
    parts = {path: path.read_bytes() for path in (out / "injections").iterdir()}
    assert parts
    fake.install(monkeypatch)
    assert main([*arguments, "--resume"]) == 0
    assert {path: path.read_bytes() for path in (out / "injections").iterdir()} == parts
    assert (out / "summary.json").exists()


@pytest.mark.parametrize(("ending", "times"), [(signal.SIGINT, 2), (signal.SIGTERM, 1), (signal.SIGKILL, 4)])
def test_a_killed_run_is_resumed_to_the_same_result(ending, times, tmp_path, run):
    run()
    (tmp_path / "run").rename(tmp_path / "undisturbed")
    moment = random.Random(ending)
    for attempt in range(times):
        process = start(tmp_path, "--resume") if attempt else start(tmp_path)
        assert process.says("injections with the"), process.said()
        time.sleep(moment.uniform(0.05, 0.4))
        process.send_signal(ending)
        code = process.wait(30)
        if ending == signal.SIGKILL:
            assert code == -signal.SIGKILL
        else:
            assert code == 130
            kept = int(re.search(r"(\d+) of 200 injections are kept", process.said())[1])
            assert kept == len(injections(tmp_path / "run"))
            assert "go on with: resil run" in process.said()
    assert 0 < len(injections(tmp_path / "run")) < 200
    assert run() == 2
    assert run("--resume") == run()
    assert results(tmp_path / "run") == results(tmp_path / "undisturbed")
    assert not list((tmp_path / "run").rglob("*.tmp"))


def test_a_summary_that_is_no_text_is_written_anew(run, tmp_path):
    run()
    file = tmp_path / "run" / "summary.json"
    before = file.read_bytes()
    file.write_bytes(b"\xff" + before)
    assert run("--resume") in (0, 1, 3)
    assert file.read_bytes()[:1] == b"{"


def test_a_run_that_forgot_how_many_injections_it_had_is_refused(run, tmp_path, capsys):
    run()
    file = tmp_path / "run" / "provenance.json"
    facts = json.loads(file.read_text())
    del facts["results"]["injections"]
    file.write_text(json.dumps(facts))
    assert main(["report", str(tmp_path / "run")]) == 2
    assert "results.injections: this field is missing" in capsys.readouterr().err
