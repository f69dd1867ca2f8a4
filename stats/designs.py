# SPDX-License-Identifier: Apache-2.0
"""Which strata are analysed together, and how the injections are shared out over these groups.

A design is fixed before the injections that it is used for; then each group of each block is one binomial
proportion (see `stats.strata.spread`), and `stats.weighted.weighted_sum` gives intervals for anything that
is a weighted sum over groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.allocation import allocate_shares
from resil.stats.errors import ArgumentError
from resil.stats.grouping import group
from resil.stats.strata import Strata, spread
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_STEPS = (None, 4.0, 2.0)
_DEFENSIVE = (1.0, 0.75, 0.5, 0.25)


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """Groups of strata and their shares.

    Attributes:
        owner: Group of each stratum, shape (strata,).
        shares: Part of the injections that each group gets, shape (groups,), sums to 1.
        jitter: Strata of a group are drawn with one point in each piece of the line (else independently).
    """

    owner: IntArray
    shares: FloatArray
    jitter: bool = True

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.shares)

    def total(self, values: npt.ArrayLike) -> FloatArray:
        """Return the sums over the strata of each group, shape (groups,)."""
        return np.bincount(self.owner, np.asarray(values, dtype=np.float64), self.groups).astype(np.float64)

    def injections(
        self, total: int, strata: Strata, drawn: npt.ArrayLike, seed: int, name: str, minimum: int = 0
    ) -> IntArray:
        """Return how many of the next `total` injections each stratum gets.

        Args:
            total: Injections of the batch; if fewer faults are left, those.
            strata: The population.
            drawn: Injections already made into each stratum, of whatever batch.
            seed: Of the campaign.
            name: Of the batch: another name gives other random points.
            minimum: Fewest in each block and kind (of the uniform design: in all), as far as the total goes.

        Returns:
            Shape (strata,).
        """
        room = strata.sizes - np.asarray(drawn, dtype=np.int64)
        members = [np.flatnonzero(self.owner == g) for g in range(self.groups)]
        capacity = np.array([int(room[own].sum(dtype=object)) for own in members], dtype=object)
        pool = np.array([strata.owners(2)[1][own[0]] if self.jitter else 0 for own in members])
        pools = [np.flatnonzero(pool == p) for p in np.unique(pool)]
        shares, rooms = [self.shares[p].sum() for p in pools], [capacity[p].sum() for p in pools]
        counts = np.zeros(len(strata), dtype=np.int64)
        for p, n in zip(pools, allocate_shares(min(total, sum(rooms)), shares, rooms, minimum), strict=True):
            for g, k in zip(p, allocate_shares(n, self.shares[p], capacity[p], min(minimum, 1)), strict=True):
                own = members[g]
                line = strata.weights if self.jitter else strata.sizes.astype(np.float64)
                counts[own] = spread(k, line[own], room[own], seed, f"{name}/{g}", self.jitter)
        return counts


def uniform_design(strata: Strata) -> SamplingDesign:
    """Return the design in which every fault of the population is as likely as any other.

    Raises:
        ValueError: two strata of one kind of storage differ in weight per fault.
    """
    kinds: dict[str, list[float]] = {}
    for label, weight, size in zip(
        strata.labels, strata.weights.tolist(), strata.sizes.tolist(), strict=True
    ):
        if size:
            kinds.setdefault(label[1], []).append(weight / size)
    for kind, each in kinds.items():
        if max(each) > min(each) * (1 + 1e-9):
            raise ArgumentError(
                f"uniform sampling needs weights in proportion to sizes within kind {kind}, found "
                f"{min(each):.6g} to {max(each):.6g} FIT a fault: use a stratified plan",
                "weights",
            )
    return SamplingDesign(np.zeros(len(strata), dtype=np.int64), np.ones(1), jitter=False)


def stratified_design(strata: Strata, injections: int = 0) -> SamplingDesign:
    """Return the design with shares proportional to the raw rate and groups as fine as that allows.

    Groups are blocks and kinds of storage, divided further where enough of the injections fall on each part
    (`stats.grouping.group`).

    Args:
        strata: The population.
        injections: How many are planned; with 0 the groups are blocks and kinds.
    """
    share = _normal(strata.weights)
    return _grouped(strata, share, injections, None)


def optimal_design(
    strata: Strata, rates: FloatArray, costs: FloatArray, injections: int, confidence: float = 0.95
) -> SamplingDesign:
    """Return the design that promises the narrowest interval of the total for the same cost.

    The strata of a block and kind are put into groups of similar intensity `sqrt(r (1 - r) / c)`, the
    factor in Neyman's allocation by which the number of injections per weight should differ; intensities are
    cut at steps of 2 or 4, or not at all, and groups divided further as in `stratified_design`. The shares
    are Neyman's, mixed with proportional ones (a quarter, a half, three quarters or all): a guess of "no
    events here" may be wrong, and the mixture bounds what that costs. Of all these designs, the one whose
    interval, reckoned at the expected counts, is narrowest is returned; proportional allocation is among
    them.

    Args:
        strata: The population.
        rates: Guess of each stratum's event rate, strictly between 0 and 1.
        costs: Guess of the mean cost of an injection, > 0.
        injections: How many proportional ones the cost would pay for.
        confidence: Of the interval.

    References:
        J. Neyman, J. Royal Stat. Soc. 97 (1934) 558-625; W. G. Cochran, Sampling Techniques, 3rd ed. (1977),
        sections 5.5 and 5A.8 (few strata are enough); T. Hesterberg, Technometrics 37 (1995) 185-194 (the
        defensive mixture).
    """
    money = injections * float((strata.weights * costs).sum()) / max(float(strata.weights.sum()), 1e-300)
    best, narrowest = stratified_design(strata, injections), np.inf
    for step in _STEPS:
        for proportional in _DEFENSIVE if step else (1.0, 0.5):
            design = _candidate(strata, rates, costs, step, proportional, injections)
            price = float((design.shares * _mean(design, strata, costs)).sum())
            width = expected_width(design, strata, rates, money / price, confidence)
            if width < narrowest * (1 - 1e-9):
                best, narrowest = design, width
    return best


def expected_width(
    design: SamplingDesign, strata: Strata, rates: FloatArray, injections: float, confidence: float
) -> float:
    """Return the width of the interval of `sum w_i p_i` if all counts are as expected."""
    lo, hi = expected_limits(design, strata, rates, injections, confidence)
    return hi - lo


def expected_limits(
    design: SamplingDesign, strata: Strata, rates: FloatArray, injections: float, confidence: float
) -> tuple[float, float]:
    """Return the limits of `sum w_i p_i` if all counts are as expected."""
    n = np.maximum(design.shares * injections, 1.0)
    found = weighted_sum(n * _mean(design, strata, rates), n, design.total(strata.weights), confidence)
    return found.lo, found.hi


def _mean(design: SamplingDesign, strata: Strata, values: FloatArray) -> FloatArray:
    weight = design.total(strata.weights)
    plain = design.total(values) / np.maximum(design.total(np.ones(len(strata))), 1.0)
    return np.where(
        weight > 0, design.total(strata.weights * values) / np.where(weight > 0, weight, 1.0), plain
    )


def _candidate(
    strata: Strata,
    rates: FloatArray,
    costs: FloatArray,
    step: float | None,
    proportional: float,
    injections: int,
) -> SamplingDesign:
    weights, intensity = strata.weights, np.sqrt(rates * (1.0 - rates) / costs)
    share = proportional * _normal(weights) + (1.0 - proportional) * _normal(weights * intensity)
    level = None
    if step is not None and np.any(weights > 0):
        typical = float((weights * intensity).sum()) / max(float(weights.sum()), 1e-300)
        level = np.round(np.log(intensity / typical) / np.log(step)).astype(np.int64)
    return _grouped(strata, share, injections, level)


def _grouped(strata: Strata, share: FloatArray, injections: int, level: IntArray | None) -> SamplingDesign:
    owner = group(strata, share * injections, level)
    return SamplingDesign(owner, _normal(np.bincount(owner, share).astype(np.float64)))


def _normal(values: FloatArray) -> FloatArray:
    total = float(values.sum())
    return values / total if total > 0.0 else np.full(values.shape, 1.0 / len(values))
