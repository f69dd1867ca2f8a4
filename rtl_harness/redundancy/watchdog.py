# SPDX-License-Identifier: Apache-2.0
"""A watchdog on operations: a timer in the design under test that the counter of operations restarts."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from resil.rtl_harness.design.elaboration import Elaboration
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

MODULE, INSTANCE = "resil_watchdog", "u_resil_watchdog"
# Ports by which the outputs `operation` and `done` of the top reach it.
OPERATION, DONE = "resil_operation_i", "resil_done_i"
# Cycles from the last of the limit to the one in which the alarm is seen: of the timer, and of its register.
LATENCY = 2
_MOST = (1 << 31) - 1

_CHECK = """
module resil_check #(
  parameter int unsigned Width = 1,
  parameter int unsigned Limit = 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic [Width-1:0] operation_i,
  input  logic             done_i,
  output logic             bad_o
);
  logic expired;
  logic [Width-1:0] right_last_q;
  logic [31:0] right_still_q;
  wire stands_still = !done_i && operation_i == right_last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      right_last_q  <= '0;
      right_still_q <= '0;
    end else begin
      right_last_q <= operation_i;
      if (!stands_still) right_still_q <= '0;
      else if (right_still_q < Limit) right_still_q <= right_still_q + 1;
    end
  end
  resil_watchdog #(.Width(Width), .Limit(Limit)) u_dut (
    .clk_i, .rst_ni, .operation_i, .done_i, .expired_o(expired)
  );
  assign bad_o = expired != (right_still_q >= Limit) || 32'(u_dut.still_q) != right_still_q
      || u_dut.last_q != right_last_q;
endmodule
"""


@dataclass(frozen=True, slots=True)
class Timer:
    """A watchdog that is built.

    Attributes:
        limit: Cycles.
        width: Bits of the counter of operations.
    """

    limit: int
    width: int

    @property
    def ports(self) -> str:
        """Ports that lead to it what it looks at, as declarations."""
        return f"  input  logic [{self.width - 1}:0] {OPERATION},\n  input  logic {DONE}"


@dataclass(frozen=True, slots=True)
class Watchdog:
    """A timer that raises the major alarm when no operation ends for too long.

    It counts as the time-out of operations does (`rtl_harness.engine.timeout`): from the release of reset or
    from the last move of the counter that the target names as `operation`, until `done`.

    Attributes:
        limit: Cycles for which the counter may stand still; in the next one it expires.
    """

    limit: int

    def check(self, target: Target) -> None:
        """Raise HarnessError unless a target can have it."""
        if not target.operation:
            raise HarnessError(
                f"target {target.name}: watchdog: expected an output of {target.top} that counts finished "
                "operations, found none; name one as operation in the target file, or leave the watchdog out",
                "inferences",
            )
        if not 1 <= self.limit <= _MOST:
            raise HarnessError(
                f"watchdog: expected a limit of 1 to {_MOST:,} cycles, found {self.limit:,}; correct it",
                "watchdog.limit",
            )


def prove_watchdog(rtl: Path, width: int, limit: int) -> int:
    """Prove that the timer expires exactly when the counter has stood still for the limit, and never if done.

    By temporal induction from reset, against a counter written otherwise.

    Args:
        rtl: Folder that holds it.
        width: Bits of the counter of operations.
        limit: Of the timer.

    Returns:
        How many proofs there were.

    Raises:
        HarnessError: It does something else.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "check.sv").write_text(_CHECK, encoding="utf-8")
        sources = ["check.sv", str(rtl.resolve() / f"{MODULE}.sv")]
        (work / "check.f").write_text("".join(f'"{file}"\n' for file in sources), encoding="utf-8")
        script = [
            f"read_slang -f check.f --top resil_check -G Width={width} -G Limit={limit}",
            *("proc", "flatten", "async2sync", "opt_clean"),
            "sat -tempinduct -maxsteps 2 -seq 1 -set-at 1 rst_ni 0 -prove bad_o 0 resil_check",
        ]
        if "Induction step proven: SUCCESS!" not in run_yosys(script, work, f"reading {MODULE}"):
            raise HarnessError(
                f"{MODULE}: expected that it expires when {width} bits have stood still for {limit:,} "
                "cycles, and not before; that could not be proven, do not use this RTL",
                MODULE,
            )
    return 1


def check_watched(target: Target, elaboration: Elaboration) -> None:
    """Check that the timer looks at the outputs that the target names as `operation` and `done`.

    One that is restarted all the time, or held because it takes the design for done, would never expire.

    Args:
        target: The protected design.
        elaboration: Its storage.

    Raises:
        HarnessError: It looks at something else.
    """
    timer = f"{target.dut}.{INSTANCE}"
    pins = {"operation_i": target.operation, "done_i": target.done}
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        read = read_commands(target, elaboration.parameters, [], work)
        run_yosys([*read, "flatten", "opt_clean", "write_json flat.json"], work, f"watchdog of {target.name}")
        module = json.loads((work / "flat.json").read_text(encoding="utf-8"))["modules"][target.top]
        for pin, output in pins.items():
            if module["netnames"][f"{timer}.{pin}"]["bits"] != module["ports"][output]["bits"]:
                raise HarnessError(
                    f"{timer}.{pin}: expected that it is {output}, found that it is not: the watchdog looks "
                    "at something else; do not use this RTL",
                    f"{timer}.{pin}",
                )
