# SPDX-License-Identifier: Apache-2.0
"""The evidence of `resil validate`: what is right passes, what is wrong on purpose does not."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from resil.cli import main
from resil.errors import ConsistencyError
from resil.layout import source_files
from resil.progress import Progress
from resil.record.errors import ReportError
from resil.record.fields import json_schema
from resil.record.validation import CHECKS, Validation, ValidationCheck
from resil.results.summarise import technology_of
from resil.validation import validate
from resil.validation.coverage import Covered, covered, true_fit
from resil.validation.design import Truth, differing, outcome_of, tally_bench, write_design
from resil.validation.model import RestartModel, bits
from resil.validation.mutants import MUTANTS, run_trial, tried
from resil.validation.trial import TRUTH_FILE, engine_trial
from testkit.once import made_once


def _make(folder: Path) -> None:
    write_design(folder)
    Truth.of(tally_bench(folder, "verilator", Progress())[1]).save(folder / TRUTH_FILE)


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with the small design and its true answers."""
    return made_once(tmp_path_factory, "validation", _make)


def rates_of(campaign):
    technology = technology_of(campaign)
    return {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}


def test_the_model_has_every_outcome(work):
    truth = Truth.load(work / TRUTH_FILE)
    assert len(truth.answers) == truth.cycles * len([*bits()])
    found = {outcome_of(answer) for answer in truth.answers}
    assert found == {"masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang"}
    assert any(answer.corrected >= 0 for answer in truth.answers)


def test_the_model_follows_a_flip():
    model = RestartModel()
    # The sum of a lane is cleared by nothing: what it holds before the first addition stays in it.
    assert model.answer("sum_q", 0, 0, 0).seen != "masked"
    # Beyond the last state there is no way back.
    assert model.answer("state_q", 0, 1, model.golden.end_cycle - 1).seen == "hang"


def test_a_wrong_answer_is_found(work):
    _, bench = tally_bench(work, "verilator", Progress())
    truth = Truth.load(work / TRUTH_FILE)
    faults = truth.faults[:40]
    assert [*differing(bench, truth, faults, 1)] == []
    answers = list(truth.answers)
    answers[7] = replace(answers[7], end_cycle=answers[7].end_cycle + 1)
    assert [own[0] for own in differing(bench, replace(truth, answers=tuple(answers)), faults, 1)] == [
        faults[7]
    ]
    other = replace(truth, golden=replace(truth.golden, status=0))
    with pytest.raises(ConsistencyError, match="run without a fault"):
        [*differing(bench, other, faults, 1)]


def test_engines_agree_with_the_model(work, tmp_path):
    (tmp_path / TRUTH_FILE).write_bytes((work / TRUTH_FILE).read_bytes())
    found = engine_trial(tmp_path, "verilator", 3000, 5, 2)
    assert (found.tried, found.wrong, found.is_bad) == (3000, 0, False)
    assert set(found.outcomes) == {"masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang"}


def test_storage_that_the_model_does_not_have_is_no_truth(work, monkeypatch):
    _, bench = tally_bench(work, "verilator", Progress())
    monkeypatch.setattr("resil.validation.design.bits", lambda: iter([("state_q", 0, 0)]))
    with pytest.raises(ConsistencyError, match="expected the 1 bits"):
        Truth.of(bench)


@pytest.mark.parametrize(
    ("below", "above", "bad"), [(0, 0, False), (25, 25, False), (0, 60, True), (100, 0, True), (50, 50, True)]
)
def test_more_misses_than_chance_explains(below, above, bad):
    assert Covered("uniform", 100, 1000, below, above, 0.05).is_bad == bad


def test_intervals_hold_the_enumerated_truth(work, monkeypatch):
    campaign, bench = tally_bench(work, "verilator", Progress())
    truth = Truth.load(work / TRUTH_FILE)
    right = covered(campaign, bench, truth, "uniform", 150, range(60))
    assert not right.is_bad
    # Of the hazardous answers that campaigns get, nine of ten are lost: their intervals lie too low.
    forgotten = iter(np.random.default_rng(1).random(len(truth.answers)) < 0.9)
    hazardous = truth.hazardous(campaign.hazardous)
    answers = tuple(
        replace(answer, seen="masked", detected=-1) if bad and next(forgotten) else answer
        for answer, bad in zip(truth.answers, hazardous, strict=True)
    )
    true = true_fit(campaign, bench, truth, rates_of(campaign))
    monkeypatch.setattr("resil.validation.coverage.true_fit", lambda *_: true)
    wrong = covered(campaign, bench, replace(truth, answers=answers), "uniform", 400, range(60))
    assert wrong.is_bad
    assert wrong.below > wrong.above


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_fits_the_sources(mutant):
    text = dict(source_files())[mutant.file].read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.new != mutant.old


def test_the_short_validation_has_mutants_of_each_sort():
    assert {m.file.split("/")[1] for m in MUTANTS if m.quick} == {"rtl_harness", "validation", "stats"}


def test_a_mutant_is_noticed_and_what_is_none_is_not(work):
    mutant = next(m for m in MUTANTS if m.name == "other-decision")
    arguments = ["--faults", "600", "--seed", "1"]
    assert "otherwise" in tried(mutant, work, arguments)
    assert tried(replace(mutant, new=mutant.old + "  # as it was"), work, arguments) == ""


def test_a_check_that_breaks_down_is_no_pass(work, tmp_path):
    found, said = run_trial("no-such-engine", tmp_path, [])
    assert found is None
    assert said


def _validation(**checks: str) -> dict[str, object]:
    rows = [
        ValidationCheck(
            name=name, state=checks.get(name, "passed"), tried=5, wrong=0, text="t", details={}, seconds=1.0
        )
        for name in CHECKS
    ]
    return {
        "schema": 1, "quick": False, "passed": True, "checks": tuple(rows), "resil": "1", "package": "p",
        "design": "d", "versions": {}, "compiler": "c", "python": "3", "platform": "x", "seed": 1,
        "seconds": 1.0, "made": "now",
    }  # fmt: skip


def test_evidence_is_passed_only_if_every_check_is():
    assert Validation(**_validation()).passed
    with pytest.raises(ValueError, match="as the checks say"):
        Validation(**_validation(truth="failed"))
    with pytest.raises(ValueError, match="each of truth"):
        Validation(**{**_validation(), "checks": ()})
    with pytest.raises(ValueError, match="tried something"):
        ValidationCheck(name="truth", state="passed", tried=0, wrong=0, text="", details={}, seconds=0.0)
    with pytest.raises(ValueError, match="came out otherwise"):
        ValidationCheck(name="truth", state="passed", tried=2, wrong=1, text="", details={}, seconds=0.0)
    with pytest.raises(ReportError, match=r"validation\.json"):
        Validation.read("{}")


def test_a_failed_check_is_kept_and_ends_with_4(tmp_path, monkeypatch, capsys):
    """A check that raises has not passed, and the others are made all the same."""

    def wrong(*_: object) -> None:
        raise ConsistencyError("the rows differ")

    good = validate._Result("passed", 1, 0, "fine.", {})
    for name in CHECKS:
        monkeypatch.setattr(validate._Work, name, lambda *_: good)
    monkeypatch.setattr(validate._Work, "restart", wrong)
    assert main(["validate", "--quick", "--out", str(tmp_path), "--quiet"]) == 4
    found = Validation.read((tmp_path / Validation.FILE).read_bytes())
    assert not found.passed
    assert (tmp_path / Validation.FILE).read_text() == found.text()
    assert json_schema(Validation)["required"] == list(found.plain())
    assert {check.name: check.state for check in found.checks}["restart"] == "failed"
    assert "the rows differ" in capsys.readouterr().out


def test_the_design_is_in_the_package():
    assert files("resil.validation").joinpath("tally/tally.sv").is_file()


@pytest.mark.slow
def test_the_short_validation_passes(tmp_path):
    assert main(["validate", "--quick", "--out", str(tmp_path), "--quiet"]) == 0
    found = Validation.read((tmp_path / Validation.FILE).read_bytes())
    assert found.passed
    assert found.quick
    assert found.versions["verilator"]
