# SPDX-License-Identifier: Apache-2.0
"""AVF of register classes by target: the mean over the networks that were injected into."""

from __future__ import annotations

from collections.abc import Sequence

from resil.record.interval import RecordedInterval
from resil.record.study import ClassMean, injected_cells
from resil.record.study_cell import CellRecord
from resil.stats.contrast import mean
from resil.stats.intervals import Interval


def class_means(cells: Sequence[CellRecord]) -> tuple[ClassMean, ...]:
    """Return the mean AVF of each target and class over the networks that were injected into.

    Nothing is said of cells whose plan does not divide faults by class, nor of a class that a network's
    injections say nothing about.
    """
    known: dict[tuple[str, str], list[tuple[str, Interval]]] = {}
    for cell, found in injected_cells(cells):
        for row in found.classes:
            if row.avf is not None:
                avf = Interval(row.avf, row.avf_lo, row.avf_hi, found.confidence)
                known.setdefault((cell.target, row.register_class), []).append((cell.network, avf))
    return tuple(_mean(target, name, own) for (target, name), own in known.items())


def _mean(target: str, name: str, own: Sequence[tuple[str, Interval]]) -> ClassMean:
    avf = mean([interval for _, interval in own])
    return ClassMean(
        target=target,
        register_class=name,
        networks=tuple(network for network, _ in own),
        avf=RecordedInterval(avf.estimate, max(0.0, avf.lo), min(1.0, avf.hi)),
    )
