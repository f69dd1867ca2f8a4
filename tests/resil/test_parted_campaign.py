# SPDX-License-Identifier: Apache-2.0
"""Campaigns of networks of which the host computes operators, or which have state, to their reports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import CampaignError
from resil.networks.errors import NetworkError
from resil.networks.oracle import run_all
from resil.networks.tflite_writer import serialise_network
from resil.progress import Progress
from resil.rtl_harness.design.target import load_target
from resil.work.network import compile_campaign_network, network_work
from testkit.errors import about
from testkit.npu.parted_networks import host_at_both_ends, host_between, streaming
from testkit.npu.recurrent_networks import with_lstm, with_real_numbers

CAMPAIGN = """
[campaign]
name = "parted"
seed = 5
{keys}
[target]
name = "ethos-u55-32"
[network]
path = "network.tflite"
inputs = {inputs}
[faults]
injections = {injections}
{faults}
[technology]
name = "finfet-16nm"
[execution]
workers = 1
"""
SEQUENCE = 'inferences = 3\nbetween = "reset"'


X = '"x.npy"'


def write(folder: Path, graph, shape, keys: str = "", inputs: str = X, faults: str = "", n: int = 100):
    (folder / "network.tflite").write_bytes(serialise_network(graph))
    np.save(folder / "x.npy", np.random.default_rng(2).integers(-128, 128, shape).astype(np.int8))
    file = folder / "campaign.toml"
    file.write_text(CAMPAIGN.format(keys=keys, inputs=inputs, faults=faults, injections=n))
    return file


def test_a_network_with_operators_of_the_host(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = write(tmp_path, host_between(), (2, 4, 4, 4), n=300)
    run = tmp_path / "run"
    assert main(["run", str(file), "--out", str(run)]) == 0
    summary = json.loads((run / "summary.json").read_text())
    assert [own["name"] for own in summary["network"]["operations"]] == [
        *("first", "second", "both", "again", "scores")
    ]
    assert summary["golden"]["comparison"]["state"] == "equal"
    assert {check["state"] for check in summary["sanity"]["checks"]} == {"passed"}
    assert "GATHER ('order') computed by the host" in " ".join(summary["network"]["remarks"])
    rows = pq.read_table(run / "injections").to_pylist()
    cycles = dict(zip((0, 1), summary["golden"]["cycles"], strict=True))
    assert {row["input"] for row in rows} == {0, 1}
    assert all(row["cycle"] < cycles[row["input"]] for row in rows)
    assert set(range(5)) <= {row["operation"] for row in rows}
    assert all(row["first"] == "" for row in rows)
    number = next(row["injection"] for row in rows if row["seen"].startswith("sdc"))
    capsys.readouterr()
    assert main(["replay", str(run), str(number)]) == 0


def test_a_network_with_state(tmp_path: Path):
    file = write(tmp_path, streaming(), (6, 1, 4, 4), SEQUENCE, n=300)
    run = tmp_path / "run"
    assert main(["run", str(file), "--out", str(run)]) == 0
    summary = json.loads((run / "summary.json").read_text())
    facts = summary["inferences"]
    assert (facts["number"], facts["between"]) == (3, "sequence")
    compared = summary["golden"]["comparison"]
    assert (compared["state"], compared["inputs"]) == ("equal", 6)
    assert "every cycle of 3 inferences" in json.dumps(summary)
    rows = pq.read_table(run / "injections").to_pylist()
    assert {row["input"] for row in rows} == {0, 1}
    latent = [row for row in rows if row["first"] == "latent"]
    assert facts["latent_after_first"] == len(latent)
    assert facts["dormant"] == sum(row["outcome"] not in ("masked", "latent") for row in latent) > 0
    assert main(["run", str(file), "--out", str(run)]) == 0


def test_state_inside_an_operator_lives_on(tmp_path: Path):
    """The LSTM is the host's; what it left in the SRAM can be struck there, and spoils later steps."""
    file = write(tmp_path, with_lstm(), (6, 3, 5), SEQUENCE, n=300)
    run = tmp_path / "run"
    assert main(["run", str(file), "--out", str(run)]) == 0
    summary = json.loads((run / "summary.json").read_text())
    assert summary["inferences"]["number"] == 3
    assert summary["golden"]["comparison"]["state"] == "equal"
    assert "tflite-micro" in summary["golden"]["comparison"]["reference"]
    assert "LSTM ('lstm') computed by the host" in " ".join(summary["network"]["remarks"])


def test_real_numbers_between_parts(tmp_path: Path):
    file = write(tmp_path, with_real_numbers(), (2, 4, 4, 4), n=200)
    run = tmp_path / "run"
    assert main(["run", str(file), "--out", str(run)]) == 0
    summary = json.loads((run / "summary.json").read_text())
    assert summary["golden"]["comparison"]["state"] == "equal"
    assert sum(row["seen"].startswith("sdc") for row in pq.read_table(run / "injections").to_pylist()) > 3


@pytest.mark.parametrize(
    ("graph", "shape", "keys", "inputs", "faults", "field"),
    [
        (streaming, (6, 1, 4, 4), "inferences = 3", '"x.npy"', "", "campaign.between"),
        (streaming, (5, 1, 4, 4), SEQUENCE, '"x.npy"', "", "campaign.inferences"),
        (streaming, (6, 1, 4, 4), SEQUENCE, '{ from = "x.npy", draw = 3 }', "", "network.inputs"),
        (host_at_both_ends, (2, 4, 4, 4), SEQUENCE, '"x.npy"', "", "campaign.inferences"),
        (host_at_both_ends, (2, 4, 4, 4), "", '"x.npy"', 'model = "stuck_at"', "faults.model"),
    ],
)
def test_what_stretches_cannot_give_is_refused(graph, shape, keys, inputs, faults, field, tmp_path: Path):
    campaign = load_campaign(write(tmp_path, graph(), shape, keys, inputs, faults))
    with pytest.raises(CampaignError, check=about(field)):
        network_work(campaign, campaign.network, load_target("ethos-u55-32"), Progress())


def test_more_than_two_inferences_need_state(tmp_path: Path):
    file = write(tmp_path, streaming(), (6, 1, 4, 4), SEQUENCE)
    file.write_text(file.read_text().replace('"network.tflite"', '"zoo:digits"').replace('"x.npy"', "[0]"))
    campaign = load_campaign(file)
    with pytest.raises(CampaignError, check=about("campaign.inferences")):
        network_work(campaign, campaign.network, load_target("ethos-u55-32"), Progress())


def test_models_refuse_networks_in_parts(tmp_path: Path):
    campaign = load_campaign(write(tmp_path, host_at_both_ends(), (2, 4, 4, 4)))
    with pytest.raises(NetworkError, check=about("operators")):
        compile_campaign_network(campaign.network, "ethos-u55-32")


@pytest.mark.parametrize("make", [host_between, streaming])
def test_outputs_are_those_of_the_reference(make, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    shape = (4, 1, 4, 4) if make is streaming else (4, 4, 4, 4)
    write(tmp_path, make(), shape)
    network, given, found = (str(tmp_path / name) for name in ("network.tflite", "x.npy", "y.npy"))
    engine = ["--engine", "functional", "--json"]
    assert main(["infer", network, "--input", given, "--output", found, *engine]) == 0
    assert json.loads(capsys.readouterr().out)["golden"]["state"] == "equal"
    (wanted,) = run_all(network, [np.load(given)[:, None]])
    assert np.array_equal(np.load(found), wanted.reshape(4, -1))
