# SPDX-License-Identifier: Apache-2.0
"""Outcome rates of many small groups, learnt from several populations.

A *population* here is what one campaign sampled: a network on a target. Injections fall into groups that are
nested: a block, in it a class of registers, in it a register, and so on; most groups have few injections.
Rates are pooled partially: the rate of a group is drawn towards that of the group around it,

    rate = (counts + strength x rate of the group around) / (n + strength),

which is the posterior mean under a Dirichlet prior. How strong the pull is at each level is found by
predicting whole populations from the others (`tune_strengths`), because that is what the rates are for.

How far a new population differs from its prediction is another question (`resil.stats.model_error`).

References:
    A. Gelman et al., "Bayesian Data Analysis", 3rd ed., chapter 5 (partial pooling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

STRENGTHS = (1.0, 4.0, 15.0, 60.0, 250.0, 2000.0)


@dataclass(frozen=True)
class Levels:
    """Nested groups, from the coarsest to the finest.

    Attributes:
        groups: For each level the group of each row, shape (rows,), numbered from 0. Rows that share a group
            share those of all coarser levels.
    """

    groups: tuple[IntArray, ...]

    def parents(self, level: int) -> IntArray:
        """Return the group at `level` - 1 around each group at `level`."""
        fine, coarse = self.groups[level], self.groups[level - 1]
        parent = np.zeros(int(fine.max(initial=-1)) + 1, dtype=np.int64)
        parent[fine] = coarse
        return parent


def pooled_rates(levels: Levels, counts: FloatArray, strengths: Sequence[float]) -> list[FloatArray]:
    """Return the rates of every group, drawn towards those of the group around it.

    Args:
        levels: Groups of each row.
        counts: Events of each outcome in each row, shape (rows, outcomes).
        strengths: Of the pull at each level, in injections; at the coarsest it is towards equal rates.

    Returns:
        For each level an array (groups, outcomes) whose rows sum to 1.

    Examples:
        A group with 1 event in 2, within a block with 1 in 100:

        >>> rows = Levels((np.array([0, 0]), np.array([0, 1])))
        >>> rates = pooled_rates(rows, np.array([[1.0, 1.0], [0.0, 98.0]]), (1e-9, 8.0))
        >>> rates[1][0].round(3).tolist()
        [0.108, 0.892]
    """
    outcomes = counts.shape[1]
    above: FloatArray = np.full((1, outcomes), 1.0 / outcomes)
    rates = []
    for level, strength in enumerate(strengths):
        group = levels.groups[level]
        size = int(group.max(initial=-1)) + 1
        columns = [np.bincount(group, counts[:, o], size) for o in range(outcomes)]
        sums = np.stack(columns, axis=1)
        prior = above[levels.parents(level)] if level else np.repeat(above, size, axis=0)
        above = (sums + strength * prior) / (sums.sum(axis=1, keepdims=True) + strength)
        rates.append(above)
    return rates


def tune_strengths(
    levels: Levels, counts: FloatArray, populations: IntArray, candidates: Sequence[float] = STRENGTHS
) -> tuple[float, ...]:
    """Return the strength of each level that predicts left-out populations best.

    The loss is the log loss of each left-out population's counts, averaged over its injections, summed over
    populations; strengths are searched level by level until none changes.

    Args:
        levels: Groups of each row.
        counts: Shape (rows, outcomes).
        populations: Of each row, shape (rows,).
        candidates: Values tried.
    """
    chosen = [candidates[len(candidates) // 2]] * len(levels.groups)
    best = _left_out_loss(levels, counts, populations, chosen)
    changed = True
    while changed:
        changed = False
        for level in range(len(chosen)):
            for candidate in candidates:
                trial = [*chosen[:level], candidate, *chosen[level + 1 :]]
                loss = _left_out_loss(levels, counts, populations, trial)
                if loss < best - 1e-9:
                    best, chosen, changed = loss, trial, True
    return tuple(chosen)


def _left_out_loss(
    levels: Levels, counts: FloatArray, populations: IntArray, strengths: Sequence[float]
) -> float:
    loss = 0.0
    for population in np.unique(populations):
        out = populations == population
        kept = np.where(out[:, None], 0.0, counts)
        rates = pooled_rates(levels, kept, strengths)[-1][levels.groups[-1][out]]
        loss -= float((counts[out] * np.log(rates)).sum() / counts[out].sum())
    return loss
