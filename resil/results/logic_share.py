# SPDX-License-Identifier: Apache-2.0
"""How much of a target's hazardous rate lies in logic, by block, where both were injected."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record.blocks import LOGIC
from resil.record.logic_share import TOTAL, LogicShare
from resil.results.evidence import Hazards, classes_of
from resil.results.grounds import Grounds
from resil.results.named_run import NamedRun
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.intervals import Interval


def logic_shares(grounds: Grounds, blocks: Sequence[str]) -> tuple[LogicShare, ...]:
    """Return the shares of transient and of permanent faults; nothing of faults whose logic is not known.

    Args:
        grounds: What the safety verdict rests on.
        blocks: Of the target, in the order in which they are to stand.
    """
    found: list[LogicShare] = []
    logic, permanent = grounds.logic, grounds.permanent
    if isinstance(logic, NamedRun):
        other = 1.0 / logic.derating if grounds.settings.derated else logic.derating
        found += _shares("transient", grounds.by_block, grounds.hazardous, blocks, other, _highest(logic))
    if isinstance(permanent, NamedRun) and not permanent.without:
        highest = _highest(permanent)
        found += _shares("permanent", permanent.evidence, grounds.hazardous, blocks, None, highest)
    return tuple(found)


def _highest(run: NamedRun) -> float:
    return max((factors.get(LOGIC, 1.0) for factors in run.rates.values()), default=1.0)


def _shares(
    faults: str,
    evidence: Evidence,
    outcomes: frozenset[str],
    blocks: Sequence[str],
    other: float | None,
    highest: float,
) -> list[LogicShare]:
    hazardous = Hazards(outcomes).among(classes_of(evidence))
    # Cells may lie in no block, though all storage does: what is left out here would be missing from sums.
    known = {group.block for group in evidence.groups}
    places = [*(block for block in blocks if block in known), *sorted(known - set(blocks))]
    return [_share(faults, block, evidence, hazardous, other, highest) for block in (*places, TOTAL)]


def _share(
    faults: str,
    block: str,
    evidence: Evidence,
    hazardous: frozenset[str],
    other: float | None,
    highest: float,
) -> LogicShare:
    def part(*, logic: bool) -> Evidence:
        def chosen(group: PooledGroup) -> bool:
            return (group.kind == LOGIC) == logic and block in (group.block, TOTAL)

        return evidence.where(chosen)

    storage, cells = part(logic=False), part(logic=True)
    one, both = _rate(cells, hazardous), _rate(storage, hazardous)
    half = 0.5 + evidence.stated / 2.0
    low, high = _rate(cells.at(half), hazardous), _rate(storage.at(half), hazardous)
    estimate = _of(one.estimate, both.estimate)
    elsewise = None if other is None else one.estimate * other
    return LogicShare(
        faults=faults,
        block=block,
        storage_fit=both.estimate,
        storage_lo=both.lo,
        storage_hi=both.hi,
        logic_fit=one.estimate,
        logic_lo=one.lo,
        logic_hi=one.hi,
        logic_highest=highest,
        share=estimate,
        share_lo=None if estimate is None else min(_of(low.lo, high.hi) or 0.0, estimate),
        share_hi=None if estimate is None else max(_of(low.hi, high.lo) or 0.0, estimate),
        other_logic_fit=elsewise,
        other_share=None if elsewise is None else _of(elsewise, both.estimate),
    )


def _rate(evidence: Evidence, hazardous: frozenset[str]) -> Interval:
    if not evidence.groups:
        return Interval(0.0, 0.0, 0.0, evidence.stated)
    return evidence.rate(hazardous)


def _of(logic: float, storage: float) -> float | None:
    return logic / (logic + storage) if logic + storage > 0.0 else None
