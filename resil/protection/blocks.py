# SPDX-License-Identifier: Apache-2.0
"""What a summary says about each block, as far as the choice of a protection needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.protection.options import OptionSet, ProtectionError
from resil.record import blocks as record
from resil.record.summary import Summary

# So that a sum of raised limits is not below the total by a last digit.
_ROUNDED_UP = 1.0 + 1e-12


@dataclass(frozen=True, slots=True)
class Hazard:
    """Rates of one kind of storage of a block, unprotected, in FIT.

    Attributes:
        fit: Estimate of the hazardous rate.
        fit_hi: Its upper limit at the joint confidence.
        fit_raw: Upset rate.
    """

    fit: float
    fit_hi: float
    fit_raw: float


@dataclass(frozen=True, slots=True)
class UnprotectedBlock:
    """A block of the unprotected design.

    Attributes:
        name: Of the block.
        area: In `area_unit`.
        ff_area: Part of it that is flip-flops; None if not known.
        sram_area: Part of it that is memories; None if not known.
        area_unit: "GE" or "um2".
        hazards: By kind of storage; kinds that were not injected into are missing.
    """

    name: str
    area: float
    ff_area: float | None
    sram_area: float | None
    area_unit: str
    hazards: Mapping[str, Hazard]


def read_blocks(summary: Summary, options: OptionSet) -> list[UnprotectedBlock]:
    """Return the blocks of a summary with upper limits that hold together.

    Their sum is never below the upper limit of the total: where it would be, since the total's interval
    allows for more than those of its parts do, all are raised by one factor.

    Args:
        summary: Of a run, or of an estimate.
        options: Source of cell areas.

    Raises:
        ProtectionError: the summary has no limits of storage that the campaign is about.
    """
    limits = {(entry.block, entry.kind): entry for entry in summary.limits if entry.bits}
    kinds = summary.campaign.kinds
    wanted = [(row.name, kind) for row in summary.blocks for kind in kinds if row.bits(kind)]
    if missing := [f"{block}/{kind}" for block, kind in wanted if (block, kind) not in limits]:
        raise ProtectionError(
            f"summary.json: expected limits of every block, found none of {', '.join(missing)}: what is not "
            "known is not safe; write it anew with 'resil run CAMPAIGN.toml --resume'",
            "blocks",
        )
    whole, joint = summary.total.fit_hi, sum(entry.fit_hi_joint for entry in limits.values())
    if whole > 0.0 and joint <= 0.0:
        raise ProtectionError(
            f"summary.json: expected limits of blocks that allow for the total's {whole:g} FIT, found none "
            "above 0; write it anew with 'resil run CAMPAIGN.toml --resume'",
            "total.fit",
        )
    factor = max(1.0, _ROUNDED_UP * whole / joint) if joint > 0.0 else 1.0
    hazards: dict[str, dict[str, Hazard]] = {}
    for (block, kind), entry in limits.items():
        hazards.setdefault(block, {})[kind] = Hazard(
            entry.fit.estimate or 0.0, factor * entry.fit_hi_joint, entry.fit_raw
        )
    return [_block(row, options, hazards.get(row.name, {})) for row in summary.blocks]


def _block(row: record.Block, options: OptionSet, hazards: Mapping[str, Hazard]) -> UnprotectedBlock:
    cell = options.cells.get(("ff", row.area_unit))
    ff_area = row.ff_bits * cell.area if cell else None if row.ff_bits else 0.0
    return UnprotectedBlock(row.name, row.area, ff_area, row.sram_area, row.area_unit, hazards)
