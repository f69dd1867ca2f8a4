# SPDX-License-Identifier: Apache-2.0
"""From an empty folder to outcomes without a line by hand, for three designs of different styles."""

import json
from pathlib import Path

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.rtl_harness.design.target import load_target
from testkit.recorded import compiled_testbench, run_testbench

HERE = Path(__file__).parent / "designs"
EXAMPLE = Path(__file__).parents[3] / "examples" / "recording"
LISTS = {
    "smooth": [*sorted((EXAMPLE / "rtl").glob("*.sv")), EXAMPLE / "smooth_tb.sv"],
    "scaler": [f"+incdir+{HERE}/inc", f"-y {HERE}/lib +libext+.v", HERE / "scaler.v"],
    "table_top": [HERE / "table_top.sv", HERE / "table_pkg.sv"],
}
TESTBENCHES = {
    "smooth": (LISTS["smooth"], "smooth_tb", "smooth.vcd", "smooth_tb.u_dut"),
    "scaler": (
        [HERE / "lib" / "scaler_stage.v", HERE / "scaler.v", HERE / "scaler_tb.sv"],
        "scaler_tb",
        "scaler.vcd",
        "scaler_tb.dut",
    ),
    "table_top": (
        [HERE / "table_pkg.sv", HERE / "table_top.sv", HERE / "table_tb.sv"],
        "table_tb",
        "table.vcd",
        "table_tb.i_table",
    ),
}


@pytest.fixture
def started(tmp_path, monkeypatch, request):
    """An empty folder with a file list and a recording of the design's own testbench."""
    design = request.param
    sources, top, waves, instance = TESTBENCHES[design]
    program = compiled_testbench(sources, top, "--trace", f"-I{HERE / 'inc'}")
    run_testbench(program, tmp_path, "+verilator+seed+1")
    monkeypatch.chdir(tmp_path)
    text = "\n".join(str(own) for own in LISTS[design])
    (tmp_path / "rtl.f").write_text(
        text.replace("+inc", f"+{HERE}/inc", 1).replace("-y lib", f"-y {HERE}/lib")
    )
    if design == "scaler":
        (tmp_path / "rtl.f").write_text(f"+incdir+{HERE}/inc\n-y {HERE}/lib +libext+.v\n{HERE}/scaler.v\n")
    return design, ["--waves", waves, "--instance", instance]


@pytest.mark.parametrize("started", TESTBENCHES, indirect=True)
def test_init_check_run_report(started, capsys):
    design, recording = started
    assert main(["init", "--top", design, "-f", "rtl.f", *recording, "--out", "own", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == ["own/target.toml", "own/campaign.toml"]
    assert main(["check", "own/campaign.toml", "--json", "--quiet"]) == 0, capsys.readouterr().out
    few = ["--set", "faults.injections=200", "--quiet"]
    assert main(["run", "own/campaign.toml", "--out", "run", *few]) == 0
    summary = json.loads(Path("run/summary.json").read_text())
    assert summary["total"]["injections"] == 200
    assert summary["sanity"]["failed"] is False
    assert main(["report", "run", "--quiet"]) == 0
    again = main(["init", "--top", design, "-f", "rtl.f", *recording, "--out", "own"])
    assert again == 2
    expect_proposal(design, found)


def expect_proposal(design, found):
    target = load_target("own/target.toml")
    campaign = load_campaign("own/campaign.toml")
    if design == "smooth":
        assert found["resets"] == ["rst_ni, active low"]
        assert set(target.blocks) == {"top", "taps", "queue"}
        assert [alarm.output for alarm in target.alarms.values()] == ["parity_error_o"]
        assert [file.name for file in target.sources] == ["smooth.sv", "smooth_queue.sv", "smooth_taps.sv"]
    elif design == "scaler":
        assert found["resets"] == ["i_rst, active high"]
        assert set(found["buses"]) == {"AXI4-Stream sink s_axis", "AXI4-Stream source m_axis"}
        (strobe,) = campaign.work.strobes
        assert (set(strobe.outputs), strobe.when) == ({"m_axis_tdata", "m_axis_tlast"}, ("m_axis_tvalid",))
        assert [file.name for file in target.sources] == ["scaler.v", "scaler_stage.v"]
        assert set(target.blocks) == {"top", "first_stage", "second_stage"}
    else:
        assert [file.name for file in target.sources] == ["table_pkg.sv", "table_top.sv"]
        assert campaign.faults.kinds == ("ff", "macro", "sram")
        assert [alarm.output for alarm in target.alarms.values()] == ["alert_minor_o"]
        assert [alarm.reports for alarm in target.alarms.values()] == ["corrected"]
        assert found["buses"] == ["APB subordinate (no prefix)"]
        assert campaign.work.strobes[0].outputs == ("prdata_o",)


@pytest.mark.parametrize("design", ["smooth", "scaler", "table_top"])
def test_without_a_recording_a_bench_is_written_that_runs(design, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl.f").write_text("\n".join(map(str, LISTS[design])))
    assert main(["init", "--top", design, "-f", "rtl.f", "--out", "own"]) == 0
    bench = Path(f"own/rtl/{design}_bench.sv").read_text()
    assert "a person decides" in bench
    assert ("resil_apb_master" in bench) == (design == "table_top")
    capsys.readouterr()
    main(["check", "own/campaign.toml", "--json", "--quiet"])
    states = {step["name"]: step["state"] for step in json.loads(capsys.readouterr().out)["steps"]}
    assert states["storage"] == "passed"
    assert states["golden run"] == "passed"


def test_each_known_bus_has_a_part_that_answers(tmp_path, monkeypatch, capsys):
    """The design raises its alarm if a word that it wrote does not come back: the golden run has none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl.f").write_text(f"{HERE / 'many_buses.sv'}\n")
    assert main(["init", "--top", "many_buses", "-f", "rtl.f", "--out", "own"]) == 0
    bench = Path("own/rtl/many_buses_bench.sv").read_text()
    parts = ("obi_mem", "ahb_mem", "tilelink_mem", "wishbone_mem", "sram", "axis_sink")
    assert [own for own in parts if f"resil_{own} #(" not in bench] == []
    assert 'error = "error_o"' in Path("own/target.toml").read_text() or "error_o" in bench
    capsys.readouterr()
    main(["check", "own/campaign.toml", "--json", "--quiet"])
    steps = {step["name"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert steps["golden run"]["state"] == "passed", steps["golden run"]


def test_a_part_that_does_not_answer_right_is_seen(tmp_path, monkeypatch, capsys):
    """What the test before rests on: with another word in the answer the golden run has an alarm."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl.f").write_text(f"{HERE / 'many_buses.sv'}\n")
    assert main(["init", "--top", "many_buses", "-f", "rtl.f", "--out", "own"]) == 0
    bench = Path("own/rtl/many_buses_bench.sv")
    bench.write_text(bench.read_text().replace(".hrdata_o(hrdata_i)", ".hrdata_o()"))
    capsys.readouterr()
    main(["check", "own/campaign.toml", "--json", "--quiet"])
    steps = {step["name"]: step for step in json.loads(capsys.readouterr().out)["steps"]}
    assert steps["golden run"]["state"] != "passed"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["--waves", "a.vcd"], "--instance"),
        (["--instance", "tb.u_dut"], "--instance"),
        (["--waves", "none.vcd", "--instance", "tb"], "expected a waveform"),
    ],
)
def test_what_is_refused(arguments, field, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rtl.f").write_text("\n".join(map(str, LISTS["smooth"])))
    assert main(["init", "--top", "smooth", "-f", "rtl.f", *arguments, "--out", "own"]) == 2
    assert field in capsys.readouterr().err
    assert not Path("own").exists()


def test_a_design_without_a_clock(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sv").write_text(
        "module a(input logic x_i, output logic y_o); assign y_o = x_i; endmodule\n"
    )
    (tmp_path / "rtl.f").write_text("a.sv\n")
    assert main(["init", "--top", "a", "-f", "rtl.f", "--out", "own"]) == 2
    assert "expected a clock" in capsys.readouterr().err


def test_parameters_of_the_top(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.sv").write_text(
        "module a #(parameter W = 4) (input logic clk, input logic [W-1:0] d, output logic [W-1:0] q);\n"
        "always_ff @(posedge clk) q <= d;\nendmodule\n"
    )
    (tmp_path / "rtl.f").write_text("a.sv\n")
    assert main(["init", "--top", "a", "-f", "rtl.f", "-G", "W=6", "--out", "own"]) == 0
    assert "a #(.W(6)) u_dut" in Path("own/rtl/a_bench.sv").read_text()
    assert main(["init", "--top", "a", "-f", "rtl.f", "-G", "W=fast", "--out", "other"]) == 2


def test_an_instance_that_is_not_the_design(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    waves = ["--waves", str(EXAMPLE / "smooth.vcd"), "--instance", "smooth_tb"]
    (tmp_path / "a.sv").write_text("module a(input logic fast, input logic clk_b);\nendmodule\n")
    (tmp_path / "rtl.f").write_text("a.sv\n")
    assert main(["init", "--top", "a", "-f", "rtl.f", *waves, "--out", "own"]) == 2
    assert "found none of them; --instance is the path" in capsys.readouterr().err


NOTICED = """
module noticed(
  input logic clk_i, input logic first_i, input logic rst_n, input logic idle_i,
  output logic [3:0] error_code_o, output logic [1:0] fault_o, output logic [6:0] ecc_o
);
  always_ff @(posedge clk_i) {error_code_o, fault_o, ecc_o} <= rst_n ? '0 : {13{first_i ^ idle_i}};
endmodule
"""


def test_a_recording_decides_about_wide_alarms_and_leaves_a_doubt(tmp_path, monkeypatch, capsys):
    """The fault: what rises in the recording was proposed as an alarm of 4 bits, and first_i was the reset.

    The input without a value ended in a traceback.
    """
    monkeypatch.chdir(tmp_path)
    names = {"clk_i": (1, "c"), "first_i": (1, "f"), "rst_n": (1, "r"), "idle_i": (1, "i")}
    names |= {"error_code_o": (4, "e"), "fault_o": (2, "u"), "ecc_o": (7, "p")}
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    lines += [f"$var wire {width} {code} {name} $end" for name, (width, code) in names.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    lines += ["#0", "0c", "0f", "0r", "b0000 e", "b00 u", "b1010101 p", "#5", "1c", "#10", "0c", "1r", "1f"]
    lines += ["#15", "1c", "b0011 e", "#20", "0c", "0f", "0r", "#25", "1c", "#30", "0c"]
    Path("noticed.vcd").write_text("\n".join(lines) + "\n")
    Path("noticed.sv").write_text(NOTICED)
    Path("rtl.f").write_text("noticed.sv\n")
    waves = ["--waves", "noticed.vcd", "--instance", "tb.u_dut"]
    assert main(["init", "--top", "noticed", "-f", "rtl.f", *waves, "--out", "own", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["resets"], found["alarms"]) == (["rst_n, active low"], ["fault_o"])
    doubt = "by its name, but the recording ends with 0"
    assert found["remarks"] == [f"reset rst_n: a person decides: active low {doubt}"]
    text = Path("own/target.toml").read_text()
    assert f"reset_active_low = true   # a person decides: {doubt}" in text
    assert "# error_code_o = " in text
    assert [alarm.output for alarm in load_target("own/target.toml").alarms.values()] == ["fault_o"]


def test_names_that_reach_into_an_instance_are_left_out_where_a_macro_does_so(tmp_path, monkeypatch, capsys):
    """As a core names registers of its parts for its assertions; without the macro the refusal says so."""
    monkeypatch.chdir(tmp_path)
    Path("rtl.f").write_text(f"{HERE / 'gauge.sv'}\n")
    assert main(["init", "--top", "gauge", "-f", "rtl.f", "--out", "own", "--json"]) == 0
    (remark,) = json.loads(capsys.readouterr().out)["remarks"]
    assert "gauge.sv:36: u_count.count_q" in remark
    target = Path("own/target.toml")
    assert load_target(target).defines == {"SYNTHESIS": "1"}
    assert storage_step(capsys)["state"] == "passed"
    target.write_text(target.read_text().replace('SYNTHESIS = "1"', ""))
    failed = storage_step(capsys)
    assert failed["state"] == "failed"
    assert f"{HERE / 'gauge.sv'}:36: u_count.count_q" in failed["text"]
    assert 'defines = { SYNTHESIS = "1" }' in failed["text"]


def storage_step(capsys):
    main(["check", "own/campaign.toml", "--json", "--quiet"])
    steps = json.loads(capsys.readouterr().out)["steps"]
    return next(step for step in steps if step["name"] == "storage")
