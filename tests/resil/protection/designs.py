# SPDX-License-Identifier: Apache-2.0
"""Small made designs and networks for the choice over units."""

import numpy as np

from resil.protection.blocks import UnprotectedBlock
from resil.protection.items import ProtectableDesign
from resil.protection.options import load_options
from resil.protection.risks import OUTCOME_KINDS, Network
from resil.protection.units import Granularity, ProtectableStorage, cells_of, units_of
from resil.protection.watchdog_pace import WatchdogPace
from resil.record.campaign_facts import CampaignRecord, TargetRecord
from resil.record.summary import Summary

# What the assumptions of a plan read of a summary.
SUMMARY = Summary.model_construct(
    logic=(),
    estimate=None,
    campaign=CampaignRecord.model_construct(kinds=("ff", "macro", "sram"), clusters=(1.0,)),
    target=TargetRecord.model_construct(ff_bits=1, macro_bits=1, sram_bits=1),
)

# Operations of at most 100 of 1,000 cycles: a watchdog of 150 cycles detects hangs before the time-out.
PACE = WatchdogPace(100, 1000, 2000)


def storage_of(registers):
    """Return storage from (path, bits, kind, block, class)."""
    columns = [[], [], [], [], []]
    for path, bits, kind, block, role in registers:
        for column, value in zip(columns, (path, None, kind, block, role), strict=True):
            column += list(range(bits)) if value is None else [value] * bits
    text = [np.array(column, dtype=object) for column in columns]
    return ProtectableStorage(
        text[0], np.array(columns[1], dtype=np.int64), *text[2:], {r[0]: r[1] for r in registers}
    )


def design_of(storage, granularity=Granularity.GROUP, options=None, exclude=(), buildable=False, limit=150):
    cells = cells_of(storage)
    known = load_options(options)
    for name in exclude:
        del known.options[name]
    blocks, bits = {}, {}
    for name in dict.fromkeys(cells.block):
        for kind in ("ff", "sram"):
            bits[name, kind] = int(((storage.block == name) & (storage.kind == kind)).sum())
        flops, memory = 6.667 * bits[name, "ff"], 0.66 * bits[name, "sram"]
        blocks[name] = UnprotectedBlock(name, 3.0 * flops + memory, flops, memory, "GE", {})
    area = sum(block.area for block in blocks.values())
    units, by_block = units_of(storage, cells, granularity), granularity is Granularity.BLOCK
    return ProtectableDesign(
        cells, units, blocks, bits, "GE", area, known, buildable, limit=limit, by_block=by_block
    )


def network_of(
    storage, rates, injections, rng, name="made", hazardous=("sdc_critical", "hang"), fit=1e-4, pace=PACE
):
    """Return a network with outcomes drawn from rates of each bit, shape (bits, OUTCOME_KINDS)."""
    bit = rng.integers(0, len(storage), injections)
    edges = np.cumsum(rates, axis=1)[bit]
    outcome = np.minimum((rng.random(injections)[:, None] > edges).sum(axis=1), OUTCOME_KINDS - 1)
    owners = set(zip(storage.block.tolist(), storage.kind.tolist(), strict=True))
    raw = dict.fromkeys(owners, fit)
    return Network(name, bit, outcome, np.arange(injections), raw, 0.95, hazardous, pace)


def rates_of(storage, harmful, hang=0.0, detected=0.0):
    """Return outcomes of each bit from its rate of harm, of hangs and of harm that is detected."""
    rates = np.zeros((len(storage), OUTCOME_KINDS))
    rates[:, 1], rates[:, 2], rates[:, 3] = harmful, hang, detected
    rates[:, 0] = 1.0 - rates.sum(axis=1)
    return rates
