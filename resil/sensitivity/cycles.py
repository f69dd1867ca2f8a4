# SPDX-License-Identifier: Apache-2.0
"""Cycles of an operation from its work, learnt from runs without a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator
from scipy.optimize import nnls

from resil.record.typed import Typed
from resil.rtl_harness.npu.work import OperationWork

FloatArray = npt.NDArray[np.float64]

TERMS = (
    "operation", "blocks", "decoding", "mac_steps", "input_words", "input_pixels", "weight_words", "outputs",
    "output_groups", "output_words", "command_words", "copy_words", "slowest", "walk",
)  # fmt: skip


def _known_terms(found: tuple[str, ...]) -> tuple[str, ...]:
    if found != TERMS:
        raise ValueError(f"cycles depend on the terms {found}, expected {TERMS}")
    return found


class CycleModel(Typed):
    """Cycles are a sum of non-negative multiples of `TERMS`, other ones for each kind of operation."""

    terms: Annotated[tuple[str, ...], AfterValidator(_known_terms)] = TERMS
    """What they are multiples of."""
    factors: Mapping[str, tuple[float, ...]]
    """By kind of operation, in the order of the terms; "" for kinds that were never seen."""
    tail: float
    """Cycles after the last operation."""

    @staticmethod
    def fit(work: Sequence[OperationWork], cycles: Sequence[float], tails: Sequence[float]) -> CycleModel:
        """Return the model of least squared relative error.

        Args:
            work: Operations that ran.
            cycles: How long each took.
            tails: Cycles after the last operation of each run.
        """
        kinds = sorted({own.kind for own in work})
        measured = np.asarray(cycles, dtype=np.float64)
        rows = np.array([values_of(own) for own in work])
        factors = {}
        for kind in ("", *kinds):
            use = np.array([kind in ("", own.kind) for own in work])
            weight = 1.0 / np.maximum(measured[use], 1.0)
            factors[kind] = tuple(nnls(rows[use] * weight[:, None], measured[use] * weight)[0].tolist())
        return CycleModel(factors=factors, tail=float(np.mean(tails)))

    def predict(self, work: OperationWork) -> float:
        """Return the cycles of an operation, at least 1."""
        factors = self.factors.get(work.kind) or self.factors[""]
        return max(1.0, float(np.dot(factors, values_of(work))))


def values_of(work: OperationWork) -> tuple[float, ...]:
    """Return the value of each of `TERMS` for an operation; "slowest" is the unit that all wait for."""
    streams = (work.vectors, work.mac_steps, work.input_words, work.weight_words, work.outputs)
    units = (work.blocks, work.vectors, work.mac_steps, work.input_words, work.input_pixels)
    moved = (work.weight_words, work.outputs, work.output_groups, work.output_words)
    return (1.0, *units, *moved, work.command_words, work.copy_words, max(streams), work.walk)
