# SPDX-License-Identifier: Apache-2.0
"""Longest paths of the NPU: levels of two-input gates for each pair of blocks, and an estimate of the delay.

The NPU is synthesised without its SRAM banks and mapped twice: to gates of two inputs and multiplexers, each
of which is one level, and to the cells of the library that `benchmarks.npu.area` uses, with delays by
logical effort (`delays.toml`, with sources). Wires have no delay. A path belongs to the blocks in which its
end points lie. The mapping is quick, not that of a timing-driven tool: levels compare with one another.

    python -m benchmarks.npu.timing [--macs 32 ...] [--set BufferCode=2 ...] [--levels-only] [--json]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.npu.parameters import parameter
from benchmarks.npu.timing.netlist import Netlist, map_design, read_netlist
from benchmarks.npu.timing.paths import Path as TimedPath
from benchmarks.npu.timing.paths import Timing
from resil.rtl_harness.design.target import load_target

MACS = (32, 64, 128, 256)
BLOCKS = ("cc", "dma", "wd", "mac", "ao", "sb", "cpm", "npu", "port")
_TABLE = tomllib.loads(Path(__file__).with_name("delays.toml").read_text(encoding="utf-8"))
_SHOWN = 12


def levels(netlist: Netlist) -> dict[tuple[str, str], TimedPath]:
    """Return the longest paths in gates; an inverter counts as a gate, a name of a net does not."""
    costs = (netlist.kinds != "alias").astype(np.float64)
    return Timing(netlist, costs, np.zeros(len(netlist.nets))).worst()


def delays(netlist: Netlist) -> dict[tuple[str, str], TimedPath]:
    """Return the longest paths in FO4, without the registers' own share of the period."""
    effort = _TABLE["method"]["stage_effort"]
    fo4 = effort + _TABLE["parasitic"]["INV"]
    tree = _trees(netlist, effort)
    stage = {kind: (effort + p) / fo4 for kind, p in _TABLE["parasitic"].items()} | {"alias": 0.0}
    costs = np.array([stage[kind] for kind in netlist.kinds.tolist()])
    return Timing(netlist, costs + tree[netlist.outputs], tree).worst()


def _trees(netlist: Netlist, effort: float) -> npt.NDArray[np.float64]:
    """Return for each net the FO4 that the buffers of its fan-out take."""
    fan_out = np.zeros(len(netlist.nets))
    real = netlist.gates[netlist.kinds != "alias"]
    np.add.at(fan_out, real.ravel(), 1)
    np.add.at(fan_out, np.array([net for net, _ in netlist.ends]), 1)
    return np.log(np.maximum(fan_out / effort, 1)) / np.log(effort)


def clocks(fo4: float) -> dict[str, float]:
    """Return the period in FO4, and in MHz what that allows at each node."""
    period = (fo4 + _TABLE["register"]["overhead_fo4"]) / (1 - _TABLE["uncertainty"]["share"])
    return {"period_fo4": period} | {
        f"mhz_{node['name'].replace(' ', '')}": 1e6 / (period * node["fo4_ps"]) for node in _TABLE["node"]
    }


def measure(macs: int, parameters: Mapping[str, int], levels_only: bool) -> dict[str, Any]:
    """Return the figures of one size, whose RTL has these parameters beside those of its target."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="resil-timing-") as name:
        target = load_target(f"ethos-u55-{macs}")
        target = dataclasses.replace(target, parameters={**target.parameters, **parameters})
        gates, cells = map_design(target, Path(name), not levels_only)
        found = {"levels": levels(read_netlist(gates))}
        if not levels_only:
            found["fo4"] = delays(read_netlist(cells))
    result: dict[str, Any] = {"macs": macs, "parameters": dict(parameters)}
    for unit, paths in found.items():
        # Ports are timed by what surrounds the NPU; all that counts here lies between two registers.
        inside = {pair: path for pair, path in paths.items() if "port" not in pair}
        result[unit] = {
            "worst": _row(max(inside.values(), key=lambda path: path.length)),
            "pairs": [_row(path) for path in sorted(paths.values(), key=lambda path: -path.length)],
        }
    if not levels_only:
        result["clock"] = clocks(result["fo4"]["worst"]["length"])
    return result | {"seconds": round(time.monotonic() - began)}


def _row(path: TimedPath) -> dict[str, Any]:
    return {
        "length": round(path.length, 1),
        "start_block": path.start.block,
        "end_block": path.end.block,
        "start": path.start.name,
        "end": path.end.name,
        "blocks": path.blocks,
        "nets": path.nets,
    }


def print_size(result: dict[str, Any]) -> None:
    """Print both tables of a size, and its worst paths."""
    for unit, what in (
        ("levels", "levels of two-input gates"),
        ("fo4", "delay in FO4, registers not counted"),
    ):
        if unit not in result:
            continue
        pairs = {(row["start_block"], row["end_block"]): row for row in result[unit]["pairs"]}
        print(f"\n{result['macs']} MACs, {what}; from (down) to (across)")
        print(f"{'':6}" + "".join(f"{block:>7}" for block in BLOCKS))
        for start in BLOCKS:
            row = "".join(
                f"{pairs[start, end]['length']:>7g}" if (start, end) in pairs else f"{'-':>7}"
                for end in BLOCKS
            )
            print(f"{start:6}{row}")
        print("worst:")
        for row in [
            row for row in result[unit]["pairs"] if "port" not in (row["start_block"], row["end_block"])
        ][:_SHOWN]:
            print(f"  {row['length']:5g}  {row['start']} -> {row['end']}  ({' > '.join(row['blocks'])})")
        print("  nets of the first: " + " ".join(result[unit]["worst"]["nets"]))
    if "clock" in result:
        clock = result["clock"]
        nodes = ", ".join(
            f"{clock['mhz_' + node['name'].replace(' ', '')]:.0f} MHz at {node['name']}"
            for node in _TABLE["node"]
        )
        print(
            f"period {clock['period_fo4']:.0f} FO4 with registers and uncertainty: {nodes}; wires not counted"
        )
    print(f"{result['seconds']} s")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--macs", nargs="+", type=int, default=(32,), choices=MACS)
    parser.add_argument(
        "--set", nargs="+", type=parameter, default=(), metavar="NAME=VALUE", help="of the RTL"
    )
    parser.add_argument("--levels-only", action="store_true", help="without the delays: half the time")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = []
    for macs in options.macs:
        print(f"timing: {macs} MACs", file=sys.stderr)
        results.append(measure(macs, dict(options.set), options.levels_only))
        if not options.json:
            print_size(results[-1])
    if options.json:
        json.dump(results, sys.stdout, indent=1)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
