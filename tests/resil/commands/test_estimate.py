from __future__ import annotations

import json
from pathlib import Path

import pytest

from networks.compile import compile_network
from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.commands.estimate import estimate_campaign
from resil.errors import CampaignError, ResilError
from resil.protection.options import ProtectionError, load_options
from resil.protection.plan import plan_protection
from resil.sensitivity.cycles import TERMS, CycleModel
from resil.sensitivity.model import SHIPPED, load_model, save_model
from rtl_harness.npu.work import operation_work
from stats.rates import OUTCOMES

EXAMPLE = Path(__file__).parents[3] / "examples" / "estimate.toml"


@pytest.fixture(scope="module")
def model():
    return load_model(SHIPPED)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    out = tmp_path_factory.mktemp("estimate") / "run"
    code = main(["estimate", str(EXAMPLE), "--out", str(out)])
    return code, out, json.loads((out / "summary.json").read_text())


def test_the_example_is_estimated_without_any_simulation(summary):
    code, out, found = summary
    assert code == {"met": 0, "missed": 1, "inconclusive": 3}[found["verdict"]["result"]]
    assert found["total"]["injections"] == 0
    assert found["notes"][0].startswith("ESTIMATE")
    assert {p.name for p in out.iterdir()} >= {"summary.json", "blocks.csv", "report.html", "provenance.json"}
    assert not (out / "injections").exists()


def test_totals_are_the_sums_of_the_blocks_and_inside_their_intervals(summary):
    found = summary[2]
    total, blocks = found["total"], found["blocks"]
    assert total["fit"] == pytest.approx(sum(block["fit"] for block in blocks))
    assert total["ff_bits"] == sum(block["ff_bits"] for block in blocks) == 15_821
    for row in (total, *blocks):
        assert row["fit_lo"] <= row["fit"] <= row["fit_hi"] <= row["fit_raw"] + 1e-12
        assert sum(rate[0] for rate in row["rates"].values()) == pytest.approx(1.0 if row["avf"] else 0.0)


def test_limits_of_every_block_and_kind_are_there_and_marked_predicted(summary):
    found = summary[2]
    assert found["predicted"] is True
    assert found["strata"] == []
    by_name = {row["block"]: row for row in found["blocks"]}
    assert {own["block"] for own in found["limits"]} == set(by_name)
    for own in found["limits"]:
        assert own["predicted"] is True
        assert own["kind"] == "ff"
        assert own["fit"] == pytest.approx([by_name[own["block"]][f"fit{end}"] for end in ("", "_lo", "_hi")])
        assert own["fit"][2] < own["fit_hi_joint"] <= own["fit_raw"]


def test_the_same_campaign_gives_the_same_estimate(summary, tmp_path):
    again = estimate_campaign(load_campaign(EXAMPLE), tmp_path / "again").summary
    assert again["blocks"] == summary[2]["blocks"]


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
        with pytest.raises(ResilError, match="expected a sensitivity model"):
            load_model(tmp_path / "model")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "ethos-u55-32"', 'file = "own.toml"', "one of the model's"),
        ('kinds = ["ff"]', 'kinds = ["ff"]\nclusters = { 1 = 0.5, 2 = 0.5 }', "single-bit"),
    ],
)
def test_what_the_model_does_not_know_is_refused(tmp_path, old, new, message):
    (tmp_path / "own.toml").write_text("")
    file = tmp_path / "campaign.toml"
    file.write_text(EXAMPLE.read_text().replace(old, new))
    with pytest.raises(CampaignError, match=message):
        estimate_campaign(load_campaign(file), tmp_path / "out")


def test_learning_needs_two_networks(tmp_path, capsys):
    assert main(["learn", str(tmp_path), "-o", str(tmp_path / "model")]) == 2
    assert "give a run folder" in capsys.readouterr().err


def test_cycles_of_what_was_learnt_are_found_again():
    work = operation_work(compile_network(Path("networks/zoo/mnist_mobile.tflite"), "ethos-u55-32"))
    truth = CycleModel({"": tuple(float(i + 1) for i in range(len(TERMS)))}, 5.0)
    cycles = [truth.predict(own) for own in work]
    model = CycleModel.fit(work, cycles, [5.0])
    assert [model.predict(own) for own in work] == pytest.approx(cycles, rel=0.02)
    assert CycleModel.from_dict(json.loads(json.dumps(model.as_dict()))) == model


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
    assert (plan["predicted"], plan["result"]) == (True, "optimal")
    assert plan["fit_hi_unprotected"] == bound
    assert sum(choice["fit_hi_before"] for choice in plan["choices"]) >= bound
    assert plan["assumptions"][0].startswith("PREDICTED")


def test_without_the_limits_of_a_block_nothing_is_said(summary, tmp_path):
    found = json.loads((summary[1] / "summary.json").read_text())
    for entries in ([], found["limits"][1:]):
        with pytest.raises(ProtectionError, match="what is not known is not safe"):
            plan_protection({**found, "limits": entries}, load_options(), 1e6)
