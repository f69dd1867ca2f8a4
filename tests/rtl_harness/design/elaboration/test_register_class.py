# SPDX-License-Identifier: Apache-2.0
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.elaboration.register_class import CLASSES
from resil.rtl_harness.design.target import Target

CORE = """
module core (
  input logic clk, input logic rst, input logic we, input logic [3:0] wa, input logic [15:0] wd,
  input logic go, input logic [7:0] pixel, input logic [7:0] weight, input logic push, input logic pop,
  output logic [31:0] y, output logic busy
);
  logic [15:0] left, step, place, product, wide;
  logic [8:0] at;
  // loaded from a bus, read by many
  logic [15:0] r0, r1, r2, r3;
  always_ff @(posedge clk) if (we) case (wa)
    4'd0: r0 <= wd; 4'd1: r1 <= wd; 4'd2: r2 <= wd; default: r3 <= wd;
  endcase
  // a state machine and a flag
  logic [1:0] s;
  logic seen;
  always_ff @(posedge clk) if (rst) s <= 0; else case (s)
    0: if (go) s <= 1; 1: s <= 2; 2: if (left == 0) s <= 3; default: s <= 0;
  endcase
  always_ff @(posedge clk) seen <= go & ~rst;
  // counts down; counts up and addresses; takes a product and adds it
  logic [31:0] total;
  logic [7:0] mem [512];
  logic [7:0] read;
  always_ff @(posedge clk) if (s == 0) left <= r0; else left <= left - 1;
  always_ff @(posedge clk) if (s == 0) step <= 0; else if (step == r1) step <= 0; else step <= step + 1;
  always_ff @(posedge clk)
    if (s == 0) place <= r2; else if (step == r1) place <= place + r3; else place <= place + 1;
  always_ff @(posedge clk) if (push) mem[place[8:0]] <= pixel;
  always_ff @(posedge clk) read <= mem[at];
  always_ff @(posedge clk) if (s == 0) total <= r2; else total <= total + product;
  // a pipeline, an address that waits, a queue that is packed into one word
  logic [63:0] queue;
  logic [2:0] head;
  always_ff @(posedge clk) product <= read * weight;
  always_ff @(posedge clk) wide <= product ^ r2;
  always_ff @(posedge clk) at <= wide[8:0];
  always_ff @(posedge clk) if (push) queue[8 * head +: 8] <= pixel;
  always_ff @(posedge clk) if (pop) head <= head + 1;
  // lanes: the same in all
  for (genvar i = 0; i < 3; i++) begin : g
    logic [7:0] lane;
    always_ff @(posedge clk) lane <= i == 0 ? queue[8 * head +: 8] : pixel;
  end
  assign y = total ^ {g[0].lane, g[1].lane, g[2].lane, 8'd0} ^ 32'(left > r1);
  assign busy = s != 0 || seen || r1 > 3;
endmodule
module top (
  input logic clk, input logic rst, input logic [63:0] in, output logic done, output logic [31:0] y
);
  core u_dut (.clk, .rst, .we(in[0]), .wa(in[4:1]), .wd(in[20:5]), .go(in[21]), .pixel(in[29:22]),
    .weight(in[37:30]), .push(in[38]), .pop(in[39]), .y, .busy(done));
endmodule
"""

EXPECTED = {
    **dict.fromkeys(("s", "seen"), "control"),
    **dict.fromkeys(("step", "left"), "counter"),
    **dict.fromkeys(("place", "head", "at"), "address"),
    **dict.fromkeys(("product", "wide", "read"), "data"),
    **dict.fromkeys(("g[0].lane", "g[1].lane", "g[2].lane"), "data"),
    "r2": "configuration",
    "total": "accumulator",
    "queue": "buffer",
    "mem": "memory",
}


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    source = tmp_path_factory.mktemp("rtl") / "core.sv"
    source.write_text(CORE)
    return elaborate(Target("core", "top", (source,), "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, {}))


@pytest.mark.parametrize("name", EXPECTED)
def test_classes_follow_what_a_register_does(core, name):
    found = {e.path: e.register_class for e in core.sites.elements}
    assert found[f"u_dut.{name}"] == EXPECTED[name]


def test_every_register_has_a_class_and_its_name_does_not_matter(core, tmp_path):
    before = {e.path: e.register_class for e in core.sites.elements}
    assert set(before.values()) <= set(CLASSES)
    source = tmp_path / "renamed.sv"
    source.write_text(CORE.replace("total", "state_q").replace("left", "data_q").replace("queue", "addr_q"))
    target = Target("core", "top", (source,), "clk", "rst", "u_dut", "done", {"all": ("u_dut",)}, {})
    after = {e.path: e.register_class for e in elaborate(target).sites.elements}
    assert after["u_dut.state_q"] == before["u_dut.total"]
    assert sorted(after.values()) == sorted(before.values())


def test_memory_counted_as_registers_and_shadowed_state(tmp_path):
    source = tmp_path / "files.sv"
    source.write_text("""
    module dut (input logic clk, input logic [31:0] d, output logic [31:0] y);
      logic [31:0] few [4];
      logic [31:0] shown;
      logic [7:0] spin;
      always_ff @(posedge clk) few[d[1:0]] <= d;
      always_ff @(posedge clk) shown <= few[d[3:2]];
      always_ff @(posedge clk) spin <= {spin[6:0], d == 32'd7};
      assign y = shown ^ 32'(spin);
    endmodule
    module top (input logic clk, input logic rst, input logic [31:0] d, output logic [31:0] y);
      dut u_dut (.*);
    endmodule""")
    target = Target("files", "top", (source,), "clk", "rst", "u_dut", "y", {"all": ("u_dut",)}, {})
    found = {e.path: e.register_class for e in elaborate(target).sites.elements}
    assert {found[f"u_dut.few[{i}]"] for i in range(4)} == {"buffer"}
    assert found["u_dut.shown"] == "data"
    assert found["u_dut.spin"] == "control"
