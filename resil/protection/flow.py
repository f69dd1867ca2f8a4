# SPDX-License-Identifier: Apache-2.0
"""The one order of a protection, of `resil protect` and of a study: choose, build, verify, keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resil.errors import ExitCode
from resil.folder.kept_plans import accepted_plan, kept_plan
from resil.protection.build_rtl import build_plan, built_before, require_unchanged
from resil.protection.choosing import choose_plan
from resil.protection.options import ProtectionError
from resil.protection.texts import build_text, confirmation_text, plan_text
from resil.protection.verify import CONFIRMATION, verify_build
from resil.protection.wanted import Wanted
from resil.results.write import Results

# Where what a plan chose is built.
Place = Callable[[Mapping[str, Any]], Path]
_CODES = {"not_needed": ExitCode.MET, "optimal": ExitCode.MET, "infeasible": ExitCode.MISSED}


@dataclass(frozen=True)
class Protected:
    """What came of a protection.

    Attributes:
        run_dir: The first run, which holds the report.
        results: Of that run, with the plan that it now shows.
        plan: Content of `protection.json` as it is kept in that run.
        build: Content of `build.json`; None if nothing was built.
        confirmation: Content of `confirmation.json`; None if nothing was injected into it.
    """

    run_dir: Path
    results: Results
    plan: Mapping[str, Any]
    build: Mapping[str, Any] | None = None
    confirmation: Mapping[str, Any] | None = None

    @property
    def code(self) -> ExitCode:
        """Met if a set keeps the targets, and by injection if that was asked."""
        if self.confirmation is not None and not self.confirmation["confirmed"]:
            return ExitCode.MISSED
        return _CODES[str(self.plan["result"])]

    def as_json(self) -> dict[str, Any]:
        """Return the plan, with what was built and confirmed if anything was."""
        more = {"build": self.build, "confirmation": self.confirmation}
        return {**self.plan, **{key: value for key, value in more.items() if value is not None}}

    def text(self) -> str:
        """Return what was chosen, built and confirmed, as lines for a person."""
        parts = [plan_text(self.plan)]
        if self.build is not None:
            parts.append(build_text(self.build, verified=self.confirmation is not None))
        if self.confirmation is not None:
            parts.append(confirmation_text(self.confirmation))
        return "\n".join(filter(None, parts))


def protect(runs_or_models: Sequence[Path], wanted: Wanted, place: Place | None = None) -> Protected:
    """Choose a protection, build it, inject into it, and keep all of that in the runs and beside the build.

    A plan that is not needed or not reached is not built where it is reused, as a study does; else that it
    cannot be is said.

    Args:
        runs_or_models: Finished runs on one target, a network each, or one estimate; and models.
        wanted: What is asked.
        place: Where it is built; None to choose alone.

    Raises:
        StoreError, ConsistencyError, HarnessError, NetworkError, ProtectionError: As the steps.
    """
    models = [path for path in runs_or_models if path.is_file()]
    if wanted.verify and (place is None or models):
        raise ProtectionError(
            "expected --verify without a model, and with --build DIR: the networks that a model was learnt "
            "from took part in choosing, and which they are is not known"
        )
    chosen = choose_plan(runs_or_models, wanted, buildable=place is not None)
    run_dirs, name = [own.path for own in chosen.found], str(chosen.plan["name"])
    build = confirmation = None
    if place is not None and not (wanted.reuse and chosen.plan["result"] != "optimal"):
        folder = place(chosen.plan)
        build = built_before(folder, chosen.plan) if wanted.verify else None
        build = build or build_plan(run_dirs, chosen.plan, folder, options=wanted.options)
        if wanted.verify and wanted.reuse and _is_confirmed(folder, chosen.plan):
            require_unchanged(folder)
        elif wanted.verify:
            confirmation = verify_build(
                run_dirs,
                chosen.plan,
                folder,
                options=wanted.options,
                networks=wanted.networks,
                seed=wanted.seed,
            )
    for own in chosen.found if place is not None else ():
        Results(own.summary, accepted_plan(own.path, own.digest)).write(own.path)
    first = chosen.found[0]
    plan = kept_plan(first.path, name)
    return Protected(first.path, Results(first.summary, plan), plan, build, confirmation)


def _is_confirmed(folder: Path, plan: Mapping[str, Any]) -> bool:
    """Whether a kept plan has what came of injecting into this build, confirmed or not."""
    kept = "measured" in plan and plan.get("rtl") == str(folder)
    return kept and (folder / f"{CONFIRMATION}.json").exists()
