# SPDX-License-Identifier: Apache-2.0
"""What a user does with a design, by the commands and from an empty folder, with the time that each takes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.foreign.design import ForeignDesign
from resil.folder.kept_plans import read_build

# Seconds after which a command is ended.
LIMIT = 3600
_SAID = 700


@dataclass(frozen=True)
class Step:
    """One command.

    Attributes:
        name: Of the command.
        code: Its exit code; -1 if it was ended after `LIMIT`.
        seconds: Wall-clock time.
        said: The end of what it said on stderr where it failed.
        found: What it printed as JSON; None without.
    """

    name: str
    code: int
    seconds: float
    said: str
    found: dict[str, Any] | None

    @property
    def failed(self) -> bool:
        """It was refused, or resil itself failed; a verdict that is missed or open is none."""
        return self.code not in (0, 1, 3)


def command(name: str, *arguments: str, folder: Path) -> Step:
    """Run a command of resil in a folder, with `--json`."""
    begun = time.monotonic()
    words = [sys.executable, "-m", "resil", name, *arguments, "--json"]
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
        )
        code, out, said = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, out, said = -1, "", f"no end within {LIMIT} s"
    seconds = time.monotonic() - begun
    try:
        found = json.loads(out)
    except json.JSONDecodeError:
        found = None
    step = Step(name, code, seconds, "", found if isinstance(found, dict) else None)
    return step if not step.failed else Step(name, code, seconds, _end(said, found), step.found)


def _end(said: str, found: object) -> str:
    """Return the end of the messages; of a check the step that failed."""
    if isinstance(found, dict):
        for step in found.get("steps", ()):
            if step.get("state") == "failed":
                return f"{step['name']}: {step['text']}"[:_SAID]
    return said.strip()[-_SAID:]


def first_table(design: ForeignDesign, out: Path, injections: int) -> list[Step]:
    """Go from an empty folder to the first table: `init`, `check`, `run`; up to what fails."""
    wanted = ["--top", design.top, "--waves", design.waves, "--instance", design.instance, "--out", str(out)]
    wanted += [word for name in design.files for word in ("-f", name)]
    wanted += [word for own in design.parameters for word in ("-G", own)]
    keys = [word for own in design.set for word in ("--set", own)]
    campaign, run = str(out / "campaign.toml"), str(out / "run")
    few = ["--set", f"faults.injections={injections}", "--workers", "1", "--out", run]
    steps: list[Step] = []
    for name, arguments in (
        ("init", wanted),
        ("check", [campaign, *keys]),
        ("run", [campaign, *keys, *few]),
    ):
        steps.append(command(name, *arguments, folder=design.folder))
        if steps[-1].failed:
            break
    return steps


@dataclass(frozen=True)
class Protected:
    """A protection that was built, proved and measured.

    Attributes:
        bits: Bits that it protects, by each mechanism.
        predicted: Area that the options' figures add, as a part of the unprotected area; of what RTL shows.
        measured: Area that synthesis finds.
        proofs: Of its mechanisms.
    """

    bits: int
    predicted: float
    measured: float
    proofs: int


def protected(out: Path, share: float) -> tuple[Step, Protected | None]:
    """Choose the cheapest options that leave `share` of the FIT of the run there, and build them."""
    arguments = [str(out / "run"), "--fit-share", str(share), "--granularity", "register"]
    step = command("protect", *arguments, "--build", str(out / "built"), folder=out)
    build = None if step.failed else read_build(out / "built")
    if build is None:
        return step, None
    added, whole = build.area_predicted.in_rtl, build.area_measured
    before = whole.added / whole.overhead if whole.overhead else 0.0
    predicted = added / before if before else 0.0
    return step, Protected(sum(build.bits.values()), predicted, whole.overhead, build.proofs)
