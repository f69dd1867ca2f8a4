"""The rows of a safety verdict: what ISO 26262-5 asks of random hardware failures, from injections.

A row is `met` only if the confidence limit on the safe side meets its target. What no injection speaks for is
`not assessed`, never met. Definitions, formulas and what is left out: `docs/safety.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from stats.evidence import Evidence
from stats.intervals import Interval
from stats.metrics import spfm

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

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `summary.json` holds a row."""
        return {
            "name": self.name,
            "state": self.state,
            "unit": self.unit,
            "value": None if self.value is None else self.value.estimate,
            "lo": None if self.value is None else self.value.lo,
            "hi": None if self.value is None else self.value.hi,
            "limit": self.limit,
            "at_least": self.at_least,
            "target": self.target,
            "confidence": self.confidence,
            "origin": self.origin,
            "reason": self.reason,
        }


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

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `summary.json` holds them."""
        return {
            "result": self.state,
            "reason": self.reason,
            "confidence": self.confidence,
            "joint_confidence": self.joint,
            "claims": list(self.claims),
        }


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


def spfm_row(kind: Kind, evidence: Evidence, hazardous: Collection[str]) -> Row:
    """Judge the single-point fault metric, `1 - sum (lambda_SPF + lambda_RF) / sum lambda`.

    The sums go over the storage that `evidence` stands for: for transient faults lambda is the raw upset
    rate, for permanent ones the base failure rate, and lambda_SPF + lambda_RF the part of it whose injections
    ended in one of `hazardous`: outcomes that violate the safety goal and that no mechanism detected in time.

    References:
        ISO 26262-5:2018, 8.4.5 and Annex C.2; ISO 26262-11:2018, 4.6 for the transient faults of a digital
        component, whose metric is reckoned apart from that of the permanent ones.
    """
    if (missing := _nothing_known(kind, evidence)) is not None:
        return missing
    return judged(kind, spfm(evidence.rate(hazardous), evidence.fit_raw))


def pmhf_row(kind: Kind, evidence: Evidence, hazardous: Collection[str], dual_point_fit: float = 0.0) -> Row:
    """Judge the share of the probabilistic metric for random hardware failures, in FIT.

    `lambda_SPF + lambda_RF + lambda_DPF`, over transient and permanent faults together: a rate per 1e9 hours
    of operation, to be compared with what the item's safety concept allots to this element.

    Args:
        kind: The row; its target is the allocation.
        evidence: Of both sorts of faults.
        hazardous: Outcomes that violate the safety goal.
        dual_point_fit: Upper limit of the dual-point term, see `dual_point`.

    References:
        ISO 26262-5:2018, 9.4.2; ISO 26262-10:2018, 8.3 for the formula with its dual-point term.
    """
    if (missing := _nothing_known(kind, evidence)) is not None:
        return missing
    found = evidence.rate(hazardous)
    if dual_point_fit:
        found = Interval(found.estimate, found.lo, found.hi + dual_point_fit, found.confidence)
    return judged(kind, found)


def dual_point(latent_fit: float, mission_fit: float, lifetime_hours: float) -> float:
    """Return the dual-point term of PMHF in FIT: `lambda_latent x lambda_mission x T / 2`.

    A mechanism fails unnoticed at some time in the lifetime T, and then what it guards fails: averaged over
    the lifetime the second rate meets a mechanism that is dead half of the time.

    References:
        ISO 26262-10:2018, 8.3.2.4.

    Examples:
        Ten FIT each, over 20,000 hours.

        >>> round(dual_point(10.0, 10.0, 20_000.0), 6)
        0.001
    """
    return 0.5 * latent_fit * mission_fit * lifetime_hours * 1e-9


def lfm_row(
    kind: Kind,
    evidence: Evidence,
    hazardous: Collection[str],
    mechanisms: Evidence,
    detected: Collection[str],
) -> Row:
    """Judge the latent fault metric, `1 - sum lambda_MPF,latent / sum (lambda - lambda_SPF - lambda_RF)`.

    Latent are the permanent faults of the mechanisms themselves that nothing tells of: all whose injections
    were neither hazardous by themselves nor detected, for a fault without an effect in one inference is not
    known to be safe. Faults of what the mechanisms guard that do nothing by themselves are taken as safe; the
    row "sensitivity" counts them too.

    The limits join those of both rates at their worst, each at half of the error, so the row keeps the
    confidence of the others (Bonferroni).

    Args:
        kind: The row.
        evidence: Permanent faults in all storage, mechanisms included.
        hazardous: Outcomes that violate the safety goal.
        mechanisms: The part of the evidence that lies in storage of the mechanisms.
        detected: Outcomes that a mechanism told of in time.

    References:
        ISO 26262-5:2018, 8.4.6 and Annex C.3.
    """
    for found in (evidence, mechanisms):
        if (missing := _nothing_known(kind, found)) is not None:
            return missing
    quiet = {key for group in mechanisms.groups for key in group.counts} - set(hazardous) - set(detected)
    confidence = 0.5 + evidence.confidence / 2.0
    bad, latent = evidence.at(confidence).rate(hazardous), mechanisms.at(confidence).rate(quiet)
    whole = evidence.fit_raw
    if bad.hi >= whole:
        return not_assessed(
            kind,
            "The upper limit of the hazardous rate reaches the whole base rate: nothing is left to judge.",
        )
    worst = min(latent.hi / (whole - bad.hi), 1.0)
    estimate = min(latent.estimate / (whole - bad.estimate), worst)
    best = min(latent.lo / (whole - bad.lo), estimate)
    return judged(kind, Interval(1.0 - estimate, 1.0 - worst, 1.0 - best, evidence.confidence))


def coverage_row(
    kind: Kind, evidence: Evidence, detected: Collection[str], undetected: Collection[str]
) -> Row:
    """Judge a diagnostic coverage: of the faults that would violate the goal, the part detected in time.

    `DC = lambda_detected / (lambda_detected + lambda_undetected)`, both of faults whose outputs were wrong
    in a way that violates the goal (or that hang). Detected faults that would have done no harm do not
    count: an alarm that rings at everything covers nothing more.

    Args:
        kind: The row; its target is the coverage claimed.
        evidence: Injections into what the mechanism guards.
        detected: Outcomes that would violate the goal and were detected by the mechanism in time.
        undetected: Outcomes that would violate it and were not.

    References:
        ISO 26262-5:2018, Annex C.1 (residual faults) and Annex D, whose figures (60, 90, 99 %) are claims
        that injections have to support.
    """
    if (missing := _nothing_known(kind, evidence)) is not None:
        return missing
    found = evidence.part(detected, undetected)
    if found is None:
        return not_assessed(
            kind, "No injection had an effect that the mechanism would have had to detect: more are needed."
        )
    return judged(kind, found)


def rate_row(kind: Kind, evidence: Evidence, outcomes: Collection[str]) -> Row:
    """Judge the rate of some outcomes in FIT, such as detected failures against a budget of availability."""
    return _nothing_known(kind, evidence) or judged(kind, evidence.rate(outcomes))


def _nothing_known(kind: Kind, evidence: Evidence) -> Row | None:
    if not evidence.injections:
        return not_assessed(kind, "There are no injections to judge from.")
    if evidence.fit_raw <= 0.0:
        return not_assessed(kind, "The raw rate of the injected storage is zero: give the technology's.")
    return None


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
    told = [f"{s}: {', '.join(names)}" for s, names in counted.items() if names and s != "met"]
    if not told:
        reason = (
            f"All {len(claimed)} claimed rows are met." if len(claimed) > 1 else "The claimed row is met."
        )
    else:
        reason = f"{len(counted['met'])} of {len(claims)} claimed rows are met; {'; '.join(told)}."
    known = [row.confidence for row in claimed if row.confidence is not None]
    if absent or len(known) < len(claimed):
        return Whole(state, reason, claims=tuple(claims))
    joint = max(0.0, 1.0 - sum(1.0 - c for c in known))
    return Whole(state, reason, min(known), joint, tuple(claims))
