# SPDX-License-Identifier: Apache-2.0
"""A plan that was chosen before, for just the same: it is not chosen again."""

from __future__ import annotations

from collections.abc import Sequence

from resil.errors import StoreError
from resil.folder.finished import Finished
from resil.folder.kept_plans import kept_plan
from resil.protection.targets import Targets
from resil.protection.units import Granularity
from resil.record.protection import TARGETS, Protection
from resil.record.protection_parts import ChoosingRun


def kept_choice(
    found: Sequence[Finished],
    name: str,
    granularity: Granularity,
    asked: Targets,
    based_on: Sequence[ChoosingRun],
) -> Protection | None:
    """Return the plan kept in all these runs for what is asked, None if none is whole and holds."""
    try:
        plans = [kept_plan(own.path, name) for own in found]
    except StoreError:
        return None
    own = (asked.budget_fit, asked.spfm, asked.fit_share, asked.due_fit)
    limits = (*own, asked.permanent_fit, asked.permanent_spfm, asked.waived)
    for plan in plans:
        kept = (*(getattr(plan, key) for key in TARGETS), plan.waived)
        same = kept == limits and plan.granularity == granularity and not plan.models
        if not same or plan.based_on != tuple(based_on) or not _judges(plan):
            return None
    return plans[0]


def _judges(plan: Protection) -> bool:
    """Whether a plan has what is left on each network that it rests on, in their order."""
    return [own.network for own in plan.networks] == [own.run for own in plan.based_on]
