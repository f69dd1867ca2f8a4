# SPDX-License-Identifier: Apache-2.0
"""Faults put into a copy of the package on purpose, each of which a check of the validation has to notice."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resil.errors import ConsistencyError
from resil.layout import source_files
from resil.rtl_harness.cache import cache_root

_NATIVE = "resil/rtl_harness/engine/fast/native"
_SECONDS = 900
# Kinds of results that are kept under the hash of each source, or that no mutant changes. What has a driver
# in it is built apart, so that nothing of a mutant stays in the user's cache.
_SHARED = (
    *("design", "design-facts", "driver-part", "elaboration", "gates", "hardware", "objects"),
    *("sources", "synthesis", "verilated-runtime"),
)


@dataclass(frozen=True)
class ValidationMutant:
    """A package that does one thing wrong.

    Attributes:
        name: Of the mutant.
        breaks: What it does wrong.
        file: Which file is changed, by its name as installed.
        old: Text of it, which it has exactly once.
        new: What takes its place.
        check: The engine whose comparison with the truth has to notice it, or "coverage".
        quick: Whether the short validation tries it.
    """

    name: str
    breaks: str
    file: str
    old: str
    new: str
    check: str = "sweeps"
    quick: bool = False


MUTANTS = (
    ValidationMutant(
        "not-settled",
        "the fast engine does not recompute what depends on the flipped storage",
        f"{_NATIVE}/model_simulator.cpp",
        "edges && !job.fresh ? faulty.settle_quietly() : faulty.settle();",
        "",
        quick=True,
    ),
    ValidationMutant(
        "other-bit",
        "the plain engine inverts the neighbour of the bit",
        "resil/rtl_harness/engine/plain/driver.cpp",
        "value.at(place.bit / 32) ^= 1u << (place.bit % 32);",
        "value.at(place.bit / 32) ^= 1u << ((place.bit ^ 1) % 32);",
        "plain",
    ),
    ValidationMutant(
        "other-decision",
        "the decision is the smallest element of the output",
        "resil/rtl_harness/engine/workload.py",
        "return int(np.argmax(output))",
        "return int(np.argmin(output))",
        quick=True,
    ),
    ValidationMutant(
        "latent-is-masked",
        "what is left in the state is not looked at",
        "resil/rtl_harness/engine/workload.py",
        "return Seen.MASKED if faulty.state_hash == golden.state_hash else Seen.LATENT",
        "return Seen.MASKED",
    ),
    ValidationMutant(
        "rtl-gain",
        "the RTL loads the gain of a lane from other bits",
        "resil/validation/tally/tally.sv",
        "gain_q[i] <= source_data_i[1:0];",
        "gain_q[i] <= source_data_i[2:1];",
        quick=True,
    ),
    ValidationMutant(
        "rtl-parity",
        "the RTL checks parity of the upper bits alone",
        "resil/validation/tally/tally.sv",
        "state_q == Sum && ^word;",
        "state_q == Sum && ^{word[16], word[15:8]};",
    ),
    ValidationMutant(
        "error-of-40",
        "limits of 95 % leave out 40 %",
        "resil/stats/intervals.py",
        "            return alpha / 2.0, alpha / 2.0",
        "            return 4.0 * alpha, 4.0 * alpha",
        "coverage",
        quick=True,
    ),
    ValidationMutant(
        "one-rate",
        "every bit has the lowest raw rate",
        "resil/stats/rates.py",
        "weights = [s.exposure * fit_per_bit[s.kind] for s in strata]",
        "weights = [s.exposure * min(fit_per_bit.values()) for s in strata]",
        "coverage",
    ),
)


def tried(mutant: ValidationMutant, work: Path, arguments: Sequence[str]) -> str:
    """Try a mutant and return how it was noticed; "" if it was not.

    Args:
        mutant: The mutant.
        work: Folder with the file of true answers.
        arguments: Of the trial.

    Raises:
        ConsistencyError: the text that it replaces is not there once.
    """
    with _copied(mutant) as folder:
        place = folder / "work"
        place.mkdir()
        for file in work.glob("*.npz"):
            shutil.copy(file, place)
        found, said = run_trial(mutant.check, place, arguments, package=folder)
    if found is None:
        return f"the check ended with: {said}"
    if not found["is_bad"]:
        return ""
    return f"{found['wrong']:,} of {found['tried']:,} otherwise"


def run_trial(
    check: str, folder: Path, arguments: Sequence[str], *, package: Path | None = None
) -> tuple[dict[str, object] | None, str]:
    """Run a check in a process of its own.

    Args:
        check: Which, as `resil.validation.trial` names it.
        folder: With the file of true answers.
        arguments: Further ones.
        package: Folder of a changed copy of the package, with a cache; None for this one.

    Returns:
        What was found, None if the check broke down; and then the last line that it said.
    """
    environment = dict(os.environ)
    if package is not None:
        environment |= {"PYTHONPATH": str(package), "RESIL_CACHE": str(package / "cache")}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "resil.validation.trial", check, str(folder), *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"no end within {_SECONDS} s"
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [
            f"exit code {done.returncode}"
        ]
        return None, lines[-1][:300]
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found, ""


@contextmanager
def _copied(mutant: ValidationMutant) -> Iterator[Path]:
    """Make a copy of the package with the edit of a mutant, and a cache for its builds, for a while."""
    with tempfile.TemporaryDirectory(prefix="resil-validate-") as made:
        folder = Path(made)
        for name, file in source_files():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if name == mutant.file:
                text = file.read_text(encoding="utf-8")
                if (count := text.count(mutant.old)) != 1:
                    raise ConsistencyError(
                        f"mutant {mutant.name}: expected its text once in {name}, found it {count} times"
                    )
                place.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            else:
                shutil.copy(file, place)
        cache = folder / "cache"
        cache.mkdir()
        for kind in _SHARED:
            (cache_root() / kind).mkdir(parents=True, exist_ok=True)
            (cache / kind).symlink_to(cache_root() / kind)
        yield folder
