"""The protection of a study's targets: a set for each that holds for all of its networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resil.commands.protect_basis import read_basis
from resil.commands.protect_units import asked_of, plan_name, protect_units, rests_on
from resil.errors import ConsistencyError, ResilError, StoreError
from resil.folder.plans import kept_plan
from resil.protection.plan import SCHEMA
from resil.study.protection import chosen, settled, unassessed
from resil.study.study import ProtectionWanted


def protect_target(
    wanted: ProtectionWanted, target: str, cells: Sequence[Mapping[str, Any]], out: Path
) -> dict[str, Any]:
    """Return what is known of a target's protection; choose it if all its networks are there.

    A plan that rests on the same results and keeps the same targets is not chosen again. What is in the way
    of a choice is said, and the study goes on.

    Args:
        wanted: What is asked.
        target: Its name.
        cells: Its own, as in `study.json`.
        out: Folder of the study.
    """
    if (row := settled(wanted, target, cells)) is not None:
        return row
    folders = [out / cell["run"] for cell in cells]
    try:
        plan = _kept(wanted, folders)
        if plan is None:
            protect_units(folders, granularity=wanted.granularity, targets=wanted.targets)
            plan = _kept(wanted, folders)
    except (ResilError, ConsistencyError) as error:
        return unassessed(target, str(error))
    assert plan is not None
    return chosen(target, plan)


def _kept(wanted: ProtectionWanted, folders: Sequence[Path]) -> dict[str, Any] | None:
    """Return the plan that is kept in all these runs for what is asked, None if there is none that holds."""
    basis = read_basis(folders)
    asked = asked_of(basis, wanted.targets)
    name = plan_name(asked, wanted.granularity)
    plans = []
    for folder in folders:
        try:
            plans.append(kept_plan(folder, name))
        except StoreError:
            return None
    expected = {
        "schema": SCHEMA,
        "granularity": wanted.granularity.value,
        "budget_fit": asked.budget_fit,
        "spfm_target": asked.spfm,
        "fit_share_target": asked.fit_share,
        "due_fit_target": asked.due_fit,
        "based_on": rests_on(basis),
        "models": [],
    }
    if any(plan.get(key) != value for plan in plans for key, value in expected.items()):
        return None
    return plans[0]
