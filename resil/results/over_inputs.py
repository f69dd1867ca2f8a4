# SPDX-License-Identifier: Apache-2.0
"""Estimates for inputs like those that were run: how much the inputs differ is in the intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from resil.stats.clusters import FloatArray, OverInputs, weighted_sum_over_inputs
from resil.stats.rates import OUTCOMES, VISIBLE, BlockEstimate, StratumCounts

PerInput = Sequence[Sequence[StratumCounts]]


def fit_over_inputs(
    inputs: PerInput, fit_per_bit: Mapping[str, float], outcomes: Iterable[str], confidence: float
) -> OverInputs:
    """Return the rate of these outcomes in FIT, for inputs like those that were run.

    Args:
        inputs: For each input the counts of all strata, in the same order.
        fit_per_bit: Raw rate of one bit, by kind.
        outcomes: Which outcomes count.
        confidence: Of the interval.
    """
    return _sum(inputs, [s.exposure * fit_per_bit[s.kind] for s in inputs[0]], outcomes, confidence)


def counts_over_inputs(
    inputs: PerInput, fit_per_bit: Mapping[str, float], outcomes: Iterable[str]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return events and injections, shape (inputs, strata), and raw rates in FIT, shape (strata,)."""
    weights = [s.exposure * fit_per_bit[s.kind] for s in inputs[0]]
    return *_counts(inputs, tuple(outcomes)), np.array(weights)


def over_inputs(
    estimate: BlockEstimate,
    inputs: PerInput,
    fit_per_bit: Mapping[str, float],
    hazardous: Iterable[str],
    confidence: float,
) -> BlockEstimate:
    """Return an estimate with the intervals of all its figures for inputs like those that were run.

    Args:
        estimate: Of a block or of the total.
        inputs: For each input the counts of its strata, in the same order.
        fit_per_bit: Raw rate of one bit, by kind.
        hazardous: Outcomes that count as failures.
        confidence: Of every interval by itself.
    """
    exposure = sum(s.exposure for s in inputs[0])
    shares = [s.exposure / exposure if exposure else 1.0 / len(inputs[0]) for s in inputs[0]]

    def rate(outcomes: Iterable[str]) -> OverInputs:
        return _sum(inputs, shares, outcomes, confidence)

    return replace(
        estimate,
        rates={outcome: rate([outcome]).interval for outcome in OUTCOMES},
        avf=rate(VISIBLE).interval,
        fit=fit_over_inputs(inputs, fit_per_bit, hazardous, confidence).interval,
    )


def _sum(
    inputs: PerInput, weights: Sequence[float], outcomes: Iterable[str], confidence: float
) -> OverInputs:
    events, trials = _counts(inputs, tuple(outcomes))
    return weighted_sum_over_inputs(events, trials, weights, confidence)


def _counts(inputs: PerInput, outcomes: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    events = np.array([[s.events(outcomes) for s in strata] for strata in inputs], dtype=np.float64)
    trials = np.array([[s.injections for s in strata] for strata in inputs], dtype=np.float64)
    return events, trials
