# SPDX-License-Identifier: Apache-2.0
import dataclasses

import pytest

from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.area_library import gate_table, smallest_nand2
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from testkit.awkward import awkward_target

TINY = """
module part #(parameter int N = 1) (
  input logic clk, input logic rst, input logic [N-1:0] d, output logic [N-1:0] q
);
  always_ff @(posedge clk or negedge rst) if (!rst) q <= '0; else q <= ~d;
endmodule
module store (input logic clk, input logic [5:0] a, input logic [31:0] d, output logic [31:0] q);
  logic [31:0] mem_q [64];
  always_ff @(posedge clk) mem_q[a] <= d;
  assign q = mem_q[a];
endmodule
module dutm (input logic clk, input logic rst, input logic [5:0] d, output logic o);
  logic [5:0] x;
  logic [31:0] y;
  part #(.N(6)) u_part (.clk, .rst, .d, .q(x));
  store u_store (.clk, .a(x), .d({26'd0, d}), .q(y));
  assign o = y[5] & y[0];
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [5:0] n_q;
  always_ff @(posedge clk or negedge rst) if (!rst) n_q <= '0; else n_q <= n_q + 6'd1;
  logic o;
  dutm u_dut (.clk, .rst, .d(n_q), .o);
  assign done = n_q == '1 && !o;
endmodule
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    source = tmp_path_factory.mktemp("rtl") / "tiny.sv"
    source.write_text(TINY)
    blocks = {"part": ("u_dut.u_part",), "store": ("u_dut.u_store",)}
    return Target("tiny", "bench", (source,), "clk", "rst", "u_dut", "done", blocks, {})


def test_area_counted_by_hand(tiny):
    report = area_per_block(tiny, elaborate(tiny))
    table = {g["name"]: g["area"] for kind in ("gate", "flip_flop") for g in gate_table().entries[kind]}
    assert report.unit == "GE"
    assert report.blocks["part"].logic == pytest.approx(6 * (table["DFFR"] + table["INV"]))
    assert report.blocks["store"].sram == pytest.approx(64 * 32 * gate_table().sram_bit.area)
    assert report.blocks["store"].logic < 64 * 32
    assert report.blocks[""].logic == pytest.approx(table["AND2"])
    assert report.total.total == pytest.approx(sum(b.logic + b.sram for b in report.blocks.values()))


def test_liberty_file_sets_the_scale(tiny, tmp_path):
    builtin = area_per_block(tiny, elaborate(tiny))
    text = gate_table().liberty()
    for entry in [
        *gate_table().entries["gate"],
        *gate_table().entries["flip_flop"],
        *gate_table().entries["latch"],
        gate_table().entries["clock_gate"],
    ]:
        text = text.replace(f"area : {entry['area']};", f"area : {2 * entry['area']:.3f} ;")
    library = tmp_path / "cells.lib"
    library.write_text(text)
    report = area_per_block(tiny, elaborate(tiny), library)
    assert report.unit == "um2"
    assert report.total.logic == pytest.approx(2 * builtin.total.logic, rel=1e-3)
    assert report.total.sram == pytest.approx(2 * builtin.total.sram)


def test_awkward_blocks(repository):
    target = awkward_target()
    report = area_per_block(target, elaborate(target))
    assert list(report.blocks) == ["control", "lanes", "even", "history", ""]
    assert report.blocks["history"].sram == pytest.approx(16 * 72 * gate_table().sram_bit.area)
    assert report.blocks["lanes"].logic > report.blocks["control"].logic > 100
    assert report.blocks["even"].logic > 100
    assert any("block even: u_dut.u_lanes.g_lane[0] is a generate block" in note for note in report.notes)


LANES = """
module mix (input logic [7:0] a_i, input logic [7:0] b_i, output logic [7:0] y_o);
  assign y_o = (a_i & b_i) + (a_i ^ {b_i[0], b_i[7:1]});
endmodule
module counter (input logic clk, input logic rst, input logic en_i, output logic [3:0] n_o);
  always_ff @(posedge clk or negedge rst) if (!rst) n_o <= '0; else if (en_i) n_o <= n_o + 4'd1;
endmodule
module lane (
  input logic clk, input logic rst, input logic [7:0] d_i, input logic [7:0] left_i, output logic [7:0] q_o,
  output logic [7:0] x_o
);
  logic [7:0] s_q, y;
  logic [3:0] mem_q [4], n;
  always_ff @(posedge clk or negedge rst) if (!rst) s_q <= '0; else s_q <= (d_i + left_i) ^ {2{n}};
  always_ff @(posedge clk) if (d_i[7]) mem_q[d_i[1:0]] <= s_q[3:0];
  mix u_mix (.a_i(d_i ^ left_i), .b_i(s_q), .y_o(y));
  counter u_counter (.clk, .rst, .en_i(^s_q), .n_o(n));
  assign q_o = s_q;
  assign x_o = y & ~s_q | 8'(mem_q[s_q[1:0]]);
endmodule
module dutm (input logic clk, input logic rst, input logic [7:0] d, output logic [7:0] o);
  logic [7:0] x [3], acc_q, q [4];
  assign q[0] = acc_q;
  for (genvar g = 0; g < 3; g++) begin : g_lane
    LANE
  end
  always_ff @(posedge clk or negedge rst) if (!rst) acc_q <= '0; else acc_q <= acc_q + x[0] - (x[1] ^ x[2]);
  assign o = acc_q;
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [7:0] n_q, o;
  always_ff @(posedge clk or negedge rst) if (!rst) n_q <= '0; else n_q <= n_q + 8'd1;
  dutm u_dut (.clk, .rst, .d(n_q), .o);
  assign done = n_q == '1 && !o[0];
endmodule
"""
# The lane as statements of the generate block itself.
STATEMENTS = """
    logic [7:0] s_q, y;
    logic [3:0] mem_q [4], n;
    always_ff @(posedge clk or negedge rst) if (!rst) s_q <= '0; else s_q <= (d + q[g]) ^ {2{n}};
    always_ff @(posedge clk) if (d[7]) mem_q[d[1:0]] <= s_q[3:0];
    mix u_mix (.a_i(d ^ q[g]), .b_i(s_q), .y_o(y));
    counter u_counter (.clk, .rst, .en_i(^s_q), .n_o(n));
    assign q[g + 1] = s_q;
    assign x[g] = y & ~s_q | 8'(mem_q[s_q[1:0]]);
"""
INSTANCE = "lane u_lane (.clk, .rst, .d_i(d), .left_i(q[g]), .q_o(q[g + 1]), .x_o(x[g]));"


def lanes(folder, body, blocks):
    source = folder / "lanes.sv"
    source.write_text(LANES.replace("LANE\n", body + "\n"))
    return Target("lanes", "bench", (source,), "clk", "rst", "u_dut", "done", blocks, {})


def test_a_generate_block_has_the_area_that_a_module_in_its_place_has(tmp_path):
    scopes = {f"lane{g}": (f"u_dut.g_lane[{g}]",) for g in range(3)}
    modules = {f"lane{g}": (f"u_dut.g_lane[{g}].u_lane",) for g in range(3)}
    for part in (scopes, modules):
        part["counters"] = tuple(path + ".u_counter" for path in part["lane0"] + part["lane1"])
    own = lanes(tmp_path, STATEMENTS, scopes)
    found = area_per_block(own, elaborate(own))
    other = lanes(tmp_path, INSTANCE, modules)
    expected = area_per_block(other, elaborate(other))
    assert found.blocks["lane1"].logic > 200
    assert {b: v.logic for b, v in found.blocks.items()} == pytest.approx(
        {b: v.logic for b, v in expected.blocks.items()}, rel=0.02
    )
    whole = lanes(tmp_path, STATEMENTS, {"all": ("u_dut",)})
    # Boundaries cost what is no longer optimised or gated across them, as those of modules do.
    assert found.total.logic == pytest.approx(area_per_block(whole, elaborate(whole)).total.logic, rel=0.12)


def test_flip_flops_of_macros_in_a_generate_block_have_no_area_of_their_own(tmp_path):
    less = []
    for body, below in ((STATEMENTS, ""), (INSTANCE, ".u_lane")):
        plain = lanes(tmp_path, body, {"lane0": (f"u_dut.g_lane[0]{below}",), "rest": ("u_dut",)})
        macros = dataclasses.replace(plain, macros=(f"u_dut.g_lane[0]{below}.u_counter",))
        without, found = (area_per_block(target, elaborate(target)) for target in (plain, macros))
        less.append(without.blocks["lane0"].logic - found.blocks["lane0"].logic)
        assert found.blocks["rest"].logic == pytest.approx(without.blocks["rest"].logic, rel=0.01)
    flip_flop = next(e["area"] for e in gate_table().entries["flip_flop"] if e["name"] == "DFFR")
    assert less[0] == pytest.approx(less[1], abs=4)
    assert less[0] >= 4 * flip_flop


def test_a_block_of_all_iterations_is_their_sum(tmp_path):
    each = lanes(tmp_path, STATEMENTS, {f"lane{g}": (f"u_dut.g_lane[{g}]",) for g in range(3)})
    found = area_per_block(each, elaborate(each))
    every = lanes(tmp_path, STATEMENTS, {"lanes": ("u_dut.g_lane",)})
    together = area_per_block(every, elaborate(every))
    assert all(found.blocks[f"lane{g}"].logic > 200 for g in range(3))
    # One block has clock gates that three would each have for themselves.
    assert together.blocks["lanes"].logic == pytest.approx(
        sum(found.blocks[f"lane{g}"].logic for g in range(3)), rel=0.06
    )
    assert together.blocks[""].logic == pytest.approx(found.blocks[""].logic, rel=0.03)


def test_library_without_nand(tiny, tmp_path):
    library = tmp_path / "cells.lib"
    library.write_text(gate_table().liberty().replace("NAND2", "GATE7"))
    with pytest.raises(HarnessError, match="2-input NAND"):
        area_per_block(tiny, elaborate(tiny), library)


def test_library_that_is_none(tiny, tmp_path):
    (tmp_path / "cells.lib").write_text("hello")
    with pytest.raises(HarnessError, match=r"cells\.lib: expected a Liberty file"):
        area_per_block(tiny, elaborate(tiny), tmp_path / "cells.lib")
    with pytest.raises(HarnessError, match="cannot read the Liberty file"):
        area_per_block(tiny, elaborate(tiny), tmp_path / "none.lib")


def test_library_without_flip_flops(tiny, tmp_path):
    library = tmp_path / "cells.lib"
    library.write_text("library (l) { cell (NAND2) { area : 1; pin (A) { direction : input; } } }")
    with pytest.raises(HarnessError, match="synthesis of tiny failed"):
        area_per_block(tiny, elaborate(tiny), library)


def test_smallest_nand2_reads_names():
    cells = "cell (NAND2_X1) { area : 0.798; } cell (NAND2_X4) { area : 2.4; } cell (NAND20) { area : 0.1; }"
    assert smallest_nand2(cells) == 0.798


GATED = """
module gated (input logic clk, input logic rst, input logic [1:0] en, input logic d, output logic [2:0] q);
  logic [1:0] open_l, gclk;
  for (genvar g = 0; g < 2; g++) begin : g_gate
    always_latch if (!clk) open_l[g] = en[g];
    assign gclk[g] = open_l[g] && clk;
    always_ff @(posedge gclk[g]) q[g] <= d;
  end
  logic other_l;
  always_latch if (!clk) other_l = d;
  assign q[2] = other_l & en[0];
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [2:0] q;
  gated u_dut (.clk, .rst, .en({rst, rst}), .d(rst), .q);
  assign done = &q;
endmodule
"""


def test_a_latch_and_an_and_that_gate_a_clock_are_one_cell(tmp_path):
    source = tmp_path / "gated.sv"
    source.write_text(GATED)
    target = Target("gated", "bench", (source,), "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, {})
    entries = gate_table().entries
    area = {g["name"]: g["area"] for kind in ("gate", "flip_flop", "latch") for g in entries[kind]}
    latch, gate = area["LATCH"] + area["INV"], entries["clock_gate"]["area"]
    found = area_per_block(target, elaborate(target))
    assert found.total.logic == pytest.approx(2 * gate + 2 * area["DFF"] + latch + area["AND2"])
    library = tmp_path / "cells.lib"
    library.write_text(gate_table().liberty().replace("clock_gating_integrated_cell", "other"))
    without = area_per_block(target, elaborate(target), library)
    assert without.total.logic == pytest.approx(3 * latch + 2 * area["DFF"] + 3 * area["AND2"])


ALSO_READ = """
module also_read (
  input logic clk, input logic rst, input logic [1:0] d, output logic [1:0] q, output logic s
);
  logic closed;
  always_comb if (clk) closed = 'x; else closed = d[0] ^ d[1];
  always_latch if (!clk) q[0] = closed;
  assign q[1] = closed;
  assign s = q[0];
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [1:0] q;
  logic s;
  also_read u_dut (.clk, .rst, .d({rst, rst}), .q, .s);
  assign done = &q & s;
endmodule
"""


def test_what_something_else_reads_is_0_where_it_is_undefined(tmp_path):
    """Seeded: all multiplexers freed, the second output would be an exclusive or alone."""
    source = tmp_path / "also.sv"
    source.write_text(ALSO_READ)
    target = Target("also", "bench", (source,), "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, {})
    entries = gate_table().entries
    area = {g["name"]: g["area"] for kind in ("gate", "flip_flop", "latch") for g in entries[kind]}
    latch = area["LATCH"] + area["INV"]
    alone = area["XOR2"]
    assert area_per_block(target, elaborate(target)).total.logic > latch + alone


ENABLED = """
module enabled (
  input logic clk, input logic rst, input logic [1:0] en, input logic [6:0] d, output logic [6:0] q
);
  always_ff @(posedge clk or posedge rst)
    if (rst) q[3:0] <= '0;
    else if (en[0]) q[3:0] <= d[3:0];
  always_ff @(posedge clk) if (en[1]) q[6:4] <= d[6:4];
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [6:0] d_q, q;
  logic [1:0] en_q;
  always_ff @(posedge clk) {d_q, en_q} <= {q[0], d_q[6:1], d_q[0], en_q[1]} ^ 9'h5;
  enabled u_dut (.clk, .rst, .en(en_q), .d(d_q), .q);
  assign done = &q;
endmodule
"""


def test_the_enable_of_several_flip_flops_is_a_clock_gate(tmp_path):
    """Four with a reset share one; three have a multiplexer each, as all have without such a cell."""
    source = tmp_path / "enabled.sv"
    source.write_text(ENABLED)
    target = Target("enabled", "bench", (source,), "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, {})
    entries = gate_table().entries
    area = {g["name"]: g["area"] for kind in ("gate", "flip_flop") for g in entries[kind]}
    found = area_per_block(target, elaborate(target))
    assert any("enable of 4 or more flip-flops is a clock-gating cell" in note for note in found.notes)
    library = tmp_path / "cells.lib"
    library.write_text(gate_table().liberty().replace("clock_gating_integrated_cell", "other"))
    without = area_per_block(target, elaborate(target), library)
    assert any("no clock gating" in note for note in without.notes)
    saved = without.total.logic - found.total.logic
    assert saved == pytest.approx(4 * area["MUX2"] - entries["clock_gate"]["area"], abs=0.01)
    rest = found.total.logic - 4 * area["DFFR"] - 3 * area["DFF"] - entries["clock_gate"]["area"]
    assert rest >= 3 * area["MUX2"]


def test_every_entry_of_the_table_has_status_and_source():
    entries = gate_table().entries
    listed = [*entries["gate"], *entries["flip_flop"], *entries["latch"], entries["clock_gate"]]
    listed.append(entries["sram_bit"])
    assert all(
        e["status"] in {"measured", "modelled", "assumed"} and e["source"] and e["area"] > 0 for e in listed
    )


def test_cached(tiny, monkeypatch):
    first = area_per_block(tiny, elaborate(tiny))
    monkeypatch.setattr("resil.rtl_harness.design.area._map", None)
    assert area_per_block(tiny, elaborate(tiny)) == first
    renamed = dataclasses.replace(tiny, blocks={"all": ("u_dut",)})
    with pytest.raises(TypeError):
        area_per_block(renamed, elaborate(renamed))


def test_what_surrounds_the_design_costs_no_synthesis(tiny, tmp_path, monkeypatch):
    first = area_per_block(tiny, elaborate(tiny))
    monkeypatch.setattr("resil.rtl_harness.design.area._map", None)
    source = tmp_path / "tiny.sv"
    source.write_text(TINY.replace("module bench", "// another bench\nmodule bench").replace("!o;", "o;"))
    other = dataclasses.replace(tiny, sources=(source,))
    assert area_per_block(other, elaborate(other)) == first
    source.write_text(TINY.replace("q <= ~d", "q <= d"))
    with pytest.raises(TypeError):
        area_per_block(other, elaborate(other))
