# SPDX-License-Identifier: Apache-2.0
"""Hazardous pulses in logic beside storage, where a run of them was named: copies of blocks cover them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.record.logic_share import TOTAL
from resil.record.summary import Summary

_TRANSIENT = "transient"


@dataclass(frozen=True)
class BlockLogic:
    """Hazardous rate in the logic of each block. Rates in FIT.

    Attributes:
        fit: By block, at the centre of the raw rates of pulses.
        fit_hi: Upper limit of each at their highest raw rates; they hold one by one.
        whole: Both of all logic.
    """

    fit: Mapping[str, float]
    fit_hi: Mapping[str, float]
    whole: tuple[float, float]

    def left(self, shares: Mapping[str, float]) -> tuple[float, float]:
        """Return what is left, and its upper limit, where these shares are left of some blocks.

        Without a copy the limit of all logic is the narrower one, and holds too.
        """
        fit, most = (sum(shares.get(b, 1.0) * own for b, own in of.items()) for of in (self.fit, self.fit_hi))
        copied = any(shares.get(block, 1.0) < 1.0 for block in self.fit)
        return fit, most if copied else max(min(most, self.whole[1]), fit)


def block_logic(summary: Summary) -> BlockLogic | None:
    """Return what a run's results say of pulses in logic; None where none were named, or nothing is known."""
    rows = {row.block: row for row in summary.logic if row.faults == _TRANSIENT}
    if TOTAL not in rows:
        return None
    total = rows.pop(TOTAL)
    return BlockLogic(
        {block: row.logic_fit for block, row in rows.items()},
        {block: row.logic_hi * row.logic_highest for block, row in rows.items()},
        (total.logic_fit, total.logic_hi * total.logic_highest),
    )
