# SPDX-License-Identifier: Apache-2.0
"""A small design that was protected by parity, with what is needed to confirm it."""

from __future__ import annotations

import json
from pathlib import Path

from resil.cli import main
from resil.folder.kept_plans import kept_plan
from resil.progress import Progress
from resil.protection.confirm_runs import Sizes
from resil.protection.verify import verify_build
from resil.protection.wanted import ProtectionRequest
from resil.record.protection_confirmation import Confirmation
from tests.rtl_harness.redundancy.stepping import stepper_campaign

PAIRS, TRIPLES = "{ 1 = 0.8, 2 = 0.2 }", "{ 1 = 0.8, 2 = 0.15, 3 = 0.05 }"
SIZES = Sizes(spread=1500, redundant=1500, stuck=60, unprotected=300)
_OPTIONS = (
    'exclude = ["duplicate", "triplicate", "secded", "parity", "flop_duplicate", "flop_triplicate", '
    '"lockstep", "hardened_light", "hardened_leap_dice", "watchdog", "error_flag"]'
)


def stepper_work_file(folder: Path, name: str, seed: int, clusters: str) -> Path:
    """Write a campaign whose critical outputs and hangs are hazardous."""
    file = stepper_campaign(folder, name, seed, injections=4000)
    text = file.read_text().replace("[faults]\n", f"[faults]\nclusters = {clusters}\n")
    file.write_text(text.replace('hazardous = ["hang"]', 'hazardous = ["hang", "sdc_critical"]'))
    return file


def protect_stepper(folder: Path, clusters: str) -> None:
    """Run the stepper, choose parity for its registers, and build that, all in one folder."""
    for name, seed in (("one", 1), ("two", 2)):
        stepper_work_file(folder, name, seed, clusters)
    (folder / "options.toml").write_text(_OPTIONS)
    assert main(["run", str(folder / "one.toml"), "--out", str(folder / "run"), "--quiet"]) == 0
    asked = ["--granularity", "register", "--budget-fit", "0.0006", "--options", str(folder / "options.toml")]
    assert main(["protect", str(folder / "run"), *asked, "--build", str(folder / "built"), "--quiet"]) == 0


def verified(folder: Path, judge: str = "two") -> Confirmation:
    """Inject into what was built, judged by a workload of the folder."""
    run = folder / "run"
    plan = kept_plan(run, json.loads((run / "protection.json").read_text())["name"])
    return verify_build(
        [run],
        plan,
        folder / "built",
        ProtectionRequest(options=folder / "options.toml", networks=(str(folder / f"{judge}.toml"),)),
        Progress(),
        sizes=SIZES,
    )
