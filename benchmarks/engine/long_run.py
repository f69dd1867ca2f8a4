# SPDX-License-Identifier: Apache-2.0
"""What a golden run of a hundred million cycles takes in the fast engine: seconds, memory, and faults in it.

    python -m benchmarks.engine.long_run [--cycles 100000000] [--faults 200]

The design adds up what it reads of a small memory and writes a word of it in every cycle, so that all of the
memory is another one again and again. With `--again` some faults near the end are answered once more by a run
without shortcuts, in an instance that knows nothing of the golden run; outcomes have to be the same.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload, exact
from resil.rtl_harness.faults import Fault
from testkit.plain_runner import restarted

T = TypeVar("T")
WORDS = 512
DESIGN = """
module adder (
  input logic clk_i, input logic rst_ni, input logic [63:0] data_i,
  output logic [31:0] count_o, output logic [63:0] data_o
);
  logic [31:0] count_q;
  logic [63:0] sum_q, held_q;
  assign count_o = count_q;
  assign data_o = count_q[9] ? 64'(count_q) : sum_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      sum_q <= '0;
      held_q <= '0;
    end else begin
      count_q <= count_q + 32'd1;
      held_q <= data_i;
      // It forgets what it was now and then, so that some faults leave nothing.
      sum_q <= count_q[5:0] == 6'd63 ? held_q : {sum_q[62:0], sum_q[63]} ^ held_q;
    end
  end
endmodule
module long_run (input logic clk_i, input logic rst_ni, output logic done_o);
  logic [63:0] mem_q [%(words)d];
  logic [31:0] count;
  logic [63:0] data;
  initial begin
    string file;
    if ($value$plusargs("memory=%%s", file)) $readmemh(file, mem_q);
  end
  adder u_core (.clk_i, .rst_ni, .data_i(mem_q[count[8:0]]), .count_o(count), .data_o(data));
  always_ff @(posedge clk_i) mem_q[~count[8:0]] <= data;
  assign done_o = count >= 32'd%(cycles)d;
endmodule
"""


def timed(what: str, work: Callable[[], T]) -> T:
    """Do some work; print seconds, those of the processor, and the memory at the peak so far."""
    began, used = time.perf_counter(), time.process_time()
    found = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    print(f"{what}: {seconds:.1f} s, {processor:.1f} s of the processor, {peak:,.0f} MiB", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; return 1 if an answer differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cycles", type=int, default=100_000_000)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--again", type=int, default=4, help="of the faults, at the end of the run")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "long_run.sv"
        source.write_text(DESIGN % {"words": WORDS, "cycles": given.cycles}, encoding="utf-8")
        target = Target(
            name="long_run",
            top="long_run",
            sources=(source,),
            clock="clk_i",
            reset="rst_ni",
            dut="u_core",
            done="done_o",
            blocks={"core": ("u_core",)},
            memories={"memory": TargetMemory("mem_q", 8, "memory")},
        )
        generator = random.Random(given.seed)
        workload = Workload(
            "sums", {"memory": generator.randbytes(8 * WORDS)}, OutputSpec("memory", 0, (64,)), decide=exact
        )
        elaboration = elaborate(target)
        engine = timed("built", lambda: VerilatorEngine(target, workload, elaboration))
        with engine:
            golden = timed("golden run", engine.golden)
            kept = engine.model.injector.remembered_bytes / 2**20
            print(f"{golden.cycles:,} cycles; what is remembered takes {kept:,.0f} MiB")
            sites = [
                offset + bit
                for offset, element in zip(
                    elaboration.sites.offsets, elaboration.sites.elements, strict=False
                )
                if element.kind == "ff"
                for bit in range(element.bits)
            ]
            late = golden.cycles - 100_000
            faults = [
                Fault(generator.choice(sites), generator.randrange(golden.cycles))
                for _ in range(given.faults)
            ] + [
                Fault(generator.choice(sites), generator.randrange(late, golden.cycles))
                for _ in range(given.again)
            ]
            found = timed(f"{len(faults)} faults", lambda: {one.fault: one for one in engine.run(faults)})
            print(Counter(one.seen.value for one in found.values()), dict(engine.ends))
            print(f"{engine.model.injector.recalled} parts simulated again", *engine.notes, sep="\n")
            late_ones = faults[given.faults :]
            judged = timed("again", lambda: {one.fault: one.seen for one in restarted(engine, late_ones)})
            different = [fault for fault, seen in judged.items() if found[fault].seen is not seen]
            print(f"{len(different)} of {len(judged)} differ", *different, sep="\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
