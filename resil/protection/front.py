# SPDX-License-Identifier: Apache-2.0
"""The whole front of added area against residual FIT, by dynamic programming over the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.protection.optimise import Choices

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FrontPoint:
    """A set that no other set beats in area and FIT both.

    Attributes:
        chosen: Index of the option of each block.
        area_added: Its area.
        fit_hi: Its upper bound of residual FIT.
    """

    chosen: tuple[int, ...]
    area_added: float
    fit_hi: float


def pareto_front(blocks: Sequence[Choices]) -> tuple[FrontPoint, ...]:
    """Return every non-dominated pair of added area and FIT, in ascending area, with one set for each.

    Sets are built block by block. A partial set that another beats or equals in both sums is dropped:
    whatever follows adds the same to both.

    Raises:
        ValueError: a block has no option.

    Examples:
        >>> from resil.protection.optimise import Candidate
        >>> mac = (Candidate("none", 0.0, 2.0), Candidate("silly", 95.0, 1.0), Candidate("dup", 90.0, 0.02))
        >>> [(p.area_added, p.fit_hi) for p in pareto_front([mac])]
        [(0.0, 2.0), (90.0, 0.02)]
    """
    if any(not choices for choices in blocks):
        raise ValueError("every block needs at least one option (none, say)")
    area, fit_hi = np.zeros(1), np.zeros(1)
    steps: list[tuple[IntArray, IntArray]] = []
    for choices in blocks:
        next_area = area[:, None] + np.array([c.area_added for c in choices])[None, :]
        next_fit = fit_hi[:, None] + np.array([c.fit_hi for c in choices])[None, :]
        kept = _non_dominated(next_area.ravel(), next_fit.ravel())
        area, fit_hi = next_area.ravel()[kept], next_fit.ravel()[kept]
        parent, option = np.divmod(kept, len(choices))
        steps.append((parent, option))
    return tuple(FrontPoint(_trace(steps, i), float(area[i]), float(fit_hi[i])) for i in range(len(area)))


def _non_dominated(area: FloatArray, fit_hi: FloatArray) -> IntArray:
    order = np.lexsort((np.arange(len(area)), fit_hi, area))
    sorted_fit = fit_hi[order]
    before = np.concatenate(([np.inf], np.minimum.accumulate(sorted_fit)[:-1]))
    return order[sorted_fit < before].astype(np.int64)


def _trace(steps: list[tuple[IntArray, IntArray]], last: int) -> tuple[int, ...]:
    chosen = []
    at = last
    for parent, option in reversed(steps):
        chosen.append(int(option[at]))
        at = int(parent[at])
    return tuple(reversed(chosen))
