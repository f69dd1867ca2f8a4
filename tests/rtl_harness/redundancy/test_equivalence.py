# SPDX-License-Identifier: Apache-2.0
"""A protected instance is proven to be what it was, and one that is not is not."""

from __future__ import annotations

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from resil.rtl_harness.redundancy.equivalence import equal_without_faults
from tests.rtl_harness.redundancy.designs import CORE, awkward, target_of


def test_a_protected_instance_is_equal_until_it_is_changed(tmp_path):
    target = awkward()
    groups = [
        ProtectionGroup("u_dut.u_control.state_q", Mechanism.TRIPLICATION),
        ProtectionGroup("u_dut.u_control.step_q", Mechanism.DUPLICATION),
        ProtectionGroup("u_dut.u_control.round_q[5:2]", Mechanism.PARITY),
    ]
    built = build_protection(target, elaborate(target), groups, tmp_path / "out")
    protected = load_target(tmp_path / "out" / "target.toml")
    modules = ("control", built.netlists["u_dut.u_control"])
    assert equal_without_faults(target, protected, target.parameters, "u_dut.u_control", modules)
    file = tmp_path / "out" / "rtl" / f"{modules[1]}.sv"
    text = file.read_text()
    assert "8'h0b" in text
    file.write_text(text.replace("8'h0b", "8'h0a"))
    assert not equal_without_faults(target, protected, target.parameters, "u_dut.u_control", modules)


# Written on the gated clock, read without one.
MEMORY = """
  logic [3:0] table_q [4];
  always_ff @(posedge gated) table_q[step[1:0]] <= sum_q[3:0];
  assign data = {sum_q, bare_q ^ fall_q ^ 8'(table_q[step[3:2]]), gated_q, sync_q};
"""


@pytest.fixture
def gated(tmp_path):
    """A core with gated and inverted clocks, each of whose registers has copies; and where its netlist is."""
    last = CORE.splitlines()[-2]
    assert last.startswith("  assign data = ")
    target = target_of(tmp_path, CORE.replace(last, MEMORY))
    own = [
        ("gated_q", Mechanism.TRIPLICATION),
        ("fall_q", Mechanism.DUPLICATION),
        ("sum_q", Mechanism.PARITY),
    ]
    groups = [ProtectionGroup(f"gen_dut.u_core.{name}", mechanism) for name, mechanism in own]
    built = build_protection(target, elaborate(target), groups, tmp_path / "out")
    protected = load_target(tmp_path / "out" / "target.toml")
    modules = ("core", built.netlists["gen_dut.u_core"])

    def equal():
        return equal_without_faults(target, protected, {}, "gen_dut.u_core", modules)

    return equal, tmp_path / "out" / "rtl" / f"{modules[1]}.sv"


def test_registers_on_gated_and_inverted_clocks_are_proven_equal(gated):
    equal, _ = gated
    assert equal()


@pytest.mark.parametrize(
    ("register", "old", "new"),
    [
        ("gated_q", ".clk_i(gated)", ".clk_i(clk)"),
        ("fall_q", ".FallingEdge(1'h1)", ".FallingEdge(1'h0)"),
        ("table_q", "@(posedge gated)", "@(posedge clk)"),
        ("table_q", "@(posedge gated)", "@(negedge gated)"),
    ],
)
def test_storage_on_another_clock_or_edge_is_not_equal(gated, register, old, new):
    """The fault: copies are clocked when the register is not; the induction takes all clocks for one."""
    equal, file = gated
    text = file.read_text()
    assert text.count(old) == 1, text
    file.write_text(text.replace(old, new))
    assert not equal(), register
