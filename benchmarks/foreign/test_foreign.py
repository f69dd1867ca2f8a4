# SPDX-License-Identifier: Apache-2.0
"""The benchmark on a design of our own: what it counts, that a wrong answer and a refusal are seen."""

import json

import pytest

from benchmarks.foreign import __main__ as benchmark
from benchmarks.foreign import speed
from benchmarks.foreign.design import read_designs
from benchmarks.foreign.steps import protected
from benchmarks.foreign.storage import stored_bits
from resil.rtl_harness.errors import HarnessError
from testkit.recorded import copied_example

SMOOTH = """\
top = "smooth"
files = ["rtl.f"]
waves = "again.vcd"
instance = "smooth_tb.u_dut"
make = ["cp smooth.vcd again.vcd"]
origin = "ours"
"""
FEW = ["--run-faults", "40", "--faults", "60", "--compared", "30"]


@pytest.fixture
def folder(tmp_path):
    example = copied_example("recording", tmp_path / "designs")
    (example / "design.toml").write_text(SMOOTH)
    return tmp_path / "designs"


def results(tmp_path):
    return json.loads((tmp_path / "out" / "results.json").read_text())


def test_a_design_goes_through_all_steps(folder, tmp_path, capsys):
    assert benchmark.main([str(folder), "--out", str(tmp_path / "out"), *FEW]) == 0
    (found,) = results(tmp_path)
    assert [step["name"] for step in found["steps"]] == ["init", "check", "run"]
    assert not found["failed"]
    assert found["speed"]["different"] == []
    assert found["speed"]["source"] == found["speed"]["kept"] == found["count"]["kept"] == 85
    assert "| recording | ours |" in capsys.readouterr().out


def test_a_protection_is_built_and_its_area_said(folder, tmp_path, capsys):
    arguments = [str(folder), "--out", str(tmp_path / "out"), *FEW, "--protect", "0.5"]
    assert benchmark.main(arguments) == 0
    (found,) = results(tmp_path)
    built = found["built"]
    assert 0 < built["bits"] <= 85
    assert built["proofs"] > 0
    assert 0 < built["measured"] < 3
    assert f"{built['bits']} bits, +" in capsys.readouterr().out


def test_a_protection_of_no_run_is_refused(tmp_path):
    step, built = protected(tmp_path, 0.5)
    assert step.failed
    assert "run" in step.said
    assert built is None


def test_a_wrong_answer_is_seen(folder, tmp_path, monkeypatch):
    real = speed._answers
    told: list[int] = []

    def wrong(engine, faults):
        """The first engine, the fast one, says of one fault what it says of another."""
        answers = real(engine, faults)
        told.append(len(answers))
        if len(told) == 1:
            last = max(answers, key=lambda fault: answers[fault].end_cycle)
            answers = {fault: answers[last] for fault in answers}
        return answers

    monkeypatch.setattr(speed, "_answers", wrong)
    assert benchmark.main([str(folder), "--out", str(tmp_path / "out"), *FEW]) == 4
    assert results(tmp_path)[0]["speed"]["different"]


def test_what_is_refused_is_said_and_the_others_go_on(folder, tmp_path, capsys):
    other = copied_example("recording", tmp_path / "made").rename(folder / "another")
    (other / "design.toml").write_text(SMOOTH.replace("smooth_tb.u_dut", "smooth_tb.u_other"))
    assert benchmark.main([str(folder), "--out", str(tmp_path / "out"), *FEW]) == 2
    refused, passed = results(tmp_path)
    assert refused["failed"].startswith("init: ")
    assert "u_other" in refused["failed"]
    assert refused["speed"] is None
    assert passed["speed"]["different"] == []
    assert "| another | ours | - | - |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SMOOTH + 'clock = "clk_i"\n', "clock"),
        (SMOOTH.replace('top = "smooth"\n', ""), "key top"),
        (SMOOTH.replace('["rtl.f"]', '"rtl.f"'), "a list of texts"),
        (SMOOTH.replace('"smooth_tb.u_dut"', "3"), "a text"),
    ],
)
def test_a_file_that_is_wrong_is_refused(folder, text, said):
    (folder / "recording" / "design.toml").write_text(text)
    with pytest.raises(HarnessError, match=said):
        read_designs(folder)


@pytest.mark.parametrize("command", ["false", "true"])
def test_a_recording_that_is_not_made_is_refused(folder, command):
    (folder / "recording" / "design.toml").write_text(SMOOTH.replace("cp smooth.vcd again.vcd", command))
    with pytest.raises(HarnessError, match="make"):
        read_designs(folder)[0].record()


def test_a_design_that_yosys_cannot_read_goes_through_all_steps_without_its_count(
    folder, tmp_path, monkeypatch, capsys
):
    def refused(design):
        raise HarnessError("reading net state during design initialization unsupported")

    monkeypatch.setattr(benchmark, "count_storage", refused)
    assert benchmark.main([str(folder), "--out", str(tmp_path / "out"), *FEW]) == 0
    (found,) = results(tmp_path)
    assert found["count"] is None
    assert "net state" in found["uncounted"]
    assert "not counted" in capsys.readouterr().out


def test_a_folder_without_designs_and_a_name_that_is_none(folder, tmp_path):
    with pytest.raises(HarnessError, match=r"design\.toml"):
        read_designs(tmp_path / "made")
    with pytest.raises(HarnessError, match="nothing"):
        read_designs(folder, ["nothing"])


def test_stored_bits_are_those_of_flip_flops_latches_and_memories_but_no_tables():
    def cell(kind, **values):
        return {"type": kind, "parameters": {name: f"{value:b}" for name, value in values.items()}}

    cells = {
        "a": cell("$adffe", WIDTH=5),
        "b": cell("$sdffce", WIDTH=2),
        "c": cell("$dlatch", WIDTH=3),
        "d": cell("$mem_v2", WIDTH=8, SIZE=16, WR_PORTS=1),
        "table": cell("$mem_v2", WIDTH=4, SIZE=32, WR_PORTS=0),
        "e": cell("$add", WIDTH=64),
        "f": cell("$eqx", WIDTH=1),
    }
    modules = {"low": {"attributes": {}, "cells": {}}, "own": {"attributes": {"top": "1"}, "cells": cells}}
    assert stored_bits({"modules": modules}) == 5 + 2 + 3 + 128
