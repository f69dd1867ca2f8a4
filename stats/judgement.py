# SPDX-License-Identifier: Apache-2.0
"""The verdict on rows that are judged by a confidence limit, and on all of them together.

A row is `met` only if the confidence limit on the safe side meets its target. What no injection speaks for is
`not assessed`, never met. Definitions: `docs/explanation/safety.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from resil.stats.intervals import Interval

State = Literal["met", "missed", "inconclusive", "not assessed"]
Unit = Literal["share", "FIT"]
# From best to worst.
STATES: tuple[State, ...] = ("met", "inconclusive", "not assessed", "missed")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a verdict.

    Attributes:
        name: Of the row, as campaigns claim it.
        state: `met`, `missed`, `inconclusive` or `not assessed`.
        unit: Of value, limits and target: `share` (0 to 1) or `FIT`.
        reason: One sentence.
        at_least: The target is the least that is allowed, else the most.
        value: With its limits; None if not assessed.
        target: None if none was asked for.
        confidence: With which the limit on the safe side holds; None if not assessed.
        origin: Which injections and data it comes from.
    """

    name: str
    state: State
    unit: Unit
    reason: str
    at_least: bool
    value: Interval | None = None
    target: float | None = None
    confidence: float | None = None
    origin: str = ""

    @property
    def limit(self) -> float | None:
        """The confidence limit on the safe side: the lower one if the target is a least value."""
        if self.value is None:
            return None
        return self.value.lo if self.at_least else self.value.hi


@dataclass(frozen=True, slots=True)
class Kind:
    """What a row is, whatever it is found to be.

    Attributes:
        name: Of the row.
        unit: Of its figures.
        at_least: The target is the least that is allowed, else the most.
        target: None if none was asked for.
        origin: Which injections and data it comes from.
    """

    name: str
    unit: Unit
    at_least: bool
    target: float | None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Whole:
    """The verdict on all claims.

    Attributes:
        state: That of the worst claimed row.
        reason: One sentence.
        confidence: With which "all met" is right, if it is said.
        joint: With which all limits of the claimed rows hold at once, at least.
    """

    state: State
    reason: str
    confidence: float | None = None
    joint: float | None = None
    claims: tuple[str, ...] = field(default=())


def not_assessed(kind: Kind, reason: str) -> Row:
    """Return the row of a quantity that nothing is known of."""
    return Row(
        kind.name, "not assessed", kind.unit, reason, kind.at_least, target=kind.target, origin=kind.origin
    )


def judged(kind: Kind, found: Interval) -> Row:
    """Compare a two-sided interval with the row's target.

    The limit on the safe side has half of the interval's error, so its confidence is `(1 + c) / 2`.

    Examples:
        >>> kind = Kind("spfm_transient", "share", at_least=True, target=0.99)
        >>> row = judged(kind, Interval(0.995, 0.992, 0.998, 0.95))
        >>> row.state, row.limit, round(row.confidence, 3)
        ('met', 0.992, 0.975)
    """
    state, reason = _judgement(kind, found)
    one_sided = 0.5 + found.confidence / 2.0
    return Row(kind.name, state, kind.unit, reason, kind.at_least, found, kind.target, one_sided, kind.origin)


def _judgement(kind: Kind, found: Interval) -> tuple[State, str]:
    if kind.target is None:
        return "not assessed", "No target was asked for: the figures are given without a judgement."
    limit, other = (found.lo, found.hi) if kind.at_least else (found.hi, found.lo)
    near, far = ("lower", "upper") if kind.at_least else ("upper", "lower")
    relation = "at least" if kind.at_least else "at most"
    target, shown, shown_other = (_figure(v, kind) for v in (kind.target, limit, other))
    if (limit >= kind.target) if kind.at_least else (limit <= kind.target):
        return "met", f"The {near} limit of {shown} meets the target of {relation} {target}."
    if (other < kind.target) if kind.at_least else (other > kind.target):
        return "missed", f"Even the {far} limit of {shown_other} misses the target of {relation} {target}."
    return (
        "inconclusive",
        f"The target of {relation} {target} lies inside the interval; the limit on the safe side is {shown}: "
        "more injections will narrow it.",
    )


def _figure(value: float, kind: Kind) -> str:
    return f"{100 * value:.6g} %" if kind.unit == "share" else f"{value:.4g} FIT"


def worst(states: Iterable[State]) -> State:
    """Return the worst of some states; of none, `not assessed`.

    Examples:
        >>> worst(["met", "not assessed", "inconclusive"])
        'not assessed'
    """
    return max(states, key=STATES.index, default="not assessed")


def whole(rows: Sequence[Row], claims: Sequence[str]) -> Whole:
    """Return the verdict: as good as the worst claimed row.

    "All met" is said wrongly only if some claimed row is in truth beyond its target and its own limit says
    otherwise; whichever row that is, this happens with that limit's error at most. So the verdict as a whole
    has the confidence of its weakest row without any correction (an intersection-union test). That all limits
    hold *at once*, each as a figure, is a stronger statement, with `1 - sum of the errors` (Bonferroni).

    Args:
        rows: All rows.
        claims: Names of those that are claimed.

    References:
        R. L. Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982)
        295-300.
    """
    by_name = {row.name: row for row in rows}
    claimed = [by_name[name] for name in claims if name in by_name]
    absent = [name for name in claims if name not in by_name]
    missing: list[State] = ["not assessed"] * len(absent)
    state = worst([*(row.state for row in claimed), *missing])
    if not claims:
        return Whole(state, "No row is claimed, so nothing is judged.")
    counted: dict[State, list[str]] = {
        s: [row.name for row in claimed if row.state == s] for s in reversed(STATES)
    }
    counted["not assessed"].extend(absent)
    said = [f"{s}: {', '.join(names)}" for s, names in counted.items() if names and s != "met"]
    if not said:
        reason = (
            f"All {len(claimed)} claimed rows are met." if len(claimed) > 1 else "The claimed row is met."
        )
    else:
        reason = f"{len(counted['met'])} of {len(claims)} claimed rows are met; {'; '.join(said)}."
    known = [row.confidence for row in claimed if row.confidence is not None]
    if absent or len(known) < len(claimed):
        return Whole(state, reason, claims=tuple(claims))
    joint = max(0.0, 1.0 - sum(1.0 - c for c in known))
    return Whole(state, reason, min(known), joint, tuple(claims))
