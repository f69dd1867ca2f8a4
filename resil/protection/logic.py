# SPDX-License-Identifier: Apache-2.0
"""What a chosen set does to pulses in logic, where a run of them was named: copies cover it."""

from __future__ import annotations

from resil.protection.choose import Candidate
from resil.protection.effects import Effect
from resil.protection.items import NPU, ProtectableDesign
from resil.protection.judge import JudgedSet
from resil.protection.options import KINDS
from resil.protection.risks import Network
from resil.record.logic_share import TOTAL
from resil.record.protection_parts import LogicLeft
from resil.record.summary import Summary

_TRANSIENT = "transient"


def logic_left(
    design: ProtectableDesign,
    summary: Summary,
    network: Network,
    chosen: Candidate | None,
    judged: JudgedSet,
    budget: float | None,
) -> LogicLeft | None:
    """Return what a set leaves of the hazardous rate in logic, at the centre of the raw rates of pulses.

    A block that is copied as a whole and compared, or the whole NPU, is credited with what the copy leaves at
    the weak end of its coverage. Hardened cells, parity, codes and copies of flip-flops alone guard what is
    stored: a pulse that they take in looks right to them, so they are credited with nothing.

    Args:
        design: What was chosen for.
        summary: Of the run, whose `logic` says what was found.
        network: Of the same run.
        chosen: The set; None if nothing was chosen.
        judged: What is left of storage.
        budget: In FIT; None if none was asked for.

    Returns:
        None where nothing is known of logic, or nothing was chosen.
    """
    rows = {row.block: row for row in summary.logic if row.faults == _TRANSIENT}
    if chosen is None or TOTAL not in rows:
        return None
    shares = _copied(design, chosen, network)
    total = rows.pop(TOTAL)
    kept = [(row, shares.get(row.block, 1.0)) for row in rows.values()]
    fit = sum(share * row.logic_fit for row, share in kept)
    # Limits of blocks hold one by one: without a copy that of the total is the narrower one, and holds too.
    most = sum(share * row.logic_hi for row, share in kept)
    fit_hi = most if any(share < 1.0 for _, share in kept) else max(total.logic_hi, fit)
    whole = judged.worst[1].fit.hi + fit_hi
    return LogicLeft(
        copied=tuple(sorted(block for block, share in shares.items() if share < 1.0 and block in rows)),
        fit_before=total.logic_fit,
        fit_hi_before=total.logic_hi,
        fit=fit,
        fit_hi=fit_hi,
        with_storage=judged.fit.estimate + fit,
        with_storage_hi=whole,
        within_budget=None if budget is None else whole <= budget,
    )


def _copied(design: ProtectableDesign, chosen: Candidate, network: Network) -> dict[str, float]:
    """Return the share that is left of the logic of each block that is copied as a whole."""
    found: dict[str, float] = {}
    for item in chosen.items:
        option = item.option
        if option is None or not item.block or not set(KINDS) <= set(option.protects):
            continue
        blocks = tuple(design.blocks) if item.block == NPU else (item.block,)
        share = Effect.of(option, KINDS[0], network.hazardous).residual
        found |= {block: min(share, found.get(block, 1.0)) for block in blocks}
    return found
