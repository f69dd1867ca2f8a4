# SPDX-License-Identifier: Apache-2.0
"""Ports in both directions: driven as recorded where the design does not drive, and watched where it does."""

import pytest

from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.split import split_sources
from tests.rtl_harness.replay.pads.model import (
    HERE,
    OPEN,
    REGISTERS,
    recorded,
    replayed,
    stimulus,
    write_vcd,
)
from tests.rtl_harness.replay.replayed import Replayed, closed_by

CYCLES, FAULTS = 120, 300
TARGET = f"""\
name = "tally"
top = "tally"
sources = ["{HERE}/tally.sv"]
clock = "clk_i"
reset = "rst_ni"
"""


@pytest.fixture(scope="module")
def rows():
    return stimulus(CYCLES, seed=3)


@pytest.fixture(scope="module")
def target_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("target") / "tally.toml"
    file.write_text(TARGET)
    return file


@pytest.fixture(scope="module")
def vcd(tmp_path_factory, rows):
    return write_vcd(tmp_path_factory.mktemp("waves") / "tally.vcd", rows, recorded(rows))


@pytest.fixture(scope="module")
def replay(target_file, vcd):
    return Replayed(closed_by(target_file, vcd))


def test_the_golden_run_is_the_recording(replay, rows):
    golden = recorded(rows)
    assert replay.golden().end.output == replay.expected
    drives = replay.recording.signals["bus_io:driven"].sampled(replay.recording.times, before=True)[0]
    assert drives[:, 0].tolist() == [own["driven"][0] for own in golden]
    assert 10 < drives[:, 0].sum() < CYCLES - 10
    open_bits = 8 * sum(own["bus_io"] is OPEN for own in golden)
    assert replay.images.unknown_inputs == open_bits > 0
    assert replay.images.unknown_outputs == 0


def test_all_engines_say_what_the_model_says(replay, rows):
    golden = recorded(rows)
    _, end = replayed(rows, golden, None)
    faults = replay.faults(REGISTERS, FAULTS)
    expected = {}
    for fault, flip in faults.items():
        differs, state = replayed(rows, golden, flip)
        expected[fault] = Seen.SDC_CRITICAL if differs else Seen.MASKED if state == end else Seen.LATENT
    plain = replay.injections(PlainEngine, faults)
    assert {fault: row.seen for fault, row in plain.items()} == expected
    assert replay.injections(VerilatorEngine, faults) == plain
    assert replay.injections(CocotbEngine, faults) == plain
    assert {Seen.SDC_CRITICAL, Seen.LATENT} <= {*expected.values()}


def test_a_driver_that_is_lost_is_seen(replay, rows):
    """Nothing but whether it drives differs then: the replay has the recorded 0 on the line."""
    golden = recorded(rows)
    lost = [
        cycle
        for cycle in range(4, CYCLES - 2)
        if golden[cycle + 1]["driven"][1] and rows[cycle + 1]["others"] == 0
    ]
    assert lost
    faults = [(cycle, replay.places["high_q"]) for cycle in lost]
    for kind in (PlainEngine, VerilatorEngine):
        found = replay.injections(kind, [Fault(site, cycle) for cycle, site in faults])
        assert {row.seen for row in found.values()} == {Seen.SDC_CRITICAL}


def test_what_the_design_drives_has_to_be_noted_first(target_file, vcd):
    closed = closed_by(target_file, vcd)
    with pytest.raises(HarnessError) as raised:
        images_of(closed.recordings[0], closed.layout, closed.rules)
    assert raised.value.field == "waves.driven"


def test_a_recording_of_another_driver_is_refused(target_file, rows, tmp_path):
    golden = recorded(rows)
    cycle = next(c for c in range(20, CYCLES) if golden[c]["driven"][0])
    golden[cycle]["bus_io"] ^= 16
    replay = Replayed(closed_by(target_file, write_vcd(tmp_path / "a.vcd", rows, golden)), first=True)
    assert replay.golden().end.output != replay.expected
    said = replay.first_difference()
    assert f"{10 * cycle + 5:,} ns" in said
    assert "bus_io is" in said


HEAD = (
    "module top(input logic clk, input logic on, input logic [3:0] d, inout wire [3:0] p, output logic q);\n"
)
REFUSED = {
    "a net that is Z": "wire [3:0] w; assign w = on ? d : 'z; assign p = w;",
    "a copy of it": "wire [3:0] w, v; assign w = on ? d : 'z; assign v = w; assign p = on ? v : d;",
    "an output that is Z": "sub s(.on(on), .o(p[0]));",
    "an output behind a net": "wire w; sub s(.on(on), .o(w)); assign p[0] = w;",
    "a function": "assign p = 4'(on ? d : 4'bz) ^ 4'd1;",
    "a strength": "assign (weak1, strong0) p = d;",
    "a switch": "wire w; tran t(p[0], w);",
    "a pad on a net within": "wire w; pad a(.on(on), .p(p[0])); pad b(.on(on), .p(w));",
    "a macro": "assign p = on ? d : `OPEN;",
    "a black box": "hidden h(p);",
}
SUBS = """
`define OPEN 4'bz
module sub(input logic on, output wire o); assign o = on ? 1'b1 : 1'bz; endmodule
module pad(input logic on, inout wire p); assign p = on ? 1'b1 : 1'bz; endmodule
"""


@pytest.mark.parametrize("what", REFUSED)
def test_drivers_that_cannot_be_followed_are_refused_with_their_place(tmp_path, what):
    file = tmp_path / "top.sv"
    file.write_text(SUBS + HEAD + REFUSED[what] + "\nassign q = p[0];\nendmodule\n")
    with pytest.raises(HarnessError) as raised:
        split_sources("top", [file], {}, ["p"])
    assert raised.value.field in ("top.p", "top.pad")
    assert "top.sv:6: top" in str(raised.value)
