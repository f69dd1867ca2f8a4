# SPDX-License-Identifier: Apache-2.0
"""A run or an estimate as its summary has it: the upper limits of all blocks together, by kind of storage."""

from __future__ import annotations

import numpy as np

from resil.folder.finished import Finished
from resil.protection.blocks import UnprotectedBlock
from resil.protection.logic import block_logic
from resil.protection.risks import Network, RateLimits
from resil.protection.units import Cells


def cells_of_limits(found: Finished) -> Cells:
    """Return what the limits of a summary keep apart: the storage of one kind in one block is a cell."""
    own = [entry for entry in found.summary.limits if entry.bits]
    numbers = np.arange(len(own), dtype=np.int64)
    blocks = tuple(entry.block for entry in own)
    return Cells(
        np.empty(0, dtype=np.int64),
        (numbers,) * 4,
        tuple(entry.kind for entry in own),
        blocks,
        blocks,
        np.zeros(len(own), dtype=np.int64),
        np.array([entry.bits for entry in own], dtype=np.int64),
    )


def network_of_limits(found: Finished, blocks: dict[str, UnprotectedBlock], cells: Cells) -> Network:
    """Return a run or an estimate as it is judged by limits.

    Args:
        found: Its results.
        blocks: With limits raised so that they allow for the total's (`blocks.read_blocks`).
        cells: As `cells_of_limits` has them.
    """
    summary = found.summary
    hazards = [blocks[b].hazards[k] for b, k in zip(cells.block, cells.kind, strict=True)]
    total, empty = summary.total, np.empty(0, dtype=np.int64)
    return Network(
        summary.network.name,
        empty,
        empty,
        empty,
        {
            key: hazard.fit_raw / int(bits)
            for key, hazard, bits in zip(
                zip(cells.block, cells.kind, strict=True), hazards, cells.bits, strict=True
            )
        },
        summary.campaign.confidence,
        tuple(summary.campaign.hazardous),
        limits=RateLimits(
            np.array([own.fit for own in hazards]),
            np.array([own.fit_hi for own in hazards]),
            (total.fit, total.fit_hi),
            total.injections,
            cells.kind,
        ),
        clusters=tuple(summary.campaign.clusters),
        labels=tuple(summary.campaign.inputs),
        population=summary.verdict.population,
        logic=block_logic(summary),
    )
