# SPDX-License-Identifier: Apache-2.0
"""How much of an NPU's hazardous FIT is in logic, by block, and how the choice of protection changes by it.

Called as `python -m benchmarks.logic.finding FOLDER [CAMPAIGN] [--injections N] [--budget-fit F]`. A campaign
of upsets, by default `examples/digits.toml`, is judged without logic, with pulses that are derated, and with
pulses that are not; the injections are made once. Prints tables for docs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from resil.cli import main as resil
from resil.files import read_json

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.toml"
VIEWS = {"none": "", "derated": "derated = true\n", "not derated": ""}
_WAIVED = ("--waive", "spfm")
SAFETY = '\n[safety]\nasil = "D"\nclaims = ["spfm_transient"]\n'


def main() -> int:
    """Make what is not there, choose, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("campaign", type=Path, nargs="?", default=EXAMPLE)
    parser.add_argument("--injections", type=int, default=20_000)
    parser.add_argument("--budget-fit", type=float, default=0.02)
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    _make(folder, options.campaign, options.injections)
    summaries = {name: read_json(folder / _place(name) / "summary.json", "") for name in VIEWS}
    _shares(summaries["derated"], summaries["not derated"])
    _sets(folder, options.budget_fit)
    return 0


def _place(view: str) -> str:
    return f"upsets {view}".replace(" ", "-")


def _make(folder: Path, campaign: Path, injections: int) -> None:
    size = ["--set", f"faults.injections={injections}", "--quiet"]
    keys = ('faults.kinds=["logic"]', "faults.model=set", "faults.minimum_per_block=500")
    pulses = [word for key in keys for word in ("--set", key)]
    _run([str(campaign), "--out", str(folder / "pulses"), *size, *pulses, "--resume"])
    text = campaign.read_text(encoding="utf-8").split("\n[safety]")[0]
    first = folder / _place("none")
    for view, derated in VIEWS.items():
        named = SAFETY + (f'logic = "{folder / "pulses"}"\n{derated}' if view != "none" else "")
        file = campaign.parent / f".{campaign.stem}-{_place(view)}.toml"
        file.write_text(text + named, encoding="utf-8")
        out = folder / _place(view)
        if not out.is_dir() and first.is_dir():
            shutil.copytree(first, out)
        try:
            _run([str(file), "--out", str(out), *size, "--resume"])
        finally:
            file.unlink()


def _run(arguments: list[str]) -> None:
    code = _resil(["run", *arguments])
    if code not in (0, 1, 3):
        sys.exit(code)


def _resil(arguments: list[str]) -> int:
    """Run a command; what it says goes to standard error."""
    with redirect_stdout(sys.stderr):
        return int(resil(arguments))


def _shares(derated: dict[str, Any], raw: dict[str, Any]) -> None:
    """Print hazardous FIT in storage and in logic, block by block."""
    print("| block | storage, FIT | logic, derated | share in logic | logic, not derated | share in logic |")
    print("|---" * 6 + "|")
    others = {row["block"]: row for row in raw["logic"]}
    for row in derated["logic"]:
        other = others[row["block"]]
        cells = [row["block"], f"{row['storage_fit']:.3g} [{row['storage_lo']:.3g}, {row['storage_hi']:.3g}]"]
        for own in (row, other):
            cells.append(f"{own['logic_fit']:.2g} [{own['logic_lo']:.2g}, {own['logic_hi']:.2g}]")
            cells.append("-" if own["share"] is None else f"{own['share']:.1%}")
        print(f"| {' | '.join(cells)} |")


def _sets(folder: Path, budget: float) -> None:
    """Print what is chosen for a budget without logic and with it."""
    heads = (
        "logic in the budget",
        "choice by",
        "result",
        "area",
        "storage, at most",
        "logic, at most",
    )
    print(f"\n| {' | '.join(heads)} | blocks copied |")
    print("|---" * (len(heads) + 1) + "|")
    for view in VIEWS:
        for granularity in ("block", "register"):
            out, name = folder / _place(view), f"finding-{granularity}-{budget:g}"
            asked = ["--budget-fit", str(budget), "--granularity", granularity, "--name", name]
            if (code := _resil(["protect", str(out), *asked, *_WAIVED, "--quiet"])) not in (0, 1):
                sys.exit(code)
            plan = json.loads((out / "protection" / f"{name}.json").read_text(encoding="utf-8"))
            left = plan["logic"] or {"fit_hi": 0.0, "copied": ()}
            cells = (
                *(view, granularity, plan["result"]),
                "-" if plan["area_overhead"] is None else f"+{plan['area_overhead']:.1%}",
                "-" if plan["fit_hi"] is None else f"{plan['fit_hi']:.3g}",
                f"{left['fit_hi']:.2g}",
                ", ".join(left["copied"]) or "none",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
