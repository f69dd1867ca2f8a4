# SPDX-License-Identifier: Apache-2.0
"""RTL as others write it: what cannot become fault sites is named, what can is found on both engines."""

from __future__ import annotations

import dataclasses
import re

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.tools import verilate
from testkit.errors import about

TOP = """
module top(input logic clk, input logic rst, output logic done, output logic [7:0] st);
  logic [7:0] count_q, sum_q;
  wire [7:0] q;
  logic [63:0] log_q [8];
  always_ff @(posedge clk or posedge rst) if (rst) count_q <= 0; else count_q <= count_q + 1;
  always_ff @(posedge clk) begin
    sum_q <= rst ? 0 : sum_q ^ q;
    log_q[count_q[2:0]] <= 64'(sum_q);
  end
  assign done = count_q == 8'd100;
  assign st = sum_q;
  dut u_dut(.clk(clk), .rst(rst), .d(count_q), .q(q));
endmodule
"""
DUT = "module dut(input wire clk, input wire rst, input wire [7:0] d, output wire [7:0] q);\n"
BOX = "module box(input wire c, input wire [7:0] d, output wire [7:0] q);"
BOXED = f"{DUT} box u_x(clk,d,q); endmodule"

# Plain Verilog of many hands: registers that are outputs, instance arrays, odd bounds, writes from outside,
# clock gates and words made of latches.
PLAIN = (
    """
module leaf(input wire c, input wire d, output reg q); always @(posedge c) q <= d; endmodule
module holder(input wire c); reg [7:0] x_q; endmodule
module pad(inout wire p, input wire oe, input wire o, output wire i);
  assign p = oe ? o : 1'bz;
  assign i = p;
endmodule
module chain #(parameter type T = logic, parameter int N = 1) (input wire c, input T d, output T q);
  T [N-1:0] s_q;
  always_ff @(posedge c) begin
    s_q[0] <= d;
    for (int i = 1; i < N; i++) s_q[i] <= s_q[i-1];
  end
  assign q = s_q[N-1];
endmodule
`celldefine
`include "gate.vh"
module gate(input wire c, input wire on, output wire g);
  reg on_l;
  always @(c or on) if (!c) on_l <= on;
  `GATED
endmodule
`endcelldefine
module latches(input wire c, input wire [7:0] d, output wire [7:0] q);
  wire g;
  wire [3:0] open;
  reg [7:0] last_q;
  logic [7:0] word_l [4];
  logic [7:0] chosen;
  gate u_gate (.c(c), .on(d[0] ^ d[3]), .g(g));
  for (genvar k = 0; k < 4; k++) begin : g_word
    gate u_gate (.c(c), .on(d[2:1] == k), .g(open[k]));
  end
  always @(posedge g) last_q <= d;
  always_latch for (int k = 0; k < 4; k++) if (open[k]) word_l[k] = last_q;
  assign q = word_l[d[4:3]] ^ chosen;
  always_comb
    case (d[3:0])
      4'd0: chosen = 8'd5; 4'd1: chosen = 8'd53; 4'd2: chosen = 8'd175; 4'd3: chosen = 8'd115;
      4'd4: chosen = 8'd129; 4'd5: chosen = 8'd217; 4'd6: chosen = 8'd123; 4'd7: chosen = 8'd103;
      4'd8: chosen = 8'd157; 4'd9: chosen = 8'd29; 4'd10: chosen = 8'd231; 4'd11: chosen = 8'd251;
      4'd12: chosen = 8'd89; 4'd13: chosen = 8'd1; 4'd14: chosen = 8'd243; 4'd15: chosen = 8'd47;
    endcase
endmodule
"""
    + DUT
    + """
  wire [7:0] a, b, e, i, held;
  wire lone, p;
  reg [3:-4] shifted_q;
  reg [7:0] pair_q [-2:1];
  reg [0:11] far_q [200:5];
  reg [31:0] parts_q;
  struct packed {logic [7:0] kept; logic [7:0] passed;} both;
  assign both.passed = d;
  always @(posedge clk) both.kept <= both.passed;
  wire never;
  gate u_never (.c(clk), .on(&d[7:5]), .g(never));
  reg [7:0] kept_q;
  always @(posedge never or posedge rst) if (rst) kept_q <= 8'h5a; else kept_q <= d;
  reg [4:0] divider_q;
  reg [7:0] slow_q;
  always @(posedge clk) divider_q <= rst ? 5'd0 : divider_q + 5'd1;
  always @(posedge divider_q[4]) slow_q <= slow_q + d;
  leaf u_row [7:0] (clk, d, a);
  leaf u_bit (.c(clk), .d(d[1]), .q(b[1]));
  leaf u_lone (.c(clk), .d(d[2]), .q(lone));
  assign {b[7:2], b[0]} = {7{lone}};
  holder u_holder (clk);
  pad u_pad (.p(p), .oe(a[0]), .o(a[1]), .i(i[0]));
  assign i[7:1] = '0;
  chain #(.T(logic [7:0]), .N(3)) u_chain (clk, d, e);
  latches u_latches (clk, d, held);
  always @(posedge clk) begin
    u_holder.x_q <= u_holder.x_q + d;
    shifted_q <= a ^ i;
    pair_q[-1] <= shifted_q;
    pair_q[0] <= pair_q[-1];
    far_q[8'd5 + (d & 8'h7f)] <= {d, d[3:0]};
    parts_q[7:0] <= far_q[8'd5 + (d >> 1)];
    parts_q[16+:8] <= parts_q[7:0] ^ e;
  end
  assign q = b ^ u_holder.x_q ^ pair_q[0] ^ parts_q[23:16] ^ held ^ slow_q ^ both.kept ^ kept_q;
endmodule
"""
)


def target(folder, text):
    source = folder / "design.sv"
    source.write_text(text + TOP)
    memories = {"log": TargetMemory("log_q", 8, "log")}
    blocks = {"all": ("u_dut",)}
    options = {"reset_active_low": False, "status": "st"}
    return Target("odd", "top", (source,), "clk", "rst", "u_dut", "done", blocks, memories, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"(* blackbox *) {BOX} endmodule\n{BOXED}", "u_dut.u_x: .*black box"),
        (f"{BOX} endmodule\n{BOXED}", "u_dut.u_x: module box has outputs and no content"),
        (f"(* blackbox *) {DUT} assign q = d; endmodule\n", "u_dut: module dut.* black box"),
        (f"{DUT} reg [7:0] r; initial forever @(posedge clk) r = d; endmodule", "u_dut: an initial block"),
    ],
    ids=["blackbox", "stub", "design itself", "initial"],
)
def test_hidden_storage_is_named(tmp_path, text, message):
    found = elaborate(target(tmp_path, text))
    assert len(found.unmapped) == 1
    assert re.match(message, found.unmapped[0])


@pytest.mark.parametrize(
    ("gates", "loops"),
    [
        ("wire [1:0] n; assign n[0] = ~(d[0] & n[1]); assign n[1] = ~(d[1] & n[0]); assign q = n;", 1),
        ("wire [7:0] n = d[0] ? d : n; assign q = n;", 8),
        ("wire [7:0] n; assign n = {n[6:0], d[0]} & d; assign q = n;", 0),
    ],
    ids=["cross-coupled", "multiplexer", "chain"],
)
def test_loops_of_gates_are_named(tmp_path, gates, loops):
    found = elaborate(target(tmp_path, f"{DUT} reg k; always @(posedge clk) k <= d[0]; {gates} endmodule"))
    named = [w for w in found.warnings if "loop of gates" in w]
    assert len(named) == loops
    assert all(w.startswith("u_dut.n: ") for w in named)


def test_hidden_storage_of_the_bench_is_a_remark(tmp_path):
    design = target(tmp_path, f"{DUT} reg [7:0] r; always @(posedge clk) r <= d; assign q = r; endmodule")
    source = design.sources[0]
    process = "logic [7:0] p; initial forever @(posedge clk) p = sum_q; assign st = p;"
    source.write_text(source.read_text().replace("assign st = sum_q;", process))
    found = elaborate(design)
    assert found.unmapped == ()
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("in the bench: the top: an initial block that waits")


def test_macros_are_those_of_the_target_alone(tmp_path):
    registers = "`ifdef SYNTHESIS\n reg real_q;\n`else\n reg model_q;\n`endif\n"
    writes = "`ifdef SYNTHESIS\n real_q <= d[0];\n`else\n model_q <= d[0];\n`endif\n"
    design = target(tmp_path, f"{DUT} {registers} always @(posedge clk) begin\n{writes} end endmodule")
    defined = dataclasses.replace(design, defines={"SYNTHESIS": "1"})
    names = [[e.path for e in elaborate(d).sites.elements] for d in (design, defined)]
    assert names == [["u_dut.model_q"], ["u_dut.real_q"]]


def test_a_design_without_storage_is_an_error(tmp_path):
    with pytest.raises(HarnessError, match="dut: expected storage in u_dut, found none"):
        elaborate(target(tmp_path, f"{DUT} assign q = d; endmodule"))


def test_plain_verilog_is_the_same_on_both_engines(tmp_path, monkeypatch):
    (tmp_path / "gate.vh").write_text("`define GATED assign g = c & on_l;\n")
    design = dataclasses.replace(target(tmp_path, PLAIN), include_dirs=(tmp_path,))
    found = elaborate(design)
    bits = {e.path: e.bits for e in found.sites.elements}
    assert found.unmapped == ()
    assert bits == {
        **{f"u_dut.u_row[{i}].q": 1 for i in range(8)},
        **{"u_dut.u_bit.q": 1, "u_dut.u_lone.q": 1, "u_dut.u_holder.x_q": 8, "u_dut.shifted_q": 8},
        **{f"u_dut.pair_q[{i}]": 8 for i in range(-2, 2)},
        **{"u_dut.far_q": 12 * 196, "u_dut.parts_q[7:0]": 8, "u_dut.parts_q[23:16]": 8},
        **{"u_dut.u_chain.s_q": 24, "u_dut.divider_q": 5, "u_dut.slow_q": 8},
        **{"u_dut.both[15:8]": 8, "u_dut.kept_q": 8, "u_dut.u_never.on_l": 1},
        **{"u_dut.u_latches.u_gate.on_l": 1, "u_dut.u_latches.last_q": 8},
        **{f"u_dut.u_latches.g_word[{k}].u_gate.on_l": 1 for k in range(4)},
        **{f"u_dut.u_latches.word_l[{k}]": 8 for k in range(4)},
    }
    latches = {e.path for e in found.sites.elements if found.clocking[e.path].latch}
    assert latches == {path for path in bits if path.endswith("on_l") or "word_l" in path}
    workload = Workload("count", {}, OutputSpec("log", 0, (8,), "uint64"))
    step = max(1, found.sites.size // 60)
    faults = [Fault(i * step % found.sites.size, i * 13 % 100) for i in range(60)]
    faults += [Fault(s, 40) for s in range(found.sites.size) if found.sites[s].element.kind == "ff"]
    with VerilatorEngine(design, workload, found) as fast, CocotbEngine(design, workload, found) as slow:
        assert fast.golden() == slow.golden()
        order = {injection.fault: injection for injection in fast.run(faults)}
        assert order == {injection.fault: injection for injection in slow.run(faults)}
    assert len({injection.outcome for injection in order.values()}) >= 2
    # A transplant that raises the divided clock makes an edge, which only a second one undoes.
    monkeypatch.setattr("resil.rtl_harness.engine.fast.golden._TRANSPLANTS", 1)
    with (
        VerilatorEngine(design, workload, found) as once,
        pytest.raises(SimulationError, check=about("transplant")),
    ):
        once.golden()


# A loop too long to be written out: the simulator keeps its assignments in a queue until they are made.
LONG_LOOP = (
    DUT
    + """
  reg [3:0] table_q [0:1023];
  reg [7:0] mark_q [0:767];
  reg [7:0] last_q;
  integer i, j;
  always @(posedge clk) begin
    if (rst) for (i = 0; i < 1024; i = i + 1) table_q[i] <= i[3:0];
    else if (d[5:0] == 6'd33) for (i = 0; i < 1024; i = i + 1) table_q[i][2:1] <= table_q[i][1:0];
    else table_q[{d[1:0], d}] <= d[3:0] ^ last_q[3:0];
    if (rst) for (j = 0; j < 768; j = j + 1) mark_q[j] <= 8'd9;
    else mark_q[{1'b0, d}] <= last_q;
    last_q <= {table_q[{last_q[1:0], d}], table_q[{d[1:0], last_q}]} ^ mark_q[{1'b0, last_q}];
  end
  assign q = last_q;
endmodule
"""
)


def test_a_long_loop_of_assignments_is_the_same_on_both_engines(tmp_path):
    design = target(tmp_path, LONG_LOOP)
    found = elaborate(design)
    workload = Workload("count", {}, OutputSpec("log", 0, (8,), "uint64"))
    # In, before and after the cycle in which the loop reads what it writes.
    faults = [
        Fault(i * found.sites.size // 150, cycle) for i in range(150) for cycle in (i * 13 % 90, 32, 33)
    ]
    with VerilatorEngine(design, workload, found) as fast, CocotbEngine(design, workload, found) as slow:
        assert fast.golden() == slow.golden()
        order = {injection.fault: injection for injection in fast.run(faults)}
        assert order == {injection.fault: injection for injection in slow.run(faults)}
    verilate(["--cc", "-Wno-fatal", "--top", "top", str(design.sources[0])], tmp_path)
    assert any("VlNBACommitQueue" in file.read_text() for file in tmp_path.glob("obj_dir/*.h"))
    assert len({injection.outcome for injection in order.values()}) >= 2


def test_a_syntax_error_is_named_with_path_and_line(tmp_path):
    """Also in a file that is read from a copy, because of its cells."""
    plain, cells = tmp_path / "plain.sv", tmp_path / "cells.sv"
    plain.write_text(
        "module plain(input logic c, output logic q);\n  always_ff @(posedge c) q <= gone;\nendmodule\n"
    )
    cells.write_text("`celldefine\nmodule cell_a(input wire c);\n  assign = c;\nendmodule\n`endcelldefine\n")
    target = Target("bad", "plain", (plain, cells), "c", "r", "u", "q", {}, {})
    with pytest.raises(HarnessError) as caught:
        elaborate(target)
    lines = str(caught.value).splitlines()
    assert lines[0] == "elaboration of bad failed; correct the RTL or the target file:"
    assert f"{plain}:2: use of undeclared identifier 'gone'" in lines
    assert any(line.startswith(f"{cells}:3: expected") for line in lines)
    assert not [line for line in lines if "see full log" in line]
