# SPDX-License-Identifier: Apache-2.0
"""Replays of a design that is modelled in Python: outcomes are the model's, on every engine."""

import random

import pytest

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.strobes import Strobe
from tests.rtl_harness.replay.model import HERE, OUTPUTS, REGISTERS, run, stimulus, write_vcd
from tests.rtl_harness.replay.replayed import Replayed, closed_by

CYCLES, FAULTS = 90, 220
TARGET = """\
name = "ledger"
top = "ledger"
sources = ["{here}/ledger.sv"]
clock = "clk_i"
[parameters]
Width = 8
[alarms]
overflow = {{ output = "alarm_o", reports = "detected" }}
"""


@pytest.fixture(scope="module")
def target_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("target") / "ledger.toml"
    file.write_text(TARGET.format(here=HERE))
    return file


@pytest.fixture(scope="module")
def inputs():
    return stimulus(CYCLES, seed=4)


@pytest.fixture(scope="module")
def vcd(tmp_path_factory, inputs):
    return write_vcd(tmp_path_factory.mktemp("waves") / "ledger.vcd", inputs)


def seen_by_model(inputs, flip, differs):
    """Return what the model sees of a flip, and whether its alarm rises."""
    before, alarms, state = run(inputs, flip)
    golden, usual, end = run(inputs)
    assert not any(usual)
    rose = any(alarms)
    if found := differs(golden, before):
        return found, rose
    return (Seen.MASKED if state == end else Seen.LATENT), rose


def any_output(golden, found):
    compared = [name for name in OUTPUTS if name != "alarm_o"]
    differs = any(g[n] != f[n] for g, f in zip(golden, found, strict=True) for n in compared)
    return Seen.SDC_CRITICAL if differs else None


def test_all_engines_say_what_the_model_says(target_file, vcd, inputs):
    replay = Replayed(closed_by(target_file, vcd))
    faults = replay.faults(REGISTERS, FAULTS)
    expected = {fault: seen_by_model(inputs, flip, any_output) for fault, flip in faults.items()}
    rows = {kind: replay.injections(kind, faults) for kind in (PlainEngine, VerilatorEngine, CocotbEngine)}
    found = {f: (i.seen, i.detected is not None) for f, i in rows[PlainEngine].items()}
    assert found == expected
    assert {Seen.MASKED, Seen.SDC_CRITICAL} <= {seen for seen, _ in expected.values()}
    assert any(rose for _, rose in expected.values())
    assert rows[VerilatorEngine] == rows[PlainEngine]
    assert rows[CocotbEngine] == rows[PlainEngine]


def test_the_golden_run_is_the_recording(target_file, vcd):
    replay = Replayed(closed_by(target_file, vcd))
    assert replay.golden().end.output == replay.expected
    assert replay.images.compared_bits == CYCLES * 10
    assert replay.images.compared_cycles == CYCLES


def test_the_first_difference_is_named_with_time_and_signal(target_file, inputs, tmp_path):
    def spoilt(cycle, name, digits):
        return format(int(digits, 2) ^ 4, "08b") if name == "sum_o" and cycle >= 41 else digits

    wrong = write_vcd(tmp_path / "wrong.vcd", inputs, spoilt=spoilt)
    closed = closed_by(target_file, wrong)
    assert Replayed(closed).golden().end.output != Replayed(closed).expected
    said = Replayed(closed, first=True).first_difference()
    value = run(inputs)[0][41]["sum_o"]
    assert "415 ns" in said
    assert f"sum_o is {value ^ 4:#x} in the recording, {value:#x} in the design" in said
    assert "odd_o" not in said


def test_unknown_bits_are_zero_at_inputs_and_anything_at_outputs(target_file, inputs, tmp_path):
    def spoilt(cycle, name, digits):
        if name == "sum_o" and cycle < 5:
            return "xxxx" + digits[4:]
        return "x" * len(digits) if name == "value_i" and cycle < 2 else digits

    file = write_vcd(tmp_path / "unknown.vcd", inputs, spoilt=spoilt)
    replay = Replayed(closed_by(target_file, file))
    assert replay.golden().end.output == replay.expected
    assert replay.images.unknown_inputs == 2 * 8
    assert replay.images.unknown_outputs == 5 * 4
    assert replay.images.compared_bits == CYCLES * 10 - 20


STROBES = (
    Strobe(("sum_o",), when=("valid_o", "ready_i"), stream=True, tolerance=3, signed=True),
    Strobe(("odd_o",), cycles=((10, 30), (60, 60))),
    Strobe(("valid_o",), compared=False),
)


def by_strobes(golden, found, inputs):
    """Compare as `STROBES` say, word by word."""

    def words(rows):
        return [r["sum_o"] for r, i in zip(rows, inputs, strict=True) if r["valid_o"] and i["ready_i"]]

    worst = 0
    for cycle in [*range(10, 31), 60]:
        worst = max(worst, 2 * (golden[cycle]["odd_o"] != found[cycle]["odd_o"]))
    one, other = words(golden), words(found)
    if len(one) != len(other):
        worst = 2
    for a, b in zip(one, other, strict=False):
        if a != b:
            worst = max(worst, 1 if abs(signed(a) - signed(b)) <= 3 else 2)
    return [None, Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL][worst]


def signed(value):
    return value - 256 if value > 127 else value


def test_streams_tolerances_and_named_cycles(target_file, vcd, inputs):
    replay = Replayed(closed_by(target_file, vcd, strobes=STROBES))
    assert replay.golden().end.output == replay.expected
    faults = replay.faults(REGISTERS, FAULTS, seed=8)
    expected = {
        fault: seen_by_model(inputs, flip, lambda g, f: by_strobes(g, f, inputs))
        for fault, flip in faults.items()
    }
    plain = replay.injections(PlainEngine, faults)
    assert {f: (i.seen, i.detected is not None) for f, i in plain.items()} == expected
    assert {Seen.SDC_TOLERABLE, Seen.SDC_CRITICAL, Seen.MASKED} <= {seen for seen, _ in expected.values()}
    assert replay.injections(VerilatorEngine, faults) == plain


NEARBY = """
module nearby(
  input logic clk_i, input logic [3:0] d_i,
  output logic [3:0] plain_o, output logic signed [3:0] signed_o, output logic [3:0] any_o
);
  logic [3:0] plain_q, signed_q, any_q;
  always_ff @(posedge clk_i) {plain_q, signed_q, any_q} <= {3{d_i}};
  assign plain_o = plain_q + d_i;
  assign signed_o = signed_q + d_i;
  assign any_o = any_q;
endmodule
"""
# A tolerance that is wider than the output: its lowest bits alone would be 8.
TOLERANCES = {"plain": 3, "signed": 3, "any": 600 + 8}


def beyond(name, golden, found):
    if name == "signed":
        golden, found = (value - 16 if value > 7 else value for value in (golden, found))
    return abs(golden - found) > TOLERANCES[name]


def test_tolerances_cycle_by_cycle(tmp_path):
    """The fault: the bench named what it declares for them 0_found, which is no name."""
    (tmp_path / "nearby.sv").write_text(NEARBY)
    target_file = tmp_path / "nearby.toml"
    target_file.write_text('name = "nearby"\ntop = "nearby"\nsources = ["nearby.sv"]\nclock = "clk_i"\n')
    draw, before = random.Random(6), 0
    data = [0, *(draw.randrange(16) for _ in range(31))]
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    names = {"clk_i": (1, "c"), "d_i": (4, "d"), "plain_o": (4, "p"), "signed_o": (4, "s"), "any_o": (4, "a")}
    lines += [f"$var wire {width} {code} {name} $end" for name, (width, code) in names.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    for cycle, d in enumerate(data):
        total = before + d & 15
        lines += [f"#{10 * cycle}", "0c", f"b{d:04b} d", f"b{total:04b} p", f"b{total:04b} s"]
        lines += [f"b{before:04b} a", f"#{10 * cycle + 5}", "1c"]
        before = d
    vcd = tmp_path / "nearby.vcd"
    vcd.write_text("\n".join(lines) + "\n")
    strobes = tuple(
        Strobe((f"{name}_o",), tolerance=tolerance, signed=name == "signed")
        for name, tolerance in TOLERANCES.items()
    )
    replay = Replayed(closed_by(target_file, vcd, strobes=strobes))
    assert replay.golden().end.output == replay.expected
    expected, sites = {}, replay.elaboration.sites
    for index, element in enumerate(sites.elements):
        name = element.path.removeprefix("u_dut.").removesuffix("_q")
        for cycle in range(len(data) - 1):
            for bit in range(4):
                held, added = data[cycle], data[cycle + 1] if name != "any" else 0
                differs = beyond(name, held + added & 15, (held ^ 1 << bit) + added & 15)
                seen = Seen.SDC_CRITICAL if differs else Seen.SDC_TOLERABLE
                expected[Fault(sites.offsets[index] + bit, cycle)] = name, seen
    assert len(expected) == 3 * 4 * 31
    assert {("plain", seen) for seen in (Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE)} < {*expected.values()}
    assert {("signed", seen) for seen in (Seen.SDC_CRITICAL, Seen.SDC_TOLERABLE)} < {*expected.values()}
    for kind in (PlainEngine, VerilatorEngine):
        found = replay.injections(kind, expected)
        assert {f: row.seen for f, row in found.items()} == {f: seen for f, (_, seen) in expected.items()}


def test_a_testbench_that_changes_inputs_together_with_the_clock(target_file, inputs, tmp_path):
    """As a C++ one does that sets inputs and clock before one evaluation: outputs are of after the edge."""
    file = write_vcd(tmp_path / "together.vcd", inputs, together=True)
    wrong = Replayed(closed_by(target_file, file), first=True)
    assert wrong.golden().end.output != wrong.expected
    replay = Replayed(closed_by(target_file, file, sampled="at"))
    assert replay.golden().end.output == replay.expected
    faults = replay.faults(REGISTERS, FAULTS, seed=9)
    plain = replay.injections(PlainEngine, faults)
    assert replay.injections(VerilatorEngine, faults) == plain
    assert {Seen.MASKED, Seen.SDC_CRITICAL} <= {injection.seen for injection in plain.values()}


def test_a_window_that_begins_with_a_reset(target_file, inputs, tmp_path):
    again = [*inputs[:40], *inputs]
    file = write_vcd(tmp_path / "twice.vcd", again)
    closed = close_by_recordings(
        load_target(target_file), ReplayRequest((Span(file, "tb.u_dut", "400 ns", "900 ns"),)), target_file
    )
    replay = Replayed(closed)
    assert replay.recording.cycles == 50
    assert replay.golden().end.output == replay.expected


def test_many_recordings_share_a_bench(target_file, vcd, tmp_path):
    other = write_vcd(tmp_path / "other.vcd", stimulus(70, seed=5))
    closed = closed_by(target_file, vcd, other)
    second = Replayed(closed, number=1)
    assert second.recording.cycles == 70
    assert second.golden().end.output == second.expected
    assert second.golden().end.end_cycle < Replayed(closed).golden().end.end_cycle


def test_a_run_that_nothing_reports_ends_with_its_first_wrong_output(tmp_path, vcd, inputs):
    """What is seen is as in whole runs; the end is the cycle of the model's first difference."""
    target_file = tmp_path / "silent.toml"
    target_file.write_text(TARGET.format(here=HERE).partition("[alarms]")[0])
    replay = Replayed(closed_by(target_file, vcd), ends=True)
    golden, _, end = run(inputs)
    last, expected = replay.golden().cycles, {}
    for fault, flip in (faults := replay.faults(REGISTERS, FAULTS)).items():
        found, _, state = run(inputs, flip)
        wrong = [cycle for cycle, (g, f) in enumerate(zip(golden, found, strict=True)) if g != f]
        seen = Seen.SDC_CRITICAL if wrong else Seen.MASKED if state == end else Seen.LATENT
        expected[fault] = seen, last - (CYCLES - 1 - wrong[0] if wrong else 0)
    rows = [replay.injections(kind, faults) for kind in (PlainEngine, VerilatorEngine, CocotbEngine)]
    assert rows[0] == rows[1] == rows[2]
    assert {fault: (row.seen, row.end_cycle) for fault, row in rows[0].items()} == expected
    whole = Replayed(closed_by(target_file, vcd)).injections(VerilatorEngine, faults)
    assert {fault: row.seen for fault, row in whole.items()} == {f: seen for f, (seen, _) in expected.items()}
    assert {row.end_cycle for row in whole.values()} == {last}


PRESET = """
module preset(
  input logic clk_i, input logic {reset}, input logic [3:0] d_i, output logic [3:0] q_o, output logic idle_o
);
  always_ff @(posedge clk_i or {edge} {reset})
    if ({active}) {{q_o, idle_o}} <= {{4'ha, 1'b1}};
    else {{q_o, idle_o}} <= {{q_o ^ d_i, 1'b0}};
endmodule
"""


@pytest.mark.parametrize("low", [True, False])
def test_a_reset_that_needs_no_clock_has_acted_before_the_first_edge(tmp_path, low):
    reset = "rst_ni" if low else "rst_i"
    text = PRESET.format(
        reset=reset, edge="negedge" if low else "posedge", active="!rst_ni" if low else "rst_i"
    )
    (tmp_path / "preset.sv").write_text(text)
    target_file = tmp_path / "preset.toml"
    target_file.write_text(
        f'name = "preset"\ntop = "preset"\nsources = ["preset.sv"]\nclock = "clk_i"\nreset = "{reset}"\n'
        f'reset_active_low = {str(low).lower()}\n[blocks]\nall = "."\n'
    )
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_dut $end"]
    names = {"clk_i": (1, "c"), reset: (1, "r"), "d_i": (4, "d"), "q_o": (4, "q"), "idle_o": (1, "i")}
    lines += [f"$var wire {width} {code} {name} $end" for name, (width, code) in names.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    value, idle, draw = 0xA, 1, random.Random(3)
    for cycle in range(24):
        released, d = cycle > 1, draw.randrange(16)
        level = int(released == low)
        lines += [f"#{10 * cycle}", "0c", f"{level}r", f"b{d:04b} d", f"b{value:04b} q", f"{idle}i"]
        if released:
            value, idle = value ^ d, 0
        lines += [f"#{10 * cycle + 5}", "1c", f"b{value:04b} q", f"{idle}i"]
    vcd = tmp_path / "preset.vcd"
    vcd.write_text("\n".join(lines) + "\n")
    replay = Replayed(closed_by(target_file, vcd))
    faults = [Fault(site, cycle) for site in range(replay.elaboration.sites.size) for cycle in (0, 1, 2, 9)]
    rows = []
    for kind in (PlainEngine, VerilatorEngine, CocotbEngine):
        assert replay.golden(kind).end.output == replay.expected
        rows.append(replay.injections(kind, faults))
    assert rows[0] == rows[1] == rows[2]
    # What strikes while the reset is active is seen in that cycle, and mended at its end.
    assert {rows[0][fault].seen for fault in faults if fault.cycle == 2} == {Seen.SDC_CRITICAL}
