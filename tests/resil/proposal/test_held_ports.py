# SPDX-License-Identifier: Apache-2.0
"""Designs with interfaces, arrays and ports in both directions, proposed with and without a recording."""

import pytest

from resil.cli import main
from testkit.recorded import compiled_testbench, run_testbench
from tests.rtl_harness.replay.model import HERE


@pytest.fixture
def held(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl.f").write_text(f"{HERE}/held/gather.sv\n")
    return tmp_path


def test_from_a_recording(held, capsys):
    sources = [HERE / "held" / "gather.sv", HERE / "held" / "gather_tb.sv"]
    run_testbench(compiled_testbench(sources, "gather_tb", "--trace", "--trace-structs"), held)
    given = ["--waves", "gather.vcd", "--instance", "gather_tb.u_dut", "--out", "own"]
    assert main(["init", "--top", "gather", "-f", "rtl.f", *given]) == 0
    said = capsys.readouterr().out
    assert "clocks:   clk_i\n" in said
    assert main(["check", "own/campaign.toml"]) == 0


def test_without_one(held, capsys):
    """The interface, the arrays and what is in both directions are connected, and the bench is a design."""
    assert main(["init", "--top", "gather", "-f", "rtl.f", "--out", "own"]) == 0
    assert main(["check", "own/campaign.toml"]) == 0
    (held / "pads.f").write_text(f"{HERE}/pads/tally.sv\n")
    assert main(["init", "--top", "tally", "-f", "pads.f", "--out", "pads"]) == 0
    assert main(["check", "pads/campaign.toml"]) == 0
