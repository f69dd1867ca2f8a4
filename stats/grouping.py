# SPDX-License-Identifier: Apache-2.0
"""Which strata go into one group: as finely divided as the planned injections allow, by rules set before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from resil.stats.strata import Strata

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEWEST = 10


def group(
    strata: Strata, planned: FloatArray, level: IntArray | None = None, fewest: int = FEWEST
) -> IntArray:
    """Return the group of each stratum, numbered from 0.

    The strata of a block and kind are first divided by `level`, then by their finer labels one after the
    other, as long as each part has at least `fewest` planned injections; parts with fewer are joined with
    others of the same whole. More groups take the differences between strata out of the variance; groups with
    too few injections would widen the interval again.

    Args:
        strata: The population.
        planned: Injections planned for each stratum, fractions allowed, shape (strata,).
        level: Strata with different values are kept apart where that leaves enough; None for no such rule.
        fewest: Planned injections of a group, where the block and kind have as many.

    Examples:
        >>> labels = [("mac", "ff", c, o) for c in ("ctl", "acc") for o in ("op 0", "op 1")]
        >>> strata = Strata.of(labels, [1, 1, 1, 1], [99] * 4)
        >>> group(strata, np.array([2.0, 3, 15, 20]), fewest=5).tolist()
        [0, 0, 1, 2]
    """
    names, pool = strata.owners(2)
    codes = [strata.owners(depth)[1].tolist() for depth in range(1, len(strata.labels[0]) + 1)]
    each: list[float] = planned.tolist()
    owner, count = np.zeros(len(strata), dtype=np.int64), 0
    for place in range(len(names)):
        own = np.flatnonzero(pool == place)
        parts = [_PlannedStrata(sum(each[m] for m in own.tolist()), own.tolist())]
        if level is not None:
            own = own[np.argsort(level[own], kind="stable")]
            parts = _joined(_by(own.tolist(), level.tolist(), each), fewest)
        for part in parts:
            for found in _split(part, codes, each, 2, fewest):
                owner[found.members] = count
                count += 1
    return owner


class _PlannedStrata(NamedTuple):
    """Strata, and the injections planned for them."""

    planned: float
    members: list[int]

    def plus(self, other: _PlannedStrata) -> _PlannedStrata:
        return _PlannedStrata(self.planned + other.planned, self.members + other.members)


def _by(members: list[int], values: list[int], planned: list[float]) -> list[_PlannedStrata]:
    """Return the members with equal values, in the order in which the values first appear."""
    parts: dict[int, list[int]] = {}
    for member in members:
        parts.setdefault(values[member], []).append(member)
    return [_PlannedStrata(sum(planned[m] for m in part), part) for part in parts.values()]


def _split(
    part: _PlannedStrata, codes: list[list[int]], planned: list[float], depth: int, fewest: int
) -> list[_PlannedStrata]:
    if depth == len(codes) or part.planned < 2 * fewest:
        return [part]
    children = _by(part.members, codes[depth], planned)
    if len(children) == 1:
        return _split(part, codes, planned, depth + 1, fewest)
    parts = _joined([child for child in children if child.planned < fewest], fewest)
    for child in children:
        if child.planned >= fewest:
            parts += _split(child, codes, planned, depth + 1, fewest)
    if len(parts) > 1 and parts[0].planned < fewest:
        parts[:2] = [parts[0].plus(parts[1])]
    return parts


def _joined(parts: list[_PlannedStrata], fewest: int) -> list[_PlannedStrata]:
    """Join neighbours until each has enough; what is left at the end goes to the last that has."""
    groups: list[_PlannedStrata] = []
    for part in parts:
        if groups and groups[-1].planned < fewest:
            groups[-1] = groups[-1].plus(part)
        else:
            groups.append(part)
    if len(groups) > 1 and groups[-1].planned < fewest:
        last = groups.pop()
        groups[-1] = groups[-1].plus(last)
    return groups
