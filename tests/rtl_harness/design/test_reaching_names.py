# SPDX-License-Identifier: Apache-2.0
"""Names that reach into instances: found where synthesis refuses them, and nowhere else."""

import pytest

from resil.rtl_harness.design.reaching_names import (
    reaching_names,
    read_for_synthesis,
    refused_names,
)
from resil.rtl_harness.design.slang import SlangSources, read_design
from resil.rtl_harness.design.target import load_target

PARTS = """
interface own_bus; logic a; modport taker(input a); endinterface
module part(input logic clk_i, input logic d_i, output logic q_o);
  logic state_q;
  always_ff @(posedge clk_i) state_q <= d_i;
  assign q_o = state_q;
endmodule
module taker(own_bus.taker bus, output logic q_o);
  assign q_o = bus.a;
endmodule
"""
TOP = """
module top(input logic clk_i, input logic d_i, output logic q_o, r_o, s_o);
  own_bus u_bus();
  assign u_bus.a = d_i;
  taker u_taker(u_bus, s_o);
  if (1) begin : gen_not
    logic d;
    assign d = ~d_i;
  end
  part u_part(clk_i, gen_not.d, q_o);
  assert property (@(posedge clk_i) u_part.state_q |-> d_i);
  BODY
endmodule
"""
MACRO = """
`ifndef SYNTHESIS
  assign r_o = u_part.state_q;
`else
  assign r_o = OTHER;
`endif
"""


def sources(tmp_path, body):
    file = tmp_path / "top.sv"
    file.write_text(PARTS + TOP.replace("BODY", body))
    return SlangSources((file,))


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("assign r_o = d_i;", []),
        ("assign r_o = u_part.state_q;", ["u_part.state_q"]),
        ("assign r_o = top.u_part.state_q ^ gen_not.d;", ["top.u_part.state_q"]),
        ("part u_other(clk_i, u_part.state_q, r_o);", ["u_part.state_q"]),
        ("always_ff @(posedge clk_i) r_o <= u_part.d_i & u_part.state_q;", ["u_part.d_i", "u_part.state_q"]),
    ],
)
def test_what_reaches_into_a_module_is_found(tmp_path, body, names):
    found = reaching_names(read_design("own", "top", sources(tmp_path, body), {}))
    assert [own.name for own in found] == names
    lines = (tmp_path / "top.sv").read_text().splitlines()
    assert all(own.name in lines[own.line - 1] for own in found)


def test_what_reaches_out_of_a_module_is_found(tmp_path):
    text = "assign r_o = d_i; inner u_inner(); endmodule module inner; logic own; assign own = top.d_i;"
    found = reaching_names(read_design("own", "top", sources(tmp_path, text), {}))
    assert [own.name for own in found] == ["top.d_i"]


@pytest.mark.parametrize(
    ("body", "defined", "said"),
    [
        ("assign r_o = d_i;", False, ""),
        (MACRO.replace("OTHER", "d_i"), True, "SYNTHESIS is defined"),
        (MACRO.replace("OTHER", "u_part.d_i"), False, "which synthesis refuses"),
        ("assign r_o = u_part.state_q;", False, "which synthesis refuses"),
    ],
)
def test_the_macro_is_defined_where_it_leaves_no_such_name(tmp_path, body, defined, said):
    read, given, remarks = read_for_synthesis("own", "top", sources(tmp_path, body), {})
    assert ("SYNTHESIS" in given.defines) == defined
    assert bool(reaching_names(read)) == ("refuses" in said)
    assert said in "".join(remarks)
    assert bool(remarks) == bool(said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (MACRO.replace("OTHER", "d_i"), 'defines = { SYNTHESIS = "1" }'),
        ("assign r_o = u_part.state_q;", "leave out the code"),
    ],
)
def test_a_refusal_has_the_place_in_the_source_and_what_to_do(tmp_path, body, said):
    (file,) = sources(tmp_path, body).sources
    (tmp_path / "target.toml").write_text(
        'name = "own"\ntop = "top"\nsources = ["top.sv"]\nclock = "clk_i"\n[blocks]\ntop = "."\n'
    )
    text = refused_names(load_target(tmp_path / "target.toml"), {})
    assert f"{file}:" in text
    assert said in text


def test_a_target_without_such_names_has_no_refusal(tmp_path):
    sources(tmp_path, "assign r_o = d_i;")
    (tmp_path / "target.toml").write_text(
        'name = "own"\ntop = "top"\nsources = ["top.sv"]\nclock = "clk_i"\n[blocks]\ntop = "."\n'
    )
    assert refused_names(load_target(tmp_path / "target.toml"), {}) == ""
