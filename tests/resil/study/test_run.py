# SPDX-License-Identifier: Apache-2.0
"""A study from file to folder, on a bench without a simulator: shared, resumed, failing, predicted."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pyarrow.parquet as pq
import pytest

import resil.campaign.rules
import resil.protection.build_rtl
import resil.protection.choosing
import resil.protection.flow
import resil.run.campaign
import resil.study.answers
import resil.study.protect
import resil.study.run
from resil.bench.identity import Identity
from resil.cli import main
from resil.errors import ConsistencyError, Interrupted, StoreError
from resil.folder.kept_plans import keep_in_build, kept_plan, note_build
from resil.networks import zoo
from resil.progress import Progress
from resil.protection.choosing import choose_plan
from resil.record.study import UNASSESSED, StudyRecord
from resil.rtl_harness.errors import HarnessError
from resil.study.study_file import load_study
from resil.study.time_spent import PARTS
from testkit import fake
from testkit.campaigns import TEXT as CAMPAIGN
from testkit.forked import Forked
from testkit.once import made_once
from testkit.stored_rows import rows
from tests.resil.protection.plans import build, confirmation, keep_looked_at
from tests.resil.studies import CELLS, TEXT, write_study

FILES = {"study.json", "study.parquet", "report.html", ".lock", "ethos-u55-32", "ethos-u55-64"}
TIMES = ("seconds", "spent", "started", "finished")


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Runs `resil study` with the fake bench on a study text, a cell at a time; returns the exit code."""
    fake.install(monkeypatch)
    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 1)

    def run(*arguments, text=TEXT):
        return main(["study", str(write_study(tmp_path, text)), "--out", str(tmp_path / "out"), *arguments])

    return run


LARGER = TEXT.replace("injections = 200", "injections = 2000")
WANTED = "[protection]\nfit_share = 0.5\n"
PROTECTED = LARGER + WANTED
DIGITS_ALONE = TEXT.replace('[[network]]\npath = "zoo:mnist_lenet"\ninputs = [0, 3]\n', "").replace(
    "0, 3", "0"
)
HALF_PREDICTED = DIGITS_ALONE.replace('"ethos-u55-64"', '"ethos-u55-64"\nestimate = true')
VERIFIED = '[protection]\nbudget_fit = 0.0003\nverify_networks = ["mnist_mobile"]\n'
CONFIRMED = LARGER + VERIFIED
ONE_TARGET = LARGER.replace('[[target]]\nname = "ethos-u55-64"\n', "")
ONE_CONFIRMED = ONE_TARGET + VERIFIED


@pytest.fixture
def begun(command, tmp_path, tmp_path_factory):
    """Begins with a finished study of that text in the folder of the command, made once."""

    def copy(name, text, code=0):
        def make(folder):
            assert main(["study", str(write_study(folder, text)), "--out", str(folder / "out")]) == code

        shutil.copytree(made_once(tmp_path_factory, name, make) / "out", tmp_path / "out")

    return copy


@pytest.fixture
def finished(command, begun):
    """The command, where it has been carried out."""
    begun("study", TEXT)
    return command


@pytest.fixture
def injected(command, begun):
    """The command, where more was injected, and no protection was asked for."""
    begun("study-larger", LARGER)
    return command


@pytest.fixture
def injected_one(command, begun):
    """Likewise of one target."""
    begun("study-one-target", ONE_TARGET)
    return command


@pytest.fixture
def predicted(command, begun):
    """The command, where one of two cells was injected and the other predicted."""
    begun("study-predicted", HALF_PREDICTED, 3)
    return command


@pytest.fixture
def protected(command, begun, tmp_path):
    """The command, where that and a set for each target are there, and what the study says of protection."""
    begun("study-protected", PROTECTED)
    return command, record(tmp_path / "out")["protection"]


def record(folder):
    return json.loads((folder / "study.json").read_text())


def results(found):
    return [cell["results"] for cell in found["cells"]]


def verdicts(folder):
    return [cell["verdict"] for cell in record(folder)["cells"]]


def what_counts(folder):
    """What must not depend on how often a study was interrupted, in bytes but for times."""
    told = {key: value for key, value in record(folder).items() if key not in TIMES}
    return told, (folder / "study.parquet").read_bytes(), [rows(folder / cell) for cell in CELLS]


def failing(monkeypatch, error, network="mnist_lenet"):
    """Let the cells of a network fail."""
    prepare = resil.run.campaign.prepare

    def broken(campaign, progress=None, **others):
        if campaign.network.path == f"zoo:{network}":
            raise error
        return prepare(campaign, progress, **others)

    monkeypatch.setattr(resil.run.campaign, "prepare", broken)


def test_a_study_ends_in_one_folder(command, tmp_path, capsys):
    assert command() == 0
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == FILES
    found = record(out)
    assert [cell["run"] for cell in found["cells"]] == CELLS
    assert all((out / cell["run"] / "summary.json").exists() for cell in found["cells"])
    # What the bench without a simulator runs is no network that a reference could compute.
    reason = "4 cells: 4 met. 4 with a golden output that is not known to be the network's."
    assert found["verdict"] == {"result": "met", "reason": reason}
    summary = json.loads((out / CELLS[1] / "summary.json").read_text())
    cell = found["cells"][1]
    assert (cell["target"], cell["network"], cell["predicted"]) == ("ethos-u55-32", "mnist_lenet", False)
    results = cell["results"]
    assert [results[key] for key in ("fit", "fit_lo", "fit_hi")] == [
        summary["total"][key] for key in ("fit", "fit_lo", "fit_hi")
    ]
    assert results["injections"] == 200
    table = pq.read_table(out / "study.parquet").to_pandas()
    assert len(table) == 4 * len(summary["blocks"])
    assert table.groupby(["target", "network"])["injections"].sum().tolist() == [200] * 4
    assert table["fit"].sum() == pytest.approx(
        sum(cell["results"]["fit"] for cell in found["cells"]), rel=0.02
    )
    assert "STUDY FIT BUDGET MET IN EVERY CELL: 4 cells: 4 met." in capsys.readouterr().out


def test_finished_cells_are_never_run_again(finished, tmp_path, monkeypatch):
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    failing(monkeypatch, AssertionError("carried out again"))
    failing(monkeypatch, AssertionError("carried out again"), "digits")
    assert finished("--workers", "3") == 0
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_areas_by_another_content_of_the_library_are_found_again(command, tmp_path):
    """Campaigns name the library by its path, so a library that was changed passed for the one before."""
    text, library = TEXT + '[area]\nliberty = "cells.lib"\n', tmp_path / "cells.lib"
    out = tmp_path / "out"
    library.write_text("library (one) {}")
    command(text=text)
    before = [rows(out / cell) for cell in CELLS], record(out)["finished"]
    command(text=text)
    assert record(out)["finished"] == before[1]
    library.write_text("library (other) {}")
    command(text=text)
    assert {
        json.loads((out / cell / "summary.json").read_text())["target"]["area_library"] for cell in CELLS
    } == {sha256(library.read_bytes()).hexdigest()}
    assert all(own.equals(rows(out / cell)) for own, cell in zip(before[0], CELLS, strict=True))


def test_a_study_may_grow_and_keeps_what_is_there(finished, tmp_path, monkeypatch):
    failing(monkeypatch, AssertionError("carried out again"), "digits")
    more = TEXT.replace("[faults]", '[[network]]\npath = "zoo:mnist_vgg"\ninputs = [0]\n[faults]')
    assert finished(text=more) == 0
    assert len(record(tmp_path / "out")["cells"]) == 6


def test_another_budget_judges_again_without_an_injection(finished, tmp_path):
    before = [rows(tmp_path / "out" / cell) for cell in CELLS]
    assert finished(text=TEXT.replace("fit = 0.01", "fit = 0.0001")) == 1
    assert verdicts(tmp_path / "out") == ["missed"] * 4
    assert all(a.equals(rows(tmp_path / "out" / cell)) for a, cell in zip(before, CELLS, strict=True))


@pytest.mark.parametrize(
    ("error", "code", "internal"),
    [
        (HarnessError("the RTL is broken; mend it"), 2, False),
        (OSError(13, "Permission denied", "x"), 2, False),
        (ConsistencyError("an audit failed"), 4, True),
        (ZeroDivisionError("a fault of ours"), 4, True),
    ],
)
def test_a_cell_that_fails_says_so_and_the_others_go_on(
    command, tmp_path, monkeypatch, capsys, error, code, internal
):
    failing(monkeypatch, error)
    assert command() == code
    found = record(tmp_path / "out")
    assert verdicts(tmp_path / "out") == ["met", "failed", "met", "failed"]
    assert found["verdict"]["result"] == "inconclusive"
    failed = found["cells"][1]
    assert failed["internal"] is internal
    assert failed["results"] is None
    assert str(error.args[-1 if not isinstance(error, OSError) else 1]) in failed["error"]
    out, err = capsys.readouterr()
    assert "mnist_lenet on ethos-u55-32 failed: " in out
    assert "mnist_lenet on ethos-u55-32 failed: " in err
    assert "failed" in (tmp_path / "out" / "report.html").read_text()
    assert "Traceback" not in err


def test_what_failed_is_tried_again(command, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        failing(patch, HarnessError("for now; wait"))
        assert command() == 2
    failing(monkeypatch, AssertionError("carried out again"), "digits")
    assert command() == 0
    assert verdicts(tmp_path / "out") == ["met"] * 4


def test_a_miss_is_a_miss_whatever_else_failed(command, monkeypatch):
    failing(monkeypatch, HarnessError("for now; wait"))
    assert command(text=TEXT.replace("fit = 0.01", "fit = 0.0001")) == 1


def test_predicted_cells_are_marked_and_decide_nothing(predicted, tmp_path, capsys):
    assert predicted(text=HALF_PREDICTED) == 3
    found = record(tmp_path / "out")
    assert [cell["predicted"] for cell in found["cells"]] == [False, True]
    assert verdicts(tmp_path / "out") == ["met", "inconclusive"]
    assert [cell["results"]["injections"] for cell in found["cells"]] == [200, 0]
    assert found["cells"][1]["run"] == "ethos-u55-64/digits.estimate"
    assert found["cells"][1]["results"]["foreseen"] in ("to meet", "to miss", "undecided")
    assert found["verdict"]["result"] == "inconclusive"
    assert found["growth"]["trends"] == []
    table = pq.read_table(tmp_path / "out" / "study.parquet").to_pandas()
    assert table[table["predicted"]]["injections"].isna().all()
    out = capsys.readouterr().out
    assert "Predicted, nothing was injected: digits on ethos-u55-64." in out


def test_another_model_is_another_study(predicted, tmp_path, capsys):
    (tmp_path / "other.json").write_bytes(b"{}")
    assert predicted(text=HALF_PREDICTED + '[estimate]\nmodel = "other.json"\n') == 2
    assert "these differ: model of estimates" in capsys.readouterr().err


def test_what_was_predicted_may_be_injected_later(predicted, tmp_path, capsys):
    model = record(tmp_path / "out")["definition"]["model of estimates"]
    assert predicted(text=DIGITS_ALONE) == 0
    found = record(tmp_path / "out")
    assert [cell["predicted"] for cell in found["cells"]] == [False, False]
    assert found["definition"]["model of estimates"] == model
    # The folder still holds what that model has predicted: another one is refused.
    (tmp_path / "other.json").write_bytes(b"{}")
    assert predicted(text=HALF_PREDICTED + '[estimate]\nmodel = "other.json"\n') == 2
    assert "these differ: model of estimates" in capsys.readouterr().err


def test_predictions_without_a_budget_claim_nothing(command, tmp_path):
    assert command(text=HALF_PREDICTED[: HALF_PREDICTED.index("[budget]")]) == 0
    assert record(tmp_path / "out")["verdict"]["result"] == "none"


def test_rows_of_permanent_faults_rest_on_a_run_of_each_cell(command, tmp_path, monkeypatch):
    claims = '[safety]\nclaims = ["spfm_permanent"]\nspfm = 0.5\nleft_out = "SRAM is not asked about"\n'
    text = DIGITS_ALONE + claims + '[permanent]\nkinds = ["ff"]\ninjections = 100\nplan = "uniform"\n'
    code = command(text=text)
    out = tmp_path / "out"
    found = record(out)
    assert [cell["results"]["permanent"] for cell in found["cells"]] == [
        f"{cell['run']}.permanent" for cell in found["cells"]
    ]
    assert rows(out / "ethos-u55-32" / "digits.permanent").num_rows == 100
    summary = json.loads((out / "ethos-u55-32" / "digits" / "summary.json").read_text())
    (row,) = (own for own in summary["safety"]["rows"] if own["name"] == "spfm_permanent")
    assert row["state"] in ("met", "missed", "inconclusive")
    assert found["cells"][0]["results"]["safety"] == row["state"]
    assert code == {"met": 0, "missed": 1, "inconclusive": 3}[found["verdict"]["result"]]
    failing(monkeypatch, AssertionError("carried out again"), "digits")
    assert command(text=text) == code


def test_rows_of_permanent_faults_rest_on_those_that_are_there(command, tmp_path):
    """Also if the study was killed after it had made more of them, before the cell was judged again."""
    claims = '[safety]\nclaims = ["spfm_permanent"]\nspfm = 0.5\nleft_out = "SRAM is not asked about"\n'
    text = DIGITS_ALONE + claims + '[permanent]\nkinds = ["ff"]\ninjections = {}\nplan = "uniform"\n'
    out = tmp_path / "out"
    assert command(text=text.format(100)) == 0
    for cell in load_study(write_study(tmp_path, text.format(120))).cells:
        resil.run.campaign.run_campaign(cell.permanent, out / cell.permanent_folder)
    assert command(text=text.format(120)) == 0
    for cell in record(out)["cells"]:
        rows = json.loads((out / cell["run"] / "summary.json").read_text())["safety"]["rows"]
        (row,) = (own for own in rows if own["name"] == "spfm_permanent")
        assert row["origin"].startswith("120 stuck bits")


def test_a_cell_of_another_network_is_not_taken_up(command, tmp_path, monkeypatch):
    """Its campaign file is the same: what the file of the network held is known to the run alone."""
    prepare = resil.run.campaign.prepare

    def other(campaign, progress=None, **others):
        bench = prepare(campaign, progress, **others)
        definition = bench.identity.definition | {"network": "m" * 64}
        return replace(bench, identity=Identity(definition))

    assert command(text=DIGITS_ALONE) == 0
    out = tmp_path / "out"
    (tmp_path / "elsewhere").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(resil.run.campaign, "prepare", other)
        file = write_study(tmp_path / "elsewhere", DIGITS_ALONE)
        assert main(["study", str(file), "--out", str(tmp_path / "other")]) == 0
    shutil.rmtree(out / CELLS[0])
    shutil.copytree(tmp_path / "other" / CELLS[0], out / CELLS[0])
    assert command(text=DIGITS_ALONE) == 2
    assert verdicts(out) == ["failed", "met"]
    assert "these differ: network (" in record(out)["cells"][0]["error"]


def test_a_network_that_changes_while_a_study_goes_on_fails_the_cell(command, tmp_path, monkeypatch):
    definition_of, asked = resil.study.run.definition_of, []

    def changed(study):
        asked.append(study)
        return definition_of(study) | ({"network digits": "another"} if len(asked) > 2 else {})

    with monkeypatch.context() as patch:
        patch.setattr(resil.study.run, "definition_of", changed)
        assert command(text=DIGITS_ALONE) == 2
    assert verdicts(tmp_path / "out") == ["met", "failed"]
    error = record(tmp_path / "out")["cells"][1]["error"]
    assert error.startswith("changed while the study was carried out: network digits (")
    assert command(text=DIGITS_ALONE) == 0  # it was made of what is there


def test_a_budget_that_no_set_keeps_is_missed(finished, tmp_path, capsys):
    assert finished(text=TEXT + "[protection]\nbudget_fit = 1e-9\n") == 1
    found = record(tmp_path / "out")["protection"]
    assert [own["result"] for own in found] == ["not reached"] * 2
    assert [own["overhead"] for own in found] == [None, None]
    assert "Protection of ethos-u55-32: not reached (no set of options" in capsys.readouterr().out


def test_protection_holds_for_all_networks_of_a_target(protected, tmp_path, monkeypatch, capsys):
    command, _ = protected
    found = record(tmp_path / "out")
    for row in found["protection"]:
        assert (row["result"], row["confirmed"], len(row["networks"])) == ("reached", None, 2)
        assert 0.0 < row["overhead"] < 1.0 < row["overhead_lockstep"]
    for cell in CELLS:
        (plan,) = (tmp_path / "out" / cell / "protection").glob("*.json")
        assert len(json.loads(plan.read_text())["based_on"]) == 2
    monkeypatch.setattr(resil.protection.choosing, "choose", None)  # nothing is chosen again
    assert command(text=PROTECTED) == 0
    assert "OPEN: Selective protection suffices" in capsys.readouterr().out
    assert record(tmp_path / "out") == found


def test_a_plan_that_rests_on_other_results_is_chosen_again(protected, tmp_path, monkeypatch):
    command, _ = protected
    (plan,) = (tmp_path / "out" / CELLS[1] / "protection").glob("*.json")
    content = json.loads(plan.read_text())
    content["based_on"][0]["summary"] = "0" * 64
    plan.write_text(json.dumps(content))
    chosen, choose = [], resil.protection.choosing.choose

    def noted(design, networks, *others, **named):
        chosen.append(len(networks))
        return choose(design, networks, *others, **named)

    monkeypatch.setattr(resil.protection.choosing, "choose", noted)
    assert command(text=PROTECTED) == 0
    assert chosen == [2]


def _without(key):
    return lambda plan: plan.pop(key)


def _of(**others):
    return lambda plan: plan.update(others)


@pytest.mark.parametrize(
    "damage",
    [
        *map(_without, ("networks", "name", "result", "reason", "area_overhead")),
        lambda plan: plan["networks"].pop(),
        lambda plan: plan["networks"][1].pop("fit_hi"),
        _of(result="bogus"),
        _of(networks=5),
        _of(area_overhead="little"),
        _of(area_overhead=float("nan")),
        _of(build=[0.25]),
        _of(confirmed=True),
        _of(reason=5),
    ],
)
def test_a_plan_that_is_not_whole_is_chosen_again(protected, tmp_path, monkeypatch, damage):
    class ChosenAgainError(Exception):
        pass

    def again(*_):
        raise ChosenAgainError

    monkeypatch.setattr(resil.protection.choosing, "_plans", again)
    wanted = resil.study.protect._wanted(load_study(write_study(tmp_path, PROTECTED)).protection)
    cells = [tmp_path / "out" / cell for cell in CELLS[:2]]
    (plan,) = (cells[0] / "protection").glob("*.json")
    assert choose_plan(cells, wanted, Progress()).plan.name == plan.stem
    damaged(plan, damage)
    with pytest.raises(ChosenAgainError):
        choose_plan(cells, wanted, Progress())


def test_of_a_plan_that_is_not_whole_nothing_is_shown_and_it_does_not_end_the_study(protected, tmp_path):
    command, found = protected
    (plan,) = (tmp_path / "out" / CELLS[0] / "protection").glob("*.json")
    damaged(plan, _without("networks"))
    assert command(text=PROTECTED) == 0
    assert record(tmp_path / "out")["protection"] == found


def damaged(plan, damage):
    content = json.loads(plan.read_text())
    damage(content)
    plan.write_text(json.dumps(content))


def test_protection_that_cannot_be_read_does_not_end_the_study(protected, tmp_path, monkeypatch, capsys):
    command, _ = protected

    def gone(*_):
        raise FileNotFoundError(2, "No such file or directory", "own.toml")

    monkeypatch.setattr(resil.study.protect, "_wanted", gone)
    assert command(text=PROTECTED) == 3
    for row in record(tmp_path / "out")["protection"]:
        assert row["reason"] == (
            "own.toml: cannot be read or written (No such file or directory); free it and go on"
        )
    assert "internal error" not in capsys.readouterr().err


@pytest.fixture
def building(monkeypatch):
    """Stands for what builds and confirms; notes what was asked for, and what is to come of it."""
    noted = {"built": [], "verified": [], "confirmed": True, "error": None, "interrupted": False}

    def build_plan(run_dirs, plan, folder, wanted, progress):
        if noted["error"]:
            raise HarnessError(noted["error"])
        noted["built"].append((folder.name, wanted.options))
        folder.mkdir()
        keep_in_build(folder, build(plan))
        return build(plan)

    def verify_build(run_dirs, plan, folder, wanted, progress):
        noted["verified"].append((folder.name, noted["seen"]() if "seen" in noted else list(wanted.networks)))
        if noted["interrupted"]:
            raise Interrupted("Ctrl-C")
        keep_looked_at(folder, confirmation(plan, noted["confirmed"]))
        return confirmation(plan, noted["confirmed"])

    monkeypatch.setattr(resil.protection.flow, "build_plan", build_plan)
    monkeypatch.setattr(resil.protection.flow, "verify_build", verify_build)
    monkeypatch.setattr(resil.protection.choosing, "longest_operations", lambda *_: [])
    for module in (resil.protection.flow, resil.study.protect):
        monkeypatch.setattr(module, "require_unchanged", lambda folder: None)
    return noted


def test_what_is_chosen_is_built_and_confirmed_once(injected_one, tmp_path, building, capsys):
    assert injected_one(text=ONE_CONFIRMED) == 0
    found = record(tmp_path / "out")
    for row in found["protection"]:
        assert (row["result"], row["confirmed"], row["overhead"]) == ("reached", True, 0.25)
        assert "area by synthesis of what was built" in row["reason"]
    name = "ethos-u55-32"
    assert building["built"] == [(f"{name}-1", None)]
    assert building["verified"] == [(f"{name}-1", ["mnist_mobile"])]
    capsys.readouterr()
    assert injected_one(text=ONE_CONFIRMED) == 0
    assert len(building["built"]) == len(building["verified"]) == 1
    assert record(tmp_path / "out")["protection"] == found["protection"]
    # What other networks confirmed is not what is asked.
    assert injected_one(text=ONE_CONFIRMED.replace("mnist_mobile", "mnist_vgg")) == 0
    assert building["verified"][1:] == [(f"{name}-2", ["mnist_vgg"])]
    # Other options are another set: built beside, not in the place of what was confirmed.
    (tmp_path / "own.toml").write_text('exclude = ["hardened_leap_dice"]\n')
    assert injected_one(text=ONE_CONFIRMED + 'options = "own.toml"\n') == 0
    assert building["built"][2:] == [(f"{name}-3", tmp_path / "own.toml")]


def test_what_is_known_of_a_target_is_kept_while_the_next_is_confirmed(command, tmp_path, building):
    """A set takes long to confirm: a machine that dies meanwhile takes only that one with it."""
    building["seen"] = lambda: [row["result"] for row in record(tmp_path / "out")["protection"]]
    assert command(text=CONFIRMED) == 0
    assert building["verified"] == [
        ("ethos-u55-32-1", ["not assessed", "not assessed"]),
        ("ethos-u55-64-1", ["reached", "not assessed"]),
    ]


def test_a_confirmation_of_what_was_built_again_may_be_interrupted(injected_one, tmp_path, building):
    """What the plan says of the build before it is nothing of this one: it passed for a set that failed."""
    assert injected_one(text=ONE_CONFIRMED) == 0
    shutil.rmtree(tmp_path / "out" / "protected")
    building["interrupted"] = True
    assert injected_one(text=ONE_CONFIRMED) == 130
    building["interrupted"] = False
    assert injected_one(text=ONE_CONFIRMED) == 0
    assert [row["confirmed"] for row in record(tmp_path / "out")["protection"]] == [True]
    assert len(building["built"]) == 2


def test_what_another_content_of_a_network_confirmed_is_not_what_is_asked(injected_one, tmp_path, building):
    """The fault: the campaign file is the same, the network that it names is not."""
    network, file = tmp_path / "mine.tflite", tmp_path / "mine.toml"
    network.write_bytes((zoo.FOLDER / "mnist_mobile.tflite").read_bytes())
    np.save(tmp_path / "mine.npy", np.zeros((1, 28, 28, 1), np.int8))
    own = CAMPAIGN.replace('"zoo:digits"', '"mine.tflite"').replace("[0, 3]", '"mine.npy"')
    file.write_text(own)
    text = ONE_CONFIRMED.replace("mnist_mobile", "mine.toml")
    assert injected_one(text=text) == 0
    assert injected_one(text=text) == 0
    assert len(building["verified"]) == 1
    network.write_bytes((zoo.FOLDER / "mnist_vgg.tflite").read_bytes())
    assert injected_one(text=text) == 0
    assert len(building["verified"]) == 2
    network.unlink()
    assert injected_one(text=text) == 3
    for row in record(tmp_path / "out")["protection"]:
        assert (row["result"], row["confirmed"]) == ("not assessed", None)
        assert "mine.tflite" in row["reason"]


def test_a_set_confirmed_by_hand_counts_as_long_as_its_rtl_is_what_was_confirmed(
    injected_one, tmp_path, building, monkeypatch
):
    text = ONE_CONFIRMED.replace('verify_networks = ["mnist_mobile"]\n', "")
    assert injected_one(text=text) == 0
    for cell in CELLS[:2]:
        (file,) = (tmp_path / "out" / cell / "protection").glob("*.json")
        plan, built = kept_plan(tmp_path / "out" / cell, file.stem), tmp_path / "built" / cell
        built.mkdir(parents=True)
        keep_in_build(built, build(plan))
        keep_looked_at(built, confirmation(plan))
        note_build(tmp_path / "out" / cell, file.stem, built)
    assert injected_one(text=text) == 0
    assert all(row["confirmed"] for row in record(tmp_path / "out")["protection"])

    def changed(folder):
        raise StoreError(f"{folder}: its RTL was changed since it was built")

    for module in (resil.protection.flow, resil.study.protect):
        monkeypatch.setattr(module, "require_unchanged", changed)
    assert injected_one(text=text) == 3
    for row in record(tmp_path / "out")["protection"]:
        assert (row["result"], row["reason"]) == (
            "not assessed",
            f"{row['reason'].split(': ')[0]}: its RTL was changed since it was built",
        )
        assert "built" in row["reason"]


def test_a_set_that_injections_do_not_confirm_is_a_miss(injected_one, tmp_path, building, capsys):
    building["confirmed"] = False
    assert injected_one(text=ONE_CONFIRMED) == 1
    assert [row["confirmed"] for row in record(tmp_path / "out")["protection"]] == [False]
    printed = capsys.readouterr().out
    assert "not confirmed: it does not hold" in printed
    assert "SUPPORTED: Selective" not in printed
    assert injected_one(text=ONE_CONFIRMED) == 1
    assert len(building["verified"]) == 1


def test_a_set_that_cannot_be_built_is_not_assessed(injected_one, tmp_path, building):
    building["error"] = "cc: cannot be copied"
    assert injected_one(text=ONE_CONFIRMED) == 3
    for row in record(tmp_path / "out")["protection"]:
        assert (row["result"], row["confirmed"]) == ("not assessed", None)
        assert row["reason"] == "cc: cannot be copied"


def test_what_is_in_the_way_of_a_choice_is_said(command, tmp_path):
    change = '[[network]]\npath = "zoo:mnist', '[[network]]\nestimate = true\npath = "zoo:mnist'
    assert command(text=TEXT.replace(*change) + WANTED) == 3
    for row in record(tmp_path / "out")["protection"]:
        assert (row["result"], row["overhead"]) == ("not assessed", None)
        assert "only predicted: mnist_lenet" in row["reason"]


def test_no_protection_is_needed_where_all_is_met(command, tmp_path):
    assert command(text=TEXT + "[protection]\nwanted = true\n") == 0
    found = record(tmp_path / "out")["protection"]
    assert [(own["result"], own["overhead"], own["networks"]) for own in found] == [
        ("not needed", 0.0, ["digits", "mnist_lenet"])
    ] * 2


def test_an_interrupted_study_goes_on(command, tmp_path, monkeypatch, capsys):
    run_campaign, began = resil.study.run.run_campaign, []

    def interrupted(campaign, out, **others):
        began.append(out)
        if len(began) == 3:
            raise KeyboardInterrupt
        return run_campaign(campaign, out, **others)

    with monkeypatch.context() as patch:
        patch.setattr(resil.study.run, "run_campaign", interrupted)
        assert command() == 130
    assert "2 of 4 cells" in capsys.readouterr().err
    assert verdicts(tmp_path / "out") == ["met", "met", "not run", "not run"]
    assert record(tmp_path / "out")["verdict"]["result"] == "inconclusive"
    assert not (tmp_path / "out" / "report.html").exists()
    assert command() == 2
    assert "add --resume to finish it" in capsys.readouterr().err
    assert command("--resume") == 0


def test_where_the_time_went_is_kept_over_all_goes(command, tmp_path, monkeypatch, capsys):
    run_campaign, began, protect = resil.study.run.run_campaign, [], resil.study.run.protect_target

    def slow(campaign, out, *, progress, **others):
        began.append(out)
        with progress.building("verilated"):
            time.sleep(0.2)
        time.sleep(0.3)
        if len(began) == 2:
            raise Interrupted("a go at one campaign")
        return run_campaign(campaign, out, progress=progress, **others)

    def interrupted(*arguments):
        time.sleep(0.4)
        raise KeyboardInterrupt

    def slowly(*arguments):
        time.sleep(0.4)
        return protect(*arguments)

    monkeypatch.setattr(resil.study.run, "run_campaign", slow)
    monkeypatch.setattr(resil.study.run, "protect_target", interrupted)
    text = PROTECTED
    assert command(text=text) == 130
    assert command("--resume", text=text) == 130
    assert "interrupted; 4 of 4 cells are kept in" in capsys.readouterr().err
    monkeypatch.setattr(resil.study.run, "protect_target", slowly)
    assert command("--resume", text=text) == 0
    found = record(tmp_path / "out")
    first, second = found["spent"]
    assert (first["target"], second["target"]) == ("ethos-u55-32", "ethos-u55-64")
    assert first["builds"] >= 0.6  # three times, the one that was interrupted among them
    assert first["cells"] >= 0.9
    assert first["protection"] >= 0.8  # twice
    assert 0.4 <= second["builds"] < 0.6
    assert sum(row[part] for row in found["spent"] for part in PARTS) <= found["seconds"] + 0.5
    assert command(text=text) == 0
    assert record(tmp_path / "out") == found  # nothing was worked


def test_protection_that_is_asked_for_later_is_work(injected, tmp_path):
    before = record(tmp_path / "out")
    assert injected(text=PROTECTED) == 0
    after = record(tmp_path / "out")
    assert [row["cells"] for row in after["spent"]] == [row["cells"] for row in before["spent"]]
    assert all(row["protection"] == 0.0 for row in before["spent"])
    assert any(row["protection"] > 0.0 for row in after["spent"])
    assert after["seconds"] > before["seconds"]


def test_cells_side_by_side_find_what_they_find_one_by_one(command, tmp_path, monkeypatch, capsys):
    assert command() == 0
    alone = what_counts(tmp_path / "out")
    shutil.move(tmp_path / "out", tmp_path / "alone")
    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    capsys.readouterr()
    assert command() == 0
    assert what_counts(tmp_path / "out") == alone
    said = capsys.readouterr().err
    assert "digits on ethos-u55-32: " in said
    assert "cell 4 of 4" in said
    found = record(tmp_path / "out")
    assert all(row["cells"] > 0.0 for row in found["spent"])


def test_cells_that_fail_side_by_side_say_why_and_the_others_go_on(command, tmp_path, monkeypatch):
    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    failing(monkeypatch, HarnessError("a tool broke"))
    assert command() == 2
    cells = record(tmp_path / "out")["cells"]
    assert [cell["verdict"] for cell in cells] == ["met", "failed"] * 2
    assert "a tool broke" in cells[1]["error"]


def test_a_cell_whose_process_dies_has_failed(command, tmp_path, monkeypatch):
    """As when the system is short of memory: nothing of it may pass for a result."""
    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    prepare = resil.run.campaign.prepare

    def dying(campaign, progress=None, **others):
        if campaign.network.path == "zoo:mnist_lenet":
            os.kill(os.getpid(), signal.SIGKILL)
        return prepare(campaign, progress, **others)

    monkeypatch.setattr(resil.run.campaign, "prepare", dying)
    assert command() == 4
    cells = record(tmp_path / "out")["cells"]
    assert [cell["verdict"] for cell in cells] == ["met", "failed"] * 2
    assert "exit code -9" in cells[1]["error"]


def test_cells_side_by_side_begin_with_the_longest_network_on_each_target(
    command, tmp_path, monkeypatch, capsys
):
    """What they say together stands in the study's order; what is built is for all cells of a target."""
    expected = tmp_path / "expected"

    def expect(self, faults, first=None):
        with expected.open("a") as file:
            file.write(f"{faults}\n")

    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    monkeypatch.setattr(fake.FakeEngine, "expect", expect)
    assert command() == 0
    begun = [line.split(": ", 2)[2] for line in capsys.readouterr().err.splitlines() if " of 4: " in line]
    assert begun == [f"{name} on ethos-u55-{macs}" for name in ("mnist_lenet", "digits") for macs in (32, 64)]
    found = record(tmp_path / "out")["cells"]
    assert [f"{cell['target']}/{cell['network']}" for cell in found] == CELLS
    assert set(expected.read_text().split()) == {"400"}  # of a target two cells, 200 each


def test_an_interrupt_reaches_cells_side_by_side_and_they_keep_what_they_have(tmp_path, monkeypatch):
    file = write_study(tmp_path)
    monkeypatch.setenv("FAKE_SECONDS", "0.001")
    base, log = [sys.executable, "-m", "testkit.fake", "study", str(file), "--out"], tmp_path / "said"
    several = ["--workers", "2"]
    assert Forked([*base, str(tmp_path / "calm"), "--workers", "1"], log).wait(120) == 0
    monkeypatch.setenv("FAKE_SECONDS", "0.05")
    process = Forked([*base, str(tmp_path / "out"), *several], log)
    assert process.says("injections with")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    monkeypatch.setenv("FAKE_SECONDS", "0.001")
    kept = sum(1 for _ in (tmp_path / "out").glob("*/*/injections/part-*.parquet"))
    assert kept
    assert Forked([*base, str(tmp_path / "out"), "--resume", *several], log).wait(120) == 0
    assert what_counts(tmp_path / "out") == what_counts(tmp_path / "calm")


def test_sets_that_are_chosen_side_by_side_are_those_chosen_one_by_one(
    injected, begun, tmp_path, monkeypatch, capsys
):
    assert injected(text=PROTECTED) == 0
    alone = record(tmp_path / "out")["protection"]
    assert [row["result"] for row in alone] == ["reached", "reached"]
    shutil.rmtree(tmp_path / "out")
    begun("study-larger", LARGER)
    protect = resil.study.run.protect_target

    def noting(wanted, target, cells, out, workers, progress):
        row = protect(wanted, target, cells, out, workers, progress)
        return row.changed(reason=f"{row.reason}; {os.getpid() == own}, {workers}")

    own = os.getpid()
    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 4)
    monkeypatch.setattr(resil.study.run, "protect_target", noting)
    capsys.readouterr()
    assert injected(text=PROTECTED) == 0
    found = record(tmp_path / "out")
    expected = [{**row, "reason": f"{row['reason']}; False, 2"} for row in alone]
    assert found["protection"] == expected
    said = capsys.readouterr().err
    assert "protection of ethos-u55-64, 2 of 2" in said
    assert "ethos-u55-64: choosing among" in said
    assert all(row["protection"] > 0.0 for row in found["spent"])


def test_a_target_whose_protection_dies_is_not_assessed_and_the_others_are(injected, tmp_path, monkeypatch):
    protect = resil.study.run.protect_target

    def dying(wanted, target, *others):
        if target == "ethos-u55-32":
            os.kill(os.getpid(), signal.SIGKILL)
        return protect(wanted, target, *others)

    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    monkeypatch.setattr(resil.study.run, "protect_target", dying)
    assert injected(text=PROTECTED) == 3
    first, second = record(tmp_path / "out")["protection"]
    assert (first["result"], second["result"]) == (UNASSESSED, "reached")
    assert "exit code -9; go on with --resume" in first["reason"]
    monkeypatch.setattr(resil.study.run, "protect_target", protect)
    assert injected("--resume", text=PROTECTED) == 0
    assert [row["result"] for row in record(tmp_path / "out")["protection"]] == ["reached", "reached"]


def test_sets_side_by_side_that_are_interrupted_are_gone_on_with(injected, tmp_path, monkeypatch, capsys):
    protect = resil.study.run.protect_target

    def interrupted(wanted, target, *others):
        if target == "ethos-u55-64":
            raise KeyboardInterrupt
        return protect(wanted, target, *others)

    monkeypatch.setattr(resil.campaign.rules, "usable_processors", lambda: 2)
    monkeypatch.setattr(resil.study.run, "protect_target", interrupted)
    assert injected(text=PROTECTED) == 130
    assert "go on with: resil study" in capsys.readouterr().err
    # What the other one has come to is kept.
    assert [row["result"] for row in record(tmp_path / "out")["protection"]] == ["reached", UNASSESSED]
    monkeypatch.setattr(resil.study.run, "protect_target", protect)
    assert injected("--resume", text=PROTECTED) == 0
    assert [row["result"] for row in record(tmp_path / "out")["protection"]] == ["reached", "reached"]


def test_kills_between_and_inside_cells_leave_no_trace(tmp_path, monkeypatch):
    file = write_study(tmp_path)
    monkeypatch.setenv("FAKE_SECONDS", "0.001")
    base, log = [sys.executable, "-m", "testkit.fake", "study", str(file), "--out"], tmp_path / "said"
    assert Forked([*base, str(tmp_path / "calm")], log).wait(120) == 0
    chance, out = random.Random(5), tmp_path / "out"
    kills = 0
    for wait in ("cell 1 of", "injections with", "cell 2 of", "injections with"):
        process = Forked([*base, str(out), "--resume"], log)
        if process.says(wait):
            time.sleep(0.15 * chance.random())
            process.kill()
            kills += 1
        process.wait(120)
    assert kills == 4
    assert Forked([*base, str(out), "--resume"], log).wait(120) == 0
    assert what_counts(out) == what_counts(tmp_path / "calm")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (("seed = 7", "seed = 8"), "seed (7 there, 8 here)"),
        (('kinds = ["ff"]', 'kinds = ["sram"]'), "kinds (ff macro there, sram here)"),
        (("inputs = [0, 3]", "inputs = [0, 4]"), "network digits ("),
        (('[[target]]\nname = "ethos-u55-64"\n', ""), "target ethos-u55-64 ("),
    ],
)
def test_the_folder_of_another_study_is_refused_with_what_differs(finished, capsys, change, difference):
    assert finished(text=TEXT.replace(*change)) == 2
    message = capsys.readouterr().err
    assert "made by another study; these differ:" in message
    assert difference in message


def test_other_folders_are_refused(command, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("")
    assert command() == 2
    assert "found mine.txt but no study.json" in capsys.readouterr().err
    (out / "mine.txt").unlink()
    for text, message in (
        ("{", "damaged"),
        ('{"schema": 99}', f"expected schema {StudyRecord.SCHEMA}, found 99"),
        ("{}", "is missing"),
    ):
        (out / "study.json").write_text(text)
        assert command() == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage",
    [
        {"cells": [5]},
        {"seconds": float("-inf")},
        {"seconds": -1.0},
        {"started": 5},
        {"finished": 5},
        {"spent": None},
        {"spent": 5},
        {"spent": [5]},
        {"spent": [{"target": "ethos-u55-32"}]},
        {"spent": [{"target": "ethos-u55-32", "builds": 0.0, "cells": float("nan"), "protection": 0.0}]},
        {"protection": None},
    ],
)
def test_a_damaged_record_is_refused_and_stays(finished, tmp_path, capsys, damage):
    file = tmp_path / "out" / "study.json"
    file.write_text(json.dumps(record(tmp_path / "out") | damage))
    before = file.read_bytes()
    capsys.readouterr()
    assert finished() == 2
    assert f"{file}: damaged: " in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_cell_whose_injections_were_lost_is_carried_out_again(finished, tmp_path):
    part = next((tmp_path / "out" / CELLS[0] / "injections").glob("part-*.parquet"))
    part.unlink()
    assert finished() == 0
    assert rows(tmp_path / "out" / CELLS[0]).num_rows == 200


def test_a_dry_run_counts_and_writes_nothing(command, begun, tmp_path, capsys):
    assert command("--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["builds"], plan["campaigns"], plan["estimates"], plan["injections"]) == (2, 4, 0, 800)
    assert plan["unknown"] == 4
    assert not (tmp_path / "out").exists()
    begun("study", TEXT)
    capsys.readouterr()  # what it printed if this is the first test that asks for it
    more = TEXT.replace("injections = 200", "injections = 300")
    assert command("--dry-run", "--json", text=more) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["campaigns"], plan["injections"], plan["unknown"]) == (4, 400, 0)
    assert plan["seconds"] == pytest.approx(sum(cell["seconds"] for cell in plan["cells"]), abs=0.05)
    assert command("--dry-run", "--json") == 0
    plan = json.loads(capsys.readouterr().out)
    assert {cell["state"] for cell in plan["cells"]} == {"finished"}
    assert (plan["builds"], plan["campaigns"], plan["seconds"]) == (0, 0, 0)


def test_everything_fits_eighty_columns(finished, capsys, monkeypatch):
    monkeypatch.setattr("resil.commands.study.width", lambda: 80)
    finished()
    told = capsys.readouterr().out.split("report: ")[0]
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_disk_that_cannot_be_written_is_said(command, tmp_path, capsys):
    tmp_path.joinpath("out").mkdir(mode=0o500)
    assert command() == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said(command, tmp_path, capsys):
    (tmp_path / "out").write_text("")
    assert command() == 2
    assert "expected a folder, found a file" in capsys.readouterr().err


def test_a_disk_without_room_for_a_folder_is_said(command, capsys, tmp_path):
    assert main(["study", str(write_study(tmp_path)), "--out", "/proc/study"]) == 2
    assert "cannot be made a folder of results" in capsys.readouterr().err


def test_cells_that_miss_the_margin_are_named_and_classes_are_counted(command, tmp_path, capsys):
    plan = 'plan = "neyman"\nmargin = {}'
    text = TEXT.replace('plan = "uniform"', plan.format(0.9)).replace("injections = 200", "injections = 2000")
    command(text=text)
    found = record(tmp_path / "out")
    assert all(own["reached"] and own["half_width"] <= own["margin"] == 0.9 for own in results(found))
    assert "4 of 4 injected cells have it" in capsys.readouterr().out
    assert found["classes"]
    command(text=text.replace("0.9", "0.01"))
    found = record(tmp_path / "out")
    assert not any(own["reached"] for own in results(found))
    assert "The margin that was asked for is missed: digits on ethos-u55-32 (±" in capsys.readouterr().out
