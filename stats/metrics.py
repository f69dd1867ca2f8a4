# SPDX-License-Identifier: Apache-2.0
"""Safety metrics of ISO 26262-5 for transient faults, and the verdict against a budget.

Terms, for one element (the NPU) without safety mechanisms: every upset has the raw rate `lambda`; the
hazardous ones are residual faults, `lambda_RF`; detected ones and those without effect on the decision are
not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from resil.stats.errors import ArgumentError
from resil.stats.intervals import Interval
from resil.stats.rates import BlockEstimate

Result = Literal["met", "missed", "inconclusive", "not assessed", "none"]


@dataclass(frozen=True, slots=True)
class TargetVerdict:
    """The answer to a target.

    Attributes:
        result: `met`, `missed`, `inconclusive`, `not assessed` if what was measured says nothing, or `none`
            if nothing was asked.
        reason: One sentence.
    """

    result: Result
    reason: str


@dataclass(frozen=True, slots=True)
class SafetyMetrics:
    """The metrics of an element; None means not applicable, for which `notes` has the reason.

    Attributes:
        spfm: Single-point fault metric, 0 to 1, with detection credited.
        spfm_unaided: The same with nobody to react to a detection; None if that is not known.
        pmhf_share: Contribution to the item's PMHF, in FIT.
        lfm: Latent fault metric, 0 to 1.
        notes: What was left out and why.
    """

    spfm: Interval | None
    pmhf_share: Interval
    lfm: Interval | None
    notes: tuple[str, ...] = field(default=())
    spfm_unaided: Interval | None = None


def spfm(hazardous: Interval, fit_raw: float) -> Interval:
    """Return the single-point fault metric `1 - sum(lambda_SPF + lambda_RF) / sum lambda`.

    The raw rate is known once the technology is chosen, so the interval is that of the hazardous FIT,
    turned round.

    Args:
        hazardous: FIT of the hazardous outcomes.
        fit_raw: Raw rate of all safety-related bits, in FIT, > 0.

    Raises:
        ValueError: `fit_raw` is not positive or below the hazardous FIT.

    References:
        ISO 26262-5:2018, Annex C.

    Examples:
        >>> spfm(Interval(0.002, 0.001, 0.01, 0.95), 1.0).lo
        0.99
    """
    if fit_raw <= 0.0 or hazardous.estimate > fit_raw * (1 + 1e-9):
        raise ArgumentError(
            f"SPFM needs a raw rate > 0 and not below the hazardous one, found {fit_raw} and {hazardous}",
            "raw",
        )
    share = hazardous.scaled(1.0 / fit_raw)
    hi = min(share.hi, 1.0)
    return Interval(min(share.estimate, hi), share.lo, hi, share.confidence).complement()


def lfm(latent: Interval, hazardous: Interval, fit_raw: float) -> Interval:
    """Return the latent fault metric `1 - sum lambda_latent / sum(lambda - lambda_SPF - lambda_RF)`.

    The metric is meant for faults that wait for a second one; an upset that the next inference overwrites
    does not. It is for campaigns that ask for latent state to be counted so. Its limits join the two
    intervals at their worst, so its confidence is at least `1 - 2 (1 - confidence)`, which it states.

    Args:
        latent: FIT of latent state, the outcome `latent`.
        hazardous: FIT of the hazardous outcomes.
        fit_raw: Raw rate of all safety-related bits, in FIT.

    Raises:
        ValueError: nothing is left after the hazardous upper limit, or confidences differ or are below 50 %.

    References:
        ISO 26262-5:2018, Annex C.

    Examples:
        >>> round(lfm(Interval(0.01, 0.0, 0.04, 0.95), Interval(0.1, 0.0, 0.2, 0.95), 1.0).lo, 4)
        0.95
    """
    if hazardous.hi >= fit_raw or latent.confidence != hazardous.confidence:
        raise ArgumentError(
            "LFM needs equal confidences and a raw rate above the hazardous one, "
            f"found raw {fit_raw}, latent {latent}, hazardous {hazardous}",
            "raw",
        )
    confidence = 1.0 - 2.0 * (1.0 - latent.confidence)
    estimate = latent.estimate / (fit_raw - hazardous.estimate)
    worst = min(latent.hi / (fit_raw - hazardous.hi), 1.0)
    best = latent.lo / (fit_raw - hazardous.lo)
    return Interval(min(estimate, worst), best, worst, confidence).complement()


def safety_metrics(
    total: BlockEstimate, permanent: bool = False, unaided: Interval | None = None
) -> SafetyMetrics:
    """Return the metrics of an element whose faults are all transient, or all permanent.

    The share of PMHF is the hazardous FIT of these faults alone, without a dual-point term;
    `resil.stats.safety` joins transient and permanent faults. `unaided` is the hazardous FIT if nobody reacts
    to what is detected.
    """
    faults = "permanent" if permanent else "transient"
    notes = [
        "LFM is not applicable: the permanent faults of a run are not divided into those of mechanisms "
        "and those of what mechanisms watch."
        if permanent
        else "LFM is not applicable: the faults are transient, and none of them waits for a second one; "
        "latent state, which an upset may leave behind, is not a latent fault of ISO 26262.",
        f"The PMHF share is the rate of residual {faults} faults alone, without a dual-point term; the row "
        "PMHF share of a safety verdict joins transient and permanent faults.",
    ]
    if total.fit_raw > 0.0:
        alone = None if unaided is None else spfm(unaided, total.fit_raw)
        return SafetyMetrics(spfm(total.fit, total.fit_raw), total.fit, None, tuple(notes), alone)
    notes.append("SPFM is not applicable: the raw rate is zero.")
    return SafetyMetrics(None, total.fit, None, tuple(notes))


def fit_verdict(fit: Interval, budget_fit: float | None) -> TargetVerdict:
    """Compare a FIT interval with its budget, the largest rate allowed.

    Raises:
        ValueError: the budget is negative.

    Examples:
        >>> fit_verdict(Interval(0.0, 0.0, 0.004, 0.95), 0.01).reason
        'The upper 95 % limit of 0.004 FIT is within the budget of 0.01 FIT.'
    """
    if budget_fit is None:
        return TargetVerdict("none", "No budget was given, so no verdict is.")
    if budget_fit < 0.0:
        raise ArgumentError(f"a budget is >= 0 FIT, found {budget_fit}", "budget")
    percent, budget = f"{fit.confidence:.4%}".rstrip("%").rstrip("0").rstrip("."), f"{budget_fit:.3g} FIT"
    if fit.hi <= budget_fit:
        return TargetVerdict(
            "met", f"The upper {percent} % limit of {fit.hi:.3g} FIT is within the budget of {budget}."
        )
    if fit.lo > budget_fit:
        return TargetVerdict(
            "missed", f"Even the lower {percent} % limit of {fit.lo:.3g} FIT is above the budget of {budget}."
        )
    return TargetVerdict(
        "inconclusive",
        f"The budget of {budget} lies inside the {percent} % interval of {fit.lo:.3g} to {fit.hi:.3g} FIT: "
        "more injections will narrow it.",
    )


def spfm_verdict(metric: Interval, target: float) -> TargetVerdict:
    """Compare an SPFM interval with its target, the smallest value allowed.

    Raises:
        ValueError: the target is not in 0 .. 1.

    Examples:
        >>> spfm_verdict(Interval(0.98, 0.97, 0.985, 0.95), 0.99).result
        'missed'
    """
    if not 0.0 <= target <= 1.0:
        raise ArgumentError(f"an SPFM target is in 0 .. 1, found {target}", "target")
    if metric.lo >= target:
        return TargetVerdict(
            "met", f"The lower limit of SPFM, {metric.lo:.4%}, reaches its target of {target:.2%}."
        )
    if metric.hi < target:
        return TargetVerdict(
            "missed", f"Even the upper limit of SPFM, {metric.hi:.4%}, is below the target of {target:.2%}."
        )
    return TargetVerdict(
        "inconclusive",
        f"The SPFM target of {target:.2%} lies inside the interval of {metric.lo:.4%} to {metric.hi:.4%}: "
        "more injections will narrow it.",
    )
