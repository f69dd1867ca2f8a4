# SPDX-License-Identifier: Apache-2.0
"""AVF of register classes by target: the mean over the networks that were injected into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from resil.stats.contrast import mean
from resil.stats.intervals import Interval
from resil.study.answers import is_injected


def class_means(cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each target and class `target`, `register_class`, `networks`, and `avf` with its limits.

    Nothing is said of cells whose plan does not divide faults by class.
    """
    found: dict[tuple[str, str], list[tuple[str, Interval]]] = {}
    for cell in filter(is_injected, cells):
        for row in cell["classes"]:
            avf = Interval(row["avf"], row["avf_lo"], row["avf_hi"], cell["confidence"])
            key = (cell["target"], row["register_class"])
            found.setdefault(key, []).append((cell["network"], avf))
    rows = []
    for (target, name), own in found.items():
        avf = mean([interval for _, interval in own])
        rows.append(
            {
                "target": target,
                "register_class": name,
                "networks": [network for network, _ in own],
                "avf": avf.estimate,
                "avf_lo": max(0.0, avf.lo),
                "avf_hi": min(1.0, avf.hi),
            }
        )
    return rows
