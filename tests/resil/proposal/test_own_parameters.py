# SPDX-License-Identifier: Apache-2.0
"""Parameters of a design of one's own: from lists, the command line and a recording, and never by guess."""

import json
from pathlib import Path

import pytest

from resil.cli import main
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.recording import Span
from tests.rtl_harness.replay.knob import KNOB, knob_vcd

WAVES = ["--waves", "knob.vcd", "--instance", "tb.u_knob"]
RECORDED = {
    "Width": ("parameter", 32, "110"),
    "Mode": ("parameter", 32, "01100110011000010111001101110100"),
    "Mask": ("parameter", 4, "1111"),
    "Gain": ("real", 64, "r1.5"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rtl.f").write_text(f"{KNOB}\n")
    knob_vcd(Path("knob.vcd"), RECORDED, 6)
    return tmp_path


def started(*arguments):
    return main(["init", "--top", "knob", "-f", "rtl.f", "--out", "own", *arguments])


def test_what_the_recording_says_is_taken(folder, capsys):
    """With the defaults of the design the golden run would differ from the recording."""
    assert started(*WAVES, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    said = "parameters as the recording has them: Width = 6, Mode = 32'h66617374, Gain = 1.5"
    assert said in found["remarks"]
    target = load_target("own/target.toml")
    assert target.parameters == {"Width": 6, "Mode": "32'h66617374", "Gain": "1.5"}
    asked = ReplayRequest((Span(Path("knob.vcd"), "tb.u_knob"),))
    assert close_by_recordings(target, asked, Path("own/target.toml")).recordings


def test_what_is_given_has_to_be_what_the_recording_says(folder, capsys):
    assert started(*WAVES, "-G", "Width=6", "-G", 'Mode="fast"', "-G", "Gain=1.5") == 0
    assert load_target("own/target.toml").parameters == {"Width": 6, "Mode": '"fast"', "Gain": "1.5"}
    capsys.readouterr()
    assert main(["init", "--top", "knob", "-f", "rtl.f", "--out", "other", *WAVES, "-G", "Width=5"]) == 2
    assert "Width = 5, found Width = 6: the recording is of another design" in capsys.readouterr().err


def test_the_bench_gives_the_design_its_literals(folder):
    assert started("-G", 'Mode="fast"', "-G", "Mask=8'h3f", "-G", "Gain=1.5") == 0
    text = Path("own/rtl/knob_bench.sv").read_text()
    assert 'knob #(.Mode("fast"), .Mask(8\'h3f), .Gain(1.5)) u_dut (' in text


WRONG = {
    "Mode=fast": "a text is written",
    "Mode": "expected NAME=VALUE",
    "Mask=4'b1x": "expected NAME=VALUE",
    "Depth=3": "expected parameters of knob",
    "Extra=3": "which is fixed (localparam)",
    "data_t=8": "whose value is a type",
}


@pytest.mark.parametrize("given", WRONG)
def test_values_that_are_none(given, folder, capsys):
    assert started("-G", given) == 2
    assert WRONG[given] in capsys.readouterr().err


@pytest.mark.parametrize("line", ["-GWidth=6 --top-module tb", "+parameter+tb.Width=6", "-pvalue+tb.Width=6"])
def test_parameters_of_a_testbench_are_not_those_of_the_design(line, folder, capsys):
    """Nothing says whether the testbench hands them on: the design would have another width, or not."""
    Path("rtl.f").write_text(f"{KNOB} {line}\n")
    assert started() == 2
    assert "-G Width=VALUE" in capsys.readouterr().err
    assert started("-G", "Width=5") == 0
    assert ".Width(5)" in Path("own/rtl/knob_bench.sv").read_text()
    assert main(["init", "--top", "knob", "-f", "rtl.f", "--out", "other", *WAVES]) == 0
    assert load_target("other/target.toml").parameters["Width"] == 6


def test_parameters_of_the_top_by_its_name(folder):
    Path("rtl.f").write_text(f"{KNOB} +parameter+knob.Width=6 +parameter+tb.Cycles=100\n")
    assert started() == 0
    assert "knob #(.Width(6)) u_dut (" in Path("own/rtl/knob_bench.sv").read_text()


def test_what_is_passed_over_in_a_list_is_said(folder, capsys):
    Path("rtl.f").write_text(f"--Mdir obj --exe main.cpp {KNOB} -odd speed\n")
    assert started("--json") == 0
    remarks = json.loads(capsys.readouterr().out)["remarks"]
    assert "ignored, as it says nothing of the design: --Mdir obj, --exe, main.cpp" in remarks
    assert "not known, and not followed: -odd speed" in remarks
    assert "# not known, and not followed: -odd speed" in Path("own/target.toml").read_text()
