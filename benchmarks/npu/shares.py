# SPDX-License-Identifier: Apache-2.0
"""How far shares of FIT by block depend on shares of flip-flops by block.

A block's FIT is its flip-flops times the raw rate of one times the probability that an upset of one is
hazardous. The probabilities come from runs; another NPU of the same blocks may have its flip-flops elsewhere.
Shares are worked out anew for flip-flops spread equally over the blocks (but those with less than 1 %, which
keep theirs), and for any in which a block has from 1/K to K times its own. SRAM does not count.

    python -m benchmarks.npu.shares RUN_DIR ... [--factor 2] [--json]
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SMALL = 0.01  # of the flip-flops


def read(folder: Path) -> dict[str, tuple[int, float]]:
    """Return of each block its flip-flops outside macros, and the FIT that each of its bits has, from a run.

    Raises:
        SystemExit: If the run injected into memory, whose FIT cannot be taken apart here.
    """
    campaign = tomllib.loads((folder / "campaign.toml").read_text(encoding="utf-8"))
    if not set(campaign["faults"]["kinds"]) <= {"ff", "macro"}:
        raise SystemExit(f'{folder}: expected a run of kinds = ["ff"]; give another')
    with (folder / "blocks.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["block"] != "total"]
    return {
        row["block"]: (
            int(row["ff_bits"]),
            float(row["fit"]) / (int(row["ff_bits"]) + int(row["macro_bits"])),
        )
        for row in rows
    }


def shares(amounts: Mapping[str, float]) -> dict[str, float]:
    """Return each amount as a part of their sum."""
    whole = sum(amounts.values())
    return {name: amount / whole for name, amount in amounts.items()}


def reweighted(bits: Mapping[str, int], rate: Mapping[str, float], factor: float) -> list[dict[str, Any]]:
    """Return for each block its shares of flip-flops and of FIT, and how far the latter may move.

    The largest share that flip-flops between 1 / factor and factor times their number allow is that of the
    block with most and all others with fewest, and the other way round for the smallest.
    """
    own = shares({block: bits[block] * rate[block] for block in bits})
    large = [block for block, share in shares(bits).items() if share >= SMALL]
    spread = bits | dict.fromkeys(large, sum(bits[block] for block in large) / len(large))
    alike = shares({block: spread[block] * rate[block] for block in bits})
    rows = []
    for block, share in shares(bits).items():
        most, rest = factor * own[block], (1 - own[block]) / factor
        least, others = own[block] / factor, (1 - own[block]) * factor
        alone = factor * own[block] / (1 + (factor - 1) * own[block])
        rows.append({
            "block": block, "flip_flops": bits[block], "of_flip_flops": share, "of_fit": own[block],
            "of_fit_equal_flip_flops": alike[block], "of_fit_block_alone": alone,
            "of_fit_least": least / (least + others), "of_fit_most": most / (most + rest),
        })  # fmt: skip
    return rows


def main() -> int:
    """Work out and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--factor", type=float, default=2.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = [read(folder) for folder in options.runs]
    bits = {block: number for block, (number, _) in found[0].items()}
    if any({block: number for block, (number, _) in run.items()} != bits for run in found):
        raise SystemExit("expected runs of one RTL; their flip-flops by block differ")
    rate = {block: sum(run[block][1] for run in found) / len(found) for block in bits}
    rows = reweighted(bits, rate, options.factor)
    total = sum(bits[block] * rate[block] for block in bits)
    if options.json:
        json.dump({"fit": total, "rows": rows}, sys.stdout, indent=1)
        print()
        return 0
    print(f"{len(found)} runs, FIT of flip-flops {total:.4f} on average; factor {options.factor:g}")
    print("block  flip-flops  of flip-flops  of FIT  equal flip-flops  block alone  least    most")
    for row in rows:
        print(
            f"{row['block']:6} {row['flip_flops']:>10,} {row['of_flip_flops']:>14.1%} {row['of_fit']:>7.1%} "
            f"{row['of_fit_equal_flip_flops']:>17.1%} {row['of_fit_block_alone']:>12.1%} "
            f"{row['of_fit_least']:>6.1%} {row['of_fit_most']:>7.1%}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
