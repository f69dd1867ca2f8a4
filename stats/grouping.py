"""Which strata go into one group: as finely divided as the planned injections allow, by rules set before."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from stats.strata import Strata

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FEWEST = 10


def group(
    strata: Strata, planned: FloatArray, level: IntArray | None = None, fewest: int = FEWEST
) -> IntArray:
    """Return the group of each stratum, numbered from 0.

    The strata of a block and kind are first told apart by `level`, then by their finer labels one after the
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
    owner, count = np.zeros(len(strata), dtype=np.int64), 0
    for place in range(len(names)):
        own = np.flatnonzero(pool == place)
        if level is None:
            parts = [own]
        else:
            own = own[np.argsort(level[own], kind="stable")]
            parts = _joined(_by(own, level[own].tolist()), planned, fewest)
        for part in parts:
            for members in _split(part, strata, planned, 2, fewest):
                owner[members] = count
                count += 1
    return owner


def _by(members: IntArray, values: Iterable[str | int]) -> list[IntArray]:
    """Return the members with equal values, in the order in which the values first appear."""
    parts: dict[str | int, list[int]] = {}
    for member, value in zip(members.tolist(), values, strict=True):
        parts.setdefault(value, []).append(member)
    return [np.array(part, dtype=np.int64) for part in parts.values()]


def _split(members: IntArray, strata: Strata, planned: FloatArray, depth: int, fewest: int) -> list[IntArray]:
    if depth == len(strata.labels[0]) or float(planned[members].sum()) < 2 * fewest:
        return [members]
    children = _by(members, (strata.labels[m][depth] for m in members))
    if len(children) == 1:
        return _split(members, strata, planned, depth + 1, fewest)
    small = [child for child in children if float(planned[child].sum()) < fewest]
    parts = _joined(small, planned, fewest)
    for child in children:
        if float(planned[child].sum()) >= fewest:
            parts += _split(child, strata, planned, depth + 1, fewest)
    if len(parts) > 1 and float(planned[parts[0]].sum()) < fewest:
        parts[1] = np.sort(np.concatenate((parts[0], parts[1])))
        parts = parts[1:]
    return parts


def _joined(parts: list[IntArray], planned: FloatArray, fewest: int) -> list[IntArray]:
    """Join neighbours until each has enough; what is left at the end goes to the last that has."""
    groups: list[IntArray] = []
    for part in parts:
        if groups and float(planned[groups[-1]].sum()) < fewest:
            groups[-1] = np.concatenate((groups[-1], part))
        else:
            groups.append(part)
    if len(groups) > 1 and float(planned[groups[-1]].sum()) < fewest:
        last = groups.pop()
        groups[-1] = np.concatenate((groups[-1], last))
    return groups
