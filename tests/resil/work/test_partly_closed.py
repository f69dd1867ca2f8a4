# SPDX-License-Identifier: Apache-2.0
"""Campaigns on recordings with a bus that is closed, or with ports in both directions, to a verdict."""

import json

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import CampaignError
from resil.rtl_harness.design.target import load_target
from resil.work.recording import close_target, recorded_work
from tests.rtl_harness.replay.loop import model as loop
from tests.rtl_harness.replay.pads import model as pads

CAMPAIGN = """
[campaign]
name = "own"
seed = 1
[target]
file = "target.toml"
[workload]
waves = WAVES
instance = "tb.u_dut"
MORE
[faults]
kinds = ["ff"]
injections = 60
[technology]
name = "finfet-16nm"
[budget]
fit = 1.0
rationale = "a test"
"""
CLOSED = """
[[workload.closed]]
bus = "mem_"
words = 64
[[workload.images]]
memory = "mem"
file = "mem.hex"
"""
CYCLES = 80


def campaign(folder, more="", waves='"own.vcd"'):
    file = folder / "campaign.toml"
    file.write_text(CAMPAIGN.replace("MORE", more).replace("WAVES", waves))
    return file


@pytest.fixture
def walker(tmp_path):
    words, rows = loop.contents(5), loop.stimulus(CYCLES, 2)
    (tmp_path / "target.toml").write_text(
        f'name = "walker"\ntop = "walker"\nsources = ["{loop.HERE}/walker.sv"]\nclock = "clk_i"\n'
        'reset = "rst_ni"\n'
    )
    (tmp_path / "mem.hex").write_text("".join(f"{word:08x}\n" for word in words))
    loop.write_vcd(tmp_path / "own.vcd", loop.run(rows, words)[0])
    loop.write_vcd(tmp_path / "late.vcd", loop.run(rows, words, latency=2)[0])
    return tmp_path


def test_what_is_assumed_names_what_does_not_react(walker, capsys):
    file = campaign(walker, CLOSED)
    assert main(["run", str(file), "--out", str(walker / "run")]) == 0
    capsys.readouterr()
    summary = (walker / "run" / "summary.json").read_text()
    assert (
        "Answered by memories of the bench, as the design asks: OBI manager mem (resil_obi_mem with 64 "
        in summary
    )
    assert "The other inputs (rst_ni, step_i) are those of the recording, whatever the design does" in summary
    assert "how an environment would react to wrong outputs but those of the bus mem, which" in summary
    assert "mem_rdata_i" not in json.dumps(json.loads(summary)["verdict"])
    # The resolved copy of the campaign has the bus too: a replay of one fault is the same.
    assert main(["replay", str(walker / "run"), "3"]) == 0


@pytest.mark.parametrize("wrong", ["late", "content"])
def test_a_memory_unlike_the_recorded_one_is_refused_by_time_and_signal(walker, capsys, wrong):
    """Where answers differ, and, of content, where the design makes nothing of it within the recording."""
    if wrong == "content":
        (walker / "mem.hex").write_text("1\n" + (walker / "mem.hex").read_text().split("\n", 1)[1])
    file = campaign(walker, CLOSED, '"late.vcd"' if wrong == "late" else '"own.vcd"')
    assert main(["run", str(file), "--out", str(walker / "run")]) != 0
    said = capsys.readouterr().err
    signal = "mem_rvalid_i" if wrong == "late" else "mem_rdata_i"
    assert f"{signal} is " in said
    assert "from the part of the bench" in said
    assert "the first at " in said
    assert "parameters of resil_obi_mem" in said


@pytest.mark.parametrize(
    ("more", "field"),
    [
        (CLOSED.replace('memory = "mem"', 'memory = "ram"'), "workload.images[0].memory"),
        (CLOSED.replace("words = 64", "words = 32"), "workload.images"),
        (CLOSED.replace('file = "mem.hex"', 'files = ["mem.hex", "mem.hex"]'), "workload.images[0]"),
    ],
)
def test_images_that_do_not_fit(walker, more, field):
    own = load_campaign(campaign(walker, more))
    closed = close_target(own, own.work, load_target(walker / "target.toml"))
    with pytest.raises(CampaignError) as raised:
        recorded_work(own, own.work, closed)
    assert raised.value.field == field


def test_images_without_a_bus_are_refused(walker):
    images = '[[workload.images]]\nmemory = "mem"\nfile = "mem.hex"\n'
    with pytest.raises(CampaignError) as raised:
        load_campaign(campaign(walker, images))
    assert raised.value.field == "workload.images"


def test_ports_in_both_directions_from_init_to_a_verdict(tmp_path, monkeypatch, capsys):
    rows = pads.stimulus(CYCLES, 3)
    pads.write_vcd(tmp_path / "own.vcd", rows, pads.recorded(rows))
    (tmp_path / "rtl.f").write_text(f"{pads.HERE}/tally.sv\n")
    monkeypatch.chdir(tmp_path)
    given = ["--waves", "own.vcd", "--instance", "tb.u_dut", "--out", "own"]
    assert main(["init", "--top", "tally", "-f", "rtl.f", *given]) == 0
    assert main(["check", "own/campaign.toml"]) == 0
    assert main(["run", "own/campaign.toml", "--out", "run"]) == 0
    capsys.readouterr()
    said = (tmp_path / "run" / "summary.json").read_text()
    assert "Ports in both directions (bus_io, hold_io) have what the recording has" in said
