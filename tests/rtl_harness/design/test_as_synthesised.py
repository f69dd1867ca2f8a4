# SPDX-License-Identifier: Apache-2.0
"""RTL where simulators and synthesis differ: all engines simulate what becomes hardware."""

from __future__ import annotations

import pytest

from resil.rtl_harness.design.as_synthesised import as_synthesised
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import Fault

DESIGN = """
`ifdef VERILATOR
`define SEEN_BY_VERILATOR_ALONE
`endif
module core (input clk, input rst, input [7:0] d, output reg [7:0] q, output reg [3:0] none);
  // Used before it is declared, as much Verilog does.
  wire [3:0] mixed = picked ^ held[3:0];
  reg [3:0] picked, held, one_hot, also, lone, debug_q;
  reg [1:0] twin_a, twin_b;
  logic unused = d[0] & rst;
  reg [3:0] begins = 4'd5;
  reg [7:0] words [0:3];
  reg [3:0] nowhere;
  integer n;
  function [3:0] turned(input [3:0] x, input up);
    reg [3:0] t;
    begin t = x; if (up) t = {x[0], x[3:1]}; turned = t; end
  endfunction
  always @* begin
    (* full_case *)
    case (held[1:0])
      2'd0: picked = d[3:0];
      2'd1: picked = ~d[3:0];
      2'd2: picked = {4{d[7]}};
    endcase
  end
  always @(posedge clk) begin
    none <= 4'bx;
    debug_q <= d[7:4];
    if (rst) begin
      held <= 0; one_hot <= 1; also <= 0; twin_a <= 0; twin_b <= 0; q <= 0;
    end else begin
      held <= (held[1:0] == 2'd2) ? 0 : held + 1;
      one_hot <= {one_hot[2:0], one_hot[3]};
      (* parallel_case *)
      case (1'b1)
        one_hot[0]: also <= mixed;
        one_hot[1]: also <= turned(d[3:0], held[0]);
        one_hot[2]: also <= also + 1;
        default: also <= words[d[1:0]][3:0];
      endcase
      twin_a <= d[1:0];
      twin_b <= d[1:0];
      words[d[3:2]] <= {also, mixed};
      q <= {also, picked} ^ {lone, twin_a, twin_b} ^ words[held[1:0]] ^ {4'd0, begins} ^ {8{unused}};
      if (d == 8'h77) begins <= 4'd15;
      case (d[1:0])
        0: lone <= also;
        1: lone <= 4'd3;
        default: lone <= 4'bx;
      endcase
    end
`ifndef SYNTHESIS
    if (d == 8'hff) $display("seen %0d", q);
`endif
  end
`ifdef SEEN_BY_VERILATOR_ALONE
  nobody_has_this u_nobody ();
`endif
endmodule
module bench (input logic clk, input logic rst, output logic done, output logic [3:0] none);
  logic [7:0] count_q, sum_q, q;
  logic [7:0] out_q [1];
  always_ff @(posedge clk) begin
    if (rst) count_q <= '0; else count_q <= count_q + 8'd1;
    sum_q <= rst ? '0 : {sum_q[6:0], sum_q[7]} ^ q;
    out_q[0] <= sum_q;
  end
  assign done = count_q == 8'd80 && out_q[0] != 8'hxx;
  core u_dut (.clk, .rst, .d(count_q ^ {count_q[3:0], 4'h9}), .q, .none);
endmodule
"""
WORKLOAD = Workload("sum", {}, OutputSpec("out", 0, (1,), "uint8"))


def target_of(folder, design=DESIGN, **keys) -> Target:
    (folder / "design.sv").write_text(design)
    own = "".join(f"{key} = {value}\n" for key, value in keys.items())
    (folder / "target.toml").write_text(
        'name = "core"\ntop = "bench"\ndut = "u_dut"\nsources = ["design.sv"]\nclock = "clk"\nreset = "rst"\n'
        f'reset_active_low = false\ndone = "done"\n{own}[blocks]\nall = "u_dut"\n'
        '[memories.out]\npath = "out_q"\nword_bytes = 1\nplusarg = "out"\n'
    )
    return load_target(folder / "target.toml")


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return target_of(tmp_path_factory.mktemp("core"))


@pytest.fixture(scope="module")
def elaboration(target):
    return with_hardware(target, elaborate(target))


def hardware_of(elaboration, register):
    sites = elaboration.sites
    element = next(e for e in sites.elements if e.path == f"u_dut.{register}")
    first = sites.offsets[sites.elements.index(element)]
    gone = {site: run.hardware for run in sites.absent for site in range(run.first, run.end)}
    return [gone.get(site) for site in range(first, first + element.bits)]


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (
            "always @* (* full_case *) case (s) 0: y = a; 1: {z[1], w} = 0; endcase",
            "always @* (* full_case *) case (s) 0: y = a; 1: {z[1], w} = 0; "
            "default: begin y = '0; {z[1], w} = '0; end endcase",
        ),
        (
            "always @* case (s) // synopsys full_case\n 0: y = a; endcase",
            "always @* case (s) // synopsys full_case\n 0: y = a; default: begin y = '0; end endcase",
        ),
        (
            "always @* (* full_case *) case (s) 0: for (int i = 0; i < 4; i++) y[i] = a; endcase",
            "always @* (* full_case *) case (s) 0: for (int i = 0; i < 4; i++) y[i] = a; "
            "default: begin y = '0; end endcase",
        ),
        ("always @* (* full_case *) case (s) 0: y = a; default: y = 1; endcase", None),
        ("always @* case (s) 0: y = a; endcase", None),
        ("always @* unique case (s) 0: y = a; 1: y = w; endcase", None),
        (
            "always @* unique if (a) y = 1; else if (w) y = 2; else y = 0;",
            "always @*        if (a) y = 1; else if (w) y = 2; else y = 0;",
        ),
        (
            "always @* unique case (1'b1) a: y = 1; w: y = 2; endcase",
            "always @*        case (1'b1) a: y = 1; w: y = 2; default: begin y = '0; end endcase",
        ),
        (
            "always @* (* parallel_case, full_case *) case (1'b1) a: y = 1; default: y = 0; endcase",
            "always @* (* priority_case, full_case *) case (1'b1) a: y = 1; default: y = 0; endcase",
        ),
        ("logic x = a & w;\nlogic k = 1'b1;", "logic x        ;\nwire logic k = 1'b1;"),
        ("localparam P = 1; logic k = P;", "localparam P = 1; wire logic k = P;"),
        ("wire x = a & w;", None),
        (
            "function f(input i); f = !i; endfunction\nalways @* y = f(a);\nassign w = f(s[0]);",
            "function automatic f(input i); f = !i; endfunction\nalways @* y = f(a);\nassign w = f(s[0]);",
        ),
        (
            "function f(input i); f = !i; endfunction\nfor (genvar g = 0; g < 2; g++) assign y[g] = f(s[g]);",
            "function automatic f(input i); f = !i; endfunction\n"
            "for (genvar g = 0; g < 2; g++) assign y[g] = f(s[g]);",
        ),
        ("function f(input i); f = !i; endfunction\nalways @* begin y = f(a); z = f(s[0]); end", None),
        ("function static f(input i); f = !i; endfunction\nalways @* y = f(a);\nassign w = f(s[0]);", None),
        ("// été full_case\nlogic x = a;", "// été full_case\nlogic x    ;"),
    ],
)
def test_text_is_read_as_synthesis_reads_it(text, becomes):
    around = "module m (input [1:0] s, input a, output reg [3:0] y, z, w);\n{}\nendmodule\n"
    found = as_synthesised(around.format(text).encode()).decode()
    assert found == around.format(text if becomes is None else becomes)
    assert found.count("\n") == around.format(text).count("\n")


CALLED = """
module called (input clk, input rst, input [7:0] d, output reg [7:0] one, output reg [7:0] other);
  function [7:0] turned(input [7:0] x);
    turned = {x[3:0], x[7:4]};
  endfunction
  reg [7:0] next_one, next_other;
  always @* next_one = turned(d) + one;
  always @* next_other = turned(one ^ other);
  always @(posedge clk) if (rst) {one, other} <= 16'h1234; else {one, other} <= {next_one, next_other};
endmodule
module bench (input clk, input rst, output done);
  reg [7:0] count, out_q [1];
  wire [7:0] one, other;
  called u_dut (.clk, .rst, .d(count), .one, .other);
  always @(posedge clk) if (rst) count <= 0; else count <= count + 1;
  always @(posedge clk) out_q[0] <= one ^ other;
  assign done = count == 50 && out_q[0] != 8'hxx;
endmodule
"""


def test_each_call_of_a_function_is_one_of_its_own(tmp_path):
    """The fault: processes that called one function drove one net, and what one of them said was lost."""
    target = target_of(tmp_path, CALLED)
    elaboration = with_hardware(target, elaborate(target))
    assert elaboration.sites.absent == ()
    faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(0, 50, 7)]
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True, audit=EVERYTHING) as engine:
        assert len(list(engine.run(faults))) == len(faults)
        assert not engine.notes


def test_our_own_rtl_is_read_as_it_is(repository):
    for file in (repository / "rtl_harness").rglob("*.sv"):
        assert as_synthesised(file.read_bytes()) == file.read_bytes(), file


def test_storage_is_that_of_the_hardware(target, elaboration):
    """No latch of a full case, no argument of a function; what begins with a value is no constant."""
    paths = {e.path.removeprefix("u_dut.") for e in elaboration.sites.elements}
    assert "picked" not in paths
    assert not [path for path in paths if path.startswith("turned")]
    assert elaboration.initial["u_dut.begins"] == "101"
    # 5 becomes 15 at some time: bits 0 and 2 are always 1, bit 1 is a flip-flop, which serves for bit 3.
    assert hardware_of(elaboration, "begins") == [
        *(Hardware.CONSTANT, None, Hardware.CONSTANT, Hardware.DUPLICATE),
    ]
    assert set(hardware_of(elaboration, "none")) == {Hardware.CONSTANT}
    # An undefined value is 0: what is assigned it is a flip-flop all the same.
    assert hardware_of(elaboration, "lone") == [None] * 4
    assert set(hardware_of(elaboration, "twin_b")) == {Hardware.DUPLICATE}
    assert any(
        "as synthesis reads it" in warning and "design.sv" in warning for warning in elaboration.warnings
    )


def test_all_engines_simulate_it(target, elaboration):
    """Along the gates, arrays of few words too, by restart, and by the reference."""
    gone = {site for run in elaboration.sites.absent for site in range(run.first, run.end)}
    there = [site for site in range(elaboration.sites.size) if site not in gone]
    faults = [Fault(site, cycle) for site in there for cycle in (9, 31, 46)]
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True, audit=EVERYTHING) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
        assert not engine.notes
        assert engine.audited == engine.early_stops > 0
    assert len({injection.outcome for injection in found.values()}) > 1
    some = faults[::9]
    with CocotbEngine(target, WORKLOAD, elaboration) as engine:
        assert {i.fault: i for i in engine.run(some)} == {fault: found[fault] for fault in some}


def test_redundancy_is_kept_and_debugging_left_out(tmp_path):
    target = target_of(tmp_path, keep='["u_dut.twin_*"]', exclude='["u_dut.debug_q", "u_dut.words"]')
    elaboration = with_hardware(target, elaborate(target))
    assert hardware_of(elaboration, "twin_a") == hardware_of(elaboration, "twin_b") == [None, None]
    paths = [e.path for e in elaboration.sites.elements]
    assert not [path for path in paths if path.startswith(("u_dut.debug_q", "u_dut.words"))]
    assert elaboration.excluded == 4 + 32
    assert elaboration.bench_element("u_dut.debug_q").bits == 4
    assert any("36 bits of the design have no fault sites" in warning for warning in elaboration.warnings)


@pytest.mark.parametrize("key", ["keep", "exclude"])
def test_a_pattern_that_names_nothing_is_an_error(key, tmp_path):
    target = target_of(tmp_path, **{key: '["u_dut.nothing_*"]'})
    with pytest.raises(HarnessError, match=rf"{key}: expected a pattern.*nothing_\*"):
        elaborate(target)
