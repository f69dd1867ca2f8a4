# SPDX-License-Identifier: Apache-2.0
"""How often intervals of whole campaigns hold the truth, where the truth is known by enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binom

from resil.bench.bench import Bench
from resil.bench.site_list import block_bits
from resil.campaign.campaign import Campaign
from resil.campaign.sampling_settings import PlanName, SamplingSettings
from resil.faults.content import Content
from resil.faults.plan import FaultPlan
from resil.faults.population import make_population
from resil.faults.sampling import Sampling
from resil.results.estimates import estimates_of
from resil.results.summarise import technology_of
from resil.rtl_harness.engine.contract import GoldenRun
from resil.rtl_harness.faults import RunEnd
from resil.stats.rates import OUTCOMES
from resil.validation.design import Truth, outcome_of

# Each kind of division and of looks that campaigns have, with numbers of injections.
CASES: tuple[tuple[PlanName, int], ...] = (
    ("proportional", 60),
    ("proportional", 400),
    ("uniform", 150),
    ("stratified", 300),
    ("neyman", 400),
)
# The check fails if so many misses have a smaller chance than this where intervals are as they claim.
CHANCE = 1e-4


@dataclass(frozen=True)
class Covered:
    """Campaigns of one plan and size.

    Attributes:
        plan: `[sampling] plan`.
        injections: Of each campaign.
        campaigns: How many.
        below: Those whose interval lies below the true FIT.
        above: Those whose interval lies above.
        nominal: Share of misses that the confidence allows.
    """

    plan: PlanName
    injections: int
    campaigns: int
    below: int
    above: int
    nominal: float

    @property
    def missed(self) -> int:
        """Intervals without the truth."""
        return self.below + self.above

    @property
    def is_bad(self) -> bool:
        """Whether more intervals miss the truth, or lie on one side of it, than chance explains."""

        # By SciPy, so that a mutant of the intervals does not judge itself.
        def chance(misses: int, nominal: float) -> float:
            return float(binom.sf(misses - 1, self.campaigns, nominal))

        side = max(self.below, self.above)
        return min(chance(self.missed, self.nominal), chance(side, self.nominal / 2)) < CHANCE


def covered(
    campaign: Campaign, bench: Bench, truth: Truth, plan: PlanName, injections: int, seeds: range
) -> Covered:
    """Play whole campaigns, with answers that are looked up, and count intervals that miss the true FIT.

    Numbers of faults, plan, looks, estimates and limits are those of the application; no simulator runs.
    """
    table = _AnswerTable.of(truth)
    technology = technology_of(campaign)
    rates = {kind: technology.fit_per_bit(kind) for kind in campaign.faults.kinds}
    bits = block_bits(bench.sites, bench.blocks)
    true = true_fit(campaign, bench, truth, rates)
    golden = truth.golden
    run = RunEnd(True, golden.end_cycle, golden.status, b"", "")
    asked = replace(
        campaign,
        faults=replace(campaign.faults, injections=injections),
        sampling=SamplingSettings(plan),
    )
    population = make_population(asked, bench.sites, [GoldenRun(run)])
    below = above = 0
    for seed in seeds:
        own = replace(asked, seed=seed)
        sampling = Sampling(own, replace(population, seed=seed), rates)
        while (wanted := sampling.wanted) is not None:
            sampling.record(table.answers(wanted, bench.inputs[0]))
        fit = estimates_of(own, sampling.sample, bits, rates).total.fit
        slack = 1e-9 * true
        below += fit.hi < true - slack
        above += fit.lo > true + slack
    return Covered(plan, injections, len(seeds), below, above, 1.0 - campaign.confidence)


def true_fit(campaign: Campaign, bench: Bench, truth: Truth, rates: Mapping[str, float]) -> float:
    """Return the FIT that campaigns estimate, from all faults."""
    bad = truth.hazardous(campaign.hazardous).reshape(bench.sites.size, truth.cycles).mean(axis=1)
    return sum(
        rates[bench.sites[site].element.kind] * float(share) for site, share in enumerate(bad) if share
    )


@dataclass(frozen=True, eq=False)
class _AnswerTable:
    """Answers to all faults, as stored injections hold them."""

    content: Content
    cycles: int

    @staticmethod
    def of(truth: Truth) -> _AnswerTable:
        answers = truth.answers
        alarms = np.array([a.detected for a in answers], dtype=np.int64)
        corrections = np.array([a.corrected for a in answers])
        cycles = np.arange(len(answers), dtype=np.int64) % truth.cycles
        content = Content(
            injections=np.arange(len(answers), dtype=np.int64),
            outcomes=np.array([OUTCOMES.index(outcome_of(a)) for a in answers], dtype=np.int8),
            seen=np.array([OUTCOMES.index(a.seen) for a in answers], dtype=np.int8),
            alarms=np.where(alarms >= 0, "parity", ""),
            alarm_cycles=alarms,
            corrections=np.where(corrections >= 0, "range", ""),
            firsts=np.full(len(answers), -1, dtype=np.int8),
            cycles=cycles,
            end_cycles=np.array([a.end_cycle for a in answers], dtype=np.int64),
            inputs=np.zeros(len(answers), dtype=np.int64),
        )
        return _AnswerTable(content, truth.cycles)

    def answers(self, wanted: FaultPlan, label: int) -> Content:
        """Return the answers to the faults of a plan, with their injection numbers."""
        found = self.content.at(wanted.site * self.cycles + wanted.cycle)
        inputs = np.full(wanted.size, label, dtype=np.int64)
        return replace(found, injections=wanted.injection, inputs=inputs)
