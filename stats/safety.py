# SPDX-License-Identifier: Apache-2.0
"""The rows of a safety verdict: what ISO 26262-5 asks of random hardware failures, from injections.

Definitions, formulas and what is left out: `docs/explanation/safety.md`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from resil.stats.evidence import Evidence
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.judgement import Kind, Row, judged, not_assessed
from resil.stats.metrics import spfm


@dataclass(frozen=True)
class LatentPins:
    """What pairs of faults say of permanent faults in the gates of mechanisms.

    Attributes:
        fit_raw: Base rate of all pins of mechanisms, in FIT.
        latent: Simulated faults that count as latent: those that nothing reports and that are not shown safe.
        trials: Simulated faults, drawn evenly from all pins of mechanisms.
        complete: They are all that there are.
    """

    fit_raw: float
    latent: int
    trials: int
    complete: bool = False

    def rate(self, confidence: float) -> Interval:
        """Return the rate of latent faults in FIT, with exact two-sided limits."""
        found = clopper_pearson(self.latent, self.trials, confidence)
        if self.complete and self.trials:
            found = Interval(found.estimate, found.estimate, found.estimate, confidence)
        return found.scaled(self.fit_raw)


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
    pins: LatentPins | None = None,
) -> Row:
    """Judge the latent fault metric, `1 - sum lambda_MPF,latent / sum (lambda - lambda_SPF - lambda_RF)`.

    Latent are the permanent faults of the mechanisms themselves that nothing reports: all whose injections
    were neither hazardous by themselves nor detected, for a fault without an effect in one inference is not
    known to be safe. Faults of what the mechanisms guard that do nothing by themselves are taken as safe; the
    row "sensitivity" counts them too.

    With `pins` that is known of the gates of mechanisms: a quiet fault is not latent if all second faults in
    what its mechanism guards were simulated with it, and none is hazardous that is not so by itself.

    The limits join those of the rates at their worst, each at its part of the error, so the row keeps the
    confidence of the others (Bonferroni).

    Args:
        kind: The row.
        evidence: Permanent faults in all storage, mechanisms included.
        hazardous: Outcomes that violate the safety goal.
        mechanisms: The part of the evidence that lies in storage of the mechanisms.
        detected: Outcomes that a mechanism reported in time.
        pins: Of the gates of mechanisms, which are then not in `mechanisms`; None if they are.

    References:
        ISO 26262-5:2018, 8.4.6 and Annex C.3.
    """
    for found in (evidence, mechanisms) if pins is None or mechanisms.groups else (evidence,):
        if (missing := _nothing_known(kind, found)) is not None:
            return missing
    quiet = {key for group in mechanisms.groups for key in group.counts} - set(hazardous) - set(detected)
    parts = 2 if pins is None else 3
    confidence = 1.0 - (1.0 - evidence.confidence) / parts
    bad, latent = evidence.at(confidence).rate(hazardous), mechanisms.at(confidence).rate(quiet)
    if pins is not None:
        more = pins.rate(confidence)
        latent = Interval(
            latent.estimate + more.estimate, latent.lo + more.lo, latent.hi + more.hi, confidence
        )
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
