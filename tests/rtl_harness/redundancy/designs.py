# SPDX-License-Identifier: Apache-2.0
"""Small designs to protect, and what runs on them."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory, load_target
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.redundancy import BuiltRtl, ProtectionGroup, Watchdog, build_protection
from testkit.once import made_once

EXAMPLES = Path(__file__).parents[3] / "examples" / "awkward"

BENCH = """
module bench (
  input  logic        clk,
  input  logic        rst,
  output logic        done,
  output logic [31:0] status
);
  logic [31:0] log_q [32];
  logic  [4:0] at_q;
  logic [31:0] data;
  always_ff @(posedge clk or posedge rst) if (rst) at_q <= '0; else at_q <= at_q + 5'd1;
  always_ff @(posedge clk) log_q[at_q] <= data;
  assign done = at_q == 5'd31;
  assign status = data;
  if (1) begin : gen_dut
    core u_core (.clk(clk), .rst(rst), .step(at_q), .data(data));
  end
endmodule
"""

# Reset active high, falling edges, a clock gate with a latch, an enable, a synchronous reset, and none.
CORE = """
module core (input logic clk, input logic rst, input logic [4:0] step, output logic [31:0] data);
  logic [7:0] sum_q, fall_q, gated_q, sync_q, bare_q;
  logic on_l, gated;
  always_latch if (!clk) on_l <= step[0];
  assign gated = clk & on_l;
  always_ff @(posedge clk or posedge rst)
    if (rst) sum_q <= 8'h35;
    else if (step[1]) sum_q <= sum_q + 8'(step);
  always_ff @(negedge clk or posedge rst) if (rst) fall_q <= '0; else fall_q <= sum_q ^ 8'h0f;
  always_ff @(posedge gated or posedge rst)
    if (rst) gated_q <= 8'h01;
    else gated_q <= {gated_q[6:0], gated_q[7]};
  always_ff @(posedge clk) if (rst) sync_q <= 8'h80; else sync_q <= sync_q + gated_q;
  always_ff @(posedge clk) bare_q <= fall_q;
  assign data = {sum_q, bare_q ^ fall_q, gated_q, sync_q};
endmodule
"""


def awkward() -> Target:
    """The shipped example, which has every kind of storage that is awkward."""
    return load_target(EXAMPLES / "target.toml")


def awkward_work() -> Workload:
    lines = (EXAMPLES / "source0.hex").read_text().splitlines()
    words = [word for line in lines if not line.startswith("//") for word in line.split()]
    image = b"".join(int(word, 16).to_bytes(4, "little") for word in words)
    return Workload("awkward", {"source": image}, OutputSpec("sink", 0, (12, 4), "uint64"), decide=exact)


def target_of(folder: Path, core: str, bench: str = BENCH, **changes: object) -> Target:
    """A design of a bench and a core in a folder."""
    (folder / "bench.sv").write_text(bench)
    (folder / "core.sv").write_text(core)
    fields = dict(
        name="core",
        top="bench",
        sources=(folder / "bench.sv", folder / "core.sv"),
        clock="clk",
        reset="rst",
        reset_active_low=False,
        dut="gen_dut.u_core",
        done="done",
        status="status",
        blocks={"core": ("gen_dut.u_core",)},
        memories={"log": TargetMemory("log_q", 4, "log")},
    )
    return Target(**{**fields, **changes})


def core_work() -> Workload:
    return Workload("core", {}, OutputSpec("log", 0, (31,), "uint32"), decide=exact)


def copy_of_built(
    factory: pytest.TempPathFactory,
    name: str,
    groups: Sequence[ProtectionGroup],
    watchdog: Watchdog | None = None,
) -> tuple[BuiltRtl, Path]:
    """Return what is built into the example, and a copy of its folder to be changed.

    It is built once in a session under that name. A copy lies as deep as the original: the target file names
    sources by relative paths.
    """

    def make(folder: Path) -> None:
        found = build_protection(awkward(), elaborate(awkward()), groups, folder / "out", watchdog)
        (folder / "build").write_bytes(pickle.dumps(found))

    made = made_once(factory, name, make)
    own = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=made.parent)) / "out"
    shutil.copytree(made / "out", own)
    return pickle.loads((made / "build").read_bytes()), own
