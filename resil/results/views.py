# SPDX-License-Identifier: Apache-2.0
"""A FIT budget judged twice: unaided, and with the error flag and a host that reacts; over all raw rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from resil.results.evidence import Hazards, classes_of
from resil.stats.evidence import Evidence
from resil.stats.intervals import Interval
from resil.stats.metrics import TargetVerdict, fit_verdict

CENTRE = "centre of the raw rates"
Corners = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class View:
    """The hazardous FIT under one set of credits.

    Attributes:
        fit: At the centre of the raw rates.
        worst: At the corner of their ranges, and of cluster sizes, where the upper limit is highest.
        corner: That corner.
    """

    fit: Interval
    worst: Interval
    corner: str

    def verdicts(self, budget: float | None, confidence: float) -> tuple[TargetVerdict, TargetVerdict]:
        """Return the verdict, which is that at the worst corner, and that at the centre."""
        worst, centre = (
            fit_verdict(Interval(i.estimate, i.lo, i.hi, confidence), budget) for i in (self.worst, self.fit)
        )
        return worst, centre


@dataclass(frozen=True)
class Views:
    """Both views: what detection and a reaction to it are worth is the difference.

    Attributes:
        aided: With the error flag and the stated reaction: what is detected in time does no harm.
        unaided: Nobody looks at an alarm: a detected fault counts as what was seen of it.
    """

    aided: View
    unaided: View


def views_of(
    evidence: Evidence,
    hazardous: frozenset[str],
    corners: Corners,
    total: Interval,
    sizes: Mapping[str, Evidence] = MappingProxyType({}),
) -> Views:
    """Return both views of the hazardous FIT.

    Args:
        evidence: Of all injected storage.
        hazardous: Outcomes that count.
        corners: By name, factors of the raw rates of kinds of storage.
        total: With the error flag, at the centre, as the run states it.
        sizes: By name of a corner, the evidence if all upsets had one size, where the shares may be any.
    """
    names = classes_of(evidence)
    aided = Hazards(hazardous).among(names)
    unaided = Hazards(hazardous, due_credited=False).among(names)
    other = total if aided == unaided else evidence.rate(unaided)
    return Views(
        _view(evidence, aided, corners, total, sizes), _view(evidence, unaided, corners, other, sizes)
    )


def highest_factor(corners: Corners) -> float:
    """Return by how much a rate can be higher at most than at the centre."""
    return max((factor for own in corners.values() for factor in own.values()), default=1.0)


def _view(
    evidence: Evidence,
    names: frozenset[str],
    corners: Corners,
    centre: Interval,
    sizes: Mapping[str, Evidence],
) -> View:
    found = [(centre, CENTRE)]
    kinds = {group.kind for group in evidence.groups if group.fit_raw > 0.0}
    for title, factors in corners.items():
        own = {factors.get(kind, 1.0) for kind in kinds}
        alike = len(own) == 1
        rate = centre.scaled(own.pop()) if alike else evidence.scaled(factors).rate(names)
        found.append((rate, title))
    for size, alone in sizes.items():
        found.append((alone.rate(names), size))
        found += [
            (alone.scaled(factors).rate(names), f"{title}, {size}") for title, factors in corners.items()
        ]
    worst, corner = max(found, key=lambda one: one[0].hi)
    return View(centre, worst, corner)
