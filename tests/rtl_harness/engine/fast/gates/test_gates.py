# SPDX-License-Identifier: Apache-2.0
"""Designs whose gates cannot be made: their faults are simulated one by one, and the run says so."""

import random

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.gates.moments import UnsupportedError
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.faults import Fault, Outcome

# Its memory is written and never read, which Yosys does not survive when memories are to be kept.
WRITTEN = """
module top (input logic clk, input logic rst, output logic done);
  logic [7:0] out_q [16];
  logic [4:0] count_q;
  worker u_dut (.clk, .rst, .out_q(count_q));
  always_ff @(posedge clk) out_q[count_q[3:0]] <= {3'b0, count_q} ^ 8'h5a;
  assign done = count_q == 5'd16;
endmodule
module worker (input logic clk, input logic rst, output logic [4:0] out_q);
  always_ff @(posedge clk) if (rst) out_q <= '0; else out_q <= out_q + 5'd1;
endmodule
"""
# A case statement that Yosys takes for a memory of constants, if it is allowed to.
TABLE = """
module top (input logic clk, input logic rst, output logic done);
  logic [4:0] count_q;
  logic [7:0] sum_q;
  worker u_dut (.clk, .rst, .count_q, .sum_q);
  logic [7:0] out_q [1];
  always_ff @(posedge clk) out_q[0] <= sum_q ^ out_q[0];
  assign done = count_q == 5'd17;
endmodule
module worker (input logic clk, input logic rst, output logic [4:0] count_q, output logic [7:0] sum_q);
  logic [7:0] entry;
  always_comb begin
    unique case (count_q)
ENTRIES
      default: entry = '0;
    endcase
  end
  always_ff @(posedge clk) begin
    count_q <= rst ? '0 : count_q + 5'd1;
    sum_q   <= rst ? '0 : sum_q + entry;
  end
endmodule
""".replace("ENTRIES", "\n".join(f"      5'd{i}: entry = 8'd{37 * i % 251};" for i in range(17)))
WORKLOAD = Workload("count", {}, OutputSpec("out", 0, (16,), "uint8"))


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    source = tmp_path_factory.mktemp("written") / "design.sv"
    source.write_text(WRITTEN)
    return Target(
        "written", "top", (source,), "clk", "rst", "u_dut", "done", {"worker": ("u_dut",)},
        {"out": TargetMemory("out_q", 1, "out")}, reset_active_low=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def elaboration(target):
    return elaborate(target)


def test_a_memory_that_is_only_written_has_no_gates(target, elaboration):
    with pytest.raises(UnsupportedError, match=r"gates of written failed"):
        read_gates(target, elaboration)


def test_faults_are_then_simulated_one_by_one(target, elaboration):
    with VerilatorEngine(target, WORKLOAD, elaboration, shortcuts=Shortcut.NONE) as plain:
        cycles = plain.golden().cycles
        faults = [Fault(site, cycle) for site in range(elaboration.sites.size) for cycle in range(cycles)]
        random.Random(1).shuffle(faults)
        expected = {injection.fault: injection for injection in plain.run(faults)}
    with VerilatorEngine(target, WORKLOAD, elaboration, sweep=True) as made:
        assert {injection.fault: injection for injection in made.run(faults)} == expected
        assert "simulated every fault by itself: gates of written failed" in made.notes[0]
    assert {injection.outcome for injection in expected.values()} & {Outcome.SDC_CRITICAL, Outcome.HANG}


def test_a_table_of_constants_is_logic(tmp_path):
    source = tmp_path / "design.sv"
    source.write_text(TABLE)
    target = Target(
        "table", "top", (source,), "clk", "rst", "u_dut", "done", {"worker": ("u_dut",)},
        {"out": TargetMemory("out_q", 1, "out")}, reset_active_low=False,
    )  # fmt: skip
    gates = read_gates(target, elaborate(target))
    assert [path for path, _ in gates.memories] == ["out_q"]
