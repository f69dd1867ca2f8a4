# SPDX-License-Identifier: Apache-2.0
"""What protection costs on each target of a study, by block, register and group of eight bits; and lockstep.

    python -m benchmarks.protection.findings STUDY [--options FILE] [--seconds 20] [--json]

STUDY is a folder of `resil study`: a folder a target, in it a run a network; runs of further networks may
lie beside them. For each target a set is chosen for *all* its networks at once: for SPFM of 99 % (lower
limit) and for a tenth of the FIT (upper limit), by one half of the injections, judged by the other. Areas are
by the options' figures; what was built and measured, and confirmed or not, is said where it was built.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.protection.granularity import areas
from resil.folder.store import SUMMARY
from resil.protection.basis import read_basis
from resil.protection.options import load_options
from resil.protection.units import Granularity

_BY = [granularity.value for granularity in Granularity]
_HEAD = ("target", "networks", "asked", *_BY, "lockstep", "carried by, of registers", "left, of registers")


def targets(study: Path) -> dict[str, list[Path]]:
    """Return the finished runs of each target, by its name; the smallest target first."""
    found = {
        folder.name: sorted(file.parent for file in folder.glob(f"*/{SUMMARY}"))
        for folder in sorted(study.iterdir())
        if folder.is_dir()
    }
    there = [(name, runs) for name, runs in found.items() if runs]
    return dict(sorted(there, key=lambda item: _area(item[1])))


def _area(runs: Sequence[Path]) -> float:
    return float(json.loads((runs[0] / SUMMARY).read_text(encoding="utf-8"))["total"]["area"])


def rows(study: Path, options: Path | None, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield what `areas` finds for each target, with the networks and how many injections each had."""
    for name, runs in targets(study).items():
        basis = read_basis(runs)
        made = [len(network.bit) for network in basis.networks]
        for row in areas(basis, tuple(Granularity), seconds, load_options(options)):
            yield {"on": name, "networks": len(made), "injections": [min(made), max(made)], **row}


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as a table in Markdown: a line for each target and what is asked."""
    lines = [f"| {' | '.join(_HEAD)} |", "|---" * len(_HEAD) + "|"]
    keys = dict.fromkeys((row["on"], row["target"]) for row in found if row["by"] != "lockstep")
    for on, target in keys:
        own = {row["by"]: row for row in found if row["on"] == on and row["target"] in (target, "-")}
        register = own[Granularity.REGISTER.value]
        carried = ", ".join(f"{title} {n:,} bits" for title, n in register.get("bits", {}).items() if n)
        left = ""
        if "spfm_lo" in register:
            left = f"SPFM >= {register['spfm_lo']:.2%}, {register['times']:.3g}x less FIT"
        cells = [on, str(register["networks"]), target, *(_cost(own[by]) for by in (*_BY, "lockstep"))]
        lines.append(f"| {' | '.join([*cells, carried or 'nothing', left])} |")
    return "\n".join(lines)


def _cost(row: Mapping[str, Any]) -> str:
    if row["area"] is None:
        return "none found"
    return "none needed" if not row.get("needed", True) else f"{100 * row['area']:+.2f} %"


def main() -> None:
    """Choose for every target, and show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--options", type=Path, help="over those that ship")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each programme")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = []
    for row in rows(arguments.study, arguments.options, arguments.seconds):
        print(json.dumps(row), file=sys.stderr, flush=True)
        found.append(row)
    print(json.dumps(found) if arguments.json else table(found))


if __name__ == "__main__":
    main()
