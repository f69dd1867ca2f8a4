# SPDX-License-Identifier: Apache-2.0
"""What the shipped sensitivity model foresees of each stratum, in place of a pilot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign
from resil.faults.population import Population, times_of
from resil.rtl_harness.engine.contract import GoldenRun
from resil.sensitivity.guided_population import pieces_of
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import SensitivityCell
from resil.sensitivity.predict import outcome_index
from resil.stats.costs import costs_of
from resil.stats.foreseen_plan import Foreseen
from resil.stats.rates import OUTCOMES

FloatArray = npt.NDArray[np.float64]


def foresee(
    campaign: Campaign, bench: Bench, goldens: Sequence[GoldenRun], population: Population
) -> Foreseen | None:
    """Return what is foreseen of the strata of the plan "neyman"; None if the model knows nothing of them.

    It does if it was learnt on this very RTL.

    Intervals do not rest on it: it decides where injections go, and how many at first.

    Args:
        campaign: What is asked.
        bench: What is injected into.
        goldens: The run without a fault of each input.
        population: The strata.

    Raises:
        ResilError: the model that ships is damaged.
    """
    if campaign.sampling.plan != "neyman" or campaign.faults.permanent or campaign.faults.external:
        return None
    model = load_model(SHIPPED)
    known = model.accelerators.get(bench.target_name)
    if known is None or not known.rtl or known.rtl != bench.hashes.get("rtl"):
        return None
    kinds = [str((own.work or {}).get("kind", "")) for own in bench.network.operations] or [""]
    cycles = np.zeros(len(kinds))
    for time, (_, _, lengths) in enumerate(times_of(goldens, fine=True)):
        cycles[min(time, len(kinds) - 1)] += sum(lengths)

    @cache
    def outcomes(cell: SensitivityCell) -> FloatArray:
        by_kind = {kind: model.outcomes(cell, kind) for kind in set(kinds)}
        mean = sum(own * by_kind[kind] for own, kind in zip(cycles.tolist(), kinds, strict=True))
        return np.asarray(mean / cycles.sum())

    sums: dict[tuple[str, str], FloatArray] = {}
    bits: dict[tuple[str, str], int] = {}
    for cell, _, own in pieces_of(bench.sites):
        part = cell.block, cell.kind
        sums[part] = sums.get(part, np.zeros(len(OUTCOMES))) + own * outcomes(cell)
        bits[part] = bits.get(part, 0) + own
    parts = [(stratum.block, stratum.kind) for stratum in population.strata]
    found = np.array([sums[part] / bits[part] for part in parts])
    inputs = len(bench.inputs) if campaign.over_inputs else 0
    return Foreseen(found[:, outcome_index(campaign.hazardous)].sum(axis=1), costs_of(found), inputs)
