# SPDX-License-Identifier: Apache-2.0
"""Instances as the front end reads them: what keeps a netlist from taking the place of one."""

import pytest

from resil.rtl_harness.design.elaboration.yosys import run_yosys
from resil.rtl_harness.redundancy.modules import read_instances

DESIGN = """
module inner #(
  parameter int Width = 2,
  parameter type data_t = logic [Width-1:0],
  localparam type place_t = logic [1:0]
) (input logic clk_i, input data_t [3:0] data_i, output data_t data_o, output place_t place_o);
  assign data_o = data_i[0];
  assign place_o = '0;
endmodule
module outer(input logic clk_i, input logic [15:0] data_i, output logic [3:0] data_o);
  typedef enum logic [3:0] { A, B } state_t;
  logic [1:0] place;
  GIVEN
endmodule
"""
PLAIN = "inner #(.Width(4)) u_inner(.clk_i, .data_i, .data_o, .place_o(place));"
ENUMERATED = """state_t state;
  inner #(.data_t(state_t)) u_inner(.clk_i, .data_i, .data_o(state), .place_o(place));
  assign data_o = state;"""


@pytest.mark.parametrize(
    ("given", "obstacles"),
    [(PLAIN, []), (ENUMERATED, ["its output data_o is of an enumerated type of no package"])],
)
def test_ports_of_a_type_that_is_a_parameter_are_of_what_that_stands_for(tmp_path, given, obstacles):
    (tmp_path / "d.sv").write_text(DESIGN.replace("GIVEN", given))
    log = run_yosys(["read_slang --dump-ast d.sv --top outer"], tmp_path, "reading")
    found = read_instances(log, "outer")
    assert found["u_inner"].obstacles == obstacles
    assert found[""].obstacles == []


def test_parameters_of_a_module_without_a_list_of_them_are_its_parameters(tmp_path):
    """The fault: the protected module had none, and what gave one a value could not be read any more."""
    text = """
module inner(input logic clk_i, output logic [7:0] data_o);
  parameter Start = 3;
  localparam Twice = 2 * Start;
  assign data_o = Twice;
endmodule
module listed #(parameter int Width = 2) (input logic clk_i, output logic [7:0] data_o);
  parameter Own = 1;
  assign data_o = Width + Own;
endmodule
module outer(input logic clk_i, output logic [7:0] a_o, b_o);
  inner #(.Start(5)) u_inner(.clk_i, .data_o(a_o));
  listed u_listed(.clk_i, .data_o(b_o));
endmodule
"""
    (tmp_path / "d.sv").write_text(text)
    log = run_yosys(["read_slang --dump-ast d.sv --top outer"], tmp_path, "reading")
    found = read_instances(log, "outer")
    assert [(own.name, own.value) for own in found["u_inner"].parameters] == [("Start", "5")]
    assert [own.name for own in found["u_listed"].parameters] == ["Width"]
