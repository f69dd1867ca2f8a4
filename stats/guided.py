"""Sampling that predictions guide: more injections where they foresee more, as far as the first half agrees.

Every fault has a predicted risk of a hazardous outcome. Faults are divided into groups of similar risk
(`risk_levels`). Half of the injections are spread over all faults in proportion to their weights. If their
outcomes fit the predicted risks clearly better than one rate for all (`agrees`), the other half goes to the
groups by Neyman's shares under the predictions: half proportional, half optimal, the defensive mixture. If
not, the other half is proportional too, and the whole is one plain sample: useless predictions cost nothing.

Interval after guided halves. The estimate `sum_g W_g x_g / n_g` does not depend on the predictions being
right, only its variance does. The variance is reckoned with half an event added to each group, so that a
group without events is not taken for one that cannot have any. The injections that a plain sample would have
needed for the same variance are its effective number, and the interval is that of Clopper and Pearson for
as many (as Korn and Graubard do for surveys). It is no exact interval; how often it covers is measured
(`python -m benchmarks.guided`), also with predictions that were spoilt.

References:
    J. Neyman, J. Royal Stat. Soc. 97 (1934) 558-625.
    T. Hesterberg, Technometrics 37 (1995) 185-194 (defensive mixtures).
    E. L. Korn, B. I. Graubard, Survey Methodology 24 (1998) 193-201.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from stats.allocation import allocate_shares
from stats.designs import Design
from stats.intervals import Interval
from stats.plans import Batch, Step
from stats.strata import Strata, spread
from stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_FIRST = 0.5
_EVIDENCE = 3.0
_PSEUDO = 0.5
_LEAST_RISK = 1e-5


def risk_levels(weights: npt.ArrayLike, risks: npt.ArrayLike, levels: int) -> IntArray:
    """Divide faults into levels of rising risk that deserve the same number of optimal injections each.

    Neyman's share of a set of faults is proportional to `sum w sqrt(r (1 - r))`; the levels have equal ones.

    Args:
        weights: Of the faults, or of sets of faults with one risk, shape (n,), >= 0.
        risks: Their predicted risks, 0 .. 1.
        levels: How many.

    Returns:
        Shape (n,), from 0. Faults of equal risk may fall on two levels.

    Examples:
        >>> risk_levels([90.0, 9.0, 1.0], [0.0001, 0.01, 0.81], 3).tolist()
        [0, 1, 2]
    """
    w, r = np.asarray(weights, dtype=np.float64), _bounded(np.asarray(risks, dtype=np.float64))
    order = np.argsort(r, kind="stable")
    mass = (w * np.sqrt(r * (1.0 - r)))[order]
    middle = (np.cumsum(mass) - mass / 2.0) / max(float(mass.sum()), 1e-300)
    found = np.zeros(len(w), dtype=np.int64)
    found[order] = np.minimum((middle * levels).astype(np.int64), levels - 1)
    return found


def agrees(risks: npt.ArrayLike, events: npt.ArrayLike, trials: npt.ArrayLike) -> bool:
    """Return whether counts fit the predicted risks clearly better than one rate for all groups.

    That is, whether the logarithm of the ratio of the likelihoods is above 3 (a ratio of 20), the one rate
    being the one that fits best.

    Args:
        risks: Predicted for each group, shape (groups,).
        events: Seen in each.
        trials: Injections into each, in proportion to their weights.

    Examples:
        >>> agrees([0.01, 0.6], [0, 5], [140, 10]), agrees([0.6, 0.01], [0, 5], [140, 10])
        (True, False)
    """
    r = _bounded(np.asarray(risks, dtype=np.float64))
    x, n = np.asarray(events, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    rate = min(max(float(x.sum()), 0.5) / max(float(n.sum()), 1.0), 1.0 - _LEAST_RISK)
    score = x * np.log(r / rate) + (n - x) * np.log((1.0 - r) / (1.0 - rate))
    return float(score.sum()) > _EVIDENCE


def guided_interval(
    weights: npt.ArrayLike, events: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = 0.95
) -> Interval:
    """Return the interval of `sum_g W_g p_g` after guided injections, see the module.

    Args:
        weights: Of the groups, shape (groups,), in any unit.
        events: Hazardous injections of each.
        trials: All injections of each, at least 1.
        confidence: Of the interval.

    Raises:
        ValueError: a group has no injection, or there is none.

    Examples:
        >>> found = guided_interval([0.6, 0.3, 0.1], [0, 6, 45], [120, 90, 90])
        >>> plain = weighted_sum([20], [300], [1.0])
        >>> round(found.estimate, 3), found.width < plain.width / 1.4
        (0.07, True)
    """
    w, x, n = (np.asarray(values, dtype=np.float64) for values in (weights, events, trials))
    if not len(n) or n.min() < 1:
        raise ValueError(f"a guided interval needs injections into every group, found {n.tolist()}")
    whole = float(w.sum())
    share = w / whole
    estimate = float((share * x / n).sum())
    smooth = (x + _PSEUDO) / (n + 2.0 * _PSEUDO)
    centre = float((share * smooth).sum())
    variance = float((share**2 * smooth * (1.0 - smooth) / n).sum())
    effective = max(float(n.sum()), centre * (1.0 - centre) / variance)
    return weighted_sum([estimate * effective], [effective], [whole], confidence)


def guided_step(
    strata: Strata,
    risks: npt.ArrayLike,
    injections: int,
    seed: int,
    done: Sequence[Batch],
    confidence: float = 0.95,
) -> Step:
    """Return the next step of a guided campaign: the first half, the second, or the end.

    Args:
        strata: The population; strata with the same second and third name (kind of storage, level of risk)
            are one group.
        risks: Predicted for each stratum.
        injections: In all, at least 2.
        seed: Of the campaign.
        done: Batches so far, in order, each as the step before asked for it.
        confidence: Of the intervals.
    """
    group = _groups(strata)
    size = int(group.max()) + 1
    weight = np.bincount(group, strata.weights, size)
    mean = np.bincount(group, strata.weights * np.asarray(risks, dtype=np.float64), size)
    risk = _bounded(mean / np.maximum(weight, 1e-300))
    nothing = np.zeros(len(strata), dtype=np.int64)
    first = round(_FIRST * injections)
    if not done:
        counts = _spread_all(strata, group, first, nothing, seed, "first half")
        return Step("main", counts, _plain(strata), 0, confidence)
    x, n = (np.bincount(group, values, size) for values in (done[0].events, done[0].injections))
    guided = agrees(risk, x, n)
    if len(done) == 1:
        left = injections - first
        if not guided:
            counts = _spread_all(strata, group, left, done[0].injections, seed, "second half")
            return Step("main", counts, _plain(strata), 0, confidence)
        return Step("main", _by_risk(strata, group, risk, left, done[0], seed), None, 0, confidence)
    events, trials = (sum(b.events for b in done), sum(b.injections for b in done))
    if guided:
        x, n = (np.bincount(group, values, size) for values in (events, trials))
        total = guided_interval(weight, x, n, confidence)
        design = Design(group, np.full(size, 1.0 / size), jitter=False)
    else:
        sums = [[float(np.sum(values))] for values in (events, trials, weight)]
        total, design = weighted_sum(sums[0], sums[1], sums[2], confidence), _plain(strata)
    return Step("done", nothing, design, 0, confidence, total, "maximum")


def _groups(strata: Strata) -> IntArray:
    names = sorted({label[1:3] for label in strata.labels})
    return np.array([names.index(label[1:3]) for label in strata.labels], dtype=np.int64)


def _plain(strata: Strata) -> Design:
    return Design(np.zeros(len(strata), dtype=np.int64), np.ones(1), jitter=False)


def _spread_all(
    strata: Strata, group: IntArray, total: int, drawn: IntArray, seed: int, name: str
) -> IntArray:
    """Spread injections in proportion to weight, evenly over the groups too."""
    order = np.argsort(group, kind="stable")
    counts = np.zeros(len(strata), dtype=np.int64)
    room = (strata.sizes - drawn)[order]
    counts[order] = spread(total, strata.weights[order], room, seed, name)
    return counts


def _by_risk(
    strata: Strata, group: IntArray, risk: FloatArray, total: int, first: Batch, seed: int
) -> IntArray:
    size = len(risk)
    weight = np.bincount(group, strata.weights, size)
    room = strata.sizes - first.injections
    rooms = [int(room[group == g].sum(dtype=object)) for g in range(size)]
    drawn = np.bincount(group, first.injections, size)
    share = weight * np.sqrt(risk * (1.0 - risk))
    missing = 1 if np.any((drawn == 0) & (weight > 0)) else 0
    counts = np.zeros(len(strata), dtype=np.int64)
    for g, k in enumerate(allocate_shares(total, share, rooms, missing)):
        own = np.flatnonzero(group == g)
        counts[own] = spread(k, strata.weights[own], room[own], seed, f"second half/{g}")
    return counts


def _bounded(risks: FloatArray) -> FloatArray:
    return np.clip(risks, _LEAST_RISK, 1.0 - _LEAST_RISK)
