# SPDX-License-Identifier: Apache-2.0
"""What no replay is made of, refused by the name of what is wrong."""

from pathlib import Path

import pytest

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.strobes import Strobe
from tests.rtl_harness.replay.model import HERE, stimulus, write_vcd

CYCLES = 40
TARGET = f"""\
name = "ledger"
top = "ledger"
sources = ["{HERE}/ledger.sv"]
clock = "clk_i"
"""


@pytest.fixture
def target_file(tmp_path):
    file = tmp_path / "ledger.toml"
    file.write_text(TARGET)
    return file


@pytest.fixture
def vcd(tmp_path):
    return write_vcd(tmp_path / "ledger.vcd", stimulus(CYCLES, seed=4))


def asked_of(file, *span):
    return ReplayRequest((Span(Path(file), "tb.u_dut", *span),))


def refused(target_file, asked):
    with pytest.raises(HarnessError) as raised:
        close_by_recordings(load_target(target_file), asked, target_file)
    return raised.value.field


REFUSED = {
    "strobes[0].outputs": ReplayRequest((), strobes=(Strobe(("nothing",)),)),
    "strobes[1].outputs": ReplayRequest((), strobes=(Strobe(("sum_o",)), Strobe(("s*",)))),
    "strobes[0].when": ReplayRequest((), strobes=(Strobe(("sum_o",), when=("sum_o",)),)),
    "strobes": ReplayRequest((), strobes=(Strobe(("*",), compared=False),)),
    "clock": ReplayRequest((), clocks=("value_i",)),
}


@pytest.mark.parametrize("field", REFUSED)
def test_what_does_not_fit_the_ports(target_file, field):
    assert refused(target_file, REFUSED[field]) == field


@pytest.mark.parametrize(("begin", "field"), [("soon", "from"), ("5 s", "waves.clock")])
def test_a_window_that_holds_nothing(target_file, vcd, begin, field):
    assert refused(target_file, asked_of(vcd, begin)) == field


def test_a_second_clock_is_found_by_its_changes(target_file, vcd, tmp_path):
    """`ready_i` toggles at each edge of the clock: replayed once a cycle it would stand still."""
    code = next(line.split()[3] for line in vcd.read_text().splitlines() if " ready_i " in line)
    lines, level = [], 0
    for line in vcd.read_text().splitlines():
        if line[:1] in "01" and line[1:] == code:
            continue
        lines.append(line)
        if line.startswith("#"):
            level ^= 1
            lines.append(f"{level}{code}")
    file = tmp_path / "fast.vcd"
    file.write_text("\n".join(lines))
    assert refused(target_file, asked_of(file)) == "waves.ready_i.clock"


def test_a_port_that_was_not_recorded(tmp_path, vcd, target_file):
    file = tmp_path / "less.vcd"
    file.write_text("\n".join(line for line in vcd.read_text().splitlines() if " sum_o " not in line))
    assert refused(target_file, asked_of(file)) == "waves.sum_o"
    never = ReplayRequest(asked_of(file).spans, strobes=(Strobe(("sum_o",), compared=False),))
    assert close_by_recordings(load_target(target_file), never, target_file).recordings[0].cycles == CYCLES


PORTS = {
    "top.bus": ("interface wires; logic a; endinterface\n", "wires bus"),
    "top.mode": ("typedef enum logic {A, B} mode_e;\n", "input mode_e mode"),
}


@pytest.mark.parametrize("field", PORTS)
def test_ports_that_nothing_can_drive(tmp_path, field, vcd):
    before, port = PORTS[field]
    (tmp_path / "odd.sv").write_text(
        f"{before}module ledger(input logic clk_i, {port}, output logic q_o); assign q_o = clk_i; endmodule\n"
    )
    target = tmp_path / "odd.toml"
    target.write_text('name = "odd"\ntop = "ledger"\nsources = ["odd.sv"]\nclock = "clk_i"\n')
    assert refused(target, asked_of(vcd)) == field


def test_a_top_that_is_not_there(target_file, vcd):
    target_file.write_text(TARGET.replace('top = "ledger"', 'top = "ledge"'))
    assert refused(target_file, asked_of(vcd)) == "top"


def test_an_alarm_that_is_no_output(target_file, vcd):
    target_file.write_text(TARGET + '[alarms]\na = { output = "ready_i", reports = "detected" }\n')
    assert refused(target_file, asked_of(vcd)) == "alarms.a"


def test_a_target_with_a_bench_of_its_own(target_file, vcd):
    bench = 'reset = "rst_ni"\ndut = "u_x"\ndone = "done_o"\n[blocks]\nall = "u_x"\n[memories]\n'
    target_file.write_text(TARGET + bench)
    assert refused(target_file, asked_of(vcd)) == "dut"


def test_a_target_without_a_bench_needs_few_keys(target_file):
    target = load_target(target_file)
    assert target.is_open
    assert target.blocks == {"ledger": (".",)}


@pytest.mark.parametrize("key", ["dut", "done", "memories"])
def test_half_a_bench_is_none(target_file, key):
    value = "{}" if key == "memories" else '"u"'
    target_file.write_text(TARGET + f"{key} = {value}\n")
    with pytest.raises(HarnessError) as raised:
        load_target(target_file)
    assert raised.value.field == "reset"
