# SPDX-License-Identifier: Apache-2.0
"""The choice of one option per block: least area within the limits.

Every option of a block has an added area and an upper bound of the residual FIT; both add up over blocks. So
the choice is a multiple-choice knapsack, solved as a mixed-integer linear programme by HiGHS, whose dual
bound is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from resil.protection.least_area import BoolArray, Programme

_RESOLUTION = 1e-9


@dataclass(frozen=True, slots=True)
class Candidate:
    """An option for a block.

    Attributes:
        option: Its name.
        area_added: Area that it adds, >= 0.
        fit_hi: Upper bound of the hazardous FIT that remains, >= 0.
        fit_raw: Raw FIT that remains, the denominator of SPFM.
        ends: For each kind of storage, what remains (hazardous bound, raw) at either end of the range of
            the hardening: SPFM is bounded at the worse of them. Empty where there is no range.
    """

    option: str
    area_added: float
    fit_hi: float
    fit_raw: float = 0.0
    ends: tuple[tuple[tuple[float, float], tuple[float, float]], ...] = ()

    def __post_init__(self) -> None:
        if not all(0.0 <= v < float("inf") for v in (self.area_added, self.fit_hi, self.fit_raw)):
            raise ValueError(f"area and FIT of an option are finite and >= 0, found {self}")


Choices = tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the chosen set has to keep; None where nothing is asked.

    Attributes:
        budget_fit: Largest sum of `fit_hi`.
        spfm: Smallest lower bound of SPFM, `1 - sum fit_hi / sum fit_raw`, over all ranges of hardening.
    """

    budget_fit: float | None = None
    spfm: float | None = None

    def kept_by(self, chosen: Sequence[Candidate]) -> bool:
        """Whether a set keeps the limits, in the arithmetic of this machine and without tolerance."""
        if self.budget_fit is not None and sum(c.fit_hi for c in chosen) > self.budget_fit:
            return False
        return self.spfm is None or sum(self._excess(c) for c in chosen) <= 0.0

    def rows(self, candidates: Sequence[Candidate]) -> list[tuple[list[float], float]]:
        """Return the limits as rows of coefficients with the largest value of each."""
        found = []
        if self.budget_fit is not None:
            found.append(([c.fit_hi for c in candidates], self.budget_fit))
        if self.spfm is not None:
            found.append(([self._excess(c) for c in candidates], 0.0))
        return found

    def _excess(self, candidate: Candidate) -> float:
        most = 1.0 - (self.spfm or 0.0)
        if not candidate.ends:
            return candidate.fit_hi - most * candidate.fit_raw
        return sum(max(fit - most * raw for fit, raw in kind) for kind in candidate.ends)


def least_spfm(chosen: Sequence[Candidate]) -> float | None:
    """Return the lower bound of SPFM of a set, over all ranges of hardening; None without a raw rate.

    Examples:
        A cell that leaves a tenth to a half of the upsets, beside storage as it is:

        >>> hardened = Candidate("hardened", 0.0, 0.5, 10.0, (((0.1, 2.0), (0.5, 10.0)),))
        >>> round(least_spfm([hardened, Candidate("none", 0.0, 0.9, 10.0)]), 6)
        0.916667
    """
    if sum(c.fit_raw for c in chosen) <= 0.0:
        return None
    lo, hi = 0.0, 1.0
    if not Limits(spfm=lo).kept_by(chosen):
        return 0.0
    for _ in range(60):
        middle = 0.5 * (lo + hi)
        lo, hi = (middle, hi) if Limits(spfm=middle).kept_by(chosen) else (lo, middle)
    return hi if Limits(spfm=hi).kept_by(chosen) else lo


@dataclass(frozen=True, slots=True)
class Solution:
    """A set of least area.

    Attributes:
        chosen: Index of the option of each block.
        area_added: Its area.
        fit_hi: Its upper bound of residual FIT.
        bound: Area that no set within the limits can go below, as proven by the solver.
        gap: `(area_added - bound) / area_added`; 0 when proven optimal.
    """

    chosen: tuple[int, ...]
    area_added: float
    fit_hi: float
    bound: float
    gap: float


def least_area(blocks: Sequence[Choices], limits: Limits) -> Solution | None:
    """Return the set of least area within the limits, of equals one of least FIT; None if there is none.

    The solver works with tolerances. A set that it proposes and that breaks a limit without them is cut off
    and the search goes on; so the limits are kept exactly, and the area is least to within 1e-9 of the
    largest.

    Args:
        blocks: Options of each block, at least one each.
        limits: What to keep.

    Raises:
        ValueError: a block has no option.
        RuntimeError: the solver gave up.

    Examples:
        >>> ram = (Candidate("none", 0.0, 5.0), Candidate("secded", 20.0, 0.05))
        >>> mac = (Candidate("none", 0.0, 2.0), Candidate("duplicate", 90.0, 0.02))
        >>> least_area([ram, mac], Limits(budget_fit=2.1))
        Solution(chosen=(1, 0), area_added=20.0, fit_hi=2.05, bound=20.0, gap=0.0)
    """
    if any(not choices for choices in blocks):
        raise ValueError("every block needs at least one option (none, say)")
    flat = [c for choices in blocks for c in choices]
    starts = np.cumsum([0, *(len(choices) for choices in blocks)])
    area = np.array([c.area_added for c in flat], dtype=np.float64)
    fit_hi = np.array([c.fit_hi for c in flat], dtype=np.float64)
    budget = np.inf if limits.budget_fit is None else limits.budget_fit
    sets = [np.arange(low, high) for low, high in pairwise(starts.tolist())]
    programme = Programme(len(flat), sets, fit_hi <= budget)
    for coefficients, most in limits.rows(flat):
        programme.add_limit(np.array(coefficients, dtype=np.float64), most)

    def taken(chosen: BoolArray) -> list[Candidate]:
        return [flat[i] for i in np.flatnonzero(chosen)]

    found = programme.least(area, lambda chosen: limits.kept_by(taken(chosen)))
    if found is None:
        return None
    best = _sums(taken(found.chosen))
    programme.add_limit(area, best[0])

    def as_small(chosen: BoolArray) -> bool:
        return _sums(taken(chosen))[0] <= best[0] and limits.kept_by(taken(chosen))

    finest = programme.least(fit_hi, as_small, most_refused=100)
    chosen = found.chosen
    if finest is not None and _sums(taken(finest.chosen))[::-1] < best[::-1]:
        chosen = finest.chosen
    area_added, residual = _sums(taken(chosen))
    indices = tuple(int(np.flatnonzero(chosen[own])[0]) for own in sets)
    bound = min(found.bound, area_added)
    if area_added - bound <= _RESOLUTION * float(area.max(initial=0.0)):
        return Solution(indices, area_added, residual, area_added, 0.0)
    return Solution(indices, area_added, residual, bound, (area_added - bound) / area_added)


def _sums(candidates: Sequence[Candidate]) -> tuple[float, float]:
    return float(sum(c.area_added for c in candidates)), float(sum(c.fit_hi for c in candidates))
