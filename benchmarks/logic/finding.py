# SPDX-License-Identifier: Apache-2.0
"""How much of an NPU's hazardous FIT is in logic, by block, and how the choice of protection changes by it.

Called as `python -m benchmarks.logic.finding FOLDER [CAMPAIGN] [--injections N] [--budget-fit F]
[--permanent-fit F] [--faults transient permanent]`. A campaign of upsets, by default `examples/digits.toml`,
is judged without logic, with pulses that are derated, and with pulses that are not; then with stuck bits
alone, and with stuck bits and stuck pins. The injections are made once. Prints tables for docs.
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
# Of permanent faults: which runs are named, by view.
PERMANENT = {"stuck bits": ("permanent",), "stuck bits and pins": ("permanent", "permanent_logic")}
MECHANISM = '[[safety.mechanism]]\nalarm = "error"\ncoverage = 0.9\n'
_RUNS = {"permanent": "stuck-bits", "permanent_logic": "stuck-pins"}


def main() -> int:
    """Make what is not there, choose, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("campaign", type=Path, nargs="?", default=EXAMPLE)
    parser.add_argument("--injections", type=int, default=20_000)
    parser.add_argument("--budget-fit", type=float, default=0.02)
    parser.add_argument("--permanent-fit", type=float, default=0.5)
    parser.add_argument("--stuck", type=int, default=6000, help="stuck bits, and as many stuck pins")
    parser.add_argument("--faults", nargs="+", choices=("transient", "permanent"), default=["transient"])
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if "transient" in options.faults:
        _make(folder, options.campaign, options.injections)
        summaries = {name: read_json(folder / _place(name) / "summary.json", "") for name in VIEWS}
        _shares(summaries["derated"], summaries["not derated"])
        _sets(folder, options.budget_fit)
    if "permanent" in options.faults:
        _make_stuck(folder, options.campaign, options.injections, options.stuck)
        _permanent_shares(read_json(folder / _place("stuck bits and pins") / "summary.json", ""))
        _permanent_sets(folder, options.permanent_fit)
    return 0


def _place(view: str) -> str:
    return f"upsets {view}".replace(" ", "-")


def _make(folder: Path, campaign: Path, injections: int) -> None:
    size = ["--set", f"faults.injections={injections}", "--quiet"]
    keys = ('faults.kinds=["logic"]', "faults.model=set", "faults.minimum_per_block=500")
    pulses = [word for key in keys for word in ("--set", key)]
    _run([str(campaign), "--out", str(folder / "pulses"), *size, *pulses, "--resume"])
    for view, derated in VIEWS.items():
        named = SAFETY + (f'logic = "{folder / "pulses"}"\n{derated}' if view != "none" else "")
        _judge(folder, campaign, view, named, size)


def _make_stuck(folder: Path, campaign: Path, injections: int, stuck: int) -> None:
    kinds = {"permanent": (), "permanent_logic": ("--set", 'faults.kinds=["logic"]')}
    keys = (f"faults.injections={stuck}", "faults.model=stuck_at", "faults.minimum_per_block=400")
    held = [word for key in keys for word in ("--set", key)]
    for key, run in _RUNS.items():
        _run([str(campaign), "--out", str(folder / run), "--quiet", *held, *kinds[key], "--resume"])
    for view, named in PERMANENT.items():
        keys = tuple(f'{key} = "{folder / _RUNS[key]}"\n' for key in named)
        size = ["--set", f"faults.injections={injections}", "--quiet"]
        _judge(folder, campaign, view, "".join((SAFETY, *keys, MECHANISM)), size)


def _judge(folder: Path, campaign: Path, view: str, named: str, size: list[str]) -> None:
    """Judge the campaign of upsets with runs named; the first of all views injects."""
    text = campaign.read_text(encoding="utf-8").split("\n[safety]")[0]
    first = folder / _place("none")
    for own, safety in {"none": SAFETY, view: named}.items():
        file, out = campaign.parent / f".{campaign.stem}-{_place(own)}.toml", folder / _place(own)
        if own == "none" and view != own and out.is_dir():
            continue
        file.write_text(text + safety, encoding="utf-8")
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


def _plan(out: Path, granularity: str, name: str, asked: list[str]) -> dict[str, Any]:
    """Choose a set for a run; return its plan, or end where there is none."""
    own = f"finding-{granularity}-{name}"
    code = _resil(["protect", str(out), *asked, "--granularity", granularity, "--name", own, "--quiet"])
    if code not in (0, 1):
        sys.exit(code)
    plan: dict[str, Any] = json.loads((out / "protection" / f"{own}.json").read_text(encoding="utf-8"))
    return plan


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
            asked = ["--budget-fit", str(budget), *_WAIVED]
            plan = _plan(folder / _place(view), granularity, f"{budget:g}", asked)
            left = plan["logic"] or {"fit_hi": 0.0, "copied": ()}
            cells = (
                *(view, granularity, plan["result"]),
                "-" if plan["area_overhead"] is None else f"+{plan['area_overhead']:.1%}",
                "-" if plan["fit_hi"] is None else f"{plan['fit_hi']:.3g}",
                f"{left['fit_hi']:.2g}",
                ", ".join(left["copied"]) or "none",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


def _permanent_shares(summary: dict[str, Any]) -> None:
    """Print hazardous FIT of permanent faults in storage and in logic by block, and what is covered."""
    print("\n| block | stuck bits, FIT | stuck pins, FIT | share in logic |")
    print("|---" * 4 + "|")
    for row in summary["logic"]:
        if row["faults"] != "permanent":
            continue
        share = "-"
        if row["share"] is not None:
            share = f"{row['share']:.1%} [{row['share_lo']:.1%}, {row['share_hi']:.1%}]"
        places = [
            f"{row[f'{own}_fit']:.3g} [{row[f'{own}_lo']:.3g}, {row[f'{own}_hi']:.3g}]"
            for own in ("storage", "logic")
        ]
        print(f"| {' | '.join((row['block'], *places, share))} |")
    total = next(r for r in summary["logic"] if (r["faults"], r["block"]) == ("permanent", "total"))
    print(f"\nends of the base rates of logic: {total['logic_lowest']:.3g} and {total['logic_highest']:.3g}")
    print("\n| row | value | lower limit | upper limit | state |")
    print("|---" * 5 + "|")
    for row in summary["safety"]["rows"]:
        if row["name"] in ("spfm_permanent", "coverage_permanent of error"):
            figures = (f"{100.0 * row[key]:.2f} %" for key in ("value", "lo", "hi"))
            print(f"| {' | '.join((row['name'], *figures, row['state']))} |")


def _permanent_sets(folder: Path, most: float) -> None:
    """Print what is chosen for a limit of permanent faults with logic in it and without."""
    heads = (
        "named",
        "choice by",
        "result",
        "area",
        "permanent FIT, at most",
        "of that in logic",
        "blocks copied",
    )
    print(f"\n| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    for view in PERMANENT:
        for granularity in ("block", "register"):
            asked = ["--permanent-fit", str(most), "--waive", "budget", *_WAIVED]
            plan = _plan(folder / _place(view), granularity, f"permanent-{most:g}", asked)
            left = plan["networks"][0]["permanent"]
            cells = (
                *(view, granularity, plan["result"]),
                "-" if plan["area_overhead"] is None else f"+{plan['area_overhead']:.1%}",
                f"{left['corner_fit_hi']:.3g}",
                "-" if left["logic_fit"] is None else f"{left['logic_fit_hi']:.2g} at the centre",
                ", ".join(left["copied"]) or "none",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
