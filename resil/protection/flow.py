# SPDX-License-Identifier: Apache-2.0
"""The one order of a protection, of `resil protect` and of a study: choose, build, verify, keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resil.errors import ExitCode
from resil.folder.kept_plans import (
    accepted_plan,
    confirmation_of,
    kept_plan,
    note_build,
    state_of,
)
from resil.progress import Progress
from resil.protection.build_rtl import build_plan, built_before, require_unchanged
from resil.protection.choosing import choose_plan
from resil.protection.options import ProtectionError
from resil.protection.texts import build_text, confirmation_text, plan_text
from resil.protection.verify import verify_build
from resil.protection.wanted import ProtectionRequest
from resil.record.protection import INFEASIBLE, NOT_NEEDED, OPTIMAL, Protection
from resil.record.protection_build import Build
from resil.record.protection_confirmation import Confirmation
from resil.record.protection_state import ProtectionState
from resil.results.write import Results

# Where what a plan chose is built.
Place = Callable[[Protection], Path]
_CODES = {NOT_NEEDED: ExitCode.MET, OPTIMAL: ExitCode.MET, INFEASIBLE: ExitCode.MISSED}


class ProtectionAnswer(Protection):
    """What `resil protect --json` prints: the plan as its file has it, and what was made of it."""

    built: Build | None
    """What was built now, or taken; null if nothing was asked to be."""
    confirmation: Confirmation | None
    """What was found by injection now; null if nothing was injected."""


@dataclass(frozen=True)
class Protected:
    """What came of a protection.

    Attributes:
        run_dir: The first run, which holds the report.
        results: Of that run, with the plan as it stands there.
        folder: Where it is built; None if none was wanted.
        build: That was made there or taken; None likewise.
        confirmation: That was made now; None if none was.
    """

    run_dir: Path
    results: Results
    protection: ProtectionState
    folder: Path | None = None
    build: Build | None = None
    confirmation: Confirmation | None = None

    @property
    def plan(self) -> Protection:
        """What was chosen."""
        return self.protection.plan

    @property
    def code(self) -> ExitCode:
        """Met if a set keeps the targets, and by injection if that was asked."""
        if self.confirmation is not None and not self.confirmation.confirmed:
            return ExitCode.MISSED
        return _CODES[self.plan.result]

    @property
    def answer(self) -> ProtectionAnswer:
        """The plan, with what was built and confirmed."""
        return ProtectionAnswer(**dict(self.plan), built=self.build, confirmation=self.confirmation)

    def details(self) -> str:
        """Return what was chosen, built and found by injection, as lines that stand above the answer."""
        parts = [plan_text(self.plan)]
        if self.build is not None:
            parts.append(build_text(self.build, str(self.folder)))
        if self.confirmation is not None:
            parts.append(confirmation_text(self.confirmation))
        return "\n".join(filter(None, parts))


def protect(
    runs_or_models: Sequence[Path],
    wanted: ProtectionRequest,
    place: Place | None = None,
    progress: Progress | None = None,
) -> Protected:
    """Choose a protection, build it, inject into it, and keep all of that in the runs and beside the build.

    A plan that is not needed or not reached is not built where it is reused, as a study does; else that it
    cannot be is said.

    Args:
        runs_or_models: Finished runs on one target, a network each, or one estimate; and models.
        wanted: What is asked.
        place: Where it is built; None to choose alone.
        progress: For what goes on.

    Raises:
        StoreError, ConsistencyError, HarnessError, NetworkError, ProtectionError: As the steps.
    """
    models = [path for path in runs_or_models if path.is_file()]
    if wanted.verify and (place is None or models):
        raise ProtectionError(
            "expected --verify without a model, and with --build DIR: the networks that a model was learnt "
            "from took part in choosing, and which they are is not known",
            "--verify",
        )
    progress = progress or Progress()
    chosen = choose_plan(runs_or_models, wanted, progress, buildable=place is not None)
    run_dirs = [own.path for own in chosen.found]
    folder = build = confirmation = None
    if place is not None and not (wanted.reuse and chosen.plan.result != OPTIMAL):
        folder = place(chosen.plan)
        build = built_before(folder, chosen.plan) if wanted.verify else None
        if build is None:
            build = build_plan(run_dirs, chosen.plan, folder, wanted, progress)
        for run_dir in run_dirs:
            note_build(run_dir, chosen.plan.name, folder)
        if wanted.verify and wanted.reuse and confirmation_of(folder, build) is not None:
            require_unchanged(folder)
        elif wanted.verify:
            confirmation = verify_build(run_dirs, chosen.plan, folder, wanted, progress)
    for own in chosen.found if place is not None else ():
        Results(own.summary, accepted_plan(own.path, own.digest)).write(own.path)
    first = chosen.found[0]
    state = state_of(first.path, kept_plan(first.path, chosen.plan.name))
    if confirmation is not None and not confirmation.confirmed:
        state = replace(state, build=build, confirmation=confirmation)
    return Protected(first.path, Results(first.summary, state), state, folder, build, confirmation)
