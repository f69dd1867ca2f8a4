# SPDX-License-Identifier: Apache-2.0
"""The strata of a population, and how injections are spread over strata that are analysed together.

Hundreds of strata (block x kind x register class x operation) with a handful of injections each cannot be
analysed one by one: every stratum without an event adds its own upper limit. They need not be. If the
strata of a group are drawn in proportion to their weights, the group behaves as one stratum: each injection
hits an event with the weighted mean rate of the group. `spread` draws so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from resil.stats.errors import ArgumentError
from resil.stats.sampling import MAX_SIZE, draw, uniforms

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Parts by which two raw rates of one fault may differ and be the same.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Strata:
    """A population, divided.

    Attributes:
        labels: What each stratum is, from coarse to fine: block, kind of storage, then anything (register
            class, operation). All of one length, at least 2, and no two equal.
        weights: Raw rate of each in FIT, shape (strata,): bits x FIT of a bit x share of the exposure time.
        sizes: Faults in each, shape (strata,), at most 2^62.
        listed: A fault is one of these and nothing besides: who has injected all of a stratum knows its
        rates.
            Not where something more of it is drawn, as the size of a cluster is.

    Raises:
        ValueError: a shape is wrong, a number is out of range, labels are equal or too short, or a stratum
            with weight has no fault.
    """

    labels: tuple[tuple[str, ...], ...]
    weights: FloatArray
    sizes: IntArray
    listed: bool = True

    @staticmethod
    def of(
        labels: Sequence[Sequence[str]], weights: npt.ArrayLike, sizes: npt.ArrayLike, *, listed: bool = True
    ) -> Strata:
        """Convert and check; see the class."""
        names = tuple(tuple(label) for label in labels)
        return Strata(names, np.asarray(weights, dtype=np.float64), np.asarray(sizes, dtype=np.int64), listed)

    def __post_init__(self) -> None:
        shape = (len(self.labels),)
        if self.weights.shape != shape or self.sizes.shape != shape or not self.labels:
            raise ArgumentError(
                f"strata need one label, weight and size each and there is at least one, found {shape[0]} "
                f"labels, weights of shape {self.weights.shape}, sizes of shape {self.sizes.shape}",
                "shape",
            )
        lengths = {len(label) for label in self.labels}
        if len(lengths) > 1 or min(lengths) < 2 or len(set(self.labels)) < shape[0]:
            raise ArgumentError(
                "labels are block, kind and the same number of finer names, and no two are equal", "labels"
            )
        if not (np.all(np.isfinite(self.weights)) and np.all(self.weights >= 0)):
            raise ArgumentError("weights need to be finite and >= 0", "weights")
        if not (np.all(self.sizes >= 0) and np.all(self.sizes <= MAX_SIZE)):
            raise ArgumentError("sizes lie between 0 and 2^62: divide larger strata", "sizes")
        if np.any((self.sizes == 0) & (self.weights > 0)):
            raise ArgumentError("a stratum with weight needs at least one fault", "sizes.weights")

    def __len__(self) -> int:
        return len(self.labels)

    def owners(self, depth: int) -> tuple[tuple[tuple[str, ...], ...], IntArray]:
        """Return the distinct labels cut to `depth` names, and for each stratum the place of its own."""
        return self._owners[depth - 1]

    def members(self, owner: IntArray, count: int) -> FloatArray:
        """Return the faults of each part; infinite of a part that is not known though all of it was injected.

        It is known once all its faults were injected, if each stands for as much of the raw rate: only then
        the share of its injections is that of its rate.

        Args:
            owner: Part of each stratum, shape (strata,).
            count: Of parts.
        """
        sizes = np.bincount(owner, self.sizes.astype(np.float64), count)
        weights = np.bincount(owner, self.weights, count)
        each = np.divide(weights, sizes, out=np.zeros(count), where=sizes > 0)[owner]
        apart = np.abs(self.weights - each * self.sizes) > _SAME * self.weights
        known = np.bincount(owner, apart, count) == 0
        return np.where(known & self.listed, sizes, np.inf)

    @cached_property
    def _owners(self) -> list[tuple[tuple[tuple[str, ...], ...], IntArray]]:
        found = []
        for depth in range(1, len(self.labels[0]) + 1):
            places: dict[tuple[str, ...], int] = {}
            owner = [places.setdefault(label[:depth], len(places)) for label in self.labels]
            found.append((tuple(places), np.array(owner, dtype=np.int64)))
        return found


def spread(
    total: int, weights: npt.ArrayLike, capacity: npt.ArrayLike, seed: int, name: str, jitter: bool = True
) -> IntArray:
    """Spread `total` injections over the strata of one group, each getting its share of weight on average.

    The weights are laid end to end on a line. With `jitter` the line is cut into `total` equal pieces and a
    uniformly random point is taken in each; without it all points are independent. A point is an injection
    into the stratum that it falls on. Either way injection i has an event with probability `r_i`, the
    injections are independent, and the mean of the `r_i` is exactly the weighted mean rate of the group.
    A count of such events varies at most as much as a binomial one (Hoeffding 1956), so that limits for a
    binomial proportion hold for it.

    Where a stratum would need more than a quarter of the faults that it has left, and weights are about
    proportional to these (as they are within a block and kind), the faults of the group themselves are drawn
    without replacement instead. If they are not, what a stratum cannot take goes to the others. Without any
    weight the faults left count.

    Args:
        total: Injections to spread.
        weights: Of the strata, shape (strata,), >= 0.
        capacity: Faults that each has left.
        seed: Of the campaign.
        name: Of this spreading; another name gives other random points.
        jitter: One point in each piece, or independent points.

    Returns:
        Injections into each stratum, shape (strata,).

    Raises:
        ValueError: more injections than faults are left.

    References:
        W. Hoeffding, "On the distribution of the number of successes in independent trials", Ann. Math.
        Stat. 27 (1956) 713-721.

    Examples:
        >>> spread(8, [4.0, 2.0, 1.0, 1.0], [10**9] * 4, seed=1, name="pilot/mac").tolist()
        [4, 2, 1, 1]
        >>> spread(3, [1.0] * 6, [10**9] * 6, seed=1, name="pilot/mac").tolist()
        [0, 1, 0, 1, 1, 0]
    """
    w, room = np.asarray(weights, dtype=np.float64), np.asarray(capacity, dtype=np.int64)
    left = int(room.sum(dtype=object)) if room.size else 0
    if total < 0 or total > left:
        raise ArgumentError(
            f"{total} injections were asked of strata that have {left} faults left: ask for fewer",
            "injections",
        )
    counts = np.zeros(w.shape, dtype=np.int64)
    if total == 0:
        return counts
    if not np.any(w[room > 0] > 0):
        w = room.astype(np.float64)
    if _nearly_used_up(total, w[room > 0], room[room > 0]) and left <= MAX_SIZE:
        picked = draw(seed, name, left, total)
        return np.bincount(np.searchsorted(np.cumsum(room), picked, side="right"), minlength=len(w))
    line = np.cumsum(np.where(room > 0, w, 0.0))
    random = uniforms(seed, name, total)
    points = (np.arange(total) + random) / total if jitter else random
    places = np.searchsorted(line, points * line[-1], side="right")
    last = int(np.flatnonzero(room > 0)[-1])
    counts = np.bincount(np.minimum(places, last), minlength=len(w)).astype(np.int64)
    excess = int(np.maximum(counts - room, 0).sum())
    if excess:
        counts = np.minimum(counts, room)
        counts = counts + spread(excess, w, room - counts, seed, name + "+", jitter)
    return counts


def _nearly_used_up(total: int, weights: FloatArray, room: IntArray) -> bool:
    density = weights / room
    much = np.any(total * weights / weights.sum() > room / 4.0)
    return bool(much and float(density.max()) <= 2.0 * float(density.min()))
