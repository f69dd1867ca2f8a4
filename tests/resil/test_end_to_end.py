# SPDX-License-Identifier: Apache-2.0
"""The whole study, small, on the real NPU, on both engines."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.faults import digest
from resil.rtl_harness.npu.infer import infer

TEXT = """
[campaign]
name = "end to end"
seed = 3
[network]
path = "zoo:digits"
inputs = [4]
[target]
name = "ethos-u55-32"
[faults]
injections = {injections}
minimum_per_block = 3
clusters = {{1 = 0.6, 2 = 0.25, 3 = 0.15}}
[technology]
name = "finfet-16nm"
[budget]
fit = 0.02
rationale = "small enough that protection is needed"
"""


def run(folder, injections, *arguments):
    campaign = folder / f"{injections}.toml"
    campaign.write_text(TEXT.format(injections=injections))
    out = folder / f"run{injections}"
    return main(["run", str(campaign), "--out", str(out), *arguments]), out


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(tmp_path_factory.mktemp("end-to-end"), 60, "--workers", "2")


def rows(folder):
    tables = [pq.read_table(path).to_pylist() for path in (folder / "injections").glob("part-*.parquet")]
    return {row["injection"]: row | {"corruption": None} for table in tables for row in table}


def test_every_block_is_injected_and_judged(finished):
    code, folder = finished
    summary = json.loads((folder / "summary.json").read_text())
    assert code == {"missed": 1, "inconclusive": 3}[summary["verdict"]["result"]]
    assert [b["block"] for b in summary["blocks"]] == ["cc", "dma", "wd", "mac", "ao", "sb", "cpm"]
    assert all(b["injections"] >= 3 and b["ff_bits"] and b["area"] > 0 for b in summary["blocks"])
    assert summary["target"]["unmapped_sites"] == 0
    assert len(rows(folder)) == 60
    assert 0 < summary["total"]["masked"] < 60


def test_the_run_without_a_fault_is_the_functional_models(finished):
    _, folder = finished
    golden = json.loads((folder / "summary.json").read_text())["golden"]
    known = zoo.load("digits")
    compiled = compile_network(known.path, "ethos-u55-32")
    outputs = infer(compiled, known.heldout_inputs[4:5], "functional").outputs[0]
    assert golden["output_hash"] == [digest(np.ascontiguousarray(outputs[0]).tobytes())]


def test_one_worker_and_fewer_injections_give_the_same_outcomes(finished, tmp_path):
    _, folder = finished
    _, smaller = run(tmp_path, 24, "--workers", "1")
    found = rows(smaller)
    assert len(found) == 24
    shared = found.keys() & rows(folder).keys()
    assert len(shared) >= 20
    assert {n: found[n] for n in shared} == {n: rows(folder)[n] for n in shared}


def test_the_reference_engine_gives_the_same_injections(finished, tmp_path):
    _, folder = finished
    _, reference = run(tmp_path, 60, "--engine", "cocotb", "--workers", "2")
    assert rows(reference) == rows(folder)
    assert {row["bits"] for row in rows(folder).values()} == {1, 2, 3}
    assert "verilator" in (folder / "campaign.toml").read_text()


def test_an_injection_is_replayed_on_either_engine(finished, tmp_path, capsys):
    _, folder = finished
    for number in sorted(rows(folder))[:3]:
        assert main(["replay", str(folder), str(number), "--engine", "cocotb"]) == 0
    waves = str(tmp_path / "x.vcd")
    assert main(["replay", str(folder), "0", "--engine", "verilator", "--waves", waves]) == 2
    assert "writes no waveforms; add --engine cocotb" in capsys.readouterr().err


def test_an_injection_is_replayed_with_its_waveform(finished, tmp_path, capsys):
    _, folder = finished
    effect = next(n for n, row in sorted(rows(folder).items()) if row["outcome"] != "masked")
    waves = tmp_path / "replay.vcd"
    assert main(["replay", str(folder), str(effect), "--waves", str(waves), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"]
    assert "u_npu" in waves.read_text(errors="replace")


def test_a_protection_reaches_the_budget(finished, capsys):
    _, folder = finished
    assert main(["protect", str(folder), "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["result"] == "optimal"
    assert 0 < plan["fit_hi"] <= 0.02
    assert plan["area_overhead"] < plan["area_overhead_lockstep"]
