# SPDX-License-Identifier: Apache-2.0
"""`resil validate`: all checks, one after the other, into `validation.json`."""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from resil.errors import ConsistencyError, ResilError
from resil.files import write_text
from resil.folder.provenance import PACKAGES, now, versions
from resil.layout import data_folder, source_digest
from resil.progress import Progress
from resil.record.validation import CHECKS, FAILED, NOT_MADE, PASSED, Validation, ValidationCheck
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.host import usable_processors
from resil.rtl_harness.tools import compiler_version
from resil.validation.coverage import CASES
from resil.validation.design import Truth, design_digest, tally_bench, write_design
from resil.validation.mutants import MUTANTS, ValidationMutant, run_trial, tried
from resil.validation.trial import TRUTH_FILE
from resil.validation.whole_runs import npu_audited, restart_rows
from resil.version import __version__

Case = TypeVar("Case")
Answered = TypeVar("Answered")

FOLDER = "validation"
# What mutants are tried with: faults, or campaigns of the case that notices most.
_MUTANT_FAULTS = 6000
_MUTANT_CASE = ("uniform", 150)


class Size(NamedTuple):
    """How much is done.

    Attributes:
        judged: Faults of the plain engine; None for all.
        campaigns: Of each plan.
        restart: Injections of the campaign that is killed, and of the smaller one that is enlarged.
        engines: Those that all faults are compared of, as `ENGINES` of `design` names them: along the gates
            in one sweep, with lanes, and without.
        npu: Injections into the NPU that the plain engine judges; 0 for none.
        mutant_campaigns: Of a mutant that coverage has to notice.
    """

    judged: int | None
    campaigns: int
    restart: tuple[int, int]
    engines: tuple[str, ...]
    npu: int
    mutant_campaigns: int


QUICK = Size(2000, 200, (40_000, 4000), ("sweeps",), 0, 200)
WHOLE = Size(8000, 2000, (40_000, 4000), ("verilator", "sweeps", "lanes"), 400, 1000)


def validation_folder() -> Path:
    """Return where evidence is kept that no other folder was named for."""
    return data_folder() / FOLDER


def validate(out: Path | None = None, *, quick: bool = False, seed: int = 1) -> Validation:
    """Make the evidence that this installation does what it says, and keep it.

    Args:
        out: Folder of `validation.json`; the user's data folder if None.
        quick: Only what takes minutes: fewer campaigns and mutants, nothing of the NPU.
        seed: Of all random choices.

    Raises:
        StoreError: the folder cannot be written.
    """
    began, progress, size = time.monotonic(), Progress(), QUICK if quick else WHOLE
    folder = validation_folder() if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="resil-validate-") as made:
        work = _Work(Path(made), size, seed, progress)
        steps = {
            "truth": work.truth,
            "independent": work.independent,
            "coverage": work.coverage,
            "mutants": lambda: work.mutants([m for m in MUTANTS if m.quick or not quick]),
            "restart": work.restart,
        }
        checks = []
        for name in CHECKS:
            progress.stage(f"{name}: {CHECKS[name]}")
            check = _made(name, steps[name])
            progress.stage(f"{name}: {check.state}. {check.text}")
            checks.append(check)
    found = Validation(
        schema=Validation.SCHEMA,
        quick=quick,
        passed=all(check.state == PASSED for check in checks),
        checks=tuple(checks),
        resil=__version__,
        package=source_digest(),
        design=design_digest(),
        versions=versions(PACKAGES),
        compiler=_compiler(),
        python=platform.python_version(),
        platform=platform.platform(),
        seed=seed,
        seconds=round(time.monotonic() - began, 1),
        made=now(),
    )
    write_text(folder / Validation.FILE, found.text())
    return found


def validation_text(found: Validation) -> str:
    """Return the evidence as lines for a person."""
    lines = [f"{'PASSED' if found.passed else 'FAILED'}{', the short validation' if found.quick else ''}"]
    for check in found.checks:
        lines.append(f"{check.name}: {check.state}. {check.text}")
        lines += [f"    {name}: {text}" for name, text in check.details.items()]
    return "\n".join(lines)


class _Result(NamedTuple):
    state: str
    tried: int
    wrong: int
    text: str
    details: dict[str, str]


def _made(name: str, step: Callable[[], _Result]) -> ValidationCheck:
    began = time.monotonic()
    try:
        result = step()
    except (ConsistencyError, ResilError, HarnessError) as error:
        state = NOT_MADE if isinstance(error, (ResilError, HarnessError)) else FAILED
        result = _Result(state, 0, 0, f"{type(error).__name__}: {error}", {})
    seconds = round(time.monotonic() - began, 1)
    return ValidationCheck(name=name, seconds=seconds, **result._asdict())


class _Work:
    """The checks, which share the file of true answers.

    Args:
        folder: For all that is made.
        size: How much is done.
        seed: Of all random choices.
        progress: For what goes on.
    """

    def __init__(self, folder: Path, size: Size, seed: int, progress: Progress) -> None:
        self._folder, self._size, self._seed, self._progress = folder, size, seed, progress
        self._workers = usable_processors()

    def truth(self) -> _Result:
        """Enumerate all faults by the model, and compare the fast engine on all of them."""
        write_design(self._folder)
        _, bench = tally_bench(self._folder, "verilator", self._progress)
        Truth.of(bench).save(self._folder / TRUTH_FILE)
        found = [self._engine(name, None) for name in self._size.engines]
        bad = next((own for own in found if own.state != PASSED), found[0])
        details = {f"{name}, {key}": text for name, own in zip(self._size.engines, found, strict=True)
                   for key, text in own.details.items()}  # fmt: skip
        tried, wrong = sum(own.tried for own in found), sum(own.wrong for own in found)
        return _Result(bad.state, tried, wrong, " ".join(own.text for own in found), details)

    def independent(self) -> _Result:
        """Compare the plain engine with the truth; and the fast engine with it on the NPU."""
        found = self._engine("plain", self._size.judged)
        if not self._size.npu:
            return found
        other = self._engine("cxxrtl", self._size.judged)
        found = found._replace(
            state=found.state if other.state == PASSED else other.state,
            tried=found.tried + other.tried,
            wrong=found.wrong + other.wrong,
            text=f"{found.text} {other.text}",
        )
        judged, wrong, text = npu_audited(self._folder / "npu", self._size.npu)
        own = {"NPU": text}
        return found._replace(
            tried=found.tried + judged, wrong=found.wrong + wrong, details={**found.details, **own}
        )

    def coverage(self) -> _Result:
        """Play campaigns of each plan."""
        count = self._size.campaigns
        asked = [
            ["--plan", plan, "--injections", str(n), "--campaigns", str(count), "--seed", str(self._seed)]
            for plan, n in CASES
        ]
        found = self._together(lambda own: self._trial("coverage", own), asked)
        details = {
            f"{plan} {n}": str(own["examples"][0]) for (plan, n), own in zip(CASES, found, strict=True)
        }
        campaigns, missed = (sum(int(own[key]) for own in found) for key in ("tried", "wrong"))
        bad = any(own["is_bad"] for own in found)
        said = "that is more than chance explains" if bad else "in no plan more than chance explains"
        text = (
            f"{missed:,} of {campaigns:,} intervals of 95 % confidence miss the true FIT, which all faults "
            f"give; {said}."
        )
        return _Result(FAILED if bad else PASSED, campaigns, missed, text, details)

    def mutants(self, mutants: Sequence[ValidationMutant]) -> _Result:
        """Try each mutant."""
        noticed = self._together(self._mutant, mutants)
        details = {
            own.name: f"{own.breaks}: {how or 'NOT NOTICED'}"
            for own, how in zip(mutants, noticed, strict=True)
        }
        missed = sum(not how for how in noticed)
        text = f"{len(mutants) - missed} of {len(mutants)} mutants are noticed."
        return _Result(FAILED if missed else PASSED, len(mutants), missed, text, details)

    def restart(self) -> _Result:
        """Kill and resume a campaign, and enlarge one."""
        injections, first = self._size.restart
        rows, wrong, kept = restart_rows(self._folder / "restart", injections, first)
        text = (
            f"Killed with {kept:,} of {injections:,} injections kept and resumed, and enlarged from "
            f"{first:,}: {wrong:,} of {rows:,} rows differ from those of one go."
        )
        if kept >= injections:
            return _Result(NOT_MADE, rows, wrong, f"The run ended before it was killed. {text}", {})
        return _Result(FAILED if wrong else PASSED, rows, wrong, text, {})

    def _engine(self, engine: str, count: int | None) -> _Result:
        arguments = ["--workers", str(self._workers), "--seed", str(self._seed)]
        found = self._trial(engine, [*arguments, *([] if count is None else ["--faults", str(count)])])
        which = "all" if count is None else "drawn"
        text = (
            f"{found['tried']:,} faults ({which}) by the engine {engine}: {found['wrong']:,} end otherwise "
            "than the model says (outcome, end, status, output, alarms with their cycles)."
        )
        details = {f"outcome {name}": f"{n:,} faults" for name, n in found["outcomes"].items()}
        details |= {f"difference {n}": example for n, example in enumerate(found["examples"], 1)}
        state = FAILED if found["is_bad"] else PASSED
        return _Result(state, found["tried"], found["wrong"], text, details)

    def _mutant(self, mutant: ValidationMutant) -> str:
        if mutant.check == "coverage":
            plan, injections = _MUTANT_CASE
            arguments = ["--plan", plan, "--injections", str(injections)]
            arguments += ["--campaigns", str(self._size.mutant_campaigns)]
        else:
            arguments = ["--faults", str(_MUTANT_FAULTS)]
        how = tried(mutant, self._folder, [*arguments, "--seed", str(self._seed)])
        self._progress.stage(f"mutant {mutant.name}: {how or 'NOT NOTICED'}")
        return how

    def _trial(self, check: str, arguments: Sequence[str]) -> dict[str, Any]:
        found, said = run_trial(check, self._folder, arguments)
        if found is None:
            raise ConsistencyError(f"{check}: {said}")
        return found

    def _together(self, step: Callable[[Case], Answered], cases: Sequence[Case]) -> list[Answered]:
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(step, cases))


def _compiler() -> str:
    try:
        return compiler_version()
    except HarnessError:
        return "not found"
