# SPDX-License-Identifier: Apache-2.0
"""One mutant tried: a copy of the sources with its edits, in which its tests and a campaign run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.mutants.edits import Mutant, MutantCampaign
from resil.layout import link_parts
from resil.rtl_harness.cache import cache_root, content_key

ROOT = Path(__file__).parents[3]
CAMPAIGN = "benchmarks/engine/mutants/campaign.py"
COPIED = (
    "benchmarks",
    "examples",
    "networks",
    "resil",
    "reports",
    "rtl_harness",
    "stats",
    "testkit",
    "tests",
)
# What decides what an engine answers, and what is made of answers.
ENGINE = ("networks", "resil", "rtl_harness", "stats")
_SOURCES = (".py", ".cpp", ".h", ".sv", ".toml", ".tflite", ".npz")
# What no mutant changes, or is kept under the hash of each source: taken from the user's cache. What has the
# driver in it is linked anew.
SHARED_CACHE = ("design", "design-facts", "driver-part", "elaboration", "gates", "hardware", "objects")
SHARED_CACHE += ("synthesis", "vela", "verilated-runtime", "lanes", "logic-part")
SECONDS = 900

Answers = dict[str, tuple[str, str]]
"""How each fault's answer came about, and the answer."""


@dataclass(frozen=True)
class Options:
    """How a mutant is tried.

    Attributes:
        faults: Of the audited campaign.
        share: Of its answers that is audited, up to 200.
        tests: Whether its tests run.
        audit: Whether the campaign runs.
    """

    faults: int
    share: float
    tests: bool
    audit: bool


@dataclass(frozen=True)
class Row:
    """What noticed a mutant.

    Attributes:
        key: Hash of the sources, the mutant's edits, its tests and the options.
        name: Of the mutant.
        breaks: What it does wrong.
        tests: Whether its tests failed, each by its name; empty if they were left out.
        audit: What the audit said; empty if nothing.
        notes: What the engine said on its own account.
        tried: Answers that were tried without a difference.
        wrong: Answers that differ from those of the right engine, by kind of exit and block.
        seconds: What tests and campaign took.
    """

    key: str
    name: str
    breaks: str
    tests: dict[str, bool]
    audit: str
    notes: list[str]
    tried: int
    wrong: dict[str, int]
    seconds: tuple[float, float]


def edited(mutant: Mutant) -> dict[str, str]:
    """Return the text of each file that a mutant changes.

    Raises:
        AnchorError: If an edit does not fit.
    """
    changed: dict[str, str] = {}
    for edit in mutant.edits:
        text = changed.get(edit.file) or (ROOT / edit.file).read_text(encoding="utf-8")
        changed[edit.file] = edit.applied(text)
    return changed


def key_of(mutant: Mutant, options: Options) -> str:
    """Return the hash of all that decides what notices a mutant.

    Raises:
        AnchorError: If an edit does not fit.
    """
    sources = sorted(f for part in ENGINE for f in (ROOT / part).rglob("*") if f.suffix in _SOURCES)
    tests = sorted({ROOT / test.partition("::")[0] for test in mutant.tests})
    told = [mutant.tests, asdict(options), edited(mutant)]
    return content_key(json.dumps(told), *sources, *tests, ROOT / CAMPAIGN)


def judged(mutant: Mutant, options: Options, right: dict[MutantCampaign, Answers]) -> tuple[Row, Answers]:
    """Return what notices a mutant, and what the engine answered.

    Args:
        mutant: The mutant.
        options: How it is tried.
        right: What the right engine answers in each campaign; nothing counts as wrong where it is not known.
    """
    with copied(mutant) as folder:
        began = time.monotonic()
        tests = {test: fails(test, folder) for test in mutant.tests} if options.tests else {}
        tested = time.monotonic()
        found, answers = dict[str, Any](), Answers()
        if options.audit and mutant.campaign is not None:
            found, answers = audited(folder, options, mutant.campaign)
        ended = time.monotonic()
    wrong: dict[str, int] = {}
    expected = {} if mutant.campaign is None else right.get(mutant.campaign, {})
    for fault, (_, answer) in expected.items():
        how, other = answers.get(fault, ("no answer", ""))
        if answer != other:
            wrong[how] = wrong.get(how, 0) + 1
    row = Row(
        key_of(mutant, options),
        mutant.name,
        mutant.breaks,
        tests,
        str(found.get("noticed", "")),
        list(found.get("notes", [])),
        int(found.get("tried", 0)),
        dict(sorted(wrong.items())),
        (round(tested - began, 1), round(ended - tested, 1)),
    )
    return row, answers


@contextmanager
def copied(mutant: Mutant) -> Iterator[Path]:
    """Make a copy of the sources with a mutant's edits, and a cache for its builds, for a while.

    Raises:
        AnchorError: If an edit does not fit.
    """
    changed = edited(mutant)
    with tempfile.TemporaryDirectory(prefix="resil-mutant-") as made:
        folder = Path(made)
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        link_parts(folder)
        shutil.copy(ROOT / "pyproject.toml", folder)
        for file, text in changed.items():
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "cache").mkdir()
        for name in SHARED_CACHE:
            (cache_root() / name).mkdir(parents=True, exist_ok=True)
            (folder / "cache" / name).symlink_to(cache_root() / name)
        yield folder


def fails(test: str, folder: Path) -> bool:
    """Return whether a test fails in a copy of the sources."""
    command = [
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-m",
        "slow or not slow",
        test,
    ]
    done = run_python(folder, *command)
    if done is not None and done.returncode not in (0, 1):
        raise SystemExit(f"{test}: could not be run:\n{done.stdout[-3000:]}")
    return done is None or done.returncode == 1


def audited(folder: Path, options: Options, campaign: MutantCampaign) -> tuple[dict[str, Any], Answers]:
    """Return what a campaign in a copy of the sources notices, and what the engine answered."""
    file = folder / "answers.json"
    command = ["-m", "benchmarks.engine.mutants.campaign", "--answers", str(file)]
    command += ["--of", campaign.name.lower(), "--faults", str(options.faults), "--share", str(options.share)]
    done = run_python(folder, *command)
    if done is None:
        return {"noticed": f"no end within {SECONDS} s"}, {}
    if done.returncode:
        return {"noticed": f"broke down: {done.stderr[-300:]}"}, {}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    answers: Answers = json.loads(file.read_text(encoding="utf-8"))
    return found, answers


def run_python(
    folder: Path, *arguments: str, seconds: float | None = SECONDS
) -> subprocess.CompletedProcess[str] | None:
    """Run Python in a copy of the sources; None if that took longer than it may."""
    environment = os.environ | {"PYTHONPATH": str(folder), "RESIL_CACHE": str(folder / "cache")}
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
