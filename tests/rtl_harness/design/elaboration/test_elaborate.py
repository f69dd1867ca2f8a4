# SPDX-License-Identifier: Apache-2.0
import dataclasses
import sys

import pytest

from resil.rtl_harness.design.elaboration import Clocking, block_of, elaborate
from resil.rtl_harness.design.sites import Site
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError
from testkit.awkward import awkward_target

AWKWARD = {
    ("u_dut.u_control._unread_q", "ff", 3, 1, "control"),
    ("u_dut.u_control.address_q", "ff", 6, 1, "control"),
    ("u_dut.u_control.round_q", "ff", 8, 1, "control"),
    ("u_dut.u_control.state_q", "ff", 3, 1, "control"),
    ("u_dut.u_control.step_q", "ff", 4, 1, "control"),
    ("u_dut.u_control.stuck_q", "ff", 2, 1, "control"),
    ("u_dut.u_control.twin_q", "ff", 4, 1, "control"),
    ("u_dut.u_history.guard_q", "ff", 16, 1, "history"),
    ("u_dut.u_history.past_q", "sram", 72, 16, "history"),
    ("u_dut.u_history.pushed_q", "ff", 1, 1, "history"),
    ("u_dut.u_history.wide_q", "ff", 100, 1, "history"),
    *((f"u_dut.u_lanes.coef_q[{i}]", "ff", 8, 1, "lanes") for i in range(2, 6)),
    *((f"u_dut.u_lanes.g_lane[{i}].g_even.delayed_q", "ff", 5, 1, "even") for i in (0, 2)),
    *((f"u_dut.u_lanes.g_lane[{i}].lane_q", "ff", 32, 1, "even") for i in (0, 2)),
    *((f"u_dut.u_lanes.g_lane[{i}].lane_q", "ff", 32, 1, "lanes") for i in (1, 3)),
    ("u_dut.u_lanes.operand_q", "ff", 32, 1, "lanes"),
}

TORTURE = """
(* blackbox *)
module hidden(input logic c, input logic d, output logic q);
  always_ff @(posedge c) q <= d;
endmodule
module sub #(parameter type T = logic [3:0]) (input logic clk, input T d, output T q);
  T x_q;
  always_ff @(posedge clk) x_q <= d;
  assign q = x_q;
endmodule
module dutm (
  input logic clk, input logic rst, input logic [7:0] d, input logic [1:0] i, output logic [7:0] q
);
  typedef struct packed { logic [3:0] a; logic [3:0] b; } pair_t;
  typedef logic [7:0] words_t [4];
  words_t x_q;
  pair_t [1:0] half_q;
  logic [7:0] grid_q [2][3:1];
  logic [7:0] big_q [3:0][128];
  logic [7:0] many_q [256];
  logic [7:0] rom [256];
  always_ff @(posedge clk) begin
    for (int j = 0; j < 4; j++) if (rst) x_q[j] <= '0; else if (i == j) x_q[j] <= d;
    half_q[1] <= {half_q[0].b, d[3:0]};
    half_q[0].a <= d[3:0];
    grid_q[i[0]][1] <= d;
    big_q[i][d[6:0]] <= d;
    many_q[d] <= d;
    many_q[d ^ 8'd1] <= d;
    many_q[d ^ 8'd2] <= d;
  end
  logic [7:0] held;
  always_latch if (rst) held = d;
  logic gated, g_q, n_q, z;
  assign gated = clk & d[0];
  always_ff @(posedge gated) g_q <= d[1];
  always_ff @(negedge clk) n_q <= d[2];
  sub #(.T(logic [1:0])) u_sub [1:0] (.clk, .d(d[3:0]), .q());
  hidden u_hidden (.c(clk), .d(d[0]), .q(z));
  for (genvar g = 1; g >= 0; g--) begin
    logic f_q;
    always_ff @(posedge clk) f_q <= d[g];
  end
  initial $readmemh("rom.hex", rom);
  assign q = x_q[i] ^ half_q[1] ^ grid_q[1][2] ^ big_q[i][d[6:0]] ^ many_q[d]
    ^ held ^ rom[d] ^ 8'(g_q ^ n_q ^ z);
endmodule
module bench (input logic clk, input logic rst, output logic done);
  logic [7:0] count_q, q;
  always_ff @(posedge clk) if (rst) count_q <= '0; else count_q <= count_q + q;
  assign done = &count_q;
  dutm u_dut (.clk, .rst, .d(count_q), .i(count_q[1:0]), .q);
endmodule
"""


@pytest.fixture(scope="module")
def awkward(repository):
    return awkward_target()


@pytest.fixture(scope="module")
def torture(tmp_path_factory):
    source = tmp_path_factory.mktemp("rtl") / "torture.sv"
    source.write_text(TORTURE)
    (source.parent / "rom.hex").write_text("0\n")
    target = Target(
        "torture", "bench", (source,), "clk", "rst", "u_dut", "done", {"rest": ("u_dut.u_sub",)}, {}
    )
    return elaborate(target)


def test_awkward_sites_are_what_the_source_says(awkward):
    found = elaborate(awkward)
    assert {(e.path, e.kind, e.width, e.depth, e.block) for e in found.sites.elements} == AWKWARD
    assert found.unmapped == ()
    assert found.unassigned == ()
    assert found.warnings == ()
    assert {e.path: e.depth for e in found.bench_elements} == {"u_sink.mem_q": 64, "u_source.mem_q": 64}


def test_flip_flops_inside_macros_are_a_kind_of_their_own(awkward):
    plain = elaborate(awkward)
    found = elaborate(
        dataclasses.replace(awkward, macros=("u_dut.u_lanes.g_lane[*].lane_q", "u_dut.u_history"))
    )
    inside = {e.path for e in found.sites.elements if e.kind == "macro"}
    lanes = {f"u_dut.u_lanes.g_lane[{i}].lane_q" for i in range(4)}
    history = {f"u_dut.u_history.{name}" for name in ("guard_q", "pushed_q", "wide_q")}
    assert inside == lanes | history
    assert {e.register_class for e in found.sites.elements if e.path in inside} == {"macro"}
    memory = next(e for e in found.sites.elements if e.path == "u_dut.u_history.past_q")
    assert (memory.kind, memory.register_class) == ("sram", "memory")
    assert [(e.path, e.bits) for e in found.sites.elements] == [
        (e.path, e.bits) for e in plain.sites.elements
    ]


@pytest.mark.parametrize(
    "pattern",
    ["u_dut.u_lane", "u_dut.u_lanes.g_lane[*].lane", "u_dut.u_history.past_q", "lane_q", "u_dut.*.*.*.*.*"],
)
def test_a_pattern_of_macros_that_matches_no_flip_flop_is_an_error(awkward, pattern):
    with pytest.raises(HarnessError, match=r"macros: expected a pattern .* the RTL has no") as caught:
        elaborate(dataclasses.replace(awkward, macros=("u_dut.u_history", pattern)))
    assert repr(pattern) in str(caught.value)


def test_clock_and_reset(awkward):
    clocking = elaborate(awkward).clocking
    assert clocking["u_dut.u_control.state_q"] == Clocking("clk_i", True, "rst_ni", True)
    assert clocking["u_dut.u_lanes.operand_q"] == Clocking("clk_i", True, "", False)
    assert clocking["u_dut.u_lanes.g_lane[1].lane_q"] == Clocking("clk_i", True, "rst_ni", False)


def test_names_of_bits_follow_the_declaration(awkward):
    by_path = {e.path: e for e in elaborate(awkward).sites.elements}
    guard, past = by_path["u_dut.u_history.guard_q"], by_path["u_dut.u_history.past_q"]
    delayed = by_path["u_dut.u_lanes.g_lane[0].g_even.delayed_q"]
    assert Site(guard, 0, 0).name == "u_dut.u_history.guard_q[1]"
    assert Site(past, 3, 71).name == "u_dut.u_history.past_q[3][71]"
    assert Site(delayed, 0, 0).name.endswith("delayed_q[8]")
    assert Site(delayed, 0, 4).name.endswith("delayed_q[4]")


def test_parameters_change_the_bench(awkward):
    found = elaborate(awkward, {"SourceWords": 128})
    assert found.bench_element("u_source.mem_q").depth == 128
    assert found.parameters == {"SourceWords": 128}
    with pytest.raises(KeyError):
        found.bench_element("u_none")


def test_second_time_comes_from_the_cache(awkward, monkeypatch):
    first = elaborate(awkward)
    monkeypatch.setattr(sys.modules[elaborate.__module__], "run_yosys", None)
    assert elaborate(awkward) == first


def test_arrays_and_slices(torture):
    found = {e.path: e for e in torture.sites.elements}
    assert {p for p in found if "x_q[" in p and "sub" not in p} == {f"u_dut.x_q[{i}]" for i in range(4)}
    assert {p for p in found if "grid_q" in p} == {
        f"u_dut.grid_q[{i}][{j}]" for i in (0, 1) for j in (1, 2, 3)
    }
    half = found["u_dut.half_q[15:4]"]
    assert (half.width, Site(half, 0, 0).name) == (12, "u_dut.half_q[15:4][4]")
    assert torture.locations[half.path].low == 4
    assert torture.locations[half.path].packed_width == 16
    big = found["u_dut.big_q[3]"]
    assert (big.kind, big.width, big.depth) == ("sram", 8, 128)
    assert torture.locations[big.path].indices == (3,)


def test_scopes_of_instance_arrays_and_generate_loops(torture):
    paths = {e.path: e.block for e in torture.sites.elements}
    assert paths["u_dut.u_sub[0].x_q"] == paths["u_dut.u_sub[1].x_q"] == "rest"
    assert {"u_dut.genblk1[0].f_q", "u_dut.genblk1[1].f_q"} <= set(paths)
    assert "u_dut.genblk1[0].f_q" in {e.path for e in torture.unassigned}


def test_array_with_many_ports_is_flip_flops_and_says_so(torture):
    many = [e for e in torture.sites.elements if e.path.startswith("u_dut.many_q")]
    assert {e.kind for e in many} == {"ff"}
    assert sum(e.bits for e in many) == 2048
    assert any(w.startswith("u_dut.many_q: 2048 bits") for w in torture.warnings)


def test_what_cannot_be_a_site_is_reported(torture):
    assert "8 bits in 1 elements are latches" in " ".join(torture.warnings)
    assert any(u.startswith("u_dut.u_hidden: module hidden is a black box") for u in torture.unmapped)
    assert (
        "u_dut.rom: an array that is never written, counted neither as storage nor in the area"
        in torture.warnings
    )


def test_other_clocks_are_reported(torture):
    assert torture.clocking["u_dut.g_q"].clock == "u_dut.gated"
    assert not torture.clocking["u_dut.n_q"].rising
    assert "1 elements are clocked by the falling edge of clk" in torture.warnings
    assert "1 elements are clocked by the rising edge of u_dut.gated" in torture.warnings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"blocks": {"control": ("u_dut.u_contrl",)}},
            r"blocks\.control: .*no 'u_dut.u_contrl'.*u_dut.u_control",
        ),
        ({"dut": "u_awkward"}, "dut: expected an instance"),
        ({"done": "finished_o"}, "done: expected a port of awkward_bench.*done_o"),
        ({"top": "awkward_top"}, "awkward_top"),
    ],
)
def test_names_that_the_rtl_does_not_have(awkward, change, message):
    with pytest.raises(HarnessError, match=message):
        elaborate(dataclasses.replace(awkward, **change))


def test_unknown_memory(awkward):
    wrong = dataclasses.replace(awkward.memories["sink"], path="u_sink.mem")
    with pytest.raises(HarnessError, match=r"memories\.sink\.path: .*no 'u_sink\.mem'.*u_sink\.mem_q"):
        elaborate(dataclasses.replace(awkward, memories={"sink": wrong}))


def test_broken_rtl_shows_file_and_line(awkward, tmp_path):
    broken = tmp_path / "broken.sv"
    broken.write_text("module awkward_bench (input logic clk_i);\n  assign x = y;\nendmodule\n")
    with pytest.raises(HarnessError, match=r"broken\.sv:2.*(?s:undeclared)"):
        elaborate(dataclasses.replace(awkward, sources=(broken,), parameters={}))


@pytest.mark.parametrize(
    ("path", "block"),
    [
        ("a.b.x", "inner"),
        ("a.bb.x", "outer"),
        ("a.x", "outer"),
        ("a.b[3].x", "inner"),
        ("aa.x", ""),
        ("c", ""),
    ],
)
def test_longest_match_wins(path, block):
    assert block_of(path, {"outer": ["a"], "inner": ["a.b"]}) == block
