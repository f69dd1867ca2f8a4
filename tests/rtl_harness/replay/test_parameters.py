# SPDX-License-Identifier: Apache-2.0
"""Parameters of the top: literals reach every front end alike, and a recording of other values is refused."""

import re

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.snapshot import frozen, verilate_copies
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.closed import ReplayRequest, close_by_recordings
from resil.rtl_harness.replay.recording import Span
from resil.rtl_harness.replay.shell import in_shell
from tests.rtl_harness.replay.knob import KNOB, knob_vcd

TARGET = f"""\
name = "knob"
top = "knob"
sources = ["{KNOB}"]
clock = "clk_i"
[parameters]
"""
ALL = """Width = 6
Mode = '"fast"'
Mask = "8'h3f"
Gain = 1.5
Style = '"fine"'
Step = -3
"""


def target_of(tmp_path, parameters=""):
    file = tmp_path / "knob.toml"
    file.write_text(TARGET + parameters)
    return file


def asked(vcd):
    return ReplayRequest((Span(vcd, "tb.u_knob"),))


def closed(tmp_path, parameters, recorded, width=4):
    file = target_of(tmp_path, parameters)
    vcd = knob_vcd(tmp_path / "knob.vcd", recorded, width)
    return close_by_recordings(load_target(file), asked(vcd), file).target


def bits(target):
    elements = elaborate(frozen(target)).sites.elements
    return {own.path.removeprefix("u_dut."): own.bits for own in elements if own.path.startswith("u_dut.")}


@pytest.mark.parametrize("way", ["recording", "shell"])
def test_literals_give_the_design_its_registers(way, tmp_path):
    """Of 6 bits, of 1.5 x 10, and as wide as a literal of 8 bits: none is so by default."""
    if way == "recording":
        target = closed(tmp_path, ALL, {}, 6)
    else:
        own = load_target(target_of(tmp_path, ALL))
        target = in_shell(own, own.parameters)
    assert bits(target) == {"sum_q": 6, "gen_fast.fast_q": 15, "gen_fine.fine_q": 8}


def test_the_simulator_takes_literals_too(tmp_path):
    """As a test of cocotb has them built: parameters of the top itself."""
    target = load_target(target_of(tmp_path, ALL))
    (tmp_path / "top.vlt").write_text("`verilator_config\n")
    flags = ["--cc", "-Wno-fatal", "--public-flat-rw", "--Mdir", "o"]
    verilate_copies(frozen(target), target.parameters, flags, tmp_path, "top.vlt")
    text = "".join(file.read_text() for file in (tmp_path / "o").glob("*.h"))
    for register, width in {"sum_q": 6, "fast_q": 15, "fine_q": 8}.items():
        assert re.search(rf"Data/\*{width - 1}:0\*/ \w*__DOT__{register};", text), register


# As Icarus and Verilator record what the design has by default.
DEFAULTS = {
    "Width": ("parameter", 32, "100"),
    "Mode": ("wire", 32, "01110011011011000110111101110111"),
    "Mask": ("parameter", 4, "1111"),
    "Gain": ("real", 64, "r0.5"),
    "Step": ("wire", 4, "1110"),
    "Extra": ("parameter", 32, "101"),
}


def test_a_recording_of_the_same_parameters_is_taken(tmp_path):
    assert bits(closed(tmp_path, "", DEFAULTS)) == {"sum_q": 4}
    wider = {**DEFAULTS, "Mask": ("parameter", 32, "1111"), "Width": ("parameter", 8, "100")}
    assert bits(closed(tmp_path, "", wider)) == {"sum_q": 4}
    negative = {"Step": ("wire", 32, "1" * 31 + "0")}
    assert bits(closed(tmp_path, "", negative)) == {"sum_q": 4}


OTHERS = {
    "Width": (("parameter", 32, "101"), "Width = 5"),
    "Mode": (("wire", 32, "01100110011000010111001101110100"), "Mode = 32'h66617374"),
    "Mask": (("parameter", 4, "1110"), "Mask = 4'he"),
    "Gain": (("real", 64, "r1.25"), "Gain = 1.25"),
    "Step": (("wire", 4, "0010"), "Step = 4'sh2"),
    "Style": (("wire", 32, "01100110011010010110111001100101"), 'Style = "fine"'),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_recording_of_other_parameters_is_refused(name, tmp_path):
    """Its outputs would differ from those of the golden run, and nothing would say why."""
    recorded, said = OTHERS[name]
    with pytest.raises(HarnessError, match="of another design") as raised:
        closed(tmp_path, "", {**DEFAULTS, name: recorded})
    assert raised.value.field == f"waves.{name}.parameter"
    assert f"found {said}:" in str(raised.value)


def test_what_changes_or_is_not_known_is_no_parameter(tmp_path):
    assert bits(closed(tmp_path, "", {"Width": ("wire", 32, "x")})) == {"sum_q": 4}


REFUSED = {
    'data_t = "8\'h1"': "parameters.data_t",
    "Extra = 3": "parameters.Extra",
    "Depth = 3": "parameters.Depth",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_no_parameter_to_be_given(line, tmp_path):
    """The front ends leave it out without a word."""
    with pytest.raises(HarnessError) as raised:
        closed(tmp_path, line, {})
    assert raised.value.field == REFUSED[line]
