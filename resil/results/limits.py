# SPDX-License-Identifier: Apache-2.0
"""Limits of every block and kind of storage that hold all together: what a choice of protection rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from resil.record.blocks import PartLimit
from resil.results.figures import shown
from resil.results.over_inputs import PerInput, fit_over_inputs
from resil.stats.intervals import Interval
from resil.stats.rates import StratumCounts, fit, raw_fit


def part_limits(
    strata: Sequence[StratumCounts],
    inputs: PerInput | None,
    fit_per_bit: Mapping[str, float],
    hazardous: Sequence[str],
    confidence: float,
) -> tuple[PartLimit, ...]:
    """Return the hazardous FIT of each block and kind of storage, as entries of `limits` in `summary.json`.

    They are of the same kind as the run's own intervals: for inputs like these if those are, and with the
    confidence that looks at the results have left. With m parts each joint limit has the error
    `(1 - confidence) / (2 m)` (Bonferroni), so that all hold together as often as one upper limit of `fit`.

    Args:
        strata: Counts of all inputs together.
        inputs: The same of each input, if intervals are for inputs like these; else None.
        fit_per_bit: Raw rate of one bit, by kind.
        hazardous: Outcomes that count as failures.
        confidence: Of the run's intervals as they are reckoned.
    """
    parts = list(dict.fromkeys((s.block, s.kind) for s in strata))
    joint = 1.0 - (1.0 - confidence) / max(len(parts), 1)

    def interval(part: tuple[str, str], level: float) -> Interval:
        if inputs is None:
            own = [s for s in strata if (s.block, s.kind) == part]
            return fit(own, fit_per_bit, hazardous, level)
        each = [[s for s in counts if (s.block, s.kind) == part] for counts in inputs]
        return fit_over_inputs(each, fit_per_bit, hazardous, level).interval

    return tuple(
        PartLimit(
            block=part[0],
            kind=part[1],
            bits=round(sum(s.exposure for s in strata if (s.block, s.kind) == part)),
            fit_raw=raw_fit([s for s in strata if (s.block, s.kind) == part], fit_per_bit),
            fit=shown(interval(part, confidence)),
            fit_hi_joint=interval(part, joint).hi,
            predicted=False,
        )
        for part in parts
    )
