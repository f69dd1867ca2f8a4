# SPDX-License-Identifier: Apache-2.0
"""The groups of a design, divided and counted: what the estimates of a sample are made from.

Within a group injections are in proportion to the weights of its strata, so what of them falls on a part of a
group is a sample of that part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.designs import SamplingDesign
from resil.stats.strata import Strata

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StrataGroup:
    """What came of the injections into the strata of one block and kind that are analysed together.

    Attributes:
        block: Block.
        kind: Kind of storage.
        weight: Raw rate in FIT.
        share: Part of the raw rate of all strata of this block and kind.
        counts: Injections of each outcome.
        members: Faults that there are; None if they are never all known (`Strata.members`).
    """

    block: str
    kind: str
    weight: float
    share: float
    counts: Mapping[str, int]
    members: int | None = None


@dataclass(frozen=True, eq=False)
class GroupParts:
    """The groups of a design, each divided by the first names of the labels of its strata.

    Attributes:
        labels: These names of each part; of parts by kind of storage alone block "" and the kind.
        owner: Part of each stratum, shape (strata,).
    """

    labels: tuple[tuple[str, ...], ...]
    owner: IntArray

    def total(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums over the strata of each part, shape (parts,)."""
        own = np.asarray(values, dtype=np.float64)
        return np.bincount(self.owner, own, len(self.labels)).astype(np.float64)


def parts_by(strata: Strata, design: SamplingDesign, depth: int) -> GroupParts:
    """Return what a sample is counted by: within each part, injections are in proportion to weights.

    Args:
        strata: The population.
        design: With which the injections were drawn.
        depth: Names of a label that divide a group: at least 2, block and kind; 0 for the kind alone.
    """
    places: dict[tuple[int, tuple[str, ...]], int] = {}
    owner = []
    for own_group, label in zip(design.owner.tolist(), strata.labels, strict=True):
        key = (own_group, label[:depth] if depth else ("", label[1]))
        owner.append(places.setdefault(key, len(places)))
    return GroupParts(tuple(label for _, label in places), np.array(owner, dtype=np.int64))


def collapse(
    strata: Strata, design: SamplingDesign, counts: Mapping[str, npt.ArrayLike], by_block: bool = False
) -> tuple[StrataGroup, ...]:
    """Return the counted outcomes of the groups of a design.

    A group that spans several kinds of storage (of the uniform design) is divided by kind, or with
    `by_block` by block and kind: a part of a simple random sample is one of that part. Then block is "" where
    a group spans several.

    Args:
        strata: The population.
        design: With which the injections were drawn.
        counts: Injections of each outcome into each stratum, shapes (strata,).
        by_block: For estimates of blocks; leave it out for estimates of the total.

    Examples:
        >>> from resil.stats.designs import stratified_design
        >>> labels = [("mac", "ff", "a"), ("mac", "ff", "b"), ("wd", "ff", "a")]
        >>> strata = Strata.of(labels, [2, 1, 1], [99, 99, 99])
        >>> design = stratified_design(strata)
        >>> [(g.block, g.weight, g.counts["hang"]) for g in collapse(strata, design, {"hang": [1, 2, 0]})]
        [('mac', 3.0, 3), ('wd', 1.0, 0)]
    """
    parts = parts_by(strata, design, 2 if by_block or design.jitter else 0)
    kinds: dict[str, float] = {}
    for label, weight in zip(strata.labels, strata.weights.tolist(), strict=True):
        kinds[label[1]] = kinds.get(label[1], 0.0) + weight
    wholes = _pool_weights(strata) | {("", kind): weight for kind, weight in kinds.items()}
    return tuple(group for _, group in _counted(strata, parts, counts, wholes))


def parts_of(
    strata: Strata, design: SamplingDesign, counts: Mapping[str, npt.ArrayLike], depth: int
) -> list[tuple[tuple[str, ...], StrataGroup]]:
    """Return the counted outcomes of each part of a group whose labels agree in their first `depth` names.

    Within a group injections are in proportion to weights, so a part of a group is a sample of that part.

    Args:
        strata: The population.
        design: With which the injections were drawn.
        counts: Injections of each outcome into each stratum, shapes (strata,).
        depth: At least 2, block and kind.

    Returns:
        Label and part; its share is of all strata of its block and kind.

    Examples:
        >>> from resil.stats.designs import stratified_design
        >>> labels = [("mac", "ff", "a"), ("mac", "ff", "b"), ("wd", "ff", "a")]
        >>> strata = Strata.of(labels, [3, 1, 1], [99, 99, 99])
        >>> found = parts_of(strata, stratified_design(strata), {"hang": [1, 2, 0]}, 3)
        >>> [(label[2], part.share, part.counts["hang"]) for label, part in found]
        [('a', 0.75, 1), ('b', 0.25, 2), ('a', 1.0, 0)]
    """
    return _counted(strata, parts_by(strata, design, depth), counts, _pool_weights(strata))


def _counted(
    strata: Strata,
    parts: GroupParts,
    counts: Mapping[str, npt.ArrayLike],
    wholes: Mapping[tuple[str, str], float],
) -> list[tuple[tuple[str, ...], StrataGroup]]:
    """Return each part with its weight, its share of what is named in `wholes`, and its counts."""
    sizes = strata.members(parts.owner, len(parts.labels)).tolist()
    sums = {outcome: parts.total(own).astype(np.int64).tolist() for outcome, own in counts.items()}
    found = []
    for place, (label, weight) in enumerate(
        zip(parts.labels, parts.total(strata.weights).tolist(), strict=True)
    ):
        share = weight / wholes[label[0], label[1]] if weight else 0.0
        own = {outcome: each[place] for outcome, each in sums.items()}
        members = None if math.isinf(sizes[place]) else int(sizes[place])
        found.append((label, StrataGroup(label[0], label[1], weight, share, own, members)))
    return found


def _pool_weights(strata: Strata) -> dict[tuple[str, str], float]:
    """Return the raw rate of each block and kind of storage."""
    names, pool = strata.owners(2)
    weights = np.bincount(pool, strata.weights, len(names)).tolist()
    return {(block, kind): weight for (block, kind), weight in zip(names, weights, strict=True)}
