# SPDX-License-Identifier: Apache-2.0
"""A block in lockstep with a copy: what either gives out that the other does not is told."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from resil.rtl_harness.redundancy.groups import GroupError
from resil.rtl_harness.redundancy.lockstep import check_locksteps
from resil.rtl_harness.redundancy.proof import check_alarms
from tests.rtl_harness.redundancy.designs import awkward, awkward_work, copy_of_built, core_work, target_of

GROUPS = [
    ProtectionGroup("control", Mechanism.LOCKSTEP),
    ProtectionGroup("u_dut.u_lanes", Mechanism.LOCKSTEP),
]
HARMFUL = {Seen.SDC_CRITICAL, Seen.HANG}


@pytest.fixture
def made(tmp_path_factory):
    return copy_of_built(tmp_path_factory, "lockstep", GROUPS)


def checked(build, folder):
    target = load_target(folder / "target.toml")
    elaboration = elaborate(target)
    check_alarms(target, elaboration, build.registers, in_lockstep=build.locksteps)
    return check_locksteps(target, with_hardware(target, elaboration), build.locksteps, build.instances)


def test_what_is_built_is_as_before_and_tells(made):
    build, folder = made
    assert checked(build, folder) == 2
    assert build.alarms == ("u_dut.u_control", "u_dut.u_lanes")
    target = load_target(folder / "target.toml")
    assert target.blocks["lockstep"] == ("u_dut.resil_u_control_copy", "u_dut.resil_u_lanes_copy")
    elaboration = elaborate(target)
    engine, before = (VerilatorEngine(t, awkward_work(), elaborate(t)) for t in (target, awkward()))
    ends = [engine.golden().end, before.golden().end]
    assert (ends[0].output, ends[0].end_cycle, ends[0].alarms) == (ends[1].output, ends[1].end_cycle, ())
    # Storage keeps its names; the copy has as much.
    old = {e.path: e.bits for e in elaborate(awkward()).sites.elements}
    new = {e.path: e.bits for e in elaboration.sites.elements}
    assert old.items() <= new.items()
    copied = sum(bits for path, bits in new.items() if "_copy." in path)
    assert copied == sum(own.bits for own in build.locksteps)
    sites = elaboration.sites
    faults = [
        Fault(sites.offsets[i] + bit, cycle)
        for i, element in enumerate(sites.elements)
        if "u_control" in element.path or "u_lanes" in element.path
        for bit in range(0, element.bits, 3)
        for cycle in range(5, 285, 37)
    ]
    found: Counter[tuple[bool, Seen, bool]] = Counter()
    for own in engine.run(faults):
        copy = "_copy." in sites[own.fault.site].name
        # It may end the run before its alarm is kept.
        assert own.detected or own.seen not in HARMFUL or own.end_cycle <= own.fault.cycle + 2
        found[copy, own.seen, own.detected is not None] += 1
    # An upset of the copy never reaches an output. One of the block that does is told.
    assert sum(n for (copy, seen, _), n in found.items() if copy and seen in HARMFUL) == 0
    assert sum(n for (copy, _, told), n in found.items() if copy and told) > 20
    assert sum(n for (copy, seen, told), n in found.items() if not copy and seen in HARMFUL and told) > 20
    page = (folder / "README.md").read_text()
    assert "## Blocks in lockstep" in page
    assert "resil_u_control_copy" in (folder / "constraints.tcl").read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "why"),
    [
        ("resil_compare.sv", "a_i != b_i", "a_i[Width-1:1] != b_i[Width-1:1]", "could not be proven"),
        ("resil_compare.sv", "a_i != b_i", "1'b0", "an alarm is open|it compares|could not be proven"),
        (
            "awkward.sv",
            ".b_i     ({resil_u_control_state_o,",
            ".b_i     ({state,",
            r"compares .*state_o\[0\]",
        ),
        (
            "awkward.sv",
            ".mismatch_i(mismatch),\n    .state_o(resil",
            ".mismatch_i(1'b0),\n    .state_o(resil",
            "sees",
        ),
        ("awkward.sv", ".differ_o(resil_major[0])", ".differ_o()", "an alarm is open"),
    ],
    ids=["misses a bit", "compares nothing", "misses an output", "other input", "alarm open"],
)
def test_lockstep_that_is_none_is_found(file, old, new, why, made):
    build, folder = made
    text = (folder / "rtl" / file).read_text()
    assert text.count(old) == 1
    (folder / "rtl" / file).write_text(text.replace(old, new))
    with pytest.raises(HarnessError, match=why):
        checked(build, folder)


def test_a_copy_that_was_taken_for_the_block_is_found(made):
    build, folder = made
    text = (folder / "rtl" / "awkward.sv").read_text()
    merged = re.sub(
        r"\(\* keep_hierarchy \*\) lanes resil_u_lanes_copy \(.*?\n  \);",
        "assign resil_u_lanes_lane_o = lane;",
        text,
        flags=re.DOTALL,
    )
    assert merged != text
    (folder / "rtl" / "awkward.sv").write_text(merged)
    with pytest.raises(HarnessError, match=r"the RTL has no .*lanes_copy|copy is not in lockstep"):
        checked(build, folder)


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ([ProtectionGroup("u_dut", Mechanism.LOCKSTEP)], "copies one instance below u_dut"),
        ([ProtectionGroup("even", Mechanism.LOCKSTEP)], "copies one instance below u_dut"),
        ([ProtectionGroup("u_dut.u_control.state_q", Mechanism.LOCKSTEP)], "copies an instance"),
        (
            [GROUPS[0], ProtectionGroup("u_dut.u_control", Mechanism.LOCKSTEP)],
            "in lockstep for control already",
        ),
        ([GROUPS[0], ProtectionGroup("u_dut.u_control.state_q", Mechanism.PARITY)], "has other protection"),
    ],
)
def test_what_cannot_run_in_lockstep(groups, why, tmp_path):
    with pytest.raises(GroupError, match=why):
        build_protection(awkward(), elaborate(awkward()), groups, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


ADDER = """
module adder (
  input  wire       clk,
  input  wire       rst,
  input  wire [4:0] step,
`ifdef FORMAL
  output wire       seen,
`endif
  output reg  [7:0] sum,
  output wire       odd
);
  assign odd = ^sum;
`ifdef FORMAL
  assign seen = odd;
`endif
  always @(posedge clk or posedge rst) if (rst) sum <= 8'd0; else sum <= sum + step;
endmodule

module core (input wire clk, input wire rst, input wire [4:0] step, output wire [31:0] data);
  wire [7:0] sum;
  wire odd;
  adder u_adder (CONNECTIONS);
  assign data = {23'd0, odd, sum};
endmodule
"""
BRANCH = """.clk(clk), .rst(rst), .step(step),
`ifdef FORMAL
  .seen(),
`endif
  .sum(sum), .odd(odd)"""


@pytest.mark.parametrize(
    "connections", [BRANCH, "clk, rst, step, // all but\n sum, odd", ".step(step), .*"], ids=["b", "o", "a"]
)
def test_instances_are_copied_however_they_are_connected(connections, tmp_path):
    target = target_of(
        tmp_path, ADDER.replace("CONNECTIONS", connections), blocks={"core": ("gen_dut.u_core",)}
    )
    groups = [ProtectionGroup("gen_dut.u_core.u_adder", Mechanism.LOCKSTEP)]
    build = build_protection(target, elaborate(target), groups, tmp_path / "out")
    assert build.locksteps[0].compared == ("sum", "odd")
    protected = load_target(tmp_path / "out" / "target.toml")
    elaboration = with_hardware(protected, elaborate(protected))
    assert check_locksteps(protected, elaboration, build.locksteps, build.instances) == 1
    engine = VerilatorEngine(protected, core_work(), elaboration)
    sites = elaboration.sites
    first = sites.offsets[next(i for i, e in enumerate(sites.elements) if e.path.endswith("u_adder.sum"))]
    assert [own.detected is not None for own in engine.run([Fault(first + bit, 5) for bit in range(8)])] == [
        True
    ] * 8
