# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import CampaignError, ExitCode, ResilError
from resil.folder.finished import Finished
from resil.networks.compile import compile_network
from resil.protection.basis import basis_of_summary
from resil.protection.options import ProtectionError, load_options
from resil.record.summary import Summary
from resil.results.write import Results
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.npu.work import operation_work
from resil.run.estimate import estimate_campaign, estimate_code
from resil.sensitivity.cycles import TERMS, CycleModel
from resil.sensitivity.model import SHIPPED, load_model, save_model
from resil.sensitivity.summarise import predicted_verdict
from resil.stats.intervals import Interval
from resil.stats.rates import OUTCOMES
from testkit.errors import about

EXAMPLE = Path(__file__).parents[3] / "examples" / "estimate.toml"


@pytest.fixture(scope="module")
def model():
    return load_model(SHIPPED)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    out = tmp_path_factory.mktemp("estimate") / "run"
    code = main(["estimate", str(EXAMPLE), "--out", str(out)])
    return code, out, json.loads((out / "summary.json").read_text())


def read(summary):
    return Summary.read((summary[1] / "summary.json").read_bytes())


def test_the_example_is_estimated_without_any_simulation(summary):
    code, out, found = summary
    assert code == ExitCode.INCONCLUSIVE
    assert found["total"]["injections"] == 0
    assert found["notes"][0].startswith("ESTIMATE")
    assert {p.name for p in out.iterdir()} >= {"summary.json", "blocks.csv", "report.html", "provenance.json"}
    assert not (out / "injections").exists()


def test_a_model_of_other_rtl_is_told(summary, model, tmp_path):
    target = load_target("ethos-u55-32")
    own = model.accelerators["ethos-u55-32"]
    told = any(note.startswith("OTHER RTL") for note in summary[2]["notes"])
    assert told == (own.rtl != rtl_digest(target))
    for rtl, expected in ((rtl_digest(target), False), ("", True), ("of something else", True)):
        known = {**model.accelerators, "ethos-u55-32": replace(own, rtl=rtl)}
        save_model(replace(model, accelerators=known), tmp_path / "model.json.gz")
        out = tmp_path / f"run{rtl[:3]}"
        main(["estimate", str(EXAMPLE), "--out", str(out), "--model", str(tmp_path / "model.json.gz")])
        notes = json.loads((out / "summary.json").read_text())["notes"]
        assert any(note.startswith("OTHER RTL") for note in notes) == expected


def test_totals_are_the_sums_of_the_blocks_and_inside_their_intervals(summary):
    found = summary[2]
    total, blocks = found["total"], found["blocks"]
    assert total["fit"] == pytest.approx(sum(block["fit"] for block in blocks))
    assert total["ff_bits"] == sum(block["ff_bits"] for block in blocks) == 19_667
    assert total["macro_bits"] == sum(block["macro_bits"] for block in blocks) == 2_048
    for row in (total, *blocks):
        assert row["fit_lo"] <= row["fit"] <= row["fit_hi"] <= row["fit_raw"] + 1e-12
        assert sum(rate[0] for rate in row["rates"].values()) == pytest.approx(1.0 if row["avf"] else 0.0)


def test_limits_of_every_block_and_kind_are_there_and_marked_predicted(summary):
    found = summary[2]
    assert found["estimate"] is not None
    assert found["strata"] == []
    by_name = {row["block"]: row for row in found["blocks"]}
    assert {own["block"] for own in found["limits"]} == set(by_name)
    for block, row in by_name.items():
        kinds = {own["kind"]: own["fit"] for own in found["limits"] if own["block"] == block}
        assert set(kinds) == {kind for kind in ("ff", "macro") if row[f"{kind}_bits"]}
        assert sum(fit[0] for fit in kinds.values()) == pytest.approx(row["fit"])
        if len(kinds) == 1:
            assert kinds["ff"] == pytest.approx([row[f"fit{end}"] for end in ("", "_lo", "_hi")])
    for own in found["limits"]:
        assert own["predicted"] is True
        assert own["fit"][2] < own["fit_hi_joint"] <= own["fit_raw"]


def test_the_same_campaign_gives_the_same_estimate(summary, tmp_path):
    again = estimate_campaign(load_campaign(EXAMPLE), tmp_path / "again").summary
    assert again.plain()["blocks"] == summary[2]["blocks"]


def test_a_model_survives_its_file(model, tmp_path):
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model") == model
    assert (tmp_path / "model").stat().st_size < 1_000_000


def test_rates_are_probabilities_in_every_cell(model):
    for accelerator in model.accelerators.values():
        for cell in list(accelerator.bits)[::7]:
            rates = model.outcomes(cell, "conv")
            assert len(rates) == len(OUTCOMES)
            assert rates.min() > 0.0
            assert rates.sum() == pytest.approx(1.0)


def test_a_damaged_model_is_refused(tmp_path):
    for data in (b"", b"{}", SHIPPED.read_bytes()[:500]):
        (tmp_path / "model").write_bytes(data)
        with pytest.raises(ResilError, check=about("model")):
            load_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('name = "ethos-u55-32"', 'file = "own.toml"', "target"),
        ('kinds = ["ff"]', 'kinds = ["ff"]\nclusters = { 1 = 0.5, 2 = 0.5 }', "faults.clusters"),
        ("[technology]", '[execution]\ntimeout = "operation"\n[technology]', "execution.timeout"),
    ],
)
def test_what_the_model_does_not_know_is_refused(tmp_path, old, new, field):
    (tmp_path / "own.toml").write_text("")
    file = tmp_path / "campaign.toml"
    file.write_text(EXAMPLE.read_text().replace(old, new))
    with pytest.raises(CampaignError, check=about(field)):
        estimate_campaign(load_campaign(file), tmp_path / "out")


def test_learning_needs_two_networks(tmp_path, capsys):
    assert main(["learn", str(tmp_path), "-o", str(tmp_path / "model")]) == 2
    assert "give a run folder" in capsys.readouterr().err


def test_cycles_of_what_was_learnt_are_found_again():
    work = operation_work(compile_network(Path("networks/zoo/mnist_mobile.tflite"), "ethos-u55-32"))
    truth = CycleModel(factors={"": tuple(float(i + 1) for i in range(len(TERMS)))}, tail=5.0)
    cycles = [truth.predict(own) for own in work]
    model = CycleModel.fit(work, cycles, [5.0])
    assert [model.predict(own) for own in work] == pytest.approx(cycles, rel=0.02)
    assert CycleModel.from_plain(model.plain()) == model


def test_protection_of_an_estimate_rests_on_its_limits_and_is_called_predicted(summary, capsys):
    _, out, found = summary
    bound = found["total"]["fit_hi"]
    assert bound > 0.0
    assert main(["protect", str(out), "--budget-fit", str(2.0 * bound)]) == 0
    told = capsys.readouterr().out
    assert "PREDICTED, NOT MEASURED: NO PROTECTION NEEDED: at most" in told
    assert "at most 0 FIT" not in told
    assert main(["protect", str(out), "--budget-fit", str(0.5 * bound), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["from_estimate"], plan["result"]) == (True, "optimal")
    assert plan["fit_hi_unprotected"] == bound
    assert sum(choice["fit_hi_before"] for choice in plan["choices"]) >= bound
    assert plan["assumptions"][0].startswith("PREDICTED")


def test_without_the_limits_of_a_block_nothing_is_said(summary, tmp_path):
    found = read(summary)
    for limits in ((), found.limits[1:]):
        lacking = Finished(tmp_path, "estimate", {}, found.changed(limits=limits), "")
        with pytest.raises(ProtectionError, check=about("blocks")):
            basis_of_summary(lacking, load_options())


@pytest.mark.parametrize(
    ("budget", "predicted", "accepted"), [(0.1, "to meet", 0), (0.06, "undecided", 3), (0.001, "to miss", 1)]
)
def test_a_prediction_decides_no_budget_unless_it_is_accepted(summary, budget, predicted, accepted):
    campaign = load_campaign(EXAMPLE)
    asked = replace(campaign, budget=replace(campaign.budget, fit=budget))
    row = summary[2]["total"]
    total = SimpleNamespace(fit=Interval(row["fit"], row["fit_lo"], row["fit_hi"], 0.95))
    verdict = predicted_verdict(asked, total, "flip-flops only")
    assert (verdict.result, verdict.predicted) == ("inconclusive", predicted)
    found = read(summary)
    assert estimate_code(found.changed(verdict=verdict), asked) == ExitCode.INCONCLUSIVE
    assert estimate_code(found.changed(verdict=verdict), asked, accept=True) == accepted
    nothing = replace(campaign, budget=None)
    free = found.changed(verdict=predicted_verdict(nothing, total, ""))
    assert estimate_code(free, nothing) == ExitCode.MET


def test_claims_of_safety_are_not_assessed_and_never_met(summary):
    claimed = replace(load_campaign(EXAMPLE), safety=object())
    for accept in (False, True):
        assert estimate_code(read(summary), claimed, accept) == ExitCode.INCONCLUSIVE
    assert estimate_code(read(summary), load_campaign(EXAMPLE), accept=True) == ExitCode.MET


def test_the_screen_and_every_report_say_predicted_and_count_nothing(summary, capsys):
    out = summary[1]
    results = Results(read(summary))
    results.show(out)
    screen = capsys.readouterr().out
    assert "PREDICTED TO MEET THE FIT BUDGET" in screen
    assert "Predicted outcomes of upsets" in screen
    assert "injected bits" not in screen
    assert not re.search(r"\binjected  ", screen)
    page = (out / "report.html").read_text()
    assert "Predicted to meet the FIT budget" in page
    assert "resil replay" not in page
    assert "not injected" not in page
    book = openpyxl.load_workbook(out / "fmeda.xlsx")
    rows = list(book["FMEDA"].values)
    places = {name: i for i, name in enumerate(rows[0])}
    assert all(row[places["Injections"]] is None and row[places["Observed"]] is None for row in rows[1:])
    assert all("PREDICTED" in row[places["Source of figure"]] for row in rows[1:-1])
    assert any(
        row[:2] == ("Figures are", "PREDICTED: nothing was injected") for row in book["Summary"].values
    )
    table = list(csv.DictReader((out / "blocks.csv").read_text().splitlines()))
    assert {row["masked"] for row in table} == {""}
    assert {row["injections"] for row in table} == {"0"}


def test_the_level_that_was_reached_and_what_figures_rest_on_are_told(summary):
    found = summary[2]["estimate"]
    of_what = ("FIT", "AVF", *OUTCOMES[1:])
    assert set(found["held"]) == {f"{name} of {own}" for name in of_what for own in ("totals", "blocks")}
    assert set(found["rests_on"]) >= {"fit", "avf", "rates", "metrics", "cycles"}
    assert all("predicted" in found["rests_on"][name] for name in ("fit", "avf", "rates", "cycles"))
    inside, of = found["held"]["FIT of totals"]
    assert any(f"FIT of totals {inside} of {of}" in note for note in summary[2]["notes"])
