# SPDX-License-Identifier: Apache-2.0
"""A campaign on a recording: outcomes are those of the recorded testbench with bits inverted in it."""

import io
import json
import random
import re
from pathlib import Path

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.prepare.bench import prepare
from resil.prepare.targets import targeted
from resil.progress import Loudness, Progress, set_loudness
from resil.protection.in_reset import reset_cycles
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault
from resil.run.campaign import compared_goldens, golden_runs
from resil.work.recording import close_target
from testkit.recorded import compiled_testbench, copied_example, run_testbench

INSTANCE = "smooth_tb.u_dut"
WATCHED = ("out_data_o", "out_valid_o", "in_ready_o", "parity_error_o")
FAULTS = 250


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return copied_example("recording", tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="module")
def program(example):
    sources = [*sorted((example / "rtl").glob("*.sv")), example / "smooth_tb.sv"]
    return compiled_testbench(sources, "smooth_tb", "--trace")


def sampled(file: Path) -> tuple[list[int], list[tuple[int, ...]]]:
    """Times of the rising edges in a VCD, and the watched values just before each; no reader of resil's."""
    codes, scope, values, rows, edges, time = {}, [], {}, [], [], 0
    before: dict[str, str] = {}
    for line in file.read_text().splitlines():
        words = line.split()
        if words[:1] == ["$scope"]:
            scope.append(words[2])
        elif words[:1] == ["$upscope"]:
            scope.pop()
        elif words[:1] == ["$var"] and ".".join(scope) == INSTANCE:
            codes[words[4]] = words[3]
        elif line.startswith("#"):
            time, before = int(line[1:]), dict(values)
        elif found := re.fullmatch(r"(?:b([01xz]+) |([01xz]))(\S+)", line):
            clock = codes.get("clk_i")
            value = found[1] or found[2]
            if found[3] == clock and value == "1" and before.get(clock) == "0":
                edges.append(time)
                rows.append(tuple(int(before[codes[name]], 2) for name in WATCHED))
            values[found[3]] = value
    return edges, rows


def test_the_shipped_recording_is_what_the_testbench_writes(program, example, tmp_path):
    run_testbench(program, tmp_path, "+seed=1", "+verilator+seed+1")
    assert sampled(tmp_path / "smooth.vcd") == sampled(example / "smooth.vcd")


def test_outcomes_are_those_of_the_testbench_itself(program, example, tmp_path):
    edges, golden = sampled(example / "smooth.vcd")
    bench = prepare(load_campaign(example / "campaign.toml"), Progress(io.StringIO()))
    draw = random.Random(3)
    faults = {Fault(draw.randrange(bench.sites.size), draw.randrange(len(edges) - 1)) for _ in range(FAULTS)}
    with bench.engine(0) as engine:
        rows = {row.fault: row for row in engine.run(sorted(faults, key=lambda f: (f.cycle, f.site)))}
    seen = set()
    for fault in faults:
        site = bench.sites[fault.site]
        path = site.element.path.replace("u_dut", INSTANCE, 1)
        flip = f"+flip={edges[fault.cycle] + 1000},{path},{site.bit}"
        run_testbench(program, tmp_path, "+seed=1", "+verilator+seed+1", flip)
        found = sampled(tmp_path / "smooth.vcd")[1]
        differs = any(
            (one[1] and one[0] != other[0]) or one[1:3] != other[1:3]
            for one, other in zip(golden, found, strict=True)
        )
        alarm = any(row[3] for row in found)
        own = rows[fault]
        assert (own.seen.value.startswith("sdc"), own.detected is not None) == (differs, alarm), site.name
        seen.add((differs, alarm))
    assert len(seen) == 4
    assert len(faults) > 200


def test_a_design_that_is_not_the_recorded_one_is_refused(example, tmp_path):
    """The queue gives its words in another order: the first word that differs is named."""
    other = copied_example("recording", tmp_path)
    queue = other / "rtl" / "smooth_queue.sv"
    queue.write_text(
        queue.read_text().replace("data_o  = word_q[read_q[1:0]]", "data_o  = word_q[~read_q[1:0]]")
    )
    campaign = load_campaign(other / "campaign.toml")
    bench = prepare(campaign, Progress(io.StringIO()))
    with bench.engine(0) as engine, pytest.raises(HarnessError) as raised:
        compared_goldens(campaign, bench, golden_runs(bench, [engine]), Progress(io.StringIO()))
    assert raised.value.field == "golden"
    assert "out_data_o is " in str(raised.value)
    assert " ps, the end of cycle " in str(raised.value)


def test_a_campaign_of_memory_images_is_refused_without_a_bench(example, tmp_path, capsys):
    text = (example / "campaign.toml").read_text()
    images = '[workload]\nimages = [{ memory = "m", file = "x.bin" }]\n'
    images += '[workload.output]\nmemory = "m"\nshape = [1]\ndtype = "int8"\n'
    (example / "x.bin").write_bytes(b"1")
    own = example / "images.toml"
    own.write_text(re.sub(r"\[workload\].*?(?=\[faults\])", images, text, flags=re.DOTALL))
    assert main(["run", str(own), "--out", str(tmp_path / "run"), "--quiet"]) == 2
    assert "waves" in capsys.readouterr().err


def test_protection_is_built_around_what_the_recording_drives(example, tmp_path, monkeypatch):
    """The alarms' registers need clock and reset of the design, which the bench of the recording drives."""
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(example / "campaign.toml"), "--out", "run", "--quiet"]) == 0
    asked = ["--budget-fit", "0.0005", "--granularity", "register", "--build", "rtl", "--quiet"]
    assert main(["protect", "run", *asked]) in (0, 3)
    record = json.loads((tmp_path / "rtl" / "build.json").read_text())
    assert record["bit_exact"]["equal"] is True
    assert sum(record["bits"].values()) > 40


RELEASED = """
module released(input clk_i, input rst_i, input [7:0] data_i, output reg [7:0] sum_o);
  always @(posedge clk_i or posedge rst_i) if (rst_i) sum_o <= 8'd1; else sum_o <= sum_o + data_i;
endmodule
"""


def released_at_an_edge(folder: Path, cycles: int = 12, edge: int = 3) -> None:
    """A design, and a recording of it in which the reset falls at a clock edge, ahead of the design."""
    (folder / "released.v").write_text(RELEASED)
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    lines += [f"$var wire {w} {c} {n} $end" for w, c, n in ((1, "c", "clk_i"), (1, "r", "rst_i"))]
    lines += [f"$var wire 8 {c} {n} $end" for c, n in (("d", "data_i"), ("s", "sum_o"))]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end", "#0", "0c", "1r", "b0 d", "b1 s"]
    total = 1
    for cycle in range(cycles):
        data = 7 * cycle + 3
        total = (total + (7 * (cycle - 1) + 3) * (cycle >= edge)) & 255
        lines += [f"#{10 * cycle + 5}", "1c", *(["0r"] if cycle == edge else [])]
        lines += [f"b{total:b} s", f"b{data & 255:b} d", f"#{10 * cycle + 10}", "0c"]
    (folder / "released.vcd").write_text("\n".join(lines) + "\n")
    (folder / "target.toml").write_text(
        'name = "released"\ntop = "released"\nsources = ["released.v"]\nclock = "clk_i"\nreset = "rst_i"\n'
        "reset_active_low = false\n"
    )
    (folder / "campaign.toml").write_text(
        '[campaign]\nname = "released"\nseed = 1\n[target]\nfile = "target.toml"\n[workload]\n'
        'waves = "released.vcd"\ninstance = "tb.u_dut"\n[faults]\nkinds = ["ff"]\ninjections = 20\n'
        '[technology]\nname = "finfet-16nm"\n'
    )


def test_a_reset_that_falls_with_the_clock_may_come_first(tmp_path, capsys):
    """The fault: the design saw it an edge later than the recorded one had, and no key said otherwise."""
    released_at_an_edge(tmp_path)
    campaign = str(tmp_path / "campaign.toml")
    run = ["run", campaign, "--out", str(tmp_path / "run"), "--workers", "1"]
    assert main(run) == 2
    said = capsys.readouterr().err
    assert "at 45 ns" in said
    assert 'if the design sees the new value, at_edge = ["rst_i"]' in said
    assert main([*run, "--set", 'workload.at_edge=["data_i", "rst_i"]']) == 2
    assert main([*run, "--set", 'workload.at_edge=["reset"]']) == 2
    assert (
        'at_edge: expected inputs that are no clocks (rst_i, data_i), found "reset"'
        in capsys.readouterr().err
    )
    assert main([*run, "--set", 'workload.at_edge=["rst_i"]']) in (0, 3)
    assert "at_edge" in (tmp_path / "run" / "campaign.toml").read_text()


def test_a_fault_list_counts_cycles_of_the_recording_those_in_reset_among_them(tmp_path, capsys):
    """The fault: page and message said that time is counted after reset."""
    released_at_an_edge(tmp_path)
    file = tmp_path / "campaign.toml"
    file.write_text(file.read_text().replace("[faults]", 'at_edge = ["rst_i"]\n[faults]'))
    # A fault after the edge of cycle 2 is there when the next one sees no reset; none before.
    rows = "u_dut.sum_o[1],upset,1,safe\nu_dut.sum_o[1],upset,2,observed\nu_dut.sum_o[1],upset,{},observed\n"
    for command in (["run", str(file), "--faults"], ["import", "--campaign", str(file)]):
        listed, out = tmp_path / "list.csv", tmp_path / command[0]
        asked = [*command, str(listed), "--out", str(out), "--quiet"]
        listed.write_text("site,type,time,status\n" + rows.format(13))
        assert main(asked) == 2
        said = capsys.readouterr().err
        assert "0 to 12, found 13; times count edges of the clock from 0" in said
        assert "on a recording from the first edge of its window" in said
        listed.write_text("site,type,time,status\n" + rows.format(12))
        assert main(asked) == 0
        wanted = "In 2 of 12 cycles a fault finds the design in reset: 1 upsets of the list strike there."
        assert wanted in capsys.readouterr().out
        assert wanted in json.loads((out / "listed.json").read_text())["remarks"][0]


def test_how_long_a_recording_is_is_said(tmp_path):
    """A file that was cut off in the middle is a shorter recording: nothing but its length shows it."""
    released_at_an_edge(tmp_path)
    said = io.StringIO()
    set_loudness(Loudness.NORMAL)
    targeted(load_campaign(tmp_path / "campaign.toml"), Progress(said))
    whole = "released.vcd: 12 cycles, the last ends at 115 ns; the last change of a port is at 120 ns"
    assert whole in said.getvalue()
    file = tmp_path / "released.vcd"
    file.write_text(file.read_text().partition("#80")[0])
    targeted(load_campaign(tmp_path / "campaign.toml"), Progress(said))
    assert "released.vcd: 8 cycles, the last ends at 75 ns; " in said.getvalue()


def test_patterns_that_leave_nothing_to_inject_into(tmp_path, capsys):
    """The fault: the message asked for the key dut, which such a target must not have."""
    released_at_an_edge(tmp_path)
    file = tmp_path / "target.toml"
    file.write_text(file.read_text() + 'exclude = ["*"]\n')
    assert main(["run", str(tmp_path / "campaign.toml"), "--out", str(tmp_path / "run"), "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "target released: exclude: expected storage that is left" in said
    assert "dut:" not in said


def test_alarms_wait_while_a_recording_holds_the_design_in_reset(tmp_path):
    """The fault: upsets of copies in a long reset counted as not reported, and no set was ever confirmed."""
    released_at_an_edge(tmp_path, cycles=40, edge=12)
    file = tmp_path / "campaign.toml"
    file.write_text(file.read_text().replace("[faults]", 'at_edge = ["rst_i"]\n[faults]'))
    campaign = load_campaign(file)
    bare = load_target(tmp_path / "target.toml")
    (cycles,) = reset_cycles(campaign, close_target(campaign, campaign.work, bare).target)
    # The edge of cycle 12 is the first that the design sees without reset: a fault after that of 11 is, too.
    assert [*cycles] == [True] * 11 + [False] * 29
    assert reset_cycles(campaign, bare) == []
