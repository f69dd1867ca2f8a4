# SPDX-License-Identifier: Apache-2.0
"""As many inputs as a pilot finds worth their cost; what a verdict over drawn inputs says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import resil.run.campaign
from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.files import read_json
from resil.progress import Progress
from resil.run.input_plan import pilot_folder
from testkit import fake
from testkit.campaigns import TEXT, write_campaign

DRAWN = TEXT.replace("injections = 200", "injections = 6000")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)

    def run(inputs, *options, out="run", text=DRAWN):
        file = write_campaign(tmp_path, text.replace("[0, 3]", inputs))
        code = main(["run", str(file), "--out", str(tmp_path / out), *options])
        return code, capsys.readouterr()

    return run


def summary(folder, out="run"):
    return read_json(folder / out / "summary.json", "")


def test_a_pilot_says_how_many_inputs_are_drawn(run, tmp_path):
    code, printed = run('{ from = "held-out", draw = "planned", most = 40 }')
    assert code in (0, 2, 3), printed.err
    pilot, whole = summary(tmp_path, "run-pilot"), summary(tmp_path)
    assert len(pilot["campaign"]["inputs"]) == 8
    assert pilot["campaign"]["injections"] == 600
    assert pilot["verdict"]["result"] == "none"
    assert 8 <= len(whole["campaign"]["inputs"]) <= 40
    assert whole["campaign"]["injections"] == 6000
    assert "inputs vary by" in " ".join(printed.err.split())


def test_the_plan_is_the_same_again_and_goes_on(run, tmp_path):
    inputs = '{ from = "held-out", draw = "planned", most = 40 }'
    run(inputs)
    first = summary(tmp_path)
    assert run(inputs)[0] in (0, 2, 3)
    assert summary(tmp_path)["campaign"]["inputs"] == first["campaign"]["inputs"]


def test_a_run_with_planned_inputs_grows_with_the_inputs_it_has(run, tmp_path):
    def injecting(count):
        return DRAWN.replace("injections = 6000", f"injections = {count}")

    inputs = '{ from = "held-out", draw = "planned", most = 250 }'
    run(inputs, text=injecting(1200))
    first = summary(tmp_path)["campaign"]["inputs"]
    assert 8 < len(first) <= 250  # by what injections and runs cost on this machine, in seconds
    code, printed = run(inputs, text=injecting(2400))
    assert code in (0, 3), printed.err
    grown = summary(tmp_path)["campaign"]
    assert (grown["inputs"], grown["injections"]) == (first, 2400)
    assert f"{len(first)} inputs, as they were planned" in " ".join(printed.err.split())
    plan = run(inputs, "--dry-run", "--json", text=injecting(3600))[1].out
    assert json.loads(plan)["inputs"] == first


@pytest.mark.parametrize("other", ["most = 10", "most = 40, seed = 2"])
def test_another_data_set_or_fewer_inputs_at_most_are_not_what_the_run_has(run, other):
    run('{ from = "held-out", draw = "planned", most = 40 }')
    _, printed = run(f'{{ from = "held-out", draw = "planned", {other} }}')
    assert "as they were planned" not in " ".join(printed.err.split())


def test_a_plan_for_the_present_folder_has_its_pilot_beside_it(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    inputs = '{ from = "held-out", draw = "planned", most = 40 }'
    file = write_campaign(tmp_path, DRAWN.replace("[0, 3]", inputs))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["run", str(file), "--out", "."]) in (0, 2, 3), capsys.readouterr().err
    assert (tmp_path / "here-pilot" / "summary.json").exists()
    assert pilot_folder(Path("/x/..")) == Path("/-pilot")


def test_builds_and_the_comparison_are_no_part_of_what_an_input_costs(run, tmp_path, monkeypatch):
    clock = [0.0]

    def later(function, seconds):
        def call(*args, **kwargs):
            clock[0] += seconds
            return function(*args, **kwargs)

        return call

    def built(bench, engines, made=resil.run.campaign.golden_runs):
        progress.built_seconds += 100.0
        return later(made, 101.0)(bench, engines)

    progress = Progress()
    own = resil.run.campaign
    monkeypatch.setattr(own.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(own, "golden_runs", built)
    monkeypatch.setattr(own, "compared_goldens", later(own.compared_goldens, 50.0))
    file = write_campaign(tmp_path, DRAWN)
    own.run_campaign(load_campaign(file), tmp_path / "run", progress=progress)
    assert read_json(tmp_path / "run" / "provenance.json", "")["golden_seconds"] == 1.0


@pytest.mark.parametrize(("confidence", "inputs"), [(0.95, 59), (0.9, 45), (0.99, 90)])
def test_how_many_inputs_a_bound_needs_goes_by_the_confidence(run, confidence, inputs):
    text = DRAWN.replace("[campaign]", f"[campaign]\nconfidence = {confidence}")
    _, printed = run('{ from = "held-out", draw = "planned", most = 40 }', text=text)
    assert f"needs {inputs} inputs" in " ".join(printed.err.split())


def test_a_dry_run_says_the_plan_and_why(run):
    inputs = '{ from = "held-out", draw = "planned", most = 40 }'
    plan = json.loads(run(inputs, "--dry-run", "--json")[1].out)
    assert "a pilot of 8 inputs and 600 injections comes first" in plan["planned_inputs"]
    run(inputs)
    plan = json.loads(run(inputs, "--dry-run", "--json")[1].out)
    assert "by run-pilot, inputs vary by" in plan["planned_inputs"]
    fixed = '{ from = "held-out", draw = 9 }'
    text = run(fixed, "--dry-run", out="other")[1].out
    assert "inputs: from the held-out split; " in text
    assert "inputs vary by" in text


def test_a_verdict_names_its_population(run, tmp_path):
    run('{ from = "held-out", draw = 64 }')
    found = summary(tmp_path)
    assert found["sampling"]["inputs"] == "like these"
    assert "inputs like the 64 drawn from the held-out split" in found["verdict"]["population"]
    over = found["sampling"]["over_inputs"]
    assert over["data_set"] == "the held-out split"
    assert over["tolerance"]["fit"] > found["total"]["fit"]
    assert len(over["worst"]) == 5
    assert over["worst"][0]["fit"] >= over["worst"][1]["fit"]
    assert "every cycle of an inference" in found["verdict"]["population"]


def test_too_few_inputs_for_a_bound_are_said(run, tmp_path):
    run('{ from = "held-out", draw = 10 }')
    found = summary(tmp_path)
    assert found["sampling"]["over_inputs"]["tolerance"] is None
    assert any("needs 59 inputs or more; 10 were run" in note for note in found["notes"])


def test_one_drawn_input_decides_nothing(run, tmp_path):
    code, _ = run('{ from = "held-out", draw = 1 }', text=DRAWN.replace("fit = 0.01", "fit = 1000.0"))
    assert code == 3
    assert summary(tmp_path)["verdict"]["result"] == "not assessed"


def test_searched_inputs_stand_for_no_others(run, tmp_path):
    run('{ from = "held-out", hardest = 3 }')
    found = summary(tmp_path)
    assert found["sampling"]["inputs"] == "these"
    assert found["sampling"]["over_inputs"]["searched"]
    assert "which were searched for and stand for no others" in found["verdict"]["population"]


def test_listed_inputs_are_named_as_such(run, tmp_path):
    run("[4]", text=TEXT)
    assert "this input alone (4), which says nothing of others" in summary(tmp_path)["verdict"]["population"]
    run("[4, 5]", text=TEXT, out="two")
    assert "these 2 inputs alone (4, 5)" in summary(tmp_path, "two")["verdict"]["population"]
