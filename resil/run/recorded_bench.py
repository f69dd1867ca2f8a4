# SPDX-License-Identifier: Apache-2.0
"""The bench of a run that is there, to simulate again on it what was stored."""

from __future__ import annotations

from pathlib import Path

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign, load_campaign
from resil.campaign.overrides import command_line
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.prepare.bench import prepare
from resil.progress import Progress


def recorded_bench(run_dir: Path, campaign: Campaign, engine: str | None, progress: Progress) -> Bench:
    """Return the bench of a run's campaign.

    Args:
        run_dir: The run.
        campaign: That of its folder.
        engine: Which engine the bench shall have; None for the run's own.
        progress: Where stages go.

    Raises:
        StoreError: the folder is none of a run, or was made with something else than what is here now.
        CampaignError: the engine cannot do what the campaign asks.
    """
    bench = prepare(campaign, progress)
    bench.identity.require(recorded_definition(run_dir), str(run_dir))
    if engine is None:
        return bench
    return prepare(load_campaign(run_dir / CAMPAIGN, command_line(engine=engine)), progress)
