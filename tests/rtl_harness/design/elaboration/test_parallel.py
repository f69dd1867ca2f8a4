# SPDX-License-Identifier: Apache-2.0
"""Of conditions that may hold together the first counts; where text cannot say so, RTL is named."""

import pytest

from resil.rtl_harness.design.elaboration.parallel import may_coincide
from resil.rtl_harness.design.target import SHIPPED_TARGETS, Target, load_target
from resil.rtl_harness.engine.fast.gates import gates
from resil.rtl_harness.engine.fast.lanes import build
from resil.rtl_harness.engine.fast.lanes.words import UnsupportedLanesError

PLAIN = """// unique if in a comment
/* unique
   case (1'b1) */
module chosen(input logic clk_i, input logic rst_ni, output logic done_o);
  logic [1:0] hot_q, state_q;
  assign done_o = state_q == 2'd3;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin hot_q <= 2'd1; state_q <= '0; end
    else unique case (state_q)
      2'd0: state_q <= hot_q;
      default: begin
        hot_q <= {hot_q[0], hot_q[1]};
        {}
      end
    endcase
  end
endmodule
"""
OPEN = {
    "unique if": "unique if (hot_q[0]) state_q <= 2'd2; else if (hot_q[1]) state_q <= 2'd3;",
    "unique0 if": "unique0 if (hot_q[0]) state_q <= 2'd2; else if (hot_q[1]) state_q <= 2'd3;",
    "unique case (1'b1)": "unique case (1'b1) hot_q[0]: state_q <= 2'd2; hot_q[1]: state_q <= 2'd3; endcase",
}


def target_of(folder, choice):
    file = folder / "chosen.sv"
    file.write_text(PLAIN.replace("{}", choice))
    return Target(
        "chosen", "chosen", (file,), "clk_i", "rst_ni", "u_dut", "done_o", blocks={"all": ("",)}, memories={}
    )


@pytest.mark.parametrize("what", OPEN)
def test_of_a_choice_that_is_left_open_the_first_counts(what, tmp_path):
    assert may_coincide(target_of(tmp_path, OPEN[what])) is None


@pytest.mark.parametrize("what", OPEN)
def test_a_choice_that_a_macro_leaves_open_is_named(what, tmp_path):
    """Text of a macro is not rewritten: no gates or lanes are made of it."""
    target = target_of(tmp_path, f"\n`define CHOICE {OPEN[what]}\n`CHOICE")
    found = may_coincide(target)
    assert found is not None
    assert found.startswith(f"chosen.sv, line 14: several conditions of this {what} may hold at once")
    with pytest.raises(UnsupportedLanesError, match="which counts is left open"):
        build.lane_model(target, {})
    with pytest.raises(gates.UnsupportedError, match="which counts is left open"):
        gates.read_gates(target, None)


def test_others_are_not(tmp_path):
    assert may_coincide(target_of(tmp_path, "if (hot_q[0]) state_q <= 2'd2; else state_q <= 2'd3;")) is None
    for file in SHIPPED_TARGETS.glob("*.toml"):
        assert may_coincide(load_target(file)) is None
