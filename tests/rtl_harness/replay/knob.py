# SPDX-License-Identifier: Apache-2.0
"""A recording of `knob.sv` as simulators write it, with parameters among the variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

KNOB = Path(__file__).parent / "knob.sv"
_CYCLES = 12


def knob_vcd(file: Path, parameters: Mapping[str, tuple[str, int, str]], width: int = 4) -> Path:
    """Write a recording in which the sum is always 0, and return its path.

    Args:
        file: Is written.
        parameters: Kind of variable, bits and value by name: binary digits, or a real number behind an r.
        width: Of the sum, in bits.
    """
    names = {name: f"p{number}" for number, name in enumerate(parameters)}
    lines = ["$timescale 1ns $end", "$scope module tb $end", "$scope module u_knob $end"]
    for name, (kind, bits, _) in parameters.items():
        span = f" [{bits - 1}:0]" if bits > 1 and kind != "real" else ""
        lines.append(f"$var {kind} {bits} {names[name]} {name}{span} $end")
    lines += ["$var wire 1 c clk_i $end", "$var wire 4 d data_i [3:0] $end"]
    lines += [f"$var wire {width} s sum_o [{width - 1}:0] $end", "$upscope $end", "$upscope $end"]
    lines += ["$enddefinitions $end", "$comment Show the parameter values. $end", "$dumpall"]
    for name, (_, _, value) in parameters.items():
        lines.append(f"{value if value.startswith('r') else f'b{value}'} {names[name]}")
    lines += ["$end", "#0", "b0 s"]
    for cycle in range(_CYCLES):
        lines += [f"#{10 * cycle}", "0c", f"b{cycle % 16:b} d", f"#{10 * cycle + 5}", "1c"]
    file.write_text("\n".join(lines) + "\n")
    return file
