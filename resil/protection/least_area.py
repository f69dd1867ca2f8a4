# SPDX-License-Identifier: Apache-2.0
"""The programme behind every choice of protection: one option of each exclusive set, at least cost.

Solved as a mixed-integer linear programme by HiGHS, whose dual bound is the proof. The solver works with
tolerances, and its presolve rounds; so limits reach it in whole steps, each coefficient rounded to the loose
side. What it proposes is checked by the caller's own arithmetic, and cut off where that refuses it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
# Whether a choice, given as a mark for each option, keeps all limits.
Check = Callable[[BoolArray], bool]

_SCALE = 1e3
# Steps that a limit is divided into for the solver.
_STEPS = 2.0**30
# What the solver's tolerance of 1e-6 on whole numbers can hide of a limit, in steps.
_HIDDEN = 4e-6 * _STEPS
_TIME_OUT = 1
# Options from which on the programme is narrowed before it is solved.
LARGE = 1000
# Reduced costs, in parts of the relaxation's, up to which options are tried for a first choice; its gap.
_CORES = (3e-4, 3e-3, 3e-2)
_CORE_GAP = 1e-4
# Of the first choice that comes, where the time brought none.
_FIRST_GAP = 0.05
_LEAST_SECONDS = 0.01
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class LeastAreaChoice:
    """A choice.

    Attributes:
        chosen: Whether each option is taken, shape (options,).
        bound: What no choice within the limits costs less than.
    """

    chosen: BoolArray
    bound: float


class Programme:
    """Options, of which each exclusive set has exactly one.

    Args:
        options: How many there are.
        exclusive: Sets of options; an option may be in several, as that of a block is in those of its groups.
        allowed: Whether each option may be taken.
        large: Options from which on a first choice and the relaxation narrow the programme down before it is
            solved: as exact, and for thousands of options a hundred times faster.
    """

    def __init__(
        self, options: int, exclusive: Sequence[IntArray], allowed: BoolArray, large: int = LARGE
    ) -> None:
        self._options, self._large = options, large
        self._allowed = allowed
        sizes = [len(own) for own in exclusive]
        rows, columns = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([*exclusive, []]).astype(int)
        self._equal = csr_array((np.ones(len(columns)), (rows, columns)), shape=(len(sizes), options))
        self._limits: list[tuple[FloatArray, float]] = []
        self._cuts: list[FloatArray] = []

    def add_limit(self, coefficients: FloatArray, most: float) -> None:
        """Ask that `coefficients @ chosen <= most`, as far as whole steps show."""
        useful = np.where(self._allowed, coefficients, 0.0)
        unit = max(abs(most), float(np.abs(useful).max(initial=0.0))) or 1.0
        self._limits.append((useful / unit * _STEPS, most / unit * _STEPS))

    def forbid(self, chosen: BoolArray) -> None:
        """Cut one choice off."""
        self._cuts.append(chosen.astype(np.float64))

    def least(
        self,
        cost: FloatArray,
        keeps: Check,
        *,
        relative_gap: float = 0.0,
        seconds: float | None = None,
        proposals: int | None = None,
        most_refused: int | None = None,
    ) -> LeastAreaChoice | None:
        """Return a choice of least cost that `keeps` its limits; None if there is none.

        Args:
            cost: Of each option, >= 0.
            keeps: The limits, without tolerance.
            relative_gap: At which a proposal is good enough; the bound says what it leaves open.
            seconds: After which the best found so far is returned, or the first to come.
            proposals: After how many that break a limit by less than a step the limits are drawn tighter by
                as much as the solver may overlook. The bound stays that of the limits as they are; None for
                never: the choice is then exact.
            most_refused: After how many of these there is none; None for no such end.

        Raises:
            RuntimeError: The solver gave up.
        """
        started = monotonic()

        def left(share: float = 1.0) -> float | None:
            return (
                None if seconds is None else max(_LEAST_SECONDS, share * (seconds - (monotonic() - started)))
            )

        allowed, known = self._core(cost, keeps, left(0.3)) if self._options >= self._large else (None, None)
        refused, bound = 0, 0.0
        while True:
            tight = proposals is not None and refused >= proposals
            found = self._solve(cost, relative_gap, left(), tight=tight, allowed=allowed, known=known)
            if found is None and tight:
                tight = False
                found = self._solve(cost, relative_gap, left(), tight=False, allowed=allowed, known=known)
            if found is None:
                return known and LeastAreaChoice(known.chosen, float(cost @ known.chosen))
            bound = max(bound, 0.0 if tight else found.bound)
            if keeps(found.chosen):
                best = min((f for f in (known, found) if f is not None), key=lambda f: float(cost @ f.chosen))
                return LeastAreaChoice(best.chosen, min(bound, float(cost @ best.chosen)))
            refused += 1
            if refused == most_refused:
                return None
            self.forbid(found.chosen)

    def bound(self, cost: FloatArray) -> float:
        """Return what no choice costs less than, by the relaxation: infinite if there is none."""
        return self._relaxed(cost)[0]

    def _relaxed(self, cost: FloatArray) -> tuple[float, FloatArray | None]:
        """Return the least cost with parts of options, and what each option adds to that at least."""
        if not self._equal.shape[0]:
            return 0.0, None
        unit = float(cost.max()) or 1.0
        rows, sets = self._rows(tight=False), self._equal.shape[0]
        found = linprog(
            cost / unit * _SCALE,
            A_eq=rows.A[:sets],
            b_eq=rows.ub[:sets],
            A_ub=rows.A[sets:],
            b_ub=rows.ub[sets:],
            bounds=np.stack((np.zeros(self._options), self._allowed.astype(np.float64)), axis=1),
            method="highs",
        )
        if found.status == 2:
            return np.inf, None
        if found.status != 0:
            return 0.0, None
        scale = unit / _SCALE
        return max(0.0, float(found.fun)) * scale, np.asarray(found.lower.marginals, dtype=np.float64) * scale

    def _core(
        self, cost: FloatArray, keeps: Check, seconds: float | None
    ) -> tuple[BoolArray | None, LeastAreaChoice | None]:
        """Return the options that a cheaper choice than a known one can hold, and that choice.

        The reduced cost of an option is what taking it adds at least to the bound of the relaxation: if that
        is more than the known choice costs above the bound, no cheaper choice has the option.
        """
        bound, added = self._relaxed(cost)
        if added is None:
            return None, None
        for share in _CORES:
            core = self._allowed & (added <= share * bound)
            found = self._solve(cost, _CORE_GAP, seconds, tight=True, allowed=core)
            if found is not None and keeps(found.chosen):
                room = float(cost @ found.chosen) - bound
                return self._allowed & (added <= room + _SLACK * (float(cost.max()) + bound)), found
        return None, None

    def _solve(
        self,
        cost: FloatArray,
        relative_gap: float,
        seconds: float | None,
        *,
        tight: bool,
        allowed: BoolArray | None = None,
        known: LeastAreaChoice | None = None,
    ) -> LeastAreaChoice | None:
        """Return a proposal; where the time brought none, what is known, else the first that comes."""
        if not self._equal.shape[0]:
            return LeastAreaChoice(np.zeros(self._options, dtype=bool), 0.0)
        unit = float(cost.max()) or 1.0
        options: dict[str, float] = {"mip_rel_gap": relative_gap}
        if seconds is not None:
            options["time_limit"] = seconds
        with _silent():
            result = milp(
                cost / unit * _SCALE,
                integrality=np.ones(self._options),
                bounds=Bounds(0.0, (self._allowed if allowed is None else allowed).astype(np.float64)),
                constraints=self._rows(tight=tight),
                options=options,
            )
        if result.status == 2:
            return None
        bound = result.mip_dual_bound
        proven = max(0.0, float(bound)) / _SCALE * unit if bound is not None and np.isfinite(bound) else 0.0
        if result.status == _TIME_OUT and result.x is None:
            first = known or self._solve(cost, _FIRST_GAP, None, tight=tight, allowed=allowed)
            return first and LeastAreaChoice(first.chosen, proven)
        if result.x is None or result.status not in (0, _TIME_OUT):
            raise RuntimeError(f"the solver HiGHS gave up: {result.message}")
        return LeastAreaChoice(result.x > 0.5, proven)

    def _rows(self, *, tight: bool) -> LinearConstraint:
        rounded, hidden = (np.ceil, _HIDDEN) if tight else (np.floor, 0.0)
        limits = [rounded(coefficients) for coefficients, _ in self._limits]
        most = [float(np.floor(m) if tight else np.ceil(m)) - hidden for _, m in self._limits]
        sets = self._equal.shape[0]
        rows = [self._equal, *(csr_array(row[None, :]) for row in (*limits, *self._cuts))]
        return LinearConstraint(
            vstack(rows, format="csr"),
            np.concatenate((np.ones(sets), np.full(len(rows) - 1, -np.inf))),
            np.concatenate((np.ones(sets), most, [row.sum() - 1.0 for row in self._cuts])),
        )


@contextmanager
def _silent() -> Iterator[None]:
    """Keep what the solver prints from standard output, which belongs to data: it does so unasked."""
    library = ctypes.CDLL(None)
    sys.stdout.flush()
    library.fflush(None)
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        library.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
