# SPDX-License-Identifier: Apache-2.0
"""Redundancy in the user's RTL: without a word synthesis merges it, with `keep` everything sees it."""

from __future__ import annotations

import re
import tomllib

import pytest

from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target, TargetAlarm, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault, Outcome, Seen
from resil.rtl_harness.redundancy import Mechanism, ProtectionGroup
from resil.rtl_harness.redundancy.groups import pieces_of

COPIES = ("a_q", "b_q", "c_q")
# A counter of 32 bits three times with a vote, and another twice with a comparator, as people write them.
DESIGN = """
module voted (input clk, input rst, input [7:0] d, output [31:0] q);
  reg [31:0] a_q, b_q, c_q;
  wire [31:0] next = q + {24'd0, d};
  assign q = (a_q & b_q) | (a_q & c_q) | (b_q & c_q);
  always @(posedge clk)
    if (rst) begin a_q <= 0; b_q <= 0; c_q <= 0; end
    else begin a_q <= next; b_q <= next; c_q <= next; end
endmodule
module plain_count (input clk, input rst, input [7:0] d, output reg [31:0] q);
  always @(posedge clk) if (rst) q <= 0; else q <= q + {24'd0, d};
endmodule
module core (input clk, input rst, input [7:0] d, output [31:0] q, output reg error);
  wire [31:0] counted, main, shadow;
  voted u_voted (.clk, .rst, .d, .q(counted));
  plain_count u_main (.clk, .rst, .d, .q(main));
  plain_count u_shadow (.clk, .rst, .d, .q(shadow));
  always @(posedge clk) error <= !rst & (error | (main != shadow));
  assign q = counted ^ {main[15:0], main[31:16]};
endmodule
module bench (input clk, input rst, output done, output error);
  reg [7:0] count;
  reg [31:0] out_q [1];
  wire [31:0] q;
  core u_dut (.clk, .rst, .d(count), .q, .error);
  always @(posedge clk) if (rst) count <= 0; else count <= count + 1;
  always @(posedge clk) out_q[0] <= q;
  assign done = count == 60 && out_q[0] != 32'hx;
endmodule
"""
WORKLOAD = Workload("sum", {}, OutputSpec("out", 0, (1,), "uint32"), decide=exact)


def target_of(folder, keep=()):
    (folder / "design.sv").write_text(DESIGN)
    blocks = {"voted": ("u_dut.u_voted",), "pair": ("u_dut.u_main", "u_dut.u_shadow"), "rest": ("u_dut",)}
    memories = {"out": TargetMemory("out_q", 4, "out")}
    return Target(
        *("core", "bench", (folder / "design.sv",), "clk", "rst", "u_dut", "done", blocks, memories),
        reset_active_low=False,
        alarms={"error": TargetAlarm("error", "detected")},
        keep=tuple(keep),
    )


def elaborated(target):
    return with_hardware(target, elaborate(target))


def first_of(elaboration, path):
    paths = [element.path for element in elaboration.sites.elements]
    return elaboration.sites.offsets[paths.index(path)]


def merged(elaboration):
    return sum(run.bits for run in elaboration.sites.absent if run.hardware is Hardware.DUPLICATE)


def test_the_remark_of_merged_copies_says_the_line_that_keeps_them(tmp_path):
    """By default a voter votes on one flip-flop, as in any synthesis: an upset of it changes all."""
    elaboration = elaborated(target_of(tmp_path))
    assert merged(elaboration) == 64
    sites = elaboration.sites
    assert len(sites.flipped(first_of(elaboration, "u_dut.u_voted.a_q"))) == 3
    (said,) = [own for own in elaboration.warnings if "equal to others" in own]
    line = re.search(r"keep = \[.*\]", said)
    assert line is not None
    keep = tomllib.loads(line[0])["keep"]
    assert keep == [f"u_dut.u_voted.{own}" for own in COPIES]
    kept = elaborated(target_of(tmp_path, keep))
    assert merged(kept) == 0
    assert not [own for own in kept.warnings if "equal to others" in own]


def test_kept_copies_are_three_in_sites_area_and_groups(tmp_path):
    areas = []
    for keep in ((), ["u_dut.u_voted.*_q"]):
        target = target_of(tmp_path, keep)
        areas.append(area_per_block(target, elaborated(target)).blocks)
    one, three = (own["voted"] for own in areas)
    assert three.total > 2 * one.total
    assert areas[0]["pair"].total == areas[1]["pair"].total
    group = ProtectionGroup("voted", Mechanism.HARDENED)
    pieces, left_out = pieces_of(target, elaborated(target), [group])
    assert sum(piece.bits for piece in pieces) == 96
    assert left_out == []


@pytest.mark.parametrize("engine", [VerilatorEngine, CocotbEngine])
def test_an_upset_of_one_copy_is_masked_and_one_of_a_pair_is_reported(engine, tmp_path):
    target = target_of(tmp_path, ["u_dut.u_voted.*_q"])
    elaboration = elaborated(target)
    sites = elaboration.sites
    options = {"sweep": True, "audit": EVERYTHING} if engine is VerilatorEngine else {}
    step = 1 if engine is VerilatorEngine else 8

    def struck(path):
        first = first_of(elaboration, path)
        faults = [Fault(first + bit, 7 + bit) for bit in range(0, 32, step)]
        assert all(sites.flipped(fault.site) == [fault.site] for fault in faults)
        return faults

    with engine(target, WORKLOAD, elaboration, **options) as running:
        for copy in COPIES:
            found = list(running.run(struck(f"u_dut.u_voted.{copy}")))
            assert {own.outcome for own in found} == {Outcome.MASKED}
        for copy in ("u_main", "u_shadow"):
            found = list(running.run(struck(f"u_dut.{copy}.q")))
            assert {own.detected is not None for own in found} == {True}
            assert {own.seen is Seen.SDC_CRITICAL for own in found} == {copy == "u_main"}
