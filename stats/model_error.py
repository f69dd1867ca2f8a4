# SPDX-License-Identifier: Apache-2.0
"""How far the rates of a new population may be from their predictions, learnt from populations left out.

The true rate is the predicted one times `exp(e)`, with `e` normal around 0. Its standard deviation, the
*spread*, is not known but learnt: from events that were observed in populations left out beside those that
were expected there. A few populations show it badly, so all spreads count, each with its posterior
probability under a prior that is flat in the logarithm (`fit_spread`); with many events that is Student's t
with as many degrees of freedom as there are populations. Several observations of one population (a network on
several sizes of an accelerator) err together: they count as one.

A predicted rate rests on a number of events, which may be a small part of one. As for any rate, n
injections with x events leave room for x + 1 seen from above and only x from below (`predicted_interval`):
without events the lower limit is next to nothing, and the upper one at least that of Clopper and Pearson.

References:
    A. Gelman et al., "Bayesian Data Analysis", 3rd ed., sections 3.2 (t as a mixture) and 5.
    F. Garwood, Biometrika 28 (1936) 437-442 (gamma limits of a Poisson rate).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, ndtr

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval, check_confidence

FloatArray = npt.NDArray[np.float64]

# Seven networks of one family differ by 5 % in hangs, and three others had 15 to 28 % more than predicted:
# a spread below a tenth, which few networks may show, is not believed of one of another sort.
_SPREADS = np.geomspace(0.1, 4.0, 54)
_ERRORS = np.linspace(-12.0, 12.0, 1201)
_PRIOR_SPREAD = 1.0
_WITHOUT_EVIDENCE = 1.0
_SAMPLES = 4000
_LEVELS = (np.arange(_SAMPLES) + 0.5) / _SAMPLES


@dataclass(frozen=True, eq=False)
class ErrorSpread:
    """The standard deviation of the logarithm of truth over prediction, as far as it is known.

    Attributes:
        weights: Posterior probability of each of the spreads tried, shape (54,).
    """

    weights: FloatArray

    @property
    def typical(self) -> float:
        """The geometric mean of the spreads."""
        return float(np.exp(self.weights @ np.log(_SPREADS)))

    def density(self) -> FloatArray:
        """Return the probability of each error on a grid of step 0.02, shape (1201,)."""
        density: FloatArray = self.weights @ _cells()
        whole: FloatArray = density / density.sum()
        return whole


@cache
def _cells() -> FloatArray:
    """Return the probability of each error for each spread, shape (54, 1201)."""
    edges = np.append(_ERRORS - 0.01, _ERRORS[-1] + 0.01)
    cells: FloatArray = np.diff(ndtr(edges[None, :] / _SPREADS[:, None]), axis=1)
    return cells


def fit_spread(
    events: npt.ArrayLike,
    expected: npt.ArrayLike,
    populations: Sequence[object],
    around: float | None = None,
) -> ErrorSpread:
    """Return what observations of populations that were left out show of the spread.

    Args:
        events: Observed, shape (n,); effective counts need not be whole numbers.
        expected: Predicted for them, > 0, with what the prediction may have missed.
        populations: To which each belongs; all of one population together weigh as one observation.
        around: A spread near which others are: the logarithm of the spread gets a normal prior of standard
            deviation 1 around it. None for a flat one.

    Examples:
        >>> near, far = (fit_spread(x, [50, 50, 50], "abc") for x in ([48, 53, 51], [10, 150, 60]))
        >>> near.typical < 0.25 < 0.6 < far.typical
        True
    """
    x = np.asarray(events, dtype=np.float64)[:, None]
    m = np.maximum(np.asarray(expected, dtype=np.float64)[:, None], 1e-9) * np.exp(_ERRORS)[None, :]
    log = x * np.log(m) - m
    most = log.max(axis=1, initial=-np.inf, keepdims=True)
    known = np.log(np.maximum(np.exp(log - most) @ _cells().T, 1e-300)) + most
    names = list(populations)
    score = np.zeros(len(_SPREADS))
    for name in dict.fromkeys(names):
        score += known[[own == name for own in names]].mean(axis=0)
    if around is not None or not names:
        middle = _WITHOUT_EVIDENCE if around is None else around
        score -= 0.5 * (np.log(_SPREADS / middle) / _PRIOR_SPREAD) ** 2
    weights = np.exp(score - score.max())
    return ErrorSpread(weights / weights.sum())


def predicted_interval(
    prediction: float, spread: ErrorSpread, injections: float, confidence: float = 0.95
) -> Interval:
    """Return the interval of a rate.

    Args:
        prediction: Of the rate, 0 .. 1.
        spread: Of its error.
        injections: That the prediction rests on, > 0.
        confidence: Of the interval, half of the error on each side.

    Raises:
        ValueError: `confidence` is none, there are no injections, or the prediction is not in 0 .. 1.

    Examples:
        >>> near = fit_spread([48, 53, 51, 52], [50, 50, 50, 50], "abcd")
        >>> predicted_interval(0.05, near, 1e5).hi < 0.08
        True
        >>> nothing_seen = predicted_interval(1e-6, near, 1e5)
        >>> nothing_seen.lo < 1e-20, nothing_seen.hi > 3.6e-5
        (True, True)
    """
    check_confidence(confidence)
    if not 0.0 <= prediction <= 1.0 or injections <= 0.0:
        raise ArgumentError(
            f"a prediction lies in 0 .. 1 and rests on injections, found {prediction} and {injections}",
            "injections" if 0.0 <= prediction <= 1.0 else "prediction",
        )
    error, density = (1.0 - confidence) / 2.0, spread.density()
    seen = prediction * injections

    def quantile(events: float, level: float) -> float:
        if events <= 0.0:
            return 0.0
        low, high = -300.0, 0.0
        while high - low > 1e-4:
            middle = 0.5 * (low + high)
            reached = density @ gammainc(events, injections * np.exp(middle - _ERRORS))
            low, high = (middle, high) if reached < level else (low, middle)
        return float(np.exp(high))

    lo, hi = quantile(seen, error), quantile(seen + 1.0, 1.0 - error)
    return Interval(prediction, min(lo, prediction), max(min(hi, 1.0), prediction), confidence)


@dataclass(frozen=True, eq=False)
class PredictedPart:
    """A predicted rate that is one summand of a sum.

    Attributes:
        weight: That it has in the sum.
        prediction: The rate.
        spread: Of its error.
        injections: That the prediction rests on, > 0.
        trials: In which its events were observed.
    """

    weight: float
    prediction: float
    spread: ErrorSpread
    injections: float
    trials: float


def surprise(observed: float, parts: Sequence[PredictedPart]) -> float:
    """Return how improbable so small, or so large, a sum of observed rates is; the smaller of both.

    The truth is what the sum of the parts' `predicted_interval` allows for: errors are added up as if one
    caused the other. Events are counted in each part's trials. An interval of confidence c holds the sum if
    (1 - c) / 2 is less.

    Args:
        observed: `sum of weight x events / trials`.
        parts: Of a population left out; spreads are learnt from others.

    Examples:
        >>> near = fit_spread([48, 53, 51, 52], [50, 50, 50, 50], "abcd")
        >>> part = PredictedPart(1.0, 0.05, near, 1e5, 1e3)
        >>> surprise(0.052, [part]) > 0.3, surprise(0.12, [part]) < 0.01
        (True, True)
    """
    low, high = np.zeros(_SAMPLES), np.zeros(_SAMPLES)
    for number, part in enumerate(parts):
        errors = np.interp(_LEVELS, np.cumsum(part.spread.density()), _ERRORS)
        generator = np.random.default_rng([number, _SAMPLES])
        seen = part.prediction * part.injections
        for found, events in ((low, seen), (high, seen + 1.0)):
            shuffled = generator.permutation(errors)
            count = generator.gamma(events, size=_SAMPLES) if events > 0.0 else np.zeros(_SAMPLES)
            truth = np.sort(np.minimum(count / part.injections * np.exp(shuffled), 1.0))
            found += part.weight / part.trials * generator.poisson(part.trials * truth)
    near = observed * 1e-9
    return float(min(np.mean(low <= observed + near), np.mean(high >= observed - near)))
