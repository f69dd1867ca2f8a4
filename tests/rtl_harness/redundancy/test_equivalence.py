"""A protected instance is proven to be what it was, and one that is not is not."""

from __future__ import annotations

from rtl_harness.elaboration import elaborate
from rtl_harness.redundancy import Group, Mechanism, build_protection
from rtl_harness.redundancy.equivalence import equal_without_faults
from rtl_harness.target import load_target
from tests.rtl_harness.redundancy.designs import awkward


def test_a_protected_instance_is_equal_until_it_is_changed(tmp_path):
    target = awkward()
    groups = [
        Group("u_dut.u_control.state_q", Mechanism.TRIPLICATION),
        Group("u_dut.u_control.step_q", Mechanism.DUPLICATION),
        Group("u_dut.u_control.round_q[5:2]", Mechanism.PARITY),
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
