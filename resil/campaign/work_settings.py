# SPDX-License-Identifier: Apache-2.0
"""What a campaign runs: a network, memory images, or a recording."""

from __future__ import annotations

from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings, read_recording_settings
from resil.campaign.section import Section
from resil.campaign.workload_settings import WorkloadSettings, read_workload

Work = NetworkSettings | WorkloadSettings | RecordingSettings


def read_own_work(section: Section, name: str) -> WorkloadSettings | RecordingSettings:
    """Check the table [workload]: a recording if it names one, else memory images.

    Raises:
        CampaignError: As the readers of both.
    """
    return read_recording_settings(section, name) if section.has("waves") else read_workload(section, name)
