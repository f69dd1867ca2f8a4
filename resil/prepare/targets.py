# SPDX-License-Identifier: Apache-2.0
"""The target of a campaign, of which no file changes any more, and what runs on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_settings import TestbenchSettings
from resil.campaign.workload_settings import WorkloadSettings
from resil.networks.parts import compile_parts
from resil.progress import Progress
from resil.rtl_harness.design.drivers import require_single_drivers
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.reaching_names import refused_names
from resil.rtl_harness.design.snapshot import frozen
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.engine.testbench import Driven
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.replay.closed import Closed
from resil.rtl_harness.replay.shell import in_shell
from resil.work.memory_images import own_work
from resil.work.network import network_path, network_work
from resil.work.recording import close_target, recorded_rows, recorded_work
from resil.work.testbench import driven_design, recorded_settings, tested_work
from resil.work.work import Work

# What the front end of synthesis says of a name that reaches into an instance.
_REACHING = "hierarchical reference"
# What elaboration says where nothing is left to inject into.
_NO_STORAGE = "dut: expected storage in"


def target_of(campaign: Campaign) -> Target:
    """Return the target of a campaign, closed by its recordings if it has some.

    Raises:
        HarnessError: The target cannot be read, recordings do not fit it, or a test drives it.
    """
    target = load_target(campaign.target)
    if isinstance(campaign.work, TestbenchSettings) and not campaign.replays:
        raise driven_by_test(campaign)
    settings = _recording(campaign, target)
    return target if settings is None else close_target(campaign, settings, target).target


def driven_by_test(campaign: Campaign) -> HarnessError:
    """Return what is raised where a closed design is needed and a test drives it."""
    return HarnessError(
        f"{campaign.file}: [workload] record: expected a closed design, found one that a test "
        "of cocotb drives; replay a recording of it: record = true",
        "workload.record",
    )


def _recording(
    campaign: Campaign, target: Target, progress: Progress | None = None
) -> RecordingSettings | None:
    """Return how a recording drives the target, made of a test if there is one; None if none does."""
    settings = campaign.work
    if isinstance(settings, TestbenchSettings) and campaign.replays:
        return recorded_settings(campaign, settings, target, progress)
    return settings if isinstance(settings, RecordingSettings) else None


def rows_of_recordings(campaign: Campaign) -> list[npt.NDArray[np.uint8]]:
    """Return what the ports have in each cycle of each recording of a campaign, as `recorded_rows`.

    Raises:
        HarnessError: As `target_of`.
    """
    target = load_target(campaign.target)
    settings = _recording(campaign, target)
    assert settings is not None
    return recorded_rows(close_target(campaign, settings, target))


@dataclass(frozen=True)
class Targeted:
    """A target of which no file changes any more, and what drives it where that is no bench of its own."""

    target: Target
    recording: RecordingSettings | None = None
    closed: Closed | None = None
    driven: Driven | None = None


def targeted(campaign: Campaign, progress: Progress) -> Targeted:
    """Return the target of a campaign, closed by what drives it.

    Raises:
        HarnessError: It cannot be read, recordings or tests do not fit it, or nothing drives it.
    """
    target = load_target(campaign.target)
    settings = _recording(campaign, target, progress)
    if settings is not None:
        progress.stage(f"reading {len(settings.waves)} recordings")
        closed = close_target(campaign, settings, target)
        for own in closed.recordings:
            progress.stage(own.extent)
        return Targeted(frozen(closed.target), settings, closed)
    if isinstance(campaign.work, TestbenchSettings):
        driven = driven_design(campaign, campaign.work, target)
        return Targeted(frozen(in_shell(driven.design, driven.parameters)), driven=driven)
    if target.is_open:
        raise HarnessError(
            f"target {target.name}: expected a closed design, with dut, done and memories, found the design "
            "alone; drive it by a recording, [workload] waves = ..., or give it a bench",
            "dut",
        )
    return Targeted(frozen(target))


def work_on(campaign: Campaign, found: Targeted, progress: Progress) -> Work:
    """Return what a campaign runs on its target, laid out in memories.

    Raises:
        CampaignError: The inputs do not fit the network, or the images do not fit the target.
        NetworkError: The network cannot be read or compiled.
        HarnessError: The target cannot be used.
    """
    settings = campaign.work
    if isinstance(settings, NetworkSettings):
        return network_work(campaign, settings, found.target, progress)
    if isinstance(settings, WorkloadSettings):
        return own_work(campaign, settings, found.target)
    if found.recording is not None and found.closed is not None:
        return recorded_work(campaign, found.recording, found.closed)
    assert isinstance(settings, TestbenchSettings)
    assert found.driven is not None
    return tested_work(campaign, settings, found.driven)


def estimated_cycles(campaign: Campaign) -> int | None:
    """Return how many cycles a network takes by its compiler's estimate, all inferences; None of other work.

    Raises:
        HarnessError: The target cannot be used.
        NetworkError: The network cannot be read or compiled.
    """
    settings = campaign.work
    if not isinstance(settings, NetworkSettings):
        return None
    compiled = compile_parts(network_path(settings), load_target(campaign.target).name)
    return campaign.inferences * compiled.vela_total_cycles


def storage_of(target: Target, parameters: Mapping[str, int]) -> Elaboration:
    """Return the storage of a target, and which of it has fault sites.

    Args:
        target: Of the campaign.
        parameters: Of its top.

    Raises:
        HarnessError: The target cannot be elaborated, has no storage, or leaves out all that it has.
    """
    try:
        return elaborate(target, parameters)
    except HarnessError as error:
        # A pattern that matches no storage is refused before: there was some.
        if not target.exclude or _NO_STORAGE not in str(error):
            raise
        raise HarnessError(
            f"target {target.name}: exclude: expected storage that is left to inject into, found that its "
            "patterns name all storage of the design; name less, or remove the key",
            "exclude",
        ) from None


def with_known_hardware(target: Target, elaboration: Elaboration) -> Elaboration:
    """Return which storage is hardware; of names that synthesis refuses say what to do."""
    try:
        require_single_drivers(target, elaboration)
        return with_hardware(target, elaboration)
    except HarnessError as error:
        said = refused_names(target, elaboration.parameters) if _REACHING in str(error) else ""
        if not said:
            raise
        raise HarnessError(said, "target.defines") from error
