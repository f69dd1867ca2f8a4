# SPDX-License-Identifier: Apache-2.0
"""What a wide recording takes in the engine: a design of 1,000 input bits, faults over the whole of it.

A testbench of our own drives a design whose 1,000 input bits all change in every cycle; its waveform is
replayed by `resil run`, with faults that are drawn over all cycles. Reported are the memory of the largest
process, and the time of the run without and with faults: what a fault takes is the difference of two runs.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS, BITS = 31, 32
TARGET = """\
name = "wide"
top = "wide"
sources = ["wide.sv"]
clock = "clk_i"
[blocks]
all = "."
"""
CAMPAIGN = """\
[campaign]
name = "wide"
seed = 1
[target]
file = "target.toml"
[workload]
waves = "wide.vcd"
instance = "top"
[faults]
kinds = ["ff"]
injections = {faults}
[technology]
name = "finfet-16nm"
[execution]
workers = 1
"""


def rtl() -> str:
    """Return the design: what comes in is kept for a cycle, folded, and added up where an input says so."""
    inputs = "".join(f"  input logic [{BITS - 1}:0] d{i}_i,\n" for i in range(WORDS))
    taken = "".join(f"    held_q[{i}] <= d{i}_i;\n" for i in range(WORDS))
    return f"""\
module wide (
  input logic clk_i,
{inputs}  input logic [7:0] e_i,
  output logic [7:0] q_o
);
  logic [{WORDS - 1}:0][{BITS - 1}:0] held_q;
  logic [{BITS - 1}:0] folded, sum_q;
  logic [7:0] mode_q;
  always_comb begin
    folded = '0;
    for (int i = 0; i < {WORDS}; i++) if (mode_q[i % 8]) folded ^= held_q[i];
  end
  always_ff @(posedge clk_i) begin
    mode_q <= e_i;
{taken}    sum_q <= e_i[0] ? folded : sum_q + folded;
  end
  assign q_o = sum_q[31:24] ^ sum_q[23:16];
endmodule
"""


def write_waves(file: Path, cycles: int) -> None:
    """Write the waveform that a testbench around the design gives, of a model of it in Python."""
    draw, whole = random.Random(1), (1 << BITS) - 1
    names = [*(f"d{i}_i" for i in range(WORDS)), "e_i"]
    held, mode, total = [0] * WORDS, 0, 0
    with file.open("w", encoding="ascii") as stream:
        stream.write("$timescale 1ns $end\n$scope module top $end\n$var wire 1 ! clk_i $end\n")
        for number, name in enumerate(names):
            width = BITS if number < WORDS else 8
            stream.write(f"$var wire {width} p{number} {name} [{width - 1}:0] $end\n")
        stream.write("$var wire 8 q q_o [7:0] $end\n$upscope $end\n$enddefinitions $end\n#0\n0!\nbx q\n")
        known = False
        for cycle in range(cycles):
            data = [draw.getrandbits(BITS) for _ in range(WORDS)]
            enable = draw.getrandbits(8) | (cycle < 4)
            lines = [f"#{10 * cycle}\n0!\n"]
            lines += [f"b{value:b} p{number}\n" for number, value in enumerate([*data, enable])]
            lines.append(f"#{10 * cycle + 5}\n1!\n")
            folded = 0
            for number, value in enumerate(held):
                if mode >> number % 8 & 1:
                    folded ^= value
            total = folded if enable & 1 else total + folded & whole
            held, mode, known = data, enable, known or cycle > 1
            if known:
                lines.append(f"b{(total >> 24 ^ total >> 16) & 255:b} q\n")
            stream.write("".join(lines))


def run(folder: Path, faults: int, out: str) -> dict[str, float]:
    """Return what a campaign takes: seconds, and the bytes of its largest process."""
    (folder / "campaign.toml").write_text(CAMPAIGN.format(faults=faults))
    command = [
        sys.executable,
        "-m",
        "resil",
        "run",
        str(folder / "campaign.toml"),
        "--out",
        str(folder / out),
    ]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    return {"seconds": seconds, "peak": 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}


def measured(cycles: int, faults: list[int]) -> None:
    """Print a row for each number of faults."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "wide.sv").write_text(rtl())
        (folder / "target.toml").write_text(TARGET)
        write_waves(folder / "wide.vcd", cycles)
        for count in faults:
            found = run(folder, count, f"run{count}")
            print(
                f"{cycles:>10,} {count:>8,} {found['seconds']:>9.1f} {found['peak'] / 1e6:>9.0f}", flush=True
            )


def main() -> None:
    """Measure recordings of some lengths, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cycles", nargs="*", type=int, default=[20_000])
    parser.add_argument("--faults", nargs="*", type=int, default=[100, 1_000])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        measured(given.cycles[0], given.faults)
        return
    print("    cycles   faults   seconds   peak MB", flush=True)
    for cycles in given.cycles:
        own = ["--here", str(cycles), "--faults", *map(str, given.faults)]
        subprocess.run([sys.executable, "-m", "benchmarks.engine.wide_replay", *own], check=True)


if __name__ == "__main__":
    main()
