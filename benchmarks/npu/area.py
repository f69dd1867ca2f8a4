# SPDX-License-Identifier: Apache-2.0
"""Flip-flops (those in SRAM macros apart), SRAM bits and area of each block of the NPU in its four sizes.

The storage bits are counted a second time by Yosys' own statistics of the netlist, which knows nothing of the
elaboration's site list; a difference ends the run with exit code 1.

    python -m benchmarks.npu.area [--npu ethos-u55-32 ..] [--set NAME=VALUE ..] [--liberty cells.lib] [--json]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.npu.parameters import parameter
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.sites import KINDS
from resil.rtl_harness.design.target import Target, load_target

SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
_FLIP_FLOP = re.compile(r"\$(dff|dffe|adff|adffe|sdff|sdffe|sdffce|aldff|aldffe|dffsr|dffsre)_(\d+)$")


def yosys_statistics(target: Target, elaboration: Elaboration) -> tuple[int, int]:
    """Return flip-flop bits and memory bits of bench and design as `stat` counts them after `flatten`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read = read_commands(target, elaboration.parameters, [], folder)
        script = [*read, "flatten", "tee -q -o stat.json stat -json -width"]
        run_yosys(script, folder, f"counting {target.name}")
        design = json.loads((folder / "stat.json").read_text(encoding="utf-8"))["design"]
    flip_flops = 0
    for kind, count in design["num_cells_by_type"].items():
        if found := _FLIP_FLOP.search(kind):
            flip_flops += count * int(found.group(2))
    return flip_flops, int(design["num_memory_bits"])


def measure(name: str, parameters: Mapping[str, int], liberty: Path | None) -> dict[str, Any]:
    """Return the figures of one size, whose RTL has these parameters beside those of its target."""
    target = load_target(name)
    target = dataclasses.replace(target, parameters={**target.parameters, **parameters})
    found = elaborate(target)
    area = area_per_block(target, found, liberty)
    bits: Counter[tuple[str, str]] = Counter()
    for element in found.sites.elements:
        bits[element.block, element.kind] += element.bits
    blocks = {
        block: {
            **{f"{kind}_bits": bits[block, kind] for kind in KINDS},
            "logic_area": part.logic,
            "sram_area": part.sram,
        }
        for block, part in area.blocks.items()
    }
    listed = sum(e.bits for e in (*found.sites.elements, *found.bench_elements))
    flip_flops, memories = yosys_statistics(target, found)
    return {
        "npu": name,
        "area_unit": area.unit,
        "blocks": blocks,
        "unmapped": len(found.unmapped),
        "listed_bits_with_bench": listed,
        "yosys_flip_flop_bits": flip_flops,
        "yosys_memory_bits": memories,
        "agrees": listed == flip_flops + memories,
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print one line a block, a group of columns a size."""
    print("block   " + "".join(f"{row['npu']:>56}" for row in rows))
    print("        " + "      FF bits macro bits SRAM bits   logic    SRAM  share" * len(rows))
    for name in [*rows[0]["blocks"], "total"]:
        line = f"{name:8}"
        for row in rows:
            blocks = row["blocks"].values()
            total = {key: sum(block[key] for block in blocks) for key in next(iter(blocks))}
            part = total if name == "total" else row["blocks"][name]
            share = (part["logic_area"] + part["sram_area"]) / (total["logic_area"] + total["sram_area"])
            line += f"{part['ff_bits']:>13,.0f}{part['macro_bits']:>11,.0f}{part['sram_bits']:>10,.0f}"
            line += f"{part['logic_area'] / 1000:>7.1f}k{part['sram_area'] / 1000:>7.1f}k{share:>7.1%}"
        print(line)
    for row in rows:
        print(
            f"{row['npu']}, area in {row['area_unit']}: {row['listed_bits_with_bench']:,} bits listed with "
            f"the bench; Yosys counts {row['yosys_flip_flop_bits']:,} flip-flop and "
            f"{row['yosys_memory_bits']:,} memory bits: "
            f"{'equal' if row['agrees'] else 'DIFFERENT'}; {row['unmapped']} unmapped"
        )


def main() -> int:
    """Measure and print; 1 if the two counts differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--npu", nargs="+", default=SIZES, choices=SIZES)
    parser.add_argument(
        "--set", nargs="+", type=parameter, default=(), metavar="NAME=VALUE", help="of the RTL"
    )
    parser.add_argument("--liberty", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.npu:
        print(f"area: {name}", file=sys.stderr)
        rows.append(measure(name, dict(options.set), options.liberty))
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()
    else:
        print_table(rows)
    return 0 if all(row["agrees"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
