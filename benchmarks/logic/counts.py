# SPDX-License-Identifier: Apache-2.0
"""Cells, sites and classes of faults of the NPU's netlist, by size and block.

Called as `python -m benchmarks.logic.counts [TARGET ...]`; by default the four sizes. Prints a table for
docs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.logic.collapse import collapsed_pins, collapsed_pulses, dominance_collapsed_pins
from resil.rtl_harness.logic.open_pins import open_sites
from resil.rtl_harness.logic.sites import pin_sites, pulse_sites
from resil.rtl_harness.logic.synthesis import logic_netlist

SIZES = tuple(f"ethos-u55-{macs}" for macs in (32, 64, 128, 256))


def main() -> int:
    """Print a row for each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", default=SIZES)
    heads = (
        "target",
        "cells",
        "flip-flops",
        "clock cells",
        "sites of pulses",
        "classes",
        "stuck pins",
        "classes",
        "after dominance",
        "open inputs",
    )
    print(f"| {' | '.join(heads)} | pulse sites by block |")
    print("|---" * (len(heads) + 1) + "|")
    for name in parser.parse_args().targets:
        target = load_target(name)
        elaboration = with_hardware(target, elaborate(target))
        netlist = logic_netlist(target, elaboration)
        pulses, pins = pulse_sites(elaboration.sites, netlist), pin_sites(elaboration.sites, netlist)
        blocks = Counter(
            netlist.block(int(cell)) or "(no block)" for cell in netlist.pins["cell"][pulses.pins]
        )
        by_block = ", ".join(f"{block} {count:,}" for block, count in sorted(blocks.items()))
        counts = (
            *(netlist.cells, int(netlist.stores.sum()), len(netlist.clock_cells), len(pulses.pins)),
            *(collapsed_pulses(netlist, pulses).classes, 2 * len(pins.pins), collapsed_pins(netlist).classes),
            dominance_collapsed_pins(netlist).classes,
            2 * len(open_sites(elaboration.sites, netlist).pins),
        )
        print(f"| {name} | {' | '.join(f'{count:,}' for count in counts)} | {by_block} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
