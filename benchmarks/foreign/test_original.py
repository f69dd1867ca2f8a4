# SPDX-License-Identifier: Apache-2.0
"""The injector in the original testbench: what counts as observed, and how a wrong answer is seen."""

import dataclasses
import shutil

import pytest

from benchmarks.foreign.original import Bit, OriginalBench, Upset, compared, is_observed

GOLDEN = ["0x1", "001", "101"]
DESIGN = """
module core (input clk, input rst, input [3:0] a, output reg [3:0] q, output [3:0] doubled);
  reg [3:0] held, never;
  always @(posedge clk) begin
    if (rst) begin held <= 0; q <= 0; end else begin held <= a; q <= held; end
    never <= {never[2:0], never[3]};
  end
  assign doubled = {q[2:0], 1'b0};
endmodule
module bench;
  reg clk = 0, rst = 1;
  reg [3:0] a = 3;
  wire [3:0] q, doubled;
  always #5 clk = ~clk;
  core u_core (.clk(clk), .rst(rst), .a(a), .q(q), .doubled(doubled));
  initial begin repeat (4) @(posedge clk); rst <= 0; repeat (8) @(posedge clk); $finish; end
endmodule
"""


@pytest.mark.parametrize(
    ("outputs", "observed"),
    [
        (GOLDEN, False),
        (["0x1", "011", "101"], True),
        (["0x1", "0x1", "111"], None),
        (["011", "001", "101"], None),
        (["0x1", "001"], True),
    ],
)
def test_undefined_bits_decide_nothing(outputs, observed):
    assert is_observed(GOLDEN, outputs) is observed


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus Verilog is not installed")
def test_upsets_in_the_testbench(tmp_path):
    """The faults: a run that says of an upset what is not so, or that has it in another cycle."""
    source = tmp_path / "design.v"
    source.write_text(DESIGN)
    bench = OriginalBench(tmp_path, [source], "bench", "bench.u_core", "clk")
    assert bench.outputs == ["q", "doubled"]
    right = [
        Upset("held", (Bit("held", 0),), 7, True),
        Upset("top bit", (Bit("q", 3),), 6, True),
        Upset("reset still holds", (Bit("held", 1),), 1, False),
        Upset("undefined", (Bit("never", 1),), 6, False),
        Upset("both", (Bit("held", 2), Bit("q", 2)), 9, True),
        Upset("ends before", (Bit("held", 0),), 11, False),
    ]
    found = compared(right, bench)
    assert (found.faults, found.undefined, found.late, found.observed) == (4, 1, 1, 3)
    assert found.different == ()
    golden = bench.golden()
    outputs = bench.inject(right, golden)
    short = [own is not None and len(own) < len(golden) for own in outputs]
    assert short == [True, True, False, True, True, False], "up to what differs"
    assert outputs[5] is None
    assert outputs[2] == golden
    assert outputs[3] is not None
    assert outputs[3][-1] == "undefined"
    with pytest.raises(ValueError, match="does not do the same once more: cycle 6 differs"):
        bench.inject(right, [*golden[:6], "0" * 8, *golden[7:]])
    with pytest.raises(ValueError, match="found none for late, cycle 99"):
        bench.inject([Upset("late", (Bit("held", 0),), 99, False)], golden)
    wrong = [dataclasses.replace(upset, observed=not upset.observed) for upset in right]
    assert len(compared(wrong, bench).different) == 4
    late = dataclasses.replace(right[2], cycle=5)
    assert compared([late], bench).different == (
        "reset still holds, cycle 5: observed in the testbench, not observed by the run",
    )
