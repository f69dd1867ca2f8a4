# SPDX-License-Identifier: Apache-2.0
"""Faults that are seeded into protected RTL are found before anything is injected."""

from __future__ import annotations

import re

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup
from resil.rtl_harness.redundancy.proof import check_alarms, check_copies, prove_mechanisms
from tests.rtl_harness.redundancy.designs import copy_of_built

CONTROL = "u_dut.u_control"


@pytest.fixture
def protected(tmp_path_factory):
    groups = [
        ProtectionGroup(f"{CONTROL}.state_q", Mechanism.TRIPLICATION),
        ProtectionGroup(f"{CONTROL}.step_q", Mechanism.DUPLICATION),
        ProtectionGroup(f"{CONTROL}.round_q", Mechanism.PARITY, ways=2),
    ]
    return copy_of_built(tmp_path_factory, "three-mechanisms", groups)


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_what_was_built_is_proven(protected):
    built, folder = protected
    assert prove_mechanisms(folder / "rtl", built.registers) == 3 + 2 + 2
    target = load_target(folder / "target.toml")
    check_alarms(target, elaborate(target), built.registers)
    check_copies(with_hardware(target, elaborate(target)), built.registers)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # A vote for the first alone, for the odd one, and without a third.
        ("resil_voter.sv", "(a_i & b_i) | (a_i & c_i) | (b_i & c_i)", "a_i"),
        ("resil_voter.sv", "(a_i & b_i) | (a_i & c_i) | (b_i & c_i)", "a_i ^ b_i ^ c_i"),
        ("resil_voter.sv", "| (b_i & c_i)", ""),
        # Alarms that look at two copies of three, at nothing, and always.
        ("resil_voter.sv", "|((a_i ^ b_i) | (b_i ^ c_i))", "|(a_i ^ b_i)"),
        ("resil_flop_dup.sv", "a != b", "1'b0"),
        ("resil_flop_parity.sv", "parity_of(q_o) != parity", "1'b1"),
        # Copies of something else.
        ("resil_flop_parity.sv", ".d_i   (parity_of(d_i))", ".d_i   (~parity_of(d_i))"),
        # Neighbours under one parity bit.
        ("resil_flop_parity.sv", "i < Width; i += Ways) way", "i < Width; i += 1) way"),
        ("resil_flop.sv", "else q_q <= d_i;", "else q_q <= ~d_i;"),
    ],
)
def test_mechanisms_that_do_something_else(file, old, new, protected):
    built, folder = protected
    text = (folder / "rtl" / file).read_text()
    assert old in text
    (folder / "rtl" / file).write_text(text.replace(old, new))
    with pytest.raises(HarnessError, match="could not be proven"):
        prove_mechanisms(folder / "rtl", built.registers)


@pytest.mark.parametrize("place", ["register", "instance", "kept"])
def test_an_alarm_that_is_open(place, protected):
    built, folder = protected
    if place == "register":
        text = (folder / "rtl" / "control_protected.sv").read_text()
        wire = re.search(r"resil_flop_dup #\(.*?\.err_o\((\w+)\)", text, re.DOTALL)[1]
        change(folder / "rtl" / "control_protected.sv", f".err_o({wire})", ".err_o()")
    elif place == "instance":
        change(folder / "rtl" / "awkward.sv", ".alert_major_o(resil_major[0])", ".alert_major_o()")
    else:
        change(folder / "rtl" / "awkward.sv", ".major_i      (resil_major)", ".major_i      ('0)")
    target = load_target(folder / "target.toml")
    with pytest.raises(HarnessError, match="an alarm is open"):
        check_alarms(target, elaborate(target), built.registers)


def test_copies_that_synthesis_merges(protected):
    built, folder = protected
    for name in ("resil_flop", "resil_flop_dup", "resil_voter", "resil_flop_tmr", "resil_flop_parity"):
        change(folder / "rtl" / f"{name}.sv", "(* keep_hierarchy *)\n", "")
    change(folder / "rtl" / "resil_flop.sv", "(* keep *) ", "")
    target = load_target(folder / "target.toml")
    with pytest.raises(
        HarnessError, match=r"u_copy_b\.q_q\[.\]: expected a flip-flop of its own .* duplicate"
    ):
        check_copies(with_hardware(target, elaborate(target)), built.registers)
