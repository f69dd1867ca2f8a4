# SPDX-License-Identifier: Apache-2.0
"""A campaign on a netlist in which two cells drive one net ends before anything is counted."""

from __future__ import annotations

import pytest

from resil.prepare.targets import with_known_hardware
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError

FILES = {
    "core.v": """
module core (input clk, input rst_n, output q, output done);
  wire d;
  INV i_0 (.A(q), .Y(d));
  INV i_1 (.A(done), .Y(d));
  REG q_reg (.C(clk), .R(rst_n), .D(d), .Q(q));
  REG done_reg (.C(clk), .R(rst_n), .D(q), .Q(done));
endmodule
""",
    "bench.sv": """
module bench (input clk, input rst_n, output done);
  logic [7:0] out_q [2];
  wire q;
  core u_dut (.*);
  always_ff @(posedge clk) out_q[q] <= {7'd0, done};
endmodule
""",
    "cells.lib": """
library (x) {
  cell (INV) { area : 1; pin (A) { direction : input; } pin (Y) { direction : output; function : "!A"; } }
  cell (REG) { area : 5; ff (S, SN) { clocked_on : "C"; next_state : "D"; clear : "!R"; }
    pin (C) { direction : input; } pin (D) { direction : input; } pin (R) { direction : input; }
    pin (Q) { direction : output; function : "S"; } }
}
""",
    "target.toml": """
name = "shared"
top = "bench"
dut = "u_dut"
sources = ["core.v", "bench.sv"]
cells = "cells.lib"
clock = "clk"
reset = "rst_n"
done = "done"
[blocks]
core = "u_dut"
[memories.out]
path = "out_q"
word_bytes = 1
plusarg = "out"
""",
}


@pytest.mark.parametrize("shared", [True, False])
def test_a_net_with_two_drivers_is_refused_whatever_is_struck(shared, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text if shared else text.replace("  INV i_1 (.A(done), .Y(d));\n", ""))
    target = load_target(tmp_path / "target.toml")
    elaboration = elaborate(target)
    if shared:
        with pytest.raises(HarnessError, match=r"found u_dut\.i_0/Y and u_dut\.i_1/Y at u_dut\.d;"):
            with_known_hardware(target, elaboration)
    else:
        assert with_known_hardware(target, elaboration).sites.absent == ()
