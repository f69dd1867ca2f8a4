# SPDX-License-Identifier: Apache-2.0
"""Few injections and many predictions: estimates that a good model narrows and a bad one does not spoil.

Every fault has a prediction f of its outcome y, cheap enough to be known for all faults, so that the mean F
of f over a stratum is known exactly. Injections show y for a few. Then

    theta = sum_h W_h (mean over the sample of  y - lambda (f - F_h))

has the right expectation whatever the predictions are worth (Angelopoulos et al. 2023), and its variance is
least for one lambda, which is tuned on the data: lambda is 0 for predictions that say nothing, and the
estimate is then the plain one (Angelopoulos, Duchi, Zrnic 2023, "power tuning"). lambda is cross-fitted: for
each injection it comes from the others.

Interval. At the counts that matter here (15 events in 300) normal limits do not hold. The gain, the ratio of
the plain variance to the one reached, is turned into effective counts: as many more injections as would have
been needed without predictions, as Korn and Graubard do for surveys, and the interval for weighted counts of
`stats.weighted` is taken of those. Without any gain it is that of the plain counts. Gains are estimated over
all strata together, and the number of events that they rest on limits how much of them is believed.

References:
    A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic, "Prediction-powered inference",
    Science 382 (2023) 669-674.
    A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: efficient prediction-powered inference",
    arXiv 2311.01453.
    E. L. Korn, B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 24 (1998) 193-201.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval
from resil.stats.weighted import weighted_sum

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

FOLDS = 10
_DOUBT = 4.0


@dataclass(frozen=True)
class PredictedStratum:
    """Injections into one stratum, with predictions.

    Attributes:
        weight: Of the stratum in the sum, in any unit.
        events: 1 where the outcome was one that counts, else 0, shape (n,).
        predictions: Of these injections, shape (n,).
        mean_prediction: Mean of the predictions over all faults of the stratum.

    Raises:
        ValueError: shapes differ, or an event is neither 0 nor 1.
    """

    weight: float
    events: FloatArray
    predictions: FloatArray
    mean_prediction: float

    def __post_init__(self) -> None:
        if self.events.ndim != 1 or self.events.shape != self.predictions.shape:
            raise ArgumentError(
                f"events and predictions need one shape (n,), found {self.events.shape} and "
                f"{self.predictions.shape}",
                "shape",
            )
        if not np.isin(self.events, (0.0, 1.0)).all():
            raise ArgumentError("events are 0 or 1", "events")


@dataclass(frozen=True)
class PredictionPowered:
    """A corrected estimate.

    Attributes:
        interval: Of the weighted sum.
        plain: The same without predictions.
        tuning: Mean of the lambda that were used.
        gain: Plain variance over the one reached, as far as it is believed; at least 1.
        events: Effective events of each stratum.
        trials: Effective injections of each stratum.
    """

    interval: Interval
    plain: Interval
    tuning: float
    gain: float
    events: tuple[float, ...]
    trials: tuple[float, ...]


def prediction_powered(strata: Sequence[PredictedStratum], confidence: float = 0.95) -> PredictionPowered:
    """Return `sum_h weight_h P(event in h)`, corrected by predictions.

    Args:
        strata: With at least one injection each.
        confidence: Of the interval.

    Raises:
        ValueError: there is no stratum, or one without injections.

    Examples:
        Predictions that are the truth leave only their own mean:

        >>> y = np.repeat([1.0, 0.0], [30, 70])
        >>> found = prediction_powered([PredictedStratum(1.0, y, y, 0.31)])
        >>> round(found.interval.estimate, 2), found.interval.width < found.plain.width / 1.5
        (0.31, True)
    """
    if not strata or any(not len(s.events) for s in strata):
        raise ArgumentError("a corrected estimate needs strata with injections", "strata")
    weights = [s.weight for s in strata]
    counts = [float(s.events.sum()) for s in strata]
    trials = [float(len(s.events)) for s in strata]
    plain = weighted_sum(counts, trials, weights, confidence)
    tunings = _tunings(strata)
    corrected = [
        s.events - tunings[_folds(len(s.events))] * (s.predictions - s.mean_prediction) for s in strata
    ]
    before = sum(s.weight**2 * _variance(s.events) / len(s.events) for s in strata)
    after = sum(s.weight**2 * _variance(z) / len(z) for s, z in zip(strata, corrected, strict=True))
    believed = sum(counts) / (sum(counts) + _DOUBT)
    gain = max(1.0, before / after) ** believed if after > 0.0 else 1.0
    shares = [min(max(float(z.mean()), 0.0), 1.0) for z in corrected]
    effective = [n * gain for n in trials]
    events = [share * n for share, n in zip(shares, effective, strict=True)]
    interval = weighted_sum(events, effective, weights, confidence)
    return PredictionPowered(interval, plain, float(tunings.mean()), gain, tuple(events), tuple(effective))


def _folds(count: int) -> IntArray:
    return np.arange(count, dtype=np.int64) % FOLDS


def _tunings(strata: Sequence[PredictedStratum]) -> FloatArray:
    """Return the tuning for each fold, from the injections of the other folds."""
    found = np.zeros(FOLDS)
    for fold in range(FOLDS):
        covariance = variance = 0.0
        for s in strata:
            kept = _folds(len(s.events)) != fold
            if kept.sum() < 2:
                continue
            y, f = s.events[kept], s.predictions[kept]
            scale = s.weight**2 / len(s.events)
            covariance += scale * float(((y - y.mean()) * (f - f.mean())).mean())
            variance += scale * float(np.square(f - f.mean()).mean())
        found[fold] = min(max(covariance / variance, 0.0), 1.0) if variance > 0.0 else 0.0
    return found


def _variance(values: FloatArray) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0
