# SPDX-License-Identifier: Apache-2.0
"""How much of a target's hazardous rate lies in logic, by block, where both were injected."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record.blocks import LOGIC
from resil.record.logic_share import TOTAL, LogicShare
from resil.results.evidence import DUE, Class, Hazards, classes_of
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
        found += _shares("transient", grounds.by_block, grounds.hazardous, blocks, other, _ends(logic))
    if isinstance(permanent, NamedRun) and not permanent.without:
        ends = _ends(permanent)
        found += _shares("permanent", permanent.evidence, grounds.hazardous, blocks, None, ends)
    return tuple(found)


def _ends(run: NamedRun) -> tuple[float, float]:
    """Return the least and the largest factor of the rates of logic in its range."""
    factors = [own.get(LOGIC, 1.0) for own in run.rates.values()]
    return min(factors, default=1.0), max(factors, default=1.0)


def _shares(
    faults: str,
    evidence: Evidence,
    outcomes: frozenset[str],
    blocks: Sequence[str],
    other: float | None,
    ends: tuple[float, float],
) -> list[LogicShare]:
    # Cells may lie in no block, though all storage does: what is left out here would be missing from sums.
    known = {group.block for group in evidence.groups}
    places = [*(block for block in blocks if block in known), *sorted(known - set(blocks))]
    return [_share(faults, block, evidence, outcomes, other, ends, len(places)) for block in (*places, TOTAL)]


def _share(
    faults: str,
    block: str,
    evidence: Evidence,
    outcomes: frozenset[str],
    other: float | None,
    ends: tuple[float, float],
    blocks: int,
) -> LogicShare:
    def part(*, logic: bool) -> Evidence:
        def chosen(group: PooledGroup) -> bool:
            return (group.kind == LOGIC) == logic and block in (group.block, TOTAL)

        return evidence.where(chosen)

    names = classes_of(evidence)
    hazardous = Hazards(outcomes).among(names)
    bare = Hazards(outcomes, due_credited=False).among(names)
    detected = frozenset(name for name in names if Class.of(name).outcome == DUE)
    storage, cells = part(logic=False), part(logic=True)
    one, both = _rate(cells, hazardous), _rate(storage, hazardous)
    half = 0.5 + evidence.stated / 2.0
    low, high = _rate(cells.at(half), hazardous), _rate(storage.at(half), hazardous)
    estimate = _of(one.estimate, both.estimate)
    elsewise = None if other is None else one.estimate * other
    # Which blocks are left as they are is chosen by these limits, so they have to hold together.
    joint = cells if block == TOTAL else cells.at(1.0 - (1.0 - evidence.stated) / blocks)
    due, unaided = _rate(joint, detected), _rate(joint, bare)
    return LogicShare(
        faults=faults,
        block=block,
        storage_fit=both.estimate,
        storage_lo=both.lo,
        storage_hi=both.hi,
        logic_fit=one.estimate,
        logic_lo=one.lo,
        logic_hi=one.hi,
        logic_raw=cells.fit_raw,
        logic_joint=_rate(joint, hazardous).hi,
        logic_due=due.estimate,
        logic_due_joint=due.hi,
        logic_unaided=unaided.estimate,
        logic_unaided_joint=unaided.hi,
        logic_lowest=ends[0],
        logic_highest=ends[1],
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
