# SPDX-License-Identifier: Apache-2.0
"""All faults that a campaign could inject, divided into strata, and which of them has which number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign
from resil.campaign.clusters import cluster_sizes
from resil.campaign.fault_settings import LOGIC, STUCK_AT
from resil.campaign.sampling_settings import SamplingSettings
from resil.errors import CampaignError
from resil.faults.plan import FaultPlan, FaultStratum, IntArray
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.contract import GoldenRun
from resil.stats.sampling import Stratum
from resil.stats.strata import Strata


@dataclass(frozen=True, eq=False, slots=True)
class _DrawnPiece:
    """Draws of a stratum.

    Attributes:
        stratum: Its index.
        own: Places of these injections among all, shape (own,).
        draws: Numbers of the draws, shape (own,).
    """

    stratum: int
    own: IntArray
    draws: IntArray


@dataclass(frozen=True)
class Population:
    """The strata of a campaign. Draw `i` of stratum `s` is injection `i * len(strata) + s`.

    Attributes:
        seed: Of the campaign.
        clusters: Part of the upsets that flip 1, 2, ... adjacent bits.
        strata: All that have faults.
        risks: Predicted rate of hazardous outcomes of each; empty if nothing is predicted.
    """

    seed: int
    clusters: tuple[float, ...]
    strata: tuple[FaultStratum, ...]
    risks: tuple[float, ...] = ()

    @property
    def relative(self) -> dict[tuple[str, str], float]:
        """How often faults come in a kind of storage of each block, and of all (""), beside its rate.

        Nothing where all come equally often.
        """
        sums: dict[tuple[str, str], list[float]] = {}
        for own in self.strata if any(s.rated for s in self.strata) else ():
            sites = own.population.sites * own.exposure
            for block in (own.block, ""):
                found = sums.setdefault((block, own.kind), [0.0, 0.0])
                found[0] += sites * own.relative
                found[1] += sites
        return {key: rates / sites for key, (rates, sites) in sums.items()}

    def faults(self, start: npt.ArrayLike, count: npt.ArrayLike) -> FaultPlan:
        """Return `count[s]` draws of each stratum s, from draw `start[s]` on, ordered by injection number."""
        firsts, counts = np.asarray(start, dtype=np.int64), np.asarray(count, dtype=np.int64)
        total = int(counts.sum())
        found = np.empty((7, total), dtype=np.int64)
        at = 0
        for index in np.flatnonzero(counts).tolist():
            first, n = int(firsts[index]), int(counts[index])
            rows = found[:, at : at + n]
            draws = np.arange(first, first + n)
            rows[0] = draws * len(self.strata) + index
            rows[1] = index
            rows[2:] = self.strata[index].draw(self.seed, self.clusters, draws)
            at += n
        order = np.argsort(found[0], kind="stable")
        return FaultPlan(self.strata, *(column[order] for column in found))

    def of_numbers(self, injections: IntArray) -> FaultPlan:
        """Return the faults with these injection numbers, which are ascending and each there once.

        Raises:
            ValueError: a stratum has no such fault.
        """
        found = np.empty((7, len(injections)), dtype=np.int64)
        found[0], found[1] = injections, self.owners(injections)
        for piece in self._pieces(injections):
            drawn = self.strata[piece.stratum].draw(self.seed, self.clusters, piece.draws)
            found[2:, piece.own] = np.stack(drawn)
        return FaultPlan(self.strata, *found)

    def cluster_sizes(self, injections: IntArray) -> IntArray:
        """Return the cluster size that each injection was drawn with; at the end of a word fewer bits flip.

        Given its size, an injection is a plain draw of its stratum.
        """
        sizes = np.ones(len(injections), dtype=np.int64)
        if len(self.clusters) > 1:
            for piece in self._pieces(injections):
                name = self.strata[piece.stratum].population.name
                sizes[piece.own] = cluster_sizes(self.seed, name, self.clusters, piece.draws)
        return sizes

    def owners(self, injections: IntArray) -> IntArray:
        """Return the stratum of each injection number."""
        return injections % len(self.strata)

    def check(self, rows: pa.Table) -> str | None:
        """Say in what stored rows contradict the numbering; None if in nothing."""
        numbers = rows["injection"].to_numpy()
        stored = {name: rows[name].to_numpy() for name in ("site", "cycle", "bits", "fault")}
        for piece in self._pieces(numbers):
            stratum = self.strata[piece.stratum]
            if piece.draws.min() < 0 or piece.draws.max() >= stratum.population.size:
                return f"holds an injection that stratum {stratum.population.name} does not have"
            site, cycle, _, bits, held = stratum.draw(self.seed, self.clusters, piece.draws)
            values, place = np.unique(held, return_inverse=True)
            fault = np.array([stratum.fault_name(own) for own in values.tolist()], dtype=object)[place]
            for column, wanted in (("site", site), ("cycle", cycle), ("bits", bits), ("fault", fault)):
                found = stored[column][piece.own]
                if (wrong := np.flatnonzero(found != wanted)).size:
                    at = wrong[0]
                    return (
                        f"says that injection {numbers[piece.own][at]} has {column} {found[at]}, "
                        f"and the plan says {wanted[at]}"
                    )
        return None

    def _pieces(self, injections: IntArray) -> Iterator[_DrawnPiece]:
        """Yield what has to be drawn of each stratum for injections with these numbers."""
        draws, owner = np.divmod(injections, len(self.strata))
        for index in np.unique(owner).tolist():
            own = np.flatnonzero(owner == index)
            yield _DrawnPiece(index, own, draws[own])

    def for_statistics(self, fit_per_bit: Mapping[str, float]) -> Strata:
        """Return the strata with their raw rates in FIT."""
        strata = self.strata
        weights = [s.population.sites * s.exposure * fit_per_bit[s.kind] * s.relative for s in strata]
        sizes = [s.population.size for s in strata]
        return Strata.of([s.label for s in strata], weights, sizes, listed=len(self.clusters) <= 1)


def make_population(
    campaign: Campaign,
    sites: SiteTable,
    goldens: Sequence[GoldenRun],
    relative: Mapping[str, float] | None = None,
) -> Population:
    """Divide the faults of a campaign.

    Strata are blocks by kind of storage; if the plan is another than "proportional", further by register
    class, by register (those that differ in indices only are one) and by the operation that is running.
    Stuck bits, each at two values, are divided by block and kind alone, sites in logic further by class where
    these have rates of their own. Sites that are no hardware have no faults.

    Args:
        campaign: Says which kinds of storage, and the seed.
        sites: All storage bits.
        goldens: The run without a fault of each input.
        relative: How often faults at the sites of a class in logic come, beside the rate of the kind; none if
            all come equally often.

    Raises:
        CampaignError: the target has no storage of these kinds.
    """
    stuck = campaign.faults.permanent
    fine = (
        not stuck
        and not campaign.faults.external
        and not campaign.faults.logic
        and campaign.sampling.strata != SamplingSettings("proportional").strata
    )
    pieces: dict[tuple[str, str, str, str], list[tuple[int, int, int]]] = {}
    for index, element in enumerate(sites.elements):
        if element.kind in campaign.faults.kinds and sites.present(index):
            rated = bool(relative) and element.kind == LOGIC
            divided = (
                (element.register_class, element.variable if fine else "") if fine or rated else ("", "")
            )
            key = (block_name(element.block), str(element.kind), *divided)
            pieces.setdefault(key, []).extend(sites.pieces(index))
    if not pieces:
        raise CampaignError(
            f"{campaign.file}: [faults] kinds: the target has no storage of the kinds "
            f"{', '.join(campaign.faults.kinds)}; choose others",
            "faults.kinds",
        )
    # A stuck bit is held at 0 or at 1, upset weights are there from the beginning: neither has a cycle.
    moments_each = campaign.faults.values_each if stuck else 1
    timeless = stuck or "weights" in campaign.faults.kinds
    untimed = [(None, (0,) * len(goldens), (moments_each,) * len(goldens))]
    times = untimed if timeless else times_of(goldens, fine)
    moments = sum(sum(lengths) for _, _, lengths in times)
    rooms = None
    if sites.neighbours is not None:
        rooms = np.fromiter((sites.room(site) for site in range(sites.size)), np.int64, sites.size)
    strata = []
    for names in sorted(pieces):
        held = np.array(pieces[names], dtype=np.int64)
        ends = np.cumsum(held[:, 1])
        for operation, starts, lengths in times:
            if sum(lengths):
                by_class = bool(relative) and names[1] == LOGIC
                name = "/".join([*names, str(operation)] if fine else names[: 3 if by_class else 2])
                population = Stratum(name, int(ends[-1]), lengths)
                strata.append(
                    FaultStratum(
                        *(*names, operation, population, starts),
                        *(held[:, 0], ends, held[:, 2], sum(lengths) / moments, stuck, rooms),
                        model=campaign.faults.model if stuck else STUCK_AT,
                        relative=relative[names[2]] if relative and by_class else 1.0,
                        rated=bool(relative),
                    )
                )
    return Population(campaign.seed, campaign.faults.clusters, tuple(strata))


def times_of(
    goldens: Sequence[GoldenRun], fine: bool
) -> list[tuple[int | None, tuple[int, ...], tuple[int, ...]]]:
    """Return for each operation where it starts and how long it is, for each input."""
    whole = [run.cycles for run in goldens]
    if not fine:
        return [(None, (0,) * len(goldens), tuple(whole))]
    most = max(len(run.operation_ends) for run in goldens)
    borders = []
    for run, end in zip(goldens, whole, strict=True):
        ends = [min(e, end) for e in run.operation_ends]
        borders.append([0, *ends, *[end] * (most + 1 - len(ends))])
    return [
        (
            operation,
            tuple(b[operation] for b in borders),
            tuple(b[operation + 1] - b[operation] for b in borders),
        )
        for operation in range(most + 1)
    ]
