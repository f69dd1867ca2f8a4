# SPDX-License-Identifier: Apache-2.0
"""What a campaign runs: a network, memory images, a recording, or a test of cocotb."""

from __future__ import annotations

from resil.campaign.engines import engine_named
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings, read_recording_settings
from resil.campaign.section import Section
from resil.campaign.testbench_settings import TestbenchSettings, read_testbench_settings
from resil.campaign.workload_settings import WorkloadSettings, read_workload
from resil.rtl_harness.engine.declaration import Ability

OwnWork = WorkloadSettings | RecordingSettings | TestbenchSettings
Work = NetworkSettings | OwnWork


def read_own_work(section: Section, name: str) -> OwnWork:
    """Check the table [workload]: a recording or a test if it names one, else memory images.

    Raises:
        CampaignError: As the readers of all three.
    """
    if section.has("cocotb"):
        return read_testbench_settings(section, name)
    return read_recording_settings(section, name) if section.has("waves") else read_workload(section, name)


def replays(work: Work, engine: str) -> bool:
    """Whether a recording drives the target, under an engine of this name."""
    if not isinstance(work, TestbenchSettings):
        return isinstance(work, RecordingSettings)
    return Ability.COCOTB_TEST not in engine_named(engine).abilities if work.record is None else work.record
