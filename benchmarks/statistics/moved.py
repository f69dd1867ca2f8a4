# SPDX-License-Identifier: Apache-2.0
"""What a change of the RTL moves: storage, FIT and sensitivity, from the models learnt before and after it.

For each size of the NPU: the share of each block of the flip-flops and of their FIT (mean over the networks
that were injected into), and how much of all flips is hazardous; then, over all sizes, the same of each
register class. Flip-flops in SRAM macros count among those of their block, as before they had a kind of their
own.

    git show COMMIT:resil/sensitivity/ethos-u55.model.json.gz > before.model.json.gz
    python -m benchmarks.statistics.moved --before before.model.json.gz [--after FILE] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from resil.sensitivity.intervals import TOTAL
from resil.sensitivity.model import SHIPPED, SensitivityModel, load_model
from resil.stats.rates import HAZARDOUS, OUTCOMES

PLACES = [OUTCOMES.index(outcome) for outcome in HAZARDOUS]
FLIP_FLOPS = ("ff", "macro")


def of_blocks(model: SensitivityModel) -> dict[str, dict[str, dict[str, float]]]:
    """Return for each size and block flip-flops, their share, share of FIT and hazardous share of flips.

    Shares of FIT and hazardous shares are means over the networks that were injected into on that size.
    """
    found = {}
    for name, accelerator in model.accelerators.items():
        bits: dict[str, int] = defaultdict(int)
        of_kind: dict[tuple[str, str], int] = defaultdict(int)
        for cell, number in accelerator.bits.items():
            if cell.kind in FLIP_FLOPS:
                bits[cell.block] += number
                of_kind[cell.block, cell.kind] += number
        hazard: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for row in model.left_out:
            if row.accelerator == name and row.kind in FLIP_FLOPS and row.block != TOTAL:
                struck = of_kind[row.block, row.kind]
                hazard[row.network][row.block] += struck * row.observed(HAZARDOUS) / row.trials
        whole = sum(bits.values())
        fit = {b: np.mean([own[b] / sum(own.values()) for own in hazard.values()]) for b in bits}
        found[name] = {
            block: {
                "bits": own,
                "share": own / whole,
                "fit": float(fit[block]),
                "hazardous": float(np.mean([of[block] for of in hazard.values()])) / own,
            }
            for block, own in bits.items()
        }
        found[name][TOTAL] = {
            "bits": whole,
            "share": 1.0,
            "fit": 1.0,
            "hazardous": float(np.mean([sum(of.values()) for of in hazard.values()])) / whole,
        }
    return found


def of_classes(model: SensitivityModel) -> dict[str, dict[str, float]]:
    """Return for each register class its flip-flops on the smallest size and their hazardous share of flips.

    Rates of a class in a block are pooled over networks and sizes and weighted by its flip-flops there;
    `error` is their standard error.
    """
    trials: dict[tuple[str, str], float] = defaultdict(float)
    events: dict[tuple[str, str], float] = defaultdict(float)
    for (cell, _), counts in model.counts.items():
        if cell.kind in FLIP_FLOPS:
            trials[cell.register_class, cell.block] += sum(counts)
            events[cell.register_class, cell.block] += sum(counts[place] for place in PLACES)
    smallest = min(model.accelerators.values(), key=lambda own: sum(own.bits.values()))
    bits: dict[tuple[str, str], int] = defaultdict(int)
    for cell, number in smallest.bits.items():
        if cell.kind in FLIP_FLOPS:
            bits[cell.register_class, cell.block] += number
    found: dict[str, dict[str, float]] = {}
    for name in sorted({register_class for register_class, _ in bits}):
        own = [key for key in bits if key[0] == name and trials[key]]
        weight = np.array([bits[key] for key in own], dtype=np.float64)
        number = np.array([trials[key] for key in own])
        rate = np.array([events[key] for key in own]) / number
        share = weight / weight.sum()
        found[name] = {
            "bits": float(weight.sum()),
            "hazardous": float(share @ rate),
            "error": float(np.sqrt(np.square(share) @ (rate * (1.0 - rate) / number))),
        }
    return found


def _beside(before: dict[str, Any], after: dict[str, Any], key: str, form: str) -> str:
    one, other = (format(side[key], form) if side else "-" for side in (before, after))
    return f"{one} → {other}"


def main() -> None:
    """Print both states side by side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, help="model learnt from the earlier RTL")
    parser.add_argument("--after", type=Path, default=SHIPPED, help="model learnt from the later one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    models = [load_model(options.before), load_model(options.after)]
    blocks, classes = [of_blocks(model) for model in models], [of_classes(model) for model in models]
    if options.json:
        json.dump({"blocks": blocks, "classes": classes}, sys.stdout, indent=1)
        print()
        return
    print("| size | block | flip-flops | of them | of FIT | hazardous |\n|---|---|---|---|---|---|")
    for size in sorted(set(blocks[0]) & set(blocks[1]), key=lambda name: int(name.rsplit("-", 1)[1])):
        for block in blocks[1][size]:
            own = blocks[0][size].get(block, {}), blocks[1][size][block]
            cells = [_beside(*own, "bits", ",.0f"), _beside(*own, "share", ".1%")]
            cells += [_beside(*own, "fit", ".1%"), _beside(*own, "hazardous", ".2%")]
            print(f"| {size} | {block} | {' | '.join(cells)} |")
    print("\n| class | flip-flops | hazardous | standard error |\n|---|---|---|---|")
    for name in sorted(set(classes[0]) | set(classes[1])):
        sides = classes[0].get(name, {}), classes[1].get(name, {})
        cells = [_beside(*sides, key, form) for key, form in (("bits", ",.0f"), ("hazardous", ".2%"))]
        print(f"| {name} | {' | '.join(cells)} | {_beside(*sides, 'error', '.2%')} |")


if __name__ == "__main__":
    main()
