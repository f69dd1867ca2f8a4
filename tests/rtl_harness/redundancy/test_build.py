# SPDX-License-Identifier: Apache-2.0
"""Protected designs are those that they were, and tell of what strikes them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import TargetAlarm, load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup, build_protection
from resil.rtl_harness.redundancy.proof import check_alarms
from resil.rtl_harness.redundancy.target_file import require_same_includes, target_text
from testkit.errors import about
from tests.rtl_harness.redundancy.designs import (
    CORE,
    awkward,
    awkward_work,
    core_work,
    target_of,
)

CONTROL = "u_dut.u_control"
MIXED = [
    ProtectionGroup(f"{CONTROL}.state_q", Mechanism.TRIPLICATION),
    ProtectionGroup(f"{CONTROL}.step_q", Mechanism.DUPLICATION),
    ProtectionGroup(f"{CONTROL}.round_q[5:2]", Mechanism.PARITY),
]


def built(target, groups, folder):
    build = build_protection(target, elaborate(target), groups, folder)
    return build, load_target(folder / "target.toml")


def engines(before, after, work):
    found = [VerilatorEngine(t, work, elaborate(t, work.parameters)) for t in (before, after)]
    ends = [engine.golden().end for engine in found]
    assert ends[0].output == ends[1].output
    assert ends[0].end_cycle == ends[1].end_cycle
    assert ends[0].status == ends[1].status
    assert ends[1].alarms == ends[0].alarms == ()
    return found[1]


def struck(engine, elaboration, part, cycles, size=1):
    """Upsets of all neighbours of registers whose path has a part, as (seen, detected by, corrected by)."""
    sites = elaboration.sites
    faults = [
        Fault(sites.offsets[i] + bit, cycle, bits=size)
        for i, element in enumerate(sites.elements)
        if part in element.path
        for bit in range(element.bits)
        if sites.room(sites.offsets[i] + bit) >= size
        for cycle in cycles
    ]
    assert faults
    return Counter(
        (i.seen, i.detected and i.detected.alarm, i.corrected and i.corrected.alarm)
        for i in engine.run(faults)
    )


def test_copies_correct_or_tell(tmp_path):
    target = awkward()
    build, protected = built(target, MIXED, tmp_path / "out")
    assert {(r.mechanism, r.bits) for r in build.registers} == {
        (Mechanism.TRIPLICATION, 3),
        (Mechanism.DUPLICATION, 4),
        (Mechanism.PARITY, 4),
    }
    engine = engines(target, protected, awkward_work())
    elaboration = elaborate(protected)
    # The alarms stay: they are state that differs, so what is corrected is seen as latent.
    corrected = struck(engine, elaboration, "u_state_q.u_copy_", range(20, 280, 60))
    assert corrected == {(Seen.LATENT, None, "alert_minor"): 3 * 3 * 5}
    for part in ("u_step_q.u_copy_", "u_round_q_5_2.u_data", "u_round_q_5_2.u_parity"):
        for (_, detected, minor), _count in struck(engine, elaboration, part, range(20, 280, 60)).items():
            assert detected in ("alert_major", "error")
            assert minor is None
    assert struck(engine, elaboration, "u_resil_alert.major_q", [50]) == {
        (Seen.LATENT, "alert_major", None): 1
    }


@pytest.mark.parametrize("mechanism", [Mechanism.PARITY, Mechanism.DUPLICATION, Mechanism.TRIPLICATION])
@pytest.mark.parametrize("path", ["u_dut", "even"])
def test_whole_blocks_are_what_they_were(path, mechanism, tmp_path):
    target = awkward()
    build, protected = built(target, [ProtectionGroup(path, mechanism)], tmp_path / "out")
    engines(target, protected, awkward_work())
    before, after = elaborate(target), elaborate(protected)
    assert not after.unmapped
    check_alarms(protected, after, build.registers)
    if path == "u_dut":
        assert [found.reason for found in build.left_out] == [
            "a memory: secded and memory_parity are for it",
            "read by nothing",
        ]
    # Unprotected registers keep their names and blocks; what a generate block held is still in its block.
    names = {e.path: e.block for e in after.sites.elements}
    kept = {e.path: e.block for e in before.sites.elements if e.path in names}
    assert kept == {path: names[path] for path in kept}
    assert {e.block for e in after.sites.elements} == {"control", "lanes", "even", "history", "alerts"}


def test_odd_clocks_and_resets(tmp_path):
    """Falling edges, gated clocks, enables, synchronous resets and none, and a reset that is active high."""
    target = target_of(tmp_path, CORE)
    build, protected = built(target, [ProtectionGroup("core", Mechanism.TRIPLICATION)], tmp_path / "out")
    names = ["u_sum_q", "u_fall_q", "u_gated_q", "u_sync_q", "u_bare_q"]
    assert sorted(r.path.rpartition(".")[2] for r in build.registers) == sorted(names)
    assert [(found.path.rpartition(".")[2], found.reason) for found in build.left_out] == [
        ("on_l", "made of latches")
    ]
    assert list(build.netlists.values()) == ["core_protected"]
    engine = engines(target, protected, core_work())
    found = struck(engine, elaborate(protected), "u_copy_", range(3, 30, 4))
    # The falling edge writes its register anew before the alarm could be kept.
    assert set(found) == {(Seen.LATENT, None, "alert_minor"), (Seen.MASKED, None, "alert_minor")}
    passing = found[Seen.MASKED, None, "alert_minor"]
    assert passing == 8 * 3 * 7


def test_hardened_cells_are_a_constraint_alone(tmp_path):
    target = awkward()
    groups = [
        ProtectionGroup(f"{CONTROL}.round_q[7:6]", Mechanism.HARDENED),
        ProtectionGroup("lanes", Mechanism.HARDENED),
    ]
    build, protected = built(target, groups, tmp_path / "out")
    assert build.registers == ()
    assert protected.sources == target.sources
    constraints = (tmp_path / "out" / "constraints.tcl").read_text()
    assert "{u_control/round_q_reg} 7 6" in constraints
    assert "{u_lanes/coef_q_reg[3]} 7 0" in constraints


def test_hardened_bits_are_found_beside_what_is_protected(tmp_path):
    groups = [
        ProtectionGroup(f"{CONTROL}.round_q[5:2]", Mechanism.PARITY),
        ProtectionGroup(f"{CONTROL}.round_q[7:6]", Mechanism.HARDENED),
        ProtectionGroup(f"{CONTROL}.twin_q[2:1]", Mechanism.HARDENED),
    ]
    built(awkward(), groups, tmp_path / "out")
    constraints = (tmp_path / "out" / "constraints.tcl").read_text()
    assert "{u_control/round_q_7_6_reg} 1 0" in constraints
    assert "{u_control/twin_q_reg} 2 1" in constraints


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("u_dut.u_history.past_q", "a memory"),
        ("u_dut.nothing", "expected a block, an instance or a register"),
        (f"{CONTROL}.state_q[3:2]", "which has 3"),
        (f"{CONTROL}._unread_q", "read by nothing"),
    ],
)
def test_what_cannot_be_protected_is_refused_by_name(path, why, tmp_path):
    with pytest.raises(HarnessError) as error:
        built(awkward(), [*MIXED, ProtectionGroup(path, Mechanism.PARITY)], tmp_path / "out")
    assert str(error.value).startswith(path)
    assert why in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bit_in_two_groups_is_refused(tmp_path):
    with pytest.raises(HarnessError, check=about("control")):
        built(awkward(), [*MIXED, ProtectionGroup("control", Mechanism.DUPLICATION)], tmp_path / "out")


# A module that a loop has twice, with words of an array: the instance around them becomes the netlist.
ROWS = """
module stage (input logic clk, input logic rst, input logic [7:0] d_i, output logic [7:0] q_o);
  logic [7:0] hold_q;
  logic [3:0] rows_q [2];
  always_ff @(posedge clk)
    if (rst) begin
      hold_q <= 0;
      for (int i = 0; i < 2; i++) rows_q[i] <= 0;
    end else begin
      hold_q <= hold_q + d_i + 8'(rows_q[d_i[1]]);
      rows_q[d_i[0]] <= d_i[3:0] ^ hold_q[7:4];
    end
  assign q_o = hold_q;
endmodule
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  for (genvar g = 0; g < 2; g++) begin : g_lane
    stage u_stage (.clk, .rst, .d_i(8'(step) + 8'(g)), .q_o(data[8 * g +: 8]));
  end
  assign data[31:16] = ~data[15:0];
endmodule
"""


def test_hardened_words_of_an_array_are_found_beside_what_is_protected(tmp_path):
    """The fault: in the netlist they were words of a memory, and the build ended: not found again."""
    target = target_of(tmp_path, ROWS)
    lanes = [f"gen_dut.u_core.g_lane[{g}].u_stage" for g in range(2)]
    groups = [
        ProtectionGroup(f"{lanes[0]}.hold_q", Mechanism.DUPLICATION),
        ProtectionGroup(f"{lanes[0]}.rows_q[1]", Mechanism.HARDENED),
        ProtectionGroup(f"{lanes[1]}.rows_q[0]", Mechanism.HARDENED),
    ]
    build, protected = built(target, groups, tmp_path / "out")
    engines(target, protected, core_work())
    paths = {element.path for element in elaborate(protected).sites.elements}
    assert {own.path for own in build.constrained} < paths
    assert [own.path.rpartition(".")[2] for own in build.constrained] == ["rows_q_1", "rows_q_0"]
    assert [(own.left, own.right) for own in build.constrained] == [(3, 0), (3, 0)]


ASYNCHRONOUS = CORE.replace(
    "always_ff @(posedge clk) bare_q <= fall_q;",
    "always_ff @(posedge clk or posedge rst) if (rst) bare_q <= step; else bare_q <= fall_q;",
)


# Registers that begin with values, in declarations and blocks, some with words of zeros, without a reset.
BEGINNING = """
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  logic [7:0] sum_q = 8'h5a, own_q, rows_q [4];
  logic [11:0] both_q = 12'hb3c;
  reg [7:0] turned_q;
  initial begin
    own_q = 8'h36;
    for (int i = 0; i < 4; i++) rows_q[i] = 0;
  end
  if (1) begin : gen_in
    logic [3:0] deep_q = 4'h9;
    initial turned_q = 8'hc5;
    always @(posedge clk) deep_q <= deep_q + 4'd3;
  end
  always @(posedge clk) turned_q <= {turned_q[6:0], turned_q[7]};
  always @(posedge clk) begin
    sum_q <= sum_q + 8'(step);
    own_q <= own_q ^ {sum_q[3:0], rows_q[step[1:0]][3:0]};
    rows_q[step[1:0]] <= own_q;
    both_q <= {both_q[10:0], both_q[11] ^ sum_q[0]};
  end
  assign data = {sum_q, own_q, turned_q ^ rows_q[step[1:0]], both_q[11:4] ^ {both_q[3:0], gen_in.deep_q}};
endmodule
"""


def test_registers_begin_with_the_values_that_they_had(tmp_path):
    """The fault: designs with initial values, as for FPGAs, were refused, as a netlist would lose them."""
    target = target_of(tmp_path, BEGINNING)
    groups = [
        ProtectionGroup("gen_dut.u_core.sum_q", Mechanism.TRIPLICATION),
        ProtectionGroup("gen_dut.u_core.own_q[5:2]", Mechanism.PARITY),
        ProtectionGroup("gen_dut.u_core.both_q", Mechanism.DUPLICATION),
    ]
    build, protected = built(target, groups, tmp_path / "out")
    assert len(build.registers) == 3
    engine = engines(target, protected, core_work())
    found = struck(engine, elaborate(protected), "u_sum_q.u_copy_", range(3, 30, 9))
    assert found == {(Seen.LATENT, None, "alert_minor"): 8 * 3 * 3}
    # What is not protected begins so too: with all bits in the netlist, not in copies.
    netlist = (tmp_path / "out" / "rtl" / "core_protected.sv").read_text()
    for register, value in {"turned_q": "8'hc5", "gen_in_deep_q": "4'h9"}.items():
        assert re.search(rf"{register} = {value};", netlist), netlist


@pytest.mark.parametrize(
    ("core", "register", "why"),
    [
        (ASYNCHRONOUS, "bare_q", "loaded asynchronously with what is no constant"),
        (CORE, "on_l", "made of latches"),
        (CORE.replace("@(posedge clk) bare_q", "@(posedge gated) bare_q"), "bare_q", "no reset, and a gated"),
        (BEGINNING.replace("rows_q[i] = 0", "rows_q[i] = i"), "sum_q", "rows_q begins with content"),
        (BEGINNING.replace("rows_q[i] = 0", "if (step[0]) own_q = 0"), "sum_q", "own_q begins with content"),
        (
            CORE.replace("output logic [31:0] data", "output logic [31:0] data, output logic alert_minor_o"),
            "sum_q",
            "already has alert_minor_o",
        ),
    ],
)
def test_designs_that_cannot_be_protected(core, register, why, tmp_path):
    target = target_of(tmp_path, core)
    with pytest.raises(HarnessError) as error:
        built(
            target, [ProtectionGroup(f"gen_dut.u_core.{register}", Mechanism.TRIPLICATION)], tmp_path / "out"
        )
    assert why in str(error.value)
    assert not (tmp_path / "out").exists()


def test_alarms_of_a_name_that_is_taken_are_refused(tmp_path):
    target = replace(awkward(), alarms={"alert_minor": TargetAlarm("error_o")})
    with pytest.raises(HarnessError, check=about("alarms.alert_minor")):
        built(target, MIXED, tmp_path / "out")


def test_a_folder_may_be_named_from_where_one_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build, protected = built(awkward(), MIXED, Path("out"))
    assert len(build.registers) == 3
    assert all(Path(source).is_absolute() for source in protected.sources)


def test_what_ships_is_named_by_the_package_wherever_that_lies(tmp_path):
    """The fault: a build names the RTL of the package by where that lay, and is broken when it has moved."""
    target = load_target("ethos-u55-32")
    edited = next(source for source in target.sources if source.name == "cc.sv")
    (tmp_path / "cc.sv").touch()
    text = target_text(target, tmp_path, {edited: Path("cc.sv")}, [], {})
    assert ".." not in text
    (tmp_path / "target.toml").write_text(text)
    again = load_target(tmp_path / "target.toml")
    assert [s for s in again.sources if s.parent != tmp_path] == [s for s in target.sources if s != edited]
    assert again.include_dirs == (edited.parent,)


@pytest.mark.parametrize("edited", ["a", "b"])
def test_an_include_that_would_become_another_file_is_refused(edited, tmp_path):
    """Folders of edited sources become include folders, where a file of the same name may lie."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.sv").write_text('`include "own.svh"\n')
        (tmp_path / name / "own.svh").write_text(f"`define OWN_{name}\n")
    sources = tuple(tmp_path / name / f"{name}.sv" for name in "ab")
    target = replace(awkward(), sources=sources)
    with pytest.raises(HarnessError, check=about("include_dirs")):
        require_same_includes(target, {tmp_path / edited / f"{edited}.sv": Path("rtl/x.sv")})
    (tmp_path / "a" / "own.svh").write_text("`define OWN_b\n")
    require_same_includes(target, {sources[0]: Path("rtl/a.sv")})


def test_a_folder_with_content_is_kept(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("")
    with pytest.raises(HarnessError, check=about("folder")):
        built(awkward(), MIXED, tmp_path / "out")
    assert (tmp_path / "out" / "mine").exists()


PLACED = """
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  logic [8:0] word_q;
  always_ff @(posedge clk or posedge rst) if (rst) word_q <= 9'h0a5; else word_q <= word_q + 9'(step);
  always_comb begin
    data = '0;
    for (int unsigned c = 0; c < 2; c++) data[9*((c+32'(step[0]))%3)+:9] = step[1] ? word_q : 9'd1;
  end
endmodule
"""


def test_a_part_that_is_written_at_a_place_that_moves_becomes_legal_verilog(tmp_path):
    """The shift that this is has an operand narrower than its result: no part-select can say it."""
    target = target_of(tmp_path, PLACED)
    _, after = built(
        target, [ProtectionGroup("gen_dut.u_core.word_q[7:0]", Mechanism.PARITY)], tmp_path / "out"
    )
    engines(target, after, core_work())


SIGN = """
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  logic [7:0] sum_q, other_q;
  logic top_bit, twin_q, zwilling;
  assign top_bit = sum_q[7];
  assign zwilling = twin_q;
  always_ff @(posedge clk or posedge rst) if (rst) twin_q <= 1'b0; else twin_q <= step[0];
  always_ff @(posedge clk or posedge rst) if (rst) sum_q <= 8'h35; else sum_q <= sum_q + 8'(step);
  always_ff @(posedge clk or posedge rst) if (rst) other_q <= '0; else other_q <= top_bit ? sum_q : other_q;
  assign data = {22'(sum_q), zwilling, top_bit, other_q};
endmodule
"""


def test_a_register_that_has_another_name_too_is_found_again_beside_what_is_protected(tmp_path):
    target = target_of(tmp_path, SIGN)
    core = "gen_dut.u_core"
    groups = [
        ProtectionGroup(f"{core}.other_q", Mechanism.PARITY),
        ProtectionGroup(f"{core}.sum_q[7:4]", Mechanism.HARDENED),
    ]
    groups.append(ProtectionGroup(f"{core}.twin_q", Mechanism.HARDENED))
    _, after = built(target, groups, tmp_path / "out")
    constraints = (tmp_path / "out" / "constraints.tcl").read_text()
    assert "{sum_q_reg} 7 4" in constraints
    assert "{twin_q_reg} 0 0" in constraints
    engines(target, after, core_work())
