# SPDX-License-Identifier: Apache-2.0
"""Partly closed replays: what a design asks of a memory comes back, the rest is as recorded."""

import pytest

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Seen
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.feedback import Answered
from resil.rtl_harness.replay.strobes import Strobe
from tests.rtl_harness.replay.loop.model import HERE, REGISTERS, WORDS, contents, run, stimulus, write_vcd
from tests.rtl_harness.replay.replayed import Replayed, closed_by

CYCLES, FAULTS = 150, 300
TARGET = f"""\
name = "walker"
top = "walker"
sources = ["{HERE}/walker.sv"]
clock = "clk_i"
reset = "rst_ni"
"""
BUS = Answered("mem_", "mem", WORDS)
# Where it asks does not count by itself.
STROBES = (Strobe(("mem_addr_o",), compared=False),)
MEMORY = contents(5)
IMAGE = b"".join(word.to_bytes(4, "little") for word in MEMORY)


@pytest.fixture(scope="module")
def target_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("target") / "walker.toml"
    file.write_text(TARGET)
    return file


@pytest.fixture(scope="module")
def rows():
    return stimulus(CYCLES, seed=2)


@pytest.fixture(scope="module")
def vcd(tmp_path_factory, rows):
    return write_vcd(tmp_path_factory.mktemp("waves") / "walker.vcd", run(rows, MEMORY)[0])


def outcomes(rows, faults, replayed=None):
    """What the model says, with the memory of the bench or with recorded answers."""
    golden, end = run(rows, MEMORY)
    compared = ("mem_req_o", "mem_we_o", "mem_be_o", "mem_wdata_o", "sum_o")
    found = {}
    for fault, flip in faults.items():
        own, last = run(rows, MEMORY, flip=flip, replayed=replayed)
        differs = any(g[n] != o[n] for g, o in zip(golden, own, strict=True) for n in compared)
        same = last[0] == end[0] and (replayed is not None or last[1] == end[1])
        found[fault] = Seen.SDC_CRITICAL if differs else Seen.MASKED if same else Seen.LATENT
    return found


def test_all_engines_say_what_a_model_with_its_memory_says(target_file, vcd, rows):
    replay = Replayed(closed_by(target_file, vcd, strobes=STROBES, closed=(BUS,)), contents={"mem": IMAGE})
    assert replay.golden().end.output == replay.expected
    faults = replay.faults(REGISTERS, FAULTS)
    expected = outcomes(rows, faults)
    plain = replay.injections(PlainEngine, faults)
    assert {fault: row.seen for fault, row in plain.items()} == expected
    assert replay.injections(VerilatorEngine, faults) == plain
    assert replay.injections(CocotbEngine, faults) == plain
    # A recording alone answers wrong addresses with the right words.
    alone = Replayed(closed_by(target_file, vcd, strobes=STROBES))
    without = {fault: row.seen for fault, row in alone.injections(PlainEngine, faults).items()}
    assert without == outcomes(rows, faults, replayed=run(rows, MEMORY)[0])
    missed = [f for f in faults if without[f] != Seen.SDC_CRITICAL and expected[f] == Seen.SDC_CRITICAL]
    assert len(missed) > 5
    assert "addr_q" in {faults[own][1] for own in missed} <= {"addr_q", "wrote_q"}
    assert {Seen.SDC_CRITICAL, Seen.MASKED} <= {*expected.values()}


WRONG = {
    "latency": ({}, 2, IMAGE, "mem_rvalid_i"),
    "image": ({}, 1, bytes([1]) + IMAGE[1:], "mem_rdata_i"),
    "base": ({"Base": 16}, 1, IMAGE, "mem_rdata_i"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_part_that_answers_otherwise_is_named_with_time_and_signal(target_file, tmp_path, rows, what):
    parameters, latency, image, signal = WRONG[what]
    file = write_vcd(tmp_path / "other.vcd", run(rows, MEMORY, latency)[0])
    bus = Answered("mem", "mem", WORDS, parameters=parameters)
    closed = closed_by(target_file, file, strobes=STROBES, closed=(bus,))
    replay = Replayed(closed, first=True, checked=True, contents={"mem": image})
    assert replay.golden().end.output != replay.expected
    said = replay.first_difference()
    assert f"{signal} is " in said
    assert "from the part of the bench" in said
    assert "the first at " in said


def test_a_part_with_the_recorded_latency(target_file, tmp_path, rows):
    file = write_vcd(tmp_path / "late.vcd", run(rows, MEMORY, 3)[0])
    bus = Answered("mem", "mem", WORDS, parameters={"Latency": 3})
    closed = closed_by(target_file, file, closed=(bus,))
    replay = Replayed(closed, first=True, checked=True, contents={"mem": IMAGE})
    assert replay.golden().end.output == replay.expected


def test_answers_need_not_be_recorded_where_they_are_not_checked(target_file, tmp_path, vcd):
    file = tmp_path / "less.vcd"
    file.write_text("\n".join(line for line in vcd.read_text().splitlines() if " mem_rdata_i " not in line))
    bus = Answered("mem", "mem", WORDS, checked=False)
    replay = Replayed(closed_by(target_file, file, closed=(bus,)), contents={"mem": IMAGE})
    assert replay.golden().end.output == replay.expected


def test_with_a_second_clock_the_part_has_the_first(target_file, tmp_path, rows):
    text = (HERE / "walker.sv").read_text().replace("clk_i,", "clk_i, clk_b_i,", 1)
    other = "  logic odd_q;\n  always_ff @(posedge clk_b_i) odd_q <= ^sum_q;\n  assign odd_o = odd_q;\n"
    text = text.replace("[15:0] sum_o", "[15:0] sum_o,\n  output logic odd_o", 1)
    text = text.replace("  logic [5:0]  addr_q;", f"{other}  logic [5:0]  addr_q;")
    (tmp_path / "walker.sv").write_text(text)
    own = tmp_path / "walker.toml"
    own.write_text(TARGET.replace(f"{HERE}/", ""))
    lines = write_vcd(tmp_path / "one.vcd", run(rows, MEMORY)[0], settle=0).read_text().splitlines()
    at = lines.index("$upscope $end")
    lines[at:at] = ["$var wire 1 B clk_b_i $end", "$var wire 1 O odd_o $end"]
    body = []
    for line in lines:
        body.append(line)
        if line.startswith("#") and line.endswith("5") and "B" not in body[-2]:
            body[-1:] = [f"#{int(line[1:]) - 2}", "1B", line, "0B"]
    file = tmp_path / "two.vcd"
    file.write_text("\n".join(body) + "\n")
    free = (Strobe(("odd_o",), compared=False), *STROBES)
    closed = closed_by(own, file, clocks=("clk_b_i",), strobes=free, closed=(BUS,))
    checked = Replayed(closed, first=True, checked=True, contents={"mem": IMAGE})
    assert checked.golden().end.output == checked.expected
    replay = Replayed(closed, contents={"mem": IMAGE})
    faults = replay.faults(REGISTERS, 60)
    plain = replay.injections(PlainEngine, faults)
    assert replay.injections(VerilatorEngine, faults) == plain
    assert {Seen.SDC_CRITICAL, Seen.MASKED} <= {row.seen for row in plain.values()}


def test_values_at_the_edges_leave_open_what_a_part_sees(target_file, vcd):
    with pytest.raises(HarnessError) as raised:
        closed_by(target_file, vcd, sampled="at", closed=(BUS,))
    assert raised.value.field == "sampled"


REFUSED = {
    "closed[0].bus": Answered("dram", "dram", 64),
    "closed[0].parameters": Answered("mem", "mem", 64, parameters={"DataWidth": 8}),
    "closed.memory": Answered("mem", "recording", 64),
}


@pytest.mark.parametrize("field", REFUSED)
def test_what_no_part_answers(target_file, vcd, field):
    with pytest.raises(HarnessError) as raised:
        closed_by(target_file, vcd, closed=(REFUSED[field],))
    assert raised.value.field == field


def test_a_bus_that_is_closed_twice(target_file, vcd):
    twice = (BUS, Answered("mem", "other", WORDS))
    with pytest.raises(HarnessError) as raised:
        close_by_recordings(load_target(target_file), ReplayRequest((), closed=twice), target_file)
    assert raised.value.field == "closed[1].bus"
