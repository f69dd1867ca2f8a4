# SPDX-License-Identifier: Apache-2.0
"""What is left in a run folder while it is being injected, for who looks on."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resil.campaign.campaign import Campaign
from resil.campaign.sampling_settings import EVENLY
from resil.faults.plan import FaultPlan
from resil.files import write_text
from resil.folder.provenance import now
from resil.record.underway import FIGURES, PILOT, PlannedStratum, Underway

UNDERWAY = Underway.FILE


def note_underway(
    folder: Path,
    campaign: Campaign,
    plan: FaultPlan,
    missing: int,
    workers: int,
    rates: dict[str, float],
    *,
    pilot: bool,
) -> None:
    """Write what is injected from now on.

    Args:
        folder: The run folder.
        campaign: What is asked.
        plan: All injections of this step.
        missing: How many of them are still to be made.
        workers: Simulator processes.
        rates: Raw rate of a bit of each kind of storage, in FIT.
        pilot: Whether the step only plans the others.
    """
    sampling = campaign.sampling
    looks = sampling.margin is not None or sampling.until_decided
    draws = plan.injection // len(plan.strata)
    strata = []
    for place, stratum in enumerate(plan.strata):
        own = draws[plan.stratum == place]
        strata.append(
            PlannedStratum(
                block=stratum.block,
                kind=stratum.kind,
                fit_raw=stratum.population.sites * stratum.exposure * rates[stratum.kind],
                first=int(own.min()) if own.size else 0,
                injections=int(np.size(own)),
            )
        )
    document = Underway(
        schema=Underway.SCHEMA,
        name=campaign.name,
        since=now(),
        step=PILOT if pilot else FIGURES,
        bounded=sampling.plan in EVENLY and not looks and not pilot,
        kept=plan.size - missing,
        workers=workers,
        confidence=campaign.confidence,
        hazardous=tuple(campaign.hazardous),
        detection_cycles=campaign.detection_cycles,
        budget_fit=None if campaign.budget is None else campaign.budget.fit,
        strata=tuple(strata),
    )
    write_text(folder / UNDERWAY, document.text())


def forget_underway(folder: Path) -> None:
    """Take away what was left for who looks on: nothing is under way any more."""
    (folder / UNDERWAY).unlink(missing_ok=True)
