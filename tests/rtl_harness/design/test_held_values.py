# SPDX-License-Identifier: Apache-2.0
"""Storage that only a reset assigns, constants of initial values, ROMs and functions of packages."""

from __future__ import annotations

import pytest

from resil.rtl_harness.design.as_synthesised import as_synthesised
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.faults import Fault, Outcome

BENCH = """
module bench (input clk, input rst, output done);
  reg [7:0] count, sum_q, out_q [1];
  wire [7:0] q;
  core u_dut (.clk, .rst, .d(count), .q);
  always @(posedge clk) if (rst) count <= 0; else count <= count + 1;
  always @(posedge clk) begin
    sum_q <= rst ? 0 : {sum_q[6:0], sum_q[7]} ^ q;
    out_q[0] <= sum_q;
  end
  assign done = count == 60 && out_q[0] != 8'hxx;
endmodule
"""
CORE = "module core (input clk, input rst, input [7:0] d, output [7:0] q);\n{}\nendmodule\n"

# One of each: whole words, arrays set in a loop, structures, enumerations, generate blocks, several
# processes, some bits of a word, a reset without any clocked branch, a latch with a reset.
STORED = """
  typedef struct packed {logic [3:0] a; logic [3:0] b;} pair_t;
  typedef enum logic [1:0] {IDLE, BUSY, LAST} state_t;
  integer n;
  reg [7:0] real_q, whole_q, some_q, split_q, lone_q, sync_q, words_q [4];
  logic [3:0][7:0] packed_q;
  pair_t pair_q;
  state_t state_q;
  logic [7:0] open_l;
  always @(posedge clk or posedge rst)
    if (rst) begin
      real_q <= 0; {whole_q, packed_q} <= 40'h1122334455; pair_q <= 8'h21; state_q <= LAST;
      for (n = 0; n < 4; n = n + 1) words_q[n] <= 8'(7 * n + 1);
    end
    else real_q <= d + whole_q;
  always @(posedge clk or posedge rst) if (rst) some_q <= 8'h5a; else some_q[3:0] <= d[3:0];
  always @(posedge clk or posedge rst) if (rst) split_q[3:0] <= 3; else split_q[3:0] <= split_q[3:0] + d[3:0];
  always @(posedge clk or posedge rst) if (rst) split_q[7:4] <= 5;
  always @(posedge clk or posedge rst) if (rst) if (d[0] | 1) lone_q <= 8'h3c;
  always @(posedge clk) if (rst) sync_q <= 8'h44;
  for (genvar g = 0; g < 2; g++) begin : g_lane
    logic [3:0] lane_q;
    always_ff @(posedge clk or posedge rst) if (rst) lane_q <= 4'(g + 5);
  end
  always_latch if (rst) open_l = 8'h9; else if (d[0]) open_l = d;
  assign q = real_q ^ some_q ^ split_q ^ lone_q ^ sync_q ^ packed_q[d[1:0]] ^ pair_q ^ state_q ^ open_l
    ^ words_q[d[1:0]] ^ g_lane[0].lane_q ^ g_lane[1].lane_q ^ whole_q;
"""
CONSTANTS = """
  reg [7:0] real_q, set_a, set_b;
  reg [7:0] declared = 8'h31;
  initial set_a = 8'h77;
  initial begin set_b = 8'h0f; end
  always @(posedge clk) real_q <= rst ? 0 : d + (set_a & ~real_q);
  assign q = real_q ^ declared ^ (set_b & d);
"""
ROM = """
  reg [7:0] real_q, read_q, table_q [0:15], listed [0:255];
  initial for (int i = 0; i < 16; i++) table_q[i] = 8'(i * 7 + 3);
  initial $readmemh("listed.hex", listed);
  always @(posedge clk) begin real_q <= rst ? 0 : d + table_q[real_q[3:0]]; read_q <= listed[real_q]; end
  assign q = real_q ^ read_q;
"""
FUNCTIONS = """
function [7:0] outer(input [7:0] x); reg [7:0] t; begin t = x ^ 8'h33; outer = t + 1; end endfunction
package mixing;
  function logic [7:0] mix(input logic [7:0] x);
    logic [7:0] t;
    t = x ^ 8'h5a;
    mix = {t[0], t[7:1]} + 8'd3;
  endfunction
endpackage
module now (input [7:0] d, output logic [7:0] q);
  import mixing::*;
  always_comb q = mix(d) ^ outer(d);
endmodule
module later (input clk, input [7:0] d, output logic [7:0] q);
  import mixing::*;
  always_ff @(posedge clk) q <= mix(d);
endmodule
""" + CORE.format("""
  wire [7:0] one, other;
  reg [7:0] a_q;
  now u_now (.d, .q(one));
  later u_later (.clk, .d(a_q), .q(other));
  always @(posedge clk) a_q <= rst ? 0 : outer(a_q) + d;
  assign q = one ^ other ^ a_q;
""")
WORKLOAD = Workload("sum", {}, OutputSpec("out", 0, (1,), "uint8"))


def target_of(folder, text):
    (folder / "design.sv").write_text(text + BENCH)
    (folder / "listed.hex").write_text("".join(f"{i * 37 % 256 ^ 11:02x}\n" for i in range(256)))
    memories = {"out": TargetMemory("out_q", 1, "out")}
    sources = (folder / "design.sv",)
    return Target(
        *("core", "bench", sources, "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, memories),
        reset_active_low=False,
        data_dirs=(folder,),
    )


def same_on_all_engines(target, *, reference=False):
    """Return the elaboration; gates, sweeps, restarts and the reference give one answer for its storage."""
    elaboration = with_hardware(target, elaborate(target))
    assert elaboration.unmapped == ()
    gone = {site for run in elaboration.sites.absent for site in range(run.first, run.end)}
    there = [site for site in range(elaboration.sites.size) if site not in gone]
    faults = [Fault(site, cycle) for site in there for cycle in (9, 31, 52)]
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True, audit=EVERYTHING) as engine:
        found = {injection.fault: injection for injection in engine.run(faults)}
        assert not engine.notes
    assert any(injection.outcome is not Outcome.MASKED for injection in found.values())
    some = faults[::5]
    if reference:
        with CocotbEngine(target, WORKLOAD, elaboration) as engine:
            assert {i.fault: i for i in engine.run(some)} == {fault: found[fault] for fault in some}
    return elaboration


def bits_of(elaboration, hardware):
    """Bits of storage by its path that synthesis makes this of."""
    found: dict[str, int] = {}
    for run in elaboration.sites.absent:
        if run.hardware is hardware:
            path = elaboration.sites[run.first].element.path.removeprefix("u_dut.")
            found[path] = found.get(path, 0) + run.bits
    return found


def test_what_only_a_reset_assigns_is_storage(tmp_path):
    """The fault: it was in no list and in no warning, and gates and area had zeros in its place."""
    elaboration = same_on_all_engines(target_of(tmp_path, CORE.format(STORED)), reference=True)
    bits = {e.path.removeprefix("u_dut."): e.bits for e in elaboration.sites.elements}
    assert bits == {
        **{"real_q": 8, "whole_q": 8, "some_q": 8, "split_q": 8, "lone_q": 8, "sync_q": 8, "packed_q": 32},
        **{"pair_q": 8, "state_q": 2, "open_l": 8},
        **{f"words_q[{i}]": 8 for i in range(4)},
        **{f"g_lane[{g}].lane_q": 4 for g in range(2)},
    }
    # None of it ever has another value: to synthesis they are constants, with the values of the reset.
    assert bits_of(elaboration, Hardware.CONSTANT) == {
        **{"whole_q": 8, "some_q": 4, "split_q": 4, "lone_q": 8, "sync_q": 8, "packed_q": 32},
        **{"pair_q": 8, "state_q": 2},
        **{f"words_q[{i}]": 8 for i in range(4)},
        **{f"g_lane[{g}].lane_q": 4 for g in range(2)},
    }


def test_constants_of_initial_values_have_these_values_in_the_gates(tmp_path):
    """The fault: gates and area had zeros in their place."""
    elaboration = same_on_all_engines(target_of(tmp_path, CORE.format(CONSTANTS)))
    assert [e.path for e in elaboration.sites.elements] == ["u_dut.real_q"]
    assert not [
        warning for warning in elaboration.warnings if "initial value" in warning and "u_dut" in warning
    ]


def test_what_reads_a_rom_is_hardware(tmp_path):
    """The fault: its words were undefined, what reads them counted as unused, the design was refused."""
    elaboration = same_on_all_engines(target_of(tmp_path, CORE.format(ROM)))
    assert elaboration.sites.absent == ()
    assert sorted(e.path for e in elaboration.sites.elements) == ["u_dut.read_q", "u_dut.real_q"]
    assert sum("never written" in warning for warning in elaboration.warnings) == 2


def test_a_function_of_a_package_is_one_of_its_own_in_each_module(tmp_path):
    """The fault: modules that called it drove one net, and its variables were storage without a name."""
    elaboration = same_on_all_engines(target_of(tmp_path, FUNCTIONS))
    assert sorted(e.path for e in elaboration.sites.elements) == ["u_dut.a_q", "u_dut.u_later.q"]
    assert not [warning for warning in elaboration.warnings if "no name" in warning]


def test_what_a_macro_resets_and_nothing_clocks_is_named(tmp_path):
    """The text of macros stays as it is: what is lost there is refused by name."""
    macro = (
        "`define PART(q) always @(posedge clk or posedge rst) if (rst) q <= 8'h5a; else q[3:0] <= d[3:0];\n"
    )
    body = (
        "reg [7:0] part_q, mixed, other; `PART(part_q)\n initial begin mixed = 8'h3; $display(mixed); end\n"
    )
    target = target_of(tmp_path, macro + CORE.format(f"{body} assign q = part_q ^ mixed;"))
    found = elaborate(target)
    assert len(found.unmapped) == 1
    assert found.unmapped[0].startswith("u_dut.part_q: 4 of its bits are assigned in an asynchronous reset")
    assert [w for w in found.warnings if w.startswith("u_dut.mixed: it has an initial value that nothing")]
    for silent in ("mixed = 8'h0;", "mixed = other;"):
        told = elaborate(
            target_of(
                tmp_path, (macro + CORE.format(f"{body} assign q = mixed;")).replace("mixed = 8'h3;", silent)
            )
        )
        assert bool([w for w in told.warnings if w.startswith("u_dut.mixed")]) is ("other" in silent)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (
            "always @(posedge c or negedge r) if (!r) begin a <= 0; b <= 5; end else a <= d;",
            "always @(posedge c or negedge r) if (!r) begin a <= 0; b <= 5; end "
            "else begin b <= b; a <= d; end",
        ),
        (
            "always @(posedge c, negedge r) begin if (!r) b <= 5; end",
            "always @(posedge c, negedge r) begin if (!r) begin b <= 5; end else begin b <= b; end end",
        ),
        (
            "always @(posedge c or posedge r or posedge s) if (r) b <= 0; else if (s) b <= 1; "
            "else if (d) a <= 1;",
            "always @(posedge c or posedge r or posedge s) if (r) b <= 0; else if (s) b <= 1; "
            "else begin b <= b; if (d) a <= 1; end",
        ),
        (
            "always @(posedge c or posedge r) if (r) begin b = 0; end else begin int i; a = 1; end",
            "always @(posedge c or posedge r) if (r) begin b = 0; end else begin int i; b = b; a = 1; end",
        ),
        # Every word of a memory has a clock.
        ("always @(posedge c or posedge r) if (r) b[0] <= 0; else b[d] <= 1;", None),
        ("always @(posedge c or posedge r) if (r) b <= 0; else b[d] <= 1;", None),
        ("always @(posedge c or posedge r) if (r) b <= 0; else if (d) b <= 1;", None),
        ("always @(posedge c) if (r) b <= 0; else a <= 1;", None),
        ("always @(c or r) if (r) b <= 0; else a <= 1;", None),
        ("reg [3:0] k = 4'd5;", "wire [3:0] k = 4'd5;"),
        ("logic signed [3:0] k = -4'sd3, l = P;", "wire logic signed [3:0] k = -4'sd3, l = P;"),
        ("reg k; initial k = 1;", "reg k; always_comb k = 1;"),
        ("reg k = 1; always @(posedge c) k <= d;", None),
        ("reg k = 1; always @(posedge c) k++;", None),
        ("reg k = 1; other u_other (.q(k));", None),
        ("reg k = 1; initial #5 k = 0;", None),
        ("reg k; initial begin k = 1; k = 0; end", None),
        ("reg k = 1, l;", None),
        ("reg [3:0] k [2]; initial k[0] = 1;", None),
        ("reg k = $random;", None),
        ("reg k; initial k = d;", None),
    ],
)
def test_text_that_keeps_values(text, becomes):
    around = "module m (input c, r, s, d, output reg a, b);\n{}\nendmodule\n"
    found = as_synthesised(around.format(text).encode()).decode()
    assert found == around.format(text if becomes is None else becomes)


def test_comments_that_macros_paste_together_are_taken_away(tmp_path):
    """The fault: the simulator took what a macro pastes together for a comment of its own, and refused it."""
    macro = """`define FF(q, d) \\
  /``* synopsys sync_set_reset `"rst`" *``/ \\
  always @(posedge clk) q <= d;
"""
    target = target_of(tmp_path, macro + CORE.format("reg [7:0] a_q; `FF(a_q, d ^ q) assign q = a_q;"))
    elaboration = with_hardware(target, elaborate(target))
    with VerilatorEngine(target, WORKLOAD, elaboration) as engine:
        assert len(list(engine.run([Fault(1, 20)]))) == 1
    for text in ("/``* full_case *``/", "/* synopsys sync_set_reset */", "// synopsys translate_off\n"):
        assert as_synthesised(text.encode()) == text.encode()


def test_what_a_package_says_of_its_functions_stays():
    for text in (
        "package automatic p; function f(input i); f = i; endfunction endpackage\n",
        "class c; function f(input i); f = i; endfunction endclass\n",
    ):
        assert as_synthesised(text.encode()) == text.encode()
