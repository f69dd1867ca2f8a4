# SPDX-License-Identifier: Apache-2.0
"""Stored injections are simulated again by an engine of its own, and one that differs voids the run."""

import json
import shutil
from dataclasses import replace

import pytest

import resil.folder.outcomes
from resil.cli import main
from resil.folder.outcomes import FOLDER
from resil.record.fields import json_schema
from resil.record.stored_audit import StoredAudit
from resil.rtl_harness.engine.cxxrtl.engine import CxxrtlEngine
from resil.rtl_harness.engine.fast.engine import VerilatorEngine

INJECTIONS = 400


@pytest.fixture(scope="module")
def example(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("audit")
    shutil.copytree(repository / "examples" / "awkward", folder / "awkward")
    return folder / "awkward" / "campaign.toml"


def injected(example, out):
    main(["run", str(example), "--set", f"faults.injections={INJECTIONS}", "--out", str(out), "--quiet"])
    return out


@pytest.fixture(scope="module")
def run(example, tmp_path_factory):
    return injected(example, tmp_path_factory.mktemp("runs") / "run")


def test_agreement_is_kept_with_the_limit_that_it_gives(run, capsys):
    assert main(["audit", str(run), "-n", "150", "--quiet"]) == 0
    text = (run / "audit.json").read_text()
    kept = StoredAudit.read(text)
    assert kept.text() == text
    assert json_schema(StoredAudit)["required"] == list(json.loads(text))
    assert (kept.judge, kept.engine, kept.disagreements) == ("plain", "verilator", ())
    assert (kept.drawn.stored, kept.drawn.tried, kept.drawn.differ) == (INJECTIONS, 150, 0)
    assert kept.at_most == pytest.approx(1 - 0.05 ** (1 / 150))
    assert all(own.tried >= min(own.stored, 20) for own in kept.outcomes.values())
    assert "150 of 400 injections" in capsys.readouterr().out
    assert main(["report", str(run), "--quiet"]) in (0, 1, 3)


def test_the_same_draw_comes_again_and_another_seed_draws_others(run, capsys):
    drawn = []
    for seed in ("5", "5", "6"):
        assert main(["audit", str(run), "-n", "1", "--seed", seed, "--quiet", "--json"]) == 0
        drawn.append(json.loads(capsys.readouterr().out)["outcomes"])
    assert drawn[0] == drawn[1]


def test_the_runs_own_engine_can_judge_run_by_run(run):
    assert main(["audit", str(run), "-n", "40", "--own-engine", "--quiet"]) == 0
    assert StoredAudit.read((run / "audit.json").read_text()).judge == "verilator"


@pytest.mark.parametrize("wrong", [{"end_cycle": 1}, {"output_hash": "0" * 16}, {"detected": None}])
def test_wrong_answers_that_the_engines_own_audit_lets_pass_void_the_run(
    example, tmp_path, monkeypatch, capsys, wrong
):
    """The fault: an engine that answers wrongly now and then, and whose own audit agrees with it."""
    own = VerilatorEngine.run

    def lying(self, faults, workers=1):
        for injection in own(self, faults, workers):
            field = next(iter(wrong))
            lies = injection.fault.site % 5 == 0 and getattr(injection, field) not in (None, wrong[field])
            yield replace(injection, **wrong) if lies else injection

    monkeypatch.setattr(VerilatorEngine, "run", lying)
    run = injected(example, tmp_path / "run")
    monkeypatch.undo()
    kept = tmp_path / "cache" / FOLDER / "of some campaign"
    kept.mkdir(parents=True)
    monkeypatch.setattr(resil.folder.outcomes, "cache_root", lambda: tmp_path / "cache")
    assert main(["audit", str(run), "-n", "300", "--quiet"]) == 4
    assert "came out otherwise when the engine plain simulated them again" in capsys.readouterr().err
    assert not kept.exists()
    kept = StoredAudit.read((run / "audit.json").read_text())
    assert kept.drawn.differ > 0
    assert kept.at_most > 0.01
    assert main(["report", str(run), "--quiet"]) == 4
    assert "this run has failed and stays so" in capsys.readouterr().err


def test_the_plain_engine_is_no_judge_of_itself(example, tmp_path, capsys):
    out = tmp_path / "run"
    words = ["--set", f"faults.injections={INJECTIONS}", "--engine", "plain", "--out", str(out), "--quiet"]
    main(["run", str(example), *words])
    assert main(["audit", str(out), "--quiet"]) == 2
    assert "no judge of its own answers" in capsys.readouterr().err


def test_a_simulator_that_is_not_verilators_agrees(run, capsys):
    assert main(["audit", str(run), "-n", "60", "--simulator", "cxxrtl", "--quiet"]) == 0
    kept = StoredAudit.read((run / "audit.json").read_text())
    assert (kept.judge, kept.drawn.tried, kept.disagreements) == ("cxxrtl", 60, ())
    assert "simulated again by the engine cxxrtl" in capsys.readouterr().out


def test_a_judge_that_begins_elsewhere_does_not_judge(run, monkeypatch, capsys):
    """An initial block that the judge does not run is no fault of the run."""
    golden = CxxrtlEngine.golden

    def other(self):
        found = golden(self)
        return replace(found, end=replace(found.end, end_cycle=found.end.end_cycle + 1))

    monkeypatch.setattr(CxxrtlEngine, "golden", other)
    assert main(["audit", str(run), "-n", "10", "--simulator", "cxxrtl", "--quiet"]) == 2
    assert "cannot judge this design" in capsys.readouterr().err
    assert main(["report", str(run), "--quiet"]) in (0, 1, 3)
