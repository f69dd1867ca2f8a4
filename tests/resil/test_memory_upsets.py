# SPDX-License-Identifier: Apache-2.0
"""Campaigns that strike the memories outside the NPU, from file to verdict."""

from __future__ import annotations

import json

import pytest

from resil.campaign.text import campaign_text
from resil.cli import main
from testkit.campaigns import TEXT, campaign, write_campaign

FAULTS = 'kinds = ["ff"]\ninjections = 200\nminimum_per_block = 10'


def text(kinds: str = '"weights"', more: str = "", injections: int = 60) -> str:
    assert FAULTS in TEXT
    return TEXT.replace(FAULTS, f"kinds = [{kinds}]\ninjections = {injections}\n{more}")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memory")
    for kind in ("weights", "activations"):
        file = write_campaign(folder, text(f'"{kind}"'))
        assert main(["run", str(file), "--out", str(folder / kind), "--quiet"]) in (0, 1, 3)
    return folder


def read(folder, name):
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("kind", ["weights", "activations"])
def test_a_run_says_that_its_fit_is_not_the_npus(runs, kind):
    summary = read(runs / kind, "summary.json")
    assert summary["campaign"]["fault_model"] == "memory_upset"
    assert summary["campaign"]["engine"] == "model"
    assert summary["verdict"]["scope"].startswith("memory outside the NPU alone, not the NPU")
    assert any("no part of the NPU's FIT" in note for note in summary["notes"])
    assert [block["block"] for block in summary["blocks"]] == ["external memory"]
    assert summary["target"]["ff_bits"] == summary["target"]["sram_bits"] == 0
    assert summary["target"]["weights_bits"] == 42240
    assert summary["total"]["injections"] == 60
    assert "outside the NPU" in (runs / kind / "report.html").read_text()


def test_weights_are_struck_from_the_beginning_and_activations_in_time(runs):
    from resil import Run

    weights, activations = (Run(runs / kind).injections() for kind in ("weights", "activations"))
    assert set(weights.cycle) == {0}
    assert set(weights.register) == {"flash.weights"}
    row = weights.iloc[0]
    assert row["name"] == f"flash.weights[{row.word}][{row.bit}]"
    assert len(set(activations.cycle)) > 10
    assert set(activations.operation) >= {0, 1, 2}


def test_some_answers_were_tried_on_the_rtl(runs):
    audit = read(runs / "weights", "provenance.json")["audit"]["kinds"]["functional model"]
    assert audit["answers"] == 60
    assert audit["tried"] >= 8


def test_the_same_injections_come_again_one_by_one(runs, capsys):
    assert main(["replay", str(runs / "weights"), "7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"]


def test_identity_has_kind_sites_and_network(runs):
    weights, activations = (
        read(runs / kind, "provenance.json")["definition"] for kind in ("weights", "activations")
    )
    assert (weights["kinds"], activations["kinds"]) == ("weights", "activations")
    assert weights["engine"] == "model"
    assert weights["sites"] == activations["sites"]
    assert (
        main(["run", str(write_campaign(runs, text('"activations"'))), "--out", str(runs / "weights")]) == 2
    )


def test_neither_protection_nor_a_sensitivity_model_takes_it_for_the_npu(runs, capsys):
    assert main(["protect", str(runs / "weights"), "--budget-fit", "1"]) == 2
    assert main(["learn", str(runs / "weights"), str(runs / "activations")]) == 2
    assert "memory_upset" in capsys.readouterr().err
    assert main(["estimate", str(write_campaign(runs, text())), "--out", str(runs / "e")]) == 2
    assert "expected storage of the NPU, found weights" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kinds", "more", "said"),
    [
        ('"ff", "weights"', "", "its failures are not the NPU's and are not added to them"),
        ('"weights", "activations"', "", "memory outside the NPU by itself"),
        ('"weights"', 'model = "stuck_at"', 'expected "upset" for memory outside the NPU'),
        ('"weights"', '[sampling]\nplan = "adaptive"\nmargin = 0.2', "a plan for memory outside the NPU"),
        ('"weights"', "[safety]\nspfm = 0.9", "storage of the NPU where there is a table [safety]"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path, capsys, kinds, more, said):
    file = write_campaign(tmp_path, text(kinds, more))
    assert main(["run", str(file), "--out", str(tmp_path / "r")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_another_engine_than_the_model_is_refused(tmp_path, capsys):
    """The fault: `engine = "cocotb"` was ignored without a word."""
    changed = text().replace("[technology]", '[execution]\nengine = "cocotb"\n[technology]')
    file = write_campaign(tmp_path, changed)
    assert main(["run", str(file), "--out", str(tmp_path / "r")]) == 2
    assert 'memory outside the NPU, as [faults] kinds = ["weights"] asks: "model"' in capsys.readouterr().err
    assert main(["run", str(write_campaign(tmp_path, text())), "--engine", "verilator"]) == 2
    assert "--engine verilator: [execution] engine: expected an engine that can" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[campaign]\n", "[campaign]\ninferences = 2\n", "go on with a second inference (inferences = 2)"),
        (
            "[technology]",
            '[execution]\ntimeout = "operation"\n[technology]',
            "and time operations out",
        ),
        ("[technology]", '[execution]\nuntil = "detection"\n[technology]', "and end injections at detection"),
        ("[technology]", '[execution]\ndask = "tcp://127.0.0.1:9"\n[technology]', "work on a farm (dask)"),
        (
            'name = "ethos-u55-32"',
            'file = "{root}/examples/awkward/target.toml"',
            "one of the NPUs ethos-u55-32",
        ),
    ],
)
def test_campaigns_that_the_model_cannot_answer_are_refused(tmp_path, capsys, repository, old, new, said):
    changed = text().replace(old, new.format(root=repository))
    assert main(["run", str(write_campaign(tmp_path, changed)), "--out", str(tmp_path / "r")]) == 2
    assert said in capsys.readouterr().err


def test_a_workload_of_ones_own_is_refused(tmp_path, capsys, repository):
    example = (repository / "examples" / "awkward" / "campaign.toml").read_text()
    kinds = next(line for line in example.splitlines() if line.startswith("kinds"))
    changed = example.replace(kinds, 'kinds = ["weights"]').replace('"verilator"', '"model"', 1)
    for name in ("target.toml", "source0.hex", "source1.hex"):
        changed = changed.replace(f'"{name}"', f'"{repository}/examples/awkward/{name}"')
    assert main(["run", str(write_campaign(tmp_path, changed)), "--out", str(tmp_path / "r")]) == 2
    assert "expected a network that is compiled for the NPU" in capsys.readouterr().err


def test_the_resolved_campaign_reads_back():
    one = campaign(text())
    assert one.faults.external
    assert campaign(campaign_text(one)).faults == one.faults
