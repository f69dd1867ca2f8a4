# SPDX-License-Identifier: Apache-2.0
"""What the name of a store of outcomes depends on: all that an outcome may depend on, and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

import resil.folder.outcomes
from resil.campaign.campaign import load_campaign
from resil.campaign.overrides import command_line
from resil.folder.outcomes import outcome_keys
from resil.prepare.bench import prepare
from resil.progress import Progress
from testkit.campaigns import campaign
from testkit.fake import fake_bench

AWKWARD = Path(__file__).parents[3] / "examples" / "awkward"
GOLDENS = ("golden of input 0", "golden of input 1")


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    """A copy of a small design that includes a file and reads a ROM."""
    copy = tmp_path_factory.mktemp("keys") / "awkward"
    shutil.copytree(AWKWARD, copy)
    (copy / "rtl" / "header.svh").write_text("localparam int unsigned Margin = 3;\n")
    (copy / "rom.hex").write_text("01 02 03 04\n")
    rom = 'logic [7:0] rom [4]; initial $readmemh("rom.hex", rom);'
    edit(copy / "rtl" / "awkward_bench.sv", ");\n", f');\n  `include "header.svh"\n  {rom}\n')
    target = copy / "target.toml"
    target.write_text(f'data_files = ["rom.hex"]\n{target.read_text()}')
    return copy


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def prepared(design, *settings):
    own = load_campaign(design / "campaign.toml", command_line(settings=settings))
    return own, prepare(own, Progress(StringIO()))


def keys(design, *settings, goldens=GOLDENS):
    return outcome_keys(*prepared(design, *settings), goldens)


@pytest.fixture(scope="module")
def usual(design):
    return keys(design)


@pytest.mark.parametrize(
    "settings",
    [
        ["campaign.seed=12"],
        ["faults.injections=4000", "faults.minimum_per_block=1"],
        ['faults.kinds=["ff"]'],
        ["faults.clusters={1 = 0.5, 2 = 0.5}"],
        ['sampling.plan="neyman"', "sampling.margin=0.2"],
        ["budget.fit=1", 'budget.rationale="a share"', 'budget.hazardous=["hang"]'],
        ["technology.flip_flop_fit=1e-4"],
        ["execution.workers=1", "execution.recall=true"],
    ],
    ids=lambda settings: settings[0],
)
def test_the_choice_of_faults_and_what_is_made_of_outcomes_change_nothing(design, usual, settings):
    assert keys(design, *settings) == usual


@pytest.mark.parametrize(
    "setting",
    [
        'workload.decision="top1"',
        "workload.parameters={SourceWords = 128}",
        "workload.output.offset=8",
        'faults.model="stuck_at"',
        "execution.timeout_factor=3.0",
        'execution.timeout="operation"',
        'execution.until="detection"',
        'execution.engine="plain"',
        'engine.verilator.sweep="never"',
    ],
)
def test_another_question_to_the_design_has_another_store(design, usual, setting):
    assert not set(keys(design, setting)) & set(usual)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("source0.hex", "8fc34366", "8fc34367"),
        ("rom.hex", "04", "05"),
        ("rtl/header.svh", "3", "4"),
        ("rtl/control.sv", "Rounds = 12", "Rounds = 13"),
        ("target.toml", 'status = "status_o"\n', ""),
        ("target.toml", "observed = false", "observed = true"),
    ],
    ids=["image", "ROM", "include", "RTL", "status", "memory"],
)
def test_a_byte_of_what_runs_has_another_store(design, tmp_path, file, old, new):
    copy = tmp_path / "awkward"
    shutil.copytree(design, copy)
    same = keys(copy)
    edit(copy / file, old, new)
    assert not set(keys(copy)) & set(same)


@pytest.mark.parametrize("change", [{"threshold": 0.2}, {"output": 1}, {"decision": "exact"}])
def test_another_rule_of_the_decision_has_another_store(change):
    own = campaign()
    bench = fake_bench(own)
    judged = replace(own, work=replace(own.network, **change))
    assert not set(outcome_keys(judged, bench, GOLDENS)) & set(outcome_keys(own, bench, GOLDENS))


def test_each_input_has_its_store(design, usual):
    own, bench = prepared(design)
    other = replace(bench, workloads=(bench.workloads[0], "another input"))
    found = outcome_keys(own, other, GOLDENS)
    assert found[0] == usual[0]
    assert found[1] not in usual


def test_an_engine_of_other_sources_and_another_run_without_a_fault_have_other_stores(
    design, usual, monkeypatch
):
    found = keys(design, goldens=("another", GOLDENS[1]))
    assert found[0] not in usual
    assert found[1] == usual[1]
    monkeypatch.setattr(resil.folder.outcomes, "source_digest", lambda: "0" * 64)
    assert not set(keys(design)) & set(usual)
