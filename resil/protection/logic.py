# SPDX-License-Identifier: Apache-2.0
"""Faults in logic beside storage, where a run of them was named: copies of blocks cover them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from resil.record.logic_share import TOTAL, LogicShare
from resil.record.summary import Summary

TRANSIENT, PERMANENT = "transient", "permanent"


@dataclass(frozen=True, slots=True)
class LogicCover:
    """What a copy of a block makes of the pulses in its logic, at the weak ends of its option.

    Attributes:
        residual: Share of the hazardous and of the reported pulses that stays as it was.
        due_of_raw: Detected failures that it makes, as a share of all pulses, harmful or not, those of the
            copy included.
        due_kept: Share of the detected failures that were there before and remain.
    """

    residual: float = 1.0
    due_of_raw: float = 0.0
    due_kept: float = 1.0


@dataclass(frozen=True, slots=True)
class PulseRates:
    """Rates of pulses, or of permanent faults, in FIT.

    Upper limits of blocks hold together, those of all logic by themselves.

    Attributes:
        raw: Of all pulses.
        fit: That are hazardous.
        fit_hi: Its upper limit.
        due: That are detected.
        due_hi: Its upper limit.
    """

    raw: float = 0.0
    fit: float = 0.0
    fit_hi: float = 0.0
    due: float = 0.0
    due_hi: float = 0.0

    def scaled(self, factor: float) -> PulseRates:
        """Return them at another raw rate of pulses."""
        return PulseRates(*(factor * own for own in (self.raw, self.fit, self.fit_hi, self.due, self.due_hi)))

    def under(self, cover: LogicCover) -> PulseRates:
        """Return what a copy leaves of them: the raw rate is not enlarged by that of the copy."""
        made = cover.due_of_raw * self.raw
        return PulseRates(
            self.raw,
            cover.residual * self.fit,
            cover.residual * self.fit_hi,
            cover.due_kept * self.due + made,
            cover.due_kept * self.due_hi + made,
        )


@dataclass(frozen=True)
class BlockLogic:
    """Pulses, or permanent faults, in the logic of each block, at one raw rate of them.

    Attributes:
        credited: Rates by block where alarms that there are count as detection.
        unaided: The same where they do not, so that nothing is detected.
        whole: Both of all logic.
        ends: Factors of all of these at the lowest and at the highest raw rates.
    """

    credited: Mapping[str, PulseRates]
    unaided: Mapping[str, PulseRates]
    whole: tuple[PulseRates, PulseRates]
    ends: tuple[float, float] = (1.0, 1.0)

    def scaled(self, factor: float) -> BlockLogic:
        """Return it at another raw rate of pulses."""
        credited, unaided = (
            {block: own.scaled(factor) for block, own in of.items()} for of in (self.credited, self.unaided)
        )
        one, other = self.whole
        return replace(
            self, credited=credited, unaided=unaided, whole=(one.scaled(factor), other.scaled(factor))
        )

    def counted(self, *, flagged: bool, watched: bool) -> tuple[Mapping[str, PulseRates], PulseRates]:
        """Return the rates by block, and of all logic, as mechanisms of the whole NPU count them.

        A watchdog is credited with no pulse, and may report each that is hazardous: some of these are hangs.

        Args:
            flagged: What alarms report counts as detected.
            watched: There is a watchdog that reports in time.
        """
        own, whole = (self.credited, self.whole[0]) if flagged else (self.unaided, self.whole[1])
        if not watched:
            return own, whole
        return {block: _watched(rates) for block, rates in own.items()}, _watched(whole)

    def left(
        self, covers: Mapping[str, LogicCover], *, flagged: bool = True, watched: bool = False
    ) -> PulseRates:
        """Return what is left where some blocks are copied.

        Where none is the limits of all logic are the narrower ones, and hold too.
        """
        own, whole = self.counted(flagged=flagged, watched=watched)
        blocks = [rates.under(covers.get(block, LogicCover())) for block, rates in own.items()]
        found = together(blocks)
        if set(covers) & set(own):
            return found
        return narrower(found, whole)


def together(blocks: Iterable[PulseRates]) -> PulseRates:
    """Return the sum of rates; their upper limits hold together."""
    own = list(blocks)
    return PulseRates(
        sum(o.raw for o in own),
        sum(o.fit for o in own),
        sum(o.fit_hi for o in own),
        sum(o.due for o in own),
        sum(o.due_hi for o in own),
    )


def narrower(blocks: PulseRates, whole: PulseRates) -> PulseRates:
    """Return the sum of blocks of which none is copied, with the limits of all logic where they are lower."""
    return replace(
        blocks,
        fit_hi=max(min(blocks.fit_hi, whole.fit_hi), blocks.fit),
        due_hi=max(min(blocks.due_hi, whole.due_hi), blocks.due),
    )


def _watched(own: PulseRates) -> PulseRates:
    return replace(own, due=own.due + own.fit, due_hi=own.due_hi + own.fit_hi)


def block_logic(summary: Summary, faults: str = TRANSIENT) -> BlockLogic | None:
    """Return what a run's results say of faults in logic; None where none were named, or nothing is known.

    Args:
        summary: Its results.
        faults: Pulses (`TRANSIENT`), or permanent faults (`PERMANENT`), which count in the same way.
    """
    rows = {row.block: row for row in summary.logic if row.faults == faults}
    if TOTAL not in rows:
        return None
    total = rows.pop(TOTAL)
    return BlockLogic(
        {block: _credited(row) for block, row in rows.items()},
        {block: _unaided(row) for block, row in rows.items()},
        (_credited(total), _unaided(total)),
        (total.logic_lowest, total.logic_highest),
    )


def _credited(row: LogicShare) -> PulseRates:
    return PulseRates(row.logic_raw, row.logic_fit, row.logic_joint, row.logic_due, row.logic_due_joint)


def _unaided(row: LogicShare) -> PulseRates:
    return PulseRates(row.logic_raw, row.logic_unaided, row.logic_unaided_joint)
