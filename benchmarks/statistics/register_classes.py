# SPDX-License-Identifier: Apache-2.0
"""Do register classes tell anything? Flip-flops of each class and block, and their share of hazardous upsets.

Reads the run folder of a campaign on flip-flops. Shares over several blocks or classes are weighted by their
flip-flops, so that any sampling plan gives the same expectation.

    python -m benchmarks.statistics.register_classes RUN_DIR
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from resil.sensitivity.observations import read_run
from resil.stats.rates import HAZARDOUS, OUTCOMES

PLACES = [OUTCOMES.index(outcome) for outcome in HAZARDOUS]
ALL = "all"

Part = tuple[str, str]


def share(
    parts: Iterable[Part], bits: Mapping[Part, int], trials: Mapping[Part, int], events: Mapping[Part, int]
) -> str:
    """Return the hazardous share of upsets in these parts in per cent, and the upsets, for a table."""
    struck = [part for part in parts if trials[part]]
    if not struck:
        return "-"
    rate = sum(bits[part] * events[part] / trials[part] for part in struck) / sum(
        bits[part] for part in struck
    )
    return f"{100.0 * rate:.1f} ({sum(trials[part] for part in struck):,})"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="finished run folder")
    run = read_run(parser.parse_args().run)
    bits: dict[Part, int] = defaultdict(int)
    trials: dict[Part, int] = defaultdict(int)
    events: dict[Part, int] = defaultdict(int)
    for cell, number in run.bits.items():
        if cell.kind != "sram":
            bits[cell.register_class, cell.block] += number
    for (cell, _), counts in run.counts.items():
        if cell.kind != "sram":
            trials[cell.register_class, cell.block] += sum(counts)
            events[cell.register_class, cell.block] += sum(counts[place] for place in PLACES)
    classes = sorted({register_class for register_class, _ in bits})
    blocks = sorted({block for _, block in bits})
    rule = "|---" * (len(blocks) + 1) + "|"
    print(f"| class | {' | '.join(blocks)} |\n{rule}")
    for name in classes:
        row = (f"{bits[name, block]:,}" if bits[name, block] else "-" for block in blocks)
        print(f"| `{name}` | {' | '.join(row)} |")
    print(f"\n| class | {' | '.join(blocks)} | {ALL} |\n{rule}---|")
    for name in (*classes, ALL):
        own = [part for part in bits if name in (part[0], ALL)]
        row = (share([part for part in own if part[1] == block], bits, trials, events) for block in blocks)
        label = f"`{name}`" if name != ALL else ALL
        print(f"| {label} | {' | '.join(row)} | {share(own, bits, trials, events)} |")


if __name__ == "__main__":
    main()
