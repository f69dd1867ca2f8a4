# SPDX-License-Identifier: Apache-2.0
"""The plan "predicted": faults divided by the risk that a sensitivity model foresees for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from resil.bench.bench import Bench
from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign
from resil.faults.plan import FaultStratum
from resil.faults.population import Population, make_population, times_of
from resil.rtl_harness.cache import file_digest
from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.contract import GoldenRun
from resil.sensitivity.model import SHIPPED, load_model
from resil.sensitivity.observations import SensitivityCell, cell_of_elements, chunks
from resil.sensitivity.predict import outcome_index
from resil.stats.guided import risk_levels
from resil.stats.sampling import Stratum

LEVELS = {"ff": 6, "macro": 2, "sram": 2}


def guide_digest(campaign: Campaign) -> str:
    """Return what the strata of the plan "predicted" depend on beside the faults, as text; "" of other plans.

    Raises:
        ResilError: the model cannot be read.
    """
    if campaign.sampling.plan != "predicted":
        return ""
    path = campaign.sampling.model or SHIPPED
    load_model(path)
    return f"; model {file_digest(path)}; {' '.join(campaign.hazardous)}"


def campaign_population(campaign: Campaign, bench: Bench, goldens: Sequence[GoldenRun]) -> Population:
    """Divide the faults of a campaign as its plan asks.

    Raises:
        CampaignError: the target has no storage of the campaign's kinds.
        ResilError: the model of the plan "predicted" cannot be read.
    """
    if campaign.sampling.plan == "predicted":
        return guided_population(campaign, bench, goldens)
    return make_population(campaign, bench.sites, goldens, bench.relative)


def guided_population(campaign: Campaign, bench: Bench, goldens: Sequence[GoldenRun]) -> Population:
    """Divide the faults of a campaign by block, kind of storage, predicted risk and operation.

    Risks are those of 8 bits of a register, or of a sixteenth of a memory's banks, in a kind of operation.
    What the model has never seen gets the risk of the group around it.

    Raises:
        ResilError: the model cannot be read.
    """
    model = load_model(campaign.sampling.model or SHIPPED)
    places = outcome_index(campaign.hazardous)

    @cache
    def risk(cell: SensitivityCell, operation: str) -> float:
        return float(model.outcomes(cell, operation)[places].sum())

    kinds = [str((own.work or {}).get("kind", "")) for own in bench.network.operations] or [""]
    times = times_of(goldens, fine=True)
    cycles = sum(run.cycles for run in goldens)
    strata, risks = [], []
    for storage in campaign.faults.kinds:
        pieces = [piece for piece in pieces_of(bench.sites) if piece[0].kind == storage]
        if not pieces:
            continue
        rows = [
            (place, time, sum(lengths) * bits, risk(cell, kinds[min(time, len(kinds) - 1)]))
            for place, (cell, _, bits) in enumerate(pieces)
            for time, (_, _, lengths) in enumerate(times)
            if sum(lengths)
        ]
        levels = risk_levels([row[2] for row in rows], [row[3] for row in rows], LEVELS[storage])
        members: dict[tuple[str, int, int], list[tuple[int, float]]] = {}
        for (place, time, _, own), level in zip(rows, levels.tolist(), strict=True):
            members.setdefault((pieces[place][0].block, level, time), []).append((place, own))
        for (block, level, time), those in sorted(members.items()):
            operation, starts, lengths = times[time]
            first, bits = np.array([pieces[place][1:] for place, _ in those], dtype=np.int64).T
            ends = np.cumsum(bits)
            name = f"{block}/{storage}/risk {level + 1}/{operation}"
            population = Stratum(name, int(ends[-1]), lengths)
            strata.append(
                FaultStratum(
                    *(block, storage, f"risk {level + 1}", "", operation, population, starts),
                    *(first, ends, bits, sum(lengths) / cycles),
                )
            )
            risks.append(float(np.average([own for _, own in those], weights=bits)))
    return Population(campaign.seed, campaign.faults.clusters, tuple(strata), tuple(risks))


def pieces_of(sites: SiteTable) -> Iterator[tuple[SensitivityCell, int, int]]:
    """Yield cell, first site and number of sites of all storage, in pieces of one cell."""
    cells = cell_of_elements(
        (e.path, str(e.kind), block_name(e.block), e.register_class) for e in sites.elements
    )
    for index, (element, offset) in enumerate(zip(sites.elements, sites.offsets, strict=False)):
        cell = cells[element.path]
        for first, bits, _ in sites.pieces(index):
            if cell.kind == "sram":
                yield cell, first, bits
                continue
            for start, count, number in chunks(first - offset, bits):
                chunk = SensitivityCell(cell.kind, cell.block, cell.register_class, cell.register, number)
                yield chunk, offset + start, count
