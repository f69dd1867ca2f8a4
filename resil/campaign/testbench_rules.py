# SPDX-License-Identifier: Apache-2.0
"""What a campaign whose target a test or a recording drives cannot ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resil.campaign.engines import engine_named
from resil.campaign.fault_settings import UPSET
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_settings import TestbenchSettings
from resil.errors import CampaignError
from resil.rtl_harness.engine.declaration import Ability

if TYPE_CHECKING:
    from resil.campaign.campaign import Campaign


def check_testbench(campaign: Campaign) -> None:
    """Refuse what neither a test nor a replay of it can do.

    Raises:
        CampaignError: with the key.
    """
    work = campaign.work
    if not isinstance(work, TestbenchSettings | RecordingSettings):
        return
    if campaign.inferences > 1:
        raise CampaignError(
            f"{campaign.file}: [campaign] inferences: expected 1 where a testbench drives the target, found "
            f"{campaign.inferences}; remove the key",
            "campaign.inferences",
        )
    if not isinstance(work, TestbenchSettings):
        return
    execution = campaign.execution
    if not campaign.replays:
        asked = {
            ("workload.record", f'record = false with engine = "{execution.engine}"'): (
                Ability.COCOTB_TEST not in engine_named(execution.engine).abilities
            ),
            ("faults.model", f'model = "{campaign.faults.model}"'): campaign.faults.model != UPSET,
            ("execution.timeout", f'timeout = "{execution.timeout}"'): execution.limits_operations,
            ("execution.dask", "dask"): execution.farm is not None,
        }
        for (key, found), wrong in asked.items():
            if wrong:
                table, _, name = key.partition(".")
                raise CampaignError(
                    f"{campaign.file}: [{table}] {name}: expected upsets and the engine cocotb on this "
                    f"machine where the test {work.label} runs with each fault, found {found}; replay "
                    "a recording of it: record = true in [workload]",
                    key,
                )
