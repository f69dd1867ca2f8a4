"""The choice of one option per block: least area within the limits.

Every option of a block has an added area and an upper bound of the residual FIT; both add up over blocks. So
the choice is a multiple-choice knapsack, solved as a mixed-integer linear programme by HiGHS, whose dual
bound is the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp

FloatArray = npt.NDArray[np.float64]

_SCALE = 1e3
_RESOLUTION = 1e-9
# Steps that a limit is divided into for the solver.
_STEPS = 2.0**30


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
    programme = _Programme(blocks, limits)
    while (found := programme.solve(programme.area)) is not None:
        if limits.kept_by(programme.candidates(found.chosen)):
            break
        programme.forbid(found.chosen)
    if found is None:
        return None
    chosen = _least_fit(programme, limits, found.chosen)
    area, fit_hi = _sums(programme.candidates(chosen))
    bound = min(found.bound, area)
    if area - bound <= _RESOLUTION * float(programme.area.max(initial=0.0)):
        return Solution(chosen, area, fit_hi, area, 0.0)
    return Solution(chosen, area, fit_hi, bound, (area - bound) / area)


def _least_fit(programme: _Programme, limits: Limits, chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Return, among sets with the area of `chosen`, one of least FIT that keeps the limits."""
    best = _sums(programme.candidates(chosen))
    programme.add_row(programme.area, best[0])
    for _ in range(100):
        other = programme.solve(programme.fit_hi)
        if other is None:
            break
        candidates = programme.candidates(other.chosen)
        area, fit_hi = _sums(candidates)
        if area <= best[0] and limits.kept_by(candidates):
            return other.chosen if fit_hi < best[1] or area < best[0] else chosen
        programme.forbid(other.chosen)
    return chosen


def _sums(candidates: Sequence[Candidate]) -> tuple[float, float]:
    return float(sum(c.area_added for c in candidates)), float(sum(c.fit_hi for c in candidates))


@dataclass(frozen=True, slots=True)
class _Found:
    chosen: tuple[int, ...]
    bound: float


class _Programme:
    """The programme: one binary variable for each option, options that alone break the budget left out."""

    def __init__(self, blocks: Sequence[Choices], limits: Limits) -> None:
        self._blocks = blocks
        self._flat = [c for choices in blocks for c in choices]
        self._starts = np.cumsum([0, *(len(choices) for choices in blocks)])
        self.area = np.array([c.area_added for c in self._flat], dtype=np.float64)
        self.fit_hi = np.array([c.fit_hi for c in self._flat], dtype=np.float64)
        self._rows: list[FloatArray] = []
        self._most: list[float] = []
        self._least: list[float] = []
        budget = np.inf if limits.budget_fit is None else limits.budget_fit
        self._upper = (self.fit_hi <= budget).astype(np.float64)
        for start, end in zip(self._starts[:-1], self._starts[1:], strict=True):
            one = np.zeros(len(self._flat))
            one[start:end] = 1.0
            self._append(one, 1.0, 1.0)
        for coefficients, most in limits.rows(self._flat):
            self.add_row(np.array(coefficients, dtype=np.float64), most)

    def add_row(self, coefficients: FloatArray, most: float) -> None:
        """Ask that `coefficients @ x <= most`, in whole steps, each coefficient rounded down.

        So no set that keeps the limit is lost: with figures of many sizes in a row the solver's presolve
        rounds too, and not to the safe side. What keeps the row alone is found by `Limits.kept_by`.
        """
        useful = coefficients * self._upper
        unit = max(most, float(np.abs(useful).max(initial=0.0))) or 1.0
        self._append(np.floor(useful / unit * _STEPS), -np.inf, np.ceil(most / unit * _STEPS))

    def forbid(self, chosen: tuple[int, ...]) -> None:
        """Cut one set off."""
        row = np.zeros(len(self._flat))
        row[self._starts[:-1] + np.array(chosen, dtype=np.int64)] = 1.0
        self._append(row, -np.inf, len(chosen) - 1.0)

    def candidates(self, chosen: tuple[int, ...]) -> list[Candidate]:
        """Return the options of a set."""
        return [choices[i] for choices, i in zip(self._blocks, chosen, strict=True)]

    def solve(self, objective: FloatArray) -> _Found | None:
        """Return a set that minimises `objective`, with the proven bound; None if there is none."""
        if not self._blocks:
            return _Found((), 0.0)
        unit = float(objective.max()) or 1.0
        result = milp(
            objective / unit * _SCALE,
            integrality=np.ones(len(objective)),
            bounds=Bounds(0.0, self._upper),
            constraints=LinearConstraint(np.array(self._rows), self._least, self._most),
            options={"mip_rel_gap": 0.0},
        )
        if result.status == 2:
            return None
        if result.x is None or result.status != 0:
            raise RuntimeError(f"the solver HiGHS gave up: {result.message}")
        chosen = tuple(
            int(np.argmax(result.x[start:end]))
            for start, end in zip(self._starts[:-1], self._starts[1:], strict=True)
        )
        return _Found(chosen, float(result.mip_dual_bound) / _SCALE * unit)

    def _append(self, row: FloatArray, least: float, most: float) -> None:
        self._rows.append(row)
        self._least.append(least)
        self._most.append(most)
