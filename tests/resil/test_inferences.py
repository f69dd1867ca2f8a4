# SPDX-License-Identifier: Apache-2.0
"""A campaign of two inferences from file to summary, on a design whose host makes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.safety import SafetySettings
from resil.cli import main
from resil.faults.content import Content
from resil.folder.contents import content_of
from resil.results.inferences import inference_note, inferences_of
from resil.rtl_harness.faults import NEVER

TARGET = """
name = "twice"
top = "twice"
dut = "u_core"
sources = ["{source}"]
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
{counter}
[alarms]
parity.output = "alarm_o"
parity.reports = "detected"
[blocks]
core = "u_core"
[memories.input]
path = "in_q"
word_bytes = 1
plusarg = "input"
observed = false
[memories.output]
path = "out_q"
word_bytes = 2
plusarg = "output"
"""
CAMPAIGN = """
[campaign]
name = "twice"
seed = 5
inferences = {inferences}
[target]
file = "target.toml"
[workload]
decision = "exact"
[[workload.images]]
memory = "input"
file = "input.bin"
[workload.output]
memory = "output"
shape = [8]
dtype = "uint16"
[faults]
injections = 250
[technology]
name = "finfet-16nm"
"""


def write(folder, repository, *, counter='inferences = "inferences_o"', inferences=2):
    source = repository / "tests" / "rtl_harness" / "engine" / "twice.sv"
    (folder / "target.toml").write_text(TARGET.format(source=source, counter=counter))
    (folder / "input.bin").write_bytes(bytes(range(3, 11)))
    (folder / "campaign.toml").write_text(CAMPAIGN.format(inferences=inferences))
    return str(folder / "campaign.toml")


@pytest.fixture(scope="module")
def run(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("twice")
    assert main(["run", write(folder, repository), "--out", str(folder / "run")]) == 0
    return folder / "run"


def rows(folder):
    tables = [pq.read_table(path).to_pylist() for path in (folder / "injections").glob("part-*.parquet")]
    return {row["injection"]: row for table in tables for row in table}


def test_the_summary_says_what_became_of_latent_state(run):
    found = rows(run).values()
    summary = json.loads((run / "summary.json").read_text())
    facts = summary["inferences"]
    latent = [row["outcome"] for row in found if row["first"] == "latent"]
    assert facts["latent_after_first"] == len(latent) > 20
    assert facts["vanished"] == latent.count("masked") > 0
    assert facts["latent"] == latent.count("latent") > 0
    assert facts["dormant"] == len(latent) - facts["vanished"] - facts["latent"] > 0
    assert sum(sum(row.values()) for row in facts["after_first"].values()) == len(found) == 250
    assert any(f"{facts['dormant']} were dormant" in note for note in summary["notes"])


def test_what_the_host_does_between_is_what_the_images_say(run):
    summary = json.loads((run / "summary.json").read_text())
    told = {a["topic"]: a["text"] for a in summary["assumptions"]}
    assert "Between inferences the host does what the memory images say" in told["clock and operation"]


def test_the_second_inference_is_judged_with_the_fault_tolerant_time(run):
    """All alarms of the run come in the cycle after the fault; here they take three, of the two allowed."""
    parts = sorted((run / "injections").glob("part-*.parquet"))
    content = Content.joined(content_of(pq.read_table(part)) for part in parts)
    rose = content.alarm_cycles != NEVER
    content = replace(content, alarm_cycles=np.where(rose, content.cycles + 3, NEVER))
    campaign = load_campaign(run.parent / "campaign.toml")
    for limit, due in ((3, rose.sum()), (2, 0)):
        timed = replace(campaign, safety=SafetySettings(("spfm_transient",), ftti_cycles=limit))
        facts = inferences_of(timed, content)
        assert facts is not None
        assert sum(row.get("due", 0) for row in facts.after_first.values()) == due
        assert sum(sum(row.values()) for row in facts.after_first.values()) == 250
    assert rose.any()


def test_faults_strike_in_the_first_inference(run):
    cycles = json.loads((run / "summary.json").read_text())["golden"]["cycles"]
    assert cycles == [16]
    assert {row["cycle"] for row in rows(run).values()} <= set(range(16))


def test_an_injection_is_replayed_on_either_engine(run, capsys):
    latent = {n for n, row in rows(run).items() if row["first"] == row["outcome"] == "latent"}
    number = min(latent)
    for engine in ("verilator", "cocotb"):
        capsys.readouterr()
        assert main(["replay", str(run), str(number), "--engine", engine]) == 0
        out = capsys.readouterr().out
        assert out.endswith("equal\n")
        assert "first" in out


def test_one_inference_is_another_campaign(run, capsys):
    campaign = run.parent / "campaign.toml"
    one = run.parent / "one.toml"
    one.write_text(campaign.read_text().replace("inferences = 2", "inferences = 1"))
    assert main(["run", str(one), "--out", str(run)]) == 2
    assert "inferences (2, rewrite there, 1 here)" in capsys.readouterr().err


def test_a_target_that_does_not_count_inferences_is_refused(tmp_path, repository, capsys):
    campaign = write(tmp_path, repository, counter="")
    assert main(["run", campaign, "--out", str(tmp_path / "run")]) == 2
    assert "which names no output that counts finished inferences" in capsys.readouterr().err


@pytest.mark.parametrize("inferences", [1, 2])
def test_facts_of_no_injections(tmp_path, repository, inferences):
    campaign = load_campaign(Path(write(tmp_path, repository, inferences=inferences)))
    facts = inferences_of(campaign, Content.joined([]))
    assert (facts is None) == (inferences == 1)
    if facts is not None:
        assert "Of 0 injections that were latent state" in inference_note(facts)
