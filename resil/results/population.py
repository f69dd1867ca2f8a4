# SPDX-License-Identifier: Apache-2.0
"""The population that a verdict is about: networks, inputs and cycles, in words; storage is its scope."""

from __future__ import annotations

from collections.abc import Sequence

from resil.campaign.campaign import Campaign
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_settings import TestbenchSettings

_NAMED = 8


def population_text(campaign: Campaign, network: str, inputs: Sequence[int], sequence: bool = False) -> str:
    """Return which networks, inputs and cycles a verdict holds for.

    Args:
        campaign: Says what is asked, and where the inputs come from.
        network: Its name.
        inputs: Labels of the inputs that were run.
        sequence: Each is a sequence of inferences of a network with state.

    Examples:
        "the network digits; inputs like the 64 drawn from the held-out split; every cycle of an inference"
    """
    if isinstance(campaign.work, TestbenchSettings) and not campaign.replays:
        return (
            f"the test {campaign.work.label} of {network}, with the random numbers of one seed; "
            f"{_inputs(campaign, inputs)}; {_cycles(campaign)}"
        )
    if campaign.replays:
        answered = _answered(campaign)
        what = (
            f"wrong outputs but those of {answered}, which a memory answers," if answered else "wrong outputs"
        )
        return (
            f"the recording {network}, replayed: how an environment would react to {what} is not "
            f"in it; {_inputs(campaign, inputs)}; {_cycles(campaign)}"
        )
    cycles = f"every cycle of {campaign.inferences} inferences" if sequence else _cycles(campaign)
    return f"the network {network}; {_inputs(campaign, inputs)}; {cycles}"


def _answered(campaign: Campaign) -> str:
    """Return the buses of a recording that a part of the bench answers, in words."""
    work = campaign.work.replay if isinstance(campaign.work, TestbenchSettings) else campaign.work
    closed = work.closed if isinstance(work, RecordingSettings) else ()
    return ", ".join(f"the bus {own.bus.rstrip('_.')}" for own in closed)


def _inputs(campaign: Campaign, inputs: Sequence[int]) -> str:
    source = campaign.data_set
    named = ", ".join(map(str, inputs[:_NAMED])) + ("" if len(inputs) <= _NAMED else ", ...")
    if len(inputs) == 1:
        return f"this input alone ({named}), which says nothing of others"
    if source is not None and not source.drawn:
        return (
            f"these {len(inputs)} inputs alone ({named}): those of {source.title} whose decision is closest, "
            "which were searched for and stand for no others"
        )
    if not campaign.over_inputs:
        return f"these {len(inputs)} inputs alone ({named}), which stand for no others"
    if source is None:
        return f"inputs like the {len(inputs)} that are listed ({named}), if they are a random sample"
    return f"inputs like the {len(inputs)} drawn from {source.title}"


def _cycles(campaign: Campaign) -> str:
    if campaign.faults.permanent or "weights" in campaign.faults.kinds:
        return "faults that are there from the beginning"
    first = "the first of two inferences" if campaign.inferences > 1 else "an inference"
    return f"every cycle of {first}"
