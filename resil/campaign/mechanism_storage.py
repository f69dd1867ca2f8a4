# SPDX-License-Identifier: Apache-2.0
"""What `storage` of a `[[safety.mechanism]]` may name: one rule for every command that reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from resil.campaign.campaign import Campaign
from resil.campaign.safety import SafetyMechanism
from resil.errors import CampaignError
from resil.rtl_harness.design.sites import SiteTable


@dataclass(frozen=True)
class MechanismPlaces:
    """Where mechanisms may have storage and gates.

    Attributes:
        target: Name of the target.
        sites: Its storage.
        gates: Returns the paths at which synthesis keeps what lies below apart, so that gates there are known
            by the path: those of blocks, and all instances of a target that is a netlist.
    """

    target: str
    sites: SiteTable
    gates: Callable[[], Iterable[str]]


def belongs(path: str, storage: str) -> bool:
    """Whether storage, or a cell, at a path lies at or below another."""
    return path == storage or path.startswith((f"{storage}.", f"{storage}["))


def check_mechanism_storage(campaign: Campaign, mechanism: SafetyMechanism, places: MechanismPlaces) -> None:
    """Refuse what names neither storage that is in hardware nor a place whose gates are known by it.

    A comparator that stores nothing may be named: its gates are faults of runs of stuck pins and of `resil
    mechanisms`. Rows of latent faults are not assessed as long as no run has counted any of them.

    Raises:
        CampaignError: A path of `storage` is none of these.
    """
    elements = places.sites.elements
    for storage in mechanism.storage:
        where = f"{campaign.file}: [safety.mechanism] storage: expected storage of {places.target}, or a"
        where = f"{where} block of it with gates, found"
        own = [index for index, element in enumerate(elements) if belongs(element.path, storage)]
        if any(places.sites.present(index) for index in own):
            continue
        if any(belongs(path, storage) for path in places.gates()):
            continue
        if own:
            raise CampaignError(
                f"{where} that synthesis leaves nothing of {storage}: it removes or merges what the "
                "mechanism needs; keep it apart in the RTL, or do not claim the mechanism",
                "safety.mechanism.storage",
            )
        raise CampaignError(
            f"{where} none below {storage}; resil sites lists the storage, and of what is gates alone "
            "synthesis keeps the boundaries of blocks: make it a block of the target file",
            "safety.mechanism.storage",
        )
