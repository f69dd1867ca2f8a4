# SPDX-License-Identifier: Apache-2.0
"""What a wide recording takes to be read and laid out: seconds and memory for each cycle.

A waveform of 1,000 input bits in 32 ports, all of which change in every cycle, is made, read, and made into
the memory of a replay. What a million cycles take is the sum of what is fixed and of what each cycle takes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from resil.rtl_harness.replay.images import images_of
from resil.rtl_harness.replay.layout import ReplayLayout
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.recording import Span, read_recording
from resil.rtl_harness.replay.strobes import ruled

PORTS = (
    TopPort("clk_i", "input", 1),
    *(TopPort(f"d{i}_i", "input", 32) for i in range(31)),
    TopPort("e_i", "input", 8),
    TopPort("q_o", "output", 8),
)


def write_waves(file: Path, cycles: int) -> None:
    """Write the waveform."""
    draw = random.Random(1)
    wide = [(f"p{i}", port) for i, port in enumerate(PORTS[1:])]
    with file.open("w", encoding="ascii") as stream:
        stream.write("$timescale 1ns $end\n$scope module top $end\n$var wire 1 ! clk_i $end\n")
        for code, port in wide:
            stream.write(f"$var wire {port.width} {code} {port.name} [{port.width - 1}:0] $end\n")
        stream.write("$upscope $end\n$enddefinitions $end\n#0\n0!\n")
        stream.write("".join(f"b0 {code}\n" for code, _ in wide))
        for cycle in range(cycles):
            stream.write(f"#{10 * cycle + 5}\n1!\n#{10 * cycle + 10}\n0!\n")
            stream.write("".join(f"b{draw.getrandbits(port.width):b} {code}\n" for code, port in wide))


def measured(cycles: int) -> dict[str, float]:
    """Return what it takes, in this process: its peak of memory counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wide.vcd"
        write_waves(file, cycles)
        size = file.stat().st_size
        before, began = _peak(), time.process_time()
        recording = read_recording(Span(file, "top"), PORTS, ["clk_i"], "before")
        read = time.process_time()
        rules = ruled((), PORTS, ())
        inputs = tuple(port for port in PORTS[1:] if port.direction == "input")
        outputs = tuple(port for port in PORTS if port.direction == "output")
        compared = tuple(own for rule in rules for own in rule.outputs)
        images = images_of(
            recording, ReplayLayout(("clk_i",), "before", inputs, outputs, compared, ()), rules
        )
        done = time.process_time()
    return {
        "cycles": cycles,
        "file_bytes": size,
        "image_bytes": len(images.memories["recording"]),
        "read_seconds": read - began,
        "image_seconds": done - read,
        "peak_bytes": _peak() - before,
    }


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Measure recordings of some lengths, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cycles", nargs="*", type=int, default=[20_000, 100_000])
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measured(given.cycles[0])))
        return
    heads = {
        "cycles": 10,
        "file MB": 8,
        "image MB": 8,
        "read s": 7,
        "lay out s": 9,
        "peak MB": 8,
        "kB/cycle": 8,
    }
    print(" ".join(f"{name:>{width}}" for name, width in heads.items()))
    for cycles in given.cycles:
        command = [sys.executable, "-m", "benchmarks.engine.wide_recording", str(cycles), "--here"]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{cycles:>10,} {found['file_bytes'] / 1e6:>8.1f} {found['image_bytes'] / 1e6:>8.1f} "
            f"{found['read_seconds']:>7.1f} {found['image_seconds']:>9.1f} {found['peak_bytes'] / 1e6:>8.1f} "
            f"{found['peak_bytes'] / cycles / 1e3:>8.2f}"
        )


if __name__ == "__main__":
    main()
