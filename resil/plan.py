"""Which fault has which injection number: decided by the seed alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resil.campaign import Campaign
from resil.errors import CampaignError
from resil.site_list import block_name
from rtl_harness.faults import Fault
from rtl_harness.sites import SiteTable
from stats.allocation import allocate_proportional
from stats.sampling import Stratum, draw

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BlockStratum:
    """All faults in the storage of one kind of one block, over all inputs.

    Attributes:
        block: Name of the block.
        kind: "ff" or "sram".
        population: Its size and the name that the sampling is keyed with.
    """

    block: str
    kind: str
    population: Stratum


@dataclass(frozen=True)
class Plan:
    """The faults of a campaign, in order of their injection numbers.

    Draw `i` of stratum `s` is injection `i * len(strata) + s`, whatever the number of draws; so a larger
    campaign only adds injections.

    Attributes:
        strata: All strata that have faults.
        injection: Injection numbers, ascending.
        stratum: Index into `strata` of each.
        site: Fault site of each.
        cycle: Cycle of each.
        input: Place among the campaign's inputs of the input of each.
    """

    strata: tuple[BlockStratum, ...]
    injection: IntArray
    stratum: IntArray
    site: IntArray
    cycle: IntArray
    input: IntArray

    @property
    def size(self) -> int:
        """Number of injections."""
        return len(self.injection)

    def fault(self, row: int) -> Fault:
        """Return the fault in row `row`."""
        return Fault(int(self.site[row]), int(self.cycle[row]))

    def missing(self, done: pa.Table) -> IntArray:
        """Return the rows of the plan whose injections are not among `done`."""
        return np.flatnonzero(~np.isin(self.injection, done["injection"].to_numpy()))

    def chosen(self, done: pa.Table) -> pa.Table:
        """Return those rows of `done` whose injections belong to the plan."""
        return done.filter(pa.array(np.isin(done["injection"].to_numpy(), self.injection)))

    def check(self, rows: pa.Table) -> str | None:
        """Say in what stored rows contradict the plan; None if in nothing."""
        numbers = rows["injection"].to_numpy()
        known = np.isin(numbers, self.injection)
        at = np.searchsorted(self.injection, numbers[known])
        for column, expected in (("site", self.site), ("cycle", self.cycle)):
            found = rows[column].to_numpy()[known]
            if (wrong := np.flatnonzero(found != expected[at])).size:
                first = wrong[0]
                return (
                    f"says that injection {numbers[known][first]} has {column} {found[first]}, "
                    f"and the plan says {expected[at][first]}"
                )
        return None


def make_plan(campaign: Campaign, sites: SiteTable, cycles: tuple[int, ...]) -> Plan:
    """Choose the campaign's faults.

    Strata are blocks by kind of storage. Injections are shared out in proportion to the faults, with at
    least the campaign's minimum in each stratum.

    Args:
        campaign: Says how many, of which kinds, and the seed.
        sites: All fault sites.
        cycles: Length of the inference of each input.

    Raises:
        CampaignError: the target has no storage of these kinds, or fewer injections than the minima need.
    """
    members = _members(sites, campaign.faults.kinds)
    strata = tuple(BlockStratum(b, k, Stratum(f"{b}/{k}", len(m), cycles)) for (b, k), m in members.items())
    if not strata:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: the target has no storage of the kinds "
            f"{', '.join(campaign.faults.kinds)}; choose others"
        )
    counts = _allocate(campaign, strata)
    numbers, owners, faults = [], [], []
    for index, (stratum, chosen) in enumerate(zip(strata, members.values(), strict=True)):
        population = stratum.population
        draws = draw(campaign.seed, population.name, population.size, counts[index])
        within, cycle, position = population.locate(draws)
        numbers.append(np.arange(counts[index], dtype=np.int64) * len(strata) + index)
        owners.append(np.full(counts[index], index, dtype=np.int64))
        faults.append(np.stack([chosen[within], cycle, position]))
    injection = np.concatenate(numbers)
    order = np.argsort(injection)
    site, cycle, position = np.concatenate(faults, axis=1)[:, order]
    return Plan(strata, injection[order], np.concatenate(owners)[order], site, cycle, position)


def _members(sites: SiteTable, kinds: tuple[str, ...]) -> dict[tuple[str, str], IntArray]:
    ranges: dict[tuple[str, str], list[IntArray]] = {}
    for element, first in zip(sites.elements, sites.offsets, strict=False):
        if element.kind in kinds and element.bits:
            key = (block_name(element.block), str(element.kind))
            ranges.setdefault(key, []).append(np.arange(first, first + element.bits, dtype=np.int64))
    return {key: np.concatenate(ranges[key]) for key in sorted(ranges)}


def _allocate(campaign: Campaign, strata: tuple[BlockStratum, ...]) -> tuple[int, ...]:
    sizes = [stratum.population.size for stratum in strata]
    try:
        return allocate_proportional(campaign.faults.injections, sizes, campaign.faults.minimum_per_block)
    except ValueError as error:
        raise CampaignError(f"{campaign.file}: [faults] injections: {error}") from None
