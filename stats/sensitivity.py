"""Outcome rates of many small groups, learnt from several populations, and how far they hold for a new one.

A *population* here is what one campaign sampled: a network on a target. Injections fall into groups that are
nested: a block, in it a class of registers, in it a register, and so on; most groups have few injections.
Rates are pooled partially: the rate of a group is drawn towards that of the group around it,

    rate = (counts + strength x rate of the group around) / (n + strength),

which is the posterior mean under a Dirichlet prior. How strong the pull is at each level is found by
predicting whole populations from the others (`tune_strengths`), because that is what the rates are for.

What remains is how much a new population differs from its prediction. The true rate is taken to be the
predicted one times a gamma variable of mean 1, so that events are negative binomial around the prediction;
the variable's shape comes from populations that were left out (`fit_shape`). So the interval of a prediction
contains the model's own error, measured, not assumed.

References:
    A. Gelman et al., "Bayesian Data Analysis", 3rd ed., chapter 5 (partial pooling).
    M. Greenwood, G. U. Yule, J. R. Stat. Soc. 83 (1920) 255-279 (the negative binomial as a gamma mixture).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, gammaln

from stats.intervals import Interval, check_confidence

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

STRENGTHS = (1.0, 4.0, 15.0, 60.0, 250.0, 2000.0)
_SHAPES = np.geomspace(0.5, 500.0, 61)
_PRIOR_SPREAD = 1.0


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


def fit_shape(events: npt.ArrayLike, expected: npt.ArrayLike, around: float | None = None) -> float:
    """Return the shape of the gamma variable that left-out populations differ from their predictions by.

    Args:
        events: Observed in each population; effective counts need not be whole numbers.
        expected: Predicted for it, with as many trials, > 0.
        around: A shape that few populations are not to stray far from: the logarithm of the shape gets a
            normal prior of standard deviation 1 around it. None for the plain maximum of the likelihood.

    Returns:
        Between 0.5 (predictions say little) and 500 (they are off by 4.5 %).

    Examples:
        >>> fit_shape([10, 22, 15], [15, 15, 15]) > fit_shape([1, 60, 5], [15, 15, 15])
        True
    """
    x = np.asarray(events, dtype=np.float64)[:, None]
    m = np.maximum(np.asarray(expected, dtype=np.float64)[:, None], 1e-9)
    k = _SHAPES[None, :]
    likelihood = gammaln(x + k) - gammaln(k) + k * np.log(k / (k + m)) + x * np.log(m / (k + m))
    score = likelihood.sum(axis=0)
    if around is not None:
        score = score - 0.5 * (np.log(_SHAPES / around) / _PRIOR_SPREAD) ** 2
    return float(_SHAPES[int(np.argmax(score))])


def predicted_interval(prediction: float, shape: float, largest: float, confidence: float = 0.95) -> Interval:
    """Return the interval of a rate that is `prediction` times a gamma variable of mean 1 and this shape.

    Args:
        prediction: Of the rate, >= 0.
        shape: From `fit_shape`.
        largest: The rate cannot be larger.
        confidence: Of the interval, half of the error on each side.

    Raises:
        ValueError: `confidence` is none, or the prediction is not in 0 .. `largest`.

    Examples:
        >>> predicted_interval(0.05, 20.0, 1.0).hi < 0.08
        True
    """
    check_confidence(confidence)
    if not 0.0 <= prediction <= largest:
        raise ValueError(f"a prediction lies in 0 .. {largest}, found {prediction}")
    error = (1.0 - confidence) / 2.0
    lo, hi = (float(gammaincinv(shape, q)) / shape * prediction for q in (error, 1.0 - error))
    return Interval(prediction, min(lo, prediction), max(min(hi, largest), prediction), confidence)
