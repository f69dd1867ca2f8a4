# SPDX-License-Identifier: Apache-2.0
"""Cycles of a recording in which the design is in reset, when its alarms wait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from resil.campaign.campaign import Campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.replay.ports import TopPort
from resil.rtl_harness.replay.recording import Span, read_recording


def reset_cycles(campaign: Campaign, target: Target) -> list[NDArray[np.bool_]]:
    """Return, for each input of a campaign, in which cycles a fault finds the design in reset.

    Only a recording drives the reset: where the bench does, it is over before the first cycle.

    Args:
        campaign: Whose work is replayed, or anything else.
        target: That it runs on, with its bench.

    Returns:
        Nothing where no recording drives it.
    """
    work = campaign.work
    if target.replay is None or not isinstance(work, RecordingSettings):
        return []
    bare = load_target(target.replay.of)
    if not bare.reset:
        return []
    clocks = tuple(dict.fromkeys((bare.clock, *work.clocks)))
    ports = [TopPort(name, "input", 1) for name in dict.fromkeys((*clocks, bare.reset))]
    at_edge = [name for name in work.at_edge if name == bare.reset]
    found = []
    for waves in work.waves:
        span = Span(waves, work.instance, work.begin, work.end)
        recording = read_recording(span, ports, clocks, work.sampled, (), at_edge)
        found.append(recording.in_reset(bare.reset, active_low=bare.reset_active_low))
    return found
