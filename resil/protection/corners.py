# SPDX-License-Identifier: Apache-2.0
"""Corners of the ranges of raw rates, as choices and confirmations of protection take them."""

from __future__ import annotations

from collections.abc import Mapping

from resil.campaign.campaign import Campaign, load_campaign
from resil.folder.finished import Finished
from resil.folder.store import CAMPAIGN
from resil.protection.options import ProtectionError
from resil.results.safety_grounds import rate_variations
from resil.results.summarise import technology_of

Corners = Mapping[str, Mapping[str, float]]


def corners_of(campaign: Campaign) -> Corners:
    """Return the corners of a campaign's raw rates, by name: factors of the rates by kind of storage.

    Raises:
        ProtectionError: The campaign is for any shares of cluster sizes, which no set is chosen for.
    """
    if campaign.faults.any_shares:
        raise ProtectionError(
            f"{campaign.file}: [faults] cluster_shares: expected declared shares of cluster sizes, for which "
            'protection is chosen and verified, found "any"; declare the worst ones, and remove the key',
            "faults.cluster_shares",
        )
    return rate_variations(technology_of(campaign), campaign.faults.kinds)


def corners_of_results(found: Finished) -> Corners:
    """Return those of a run or an estimate; StoreError if its campaign cannot be read."""
    return corners_of(load_campaign(found.path / CAMPAIGN))


def factor(factors: Mapping[str, float], kind: str) -> float:
    """Return the factor of a kind of storage; what has none of its own has that of flip-flops."""
    return factors.get(kind, factors.get("ff", 1.0))
