# SPDX-License-Identifier: Apache-2.0
"""Corners of raw rates and of cluster sizes, as choices and confirmations of protection take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from resil.campaign.campaign import Campaign
from resil.campaign.clusters import declared_sizes, size_alone
from resil.protection.logic import BlockLogic
from resil.protection.options import ProtectionError
from resil.record.blocks import LOGIC
from resil.results.safety_grounds import rate_variations
from resil.results.summarise import technology_of


@dataclass(frozen=True)
class Corner:
    """A corner of what is not known better than by a range; the centre, unless it says more.

    Attributes:
        rates: Factors of the raw rates by kind of storage, and of pulses in logic.
        size: Bits that each upset flips; None where the declared shares of sizes hold.
    """

    rates: Mapping[str, float] = field(default_factory=dict)
    size: int | None = None

    def factor(self, kind: str) -> float:
        """Return the factor of a kind of storage; what has none of its own has that of flip-flops."""
        return self.rates.get(kind, self.rates.get("ff", 1.0))

    @property
    def logic(self) -> float:
        """The factor of pulses in logic."""
        return self.rates.get(LOGIC, 1.0)


CENTRE = Corner()
Corners = Mapping[str, Corner]


def corners_of(campaign: Campaign) -> Corners:
    """Return the corners of a campaign by name: of its raw rates, and of sizes where their shares may be any.

    Rates are sums over sizes, weighted by their shares, so what they can be is reached where one has all.

    Raises:
        ProtectionError: Upsets flip neighbours by a placement.
    """
    if campaign.faults.placement is not None:
        raise ProtectionError(
            f"{campaign.file}: [faults] placement: expected upsets within words where protection is chosen, "
            "found neighbours by a placement: a mechanism at one word says nothing of the bits that an upset "
            "flips in others, which may have none; choose from a campaign without the key, and run this one "
            "on what was built",
            "faults.placement",
        )
    rates = rate_variations(technology_of(campaign), campaign.faults.kinds)
    if not campaign.faults.any_shares:
        return {title: Corner(own) for title, own in rates.items()}
    return {
        f"{title}, {size_alone(size)}" if title else size_alone(size): Corner(own, size)
        for title, own in (rates or {"": {}}).items()
        for size in declared_sizes(campaign.faults.clusters)
    }


def with_logic(corners: Corners, logic: BlockLogic | None) -> Corners:
    """Return the corners, each with either end of the raw rates of pulses, if there is a range of them."""
    if logic is None or logic.ends[0] == logic.ends[1]:
        return corners
    return {
        f"{title} and logic {end}" if title else f"raw rates of logic {end}": replace(
            own, rates={**own.rates, LOGIC: factor}
        )
        for title, own in (corners or {"": CENTRE}).items()
        for end, factor in zip(("lowest", "highest"), logic.ends, strict=True)
    }
