# SPDX-License-Identifier: Apache-2.0
"""Whether new injections into built protection confirm what its plan predicts: pure, one look."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from math import inf

from resil.protection.corners import CENTRE, Corner, Corners, with_logic
from resil.protection.logic import PulseRates
from resil.protection.observed import LEAST, MOST, STATED, Copies, Observed, evidence_of
from resil.protection.predictions import chosen, least_predicted, predicted_fit
from resil.protection.refusals import refusals_on, too_high
from resil.protection.sensitive import missed_limits
from resil.record.protection import Protection
from resil.record.protection_confirmation import (
    ConfirmingNetwork,
    MeasuredRates,
    MechanismCoverage,
    MechanismUpsets,
    NewData,
    Predicted,
    RedundantStorage,
)
from resil.stats.intervals import Interval, clopper_pearson
from resil.stats.metrics import spfm


def confirmation(
    plan: Protection,
    observed: Sequence[Observed],
    hazardous: Collection[str],
    confidence: float,
    corners: Corners | None = None,
    reserve: float = 0.0,
) -> NewData:
    """Return what new injections say of a plan.

    Confirmed is a plan if, by the new data alone,

    - on each network some fault could be seen: its output is written, varies, and is reached (`resil.results.
      sanity`), its output without a fault is its own, and without protection it misses what is asked: else
      it could refuse nothing (`resil.protection.sensitive`);
    - what it predicts is what was measured: its FIT is not below the interval of any network (too low), and
      the least that it predicts for any network is not above all of them (too high);
    - its limits, of FIT, SPFM and detected failures, are met on each network at every corner of the raw
      rates, of storage and, if it was chosen with logic, of pulses in the logic of what was built; those of
      permanent faults by stuck bits and pins of what was built, at every corner of the base rates; and the
      safety verdict if one is asked for; a share of a network's own FIT by the upper limit of what is left,
      over the lower one of what there was without protection;
    - of upsets of redundant storage no more were hazardous, or were not reported, than the plan counts: the
      exact lower limit of either part is not above what the option's coverage leaves. Clusters that defeat
      a code are in the FIT alone. None that was said to be corrected showed;
    - a watchdog did not detect fewer hangs than it is credited with: the upper limit of the part that it
      reported is not below that.

    Intervals of several networks hold together: each has its part of the error (Bonferroni). They are over
    inputs where a network's were drawn. Those of `copies` are exact (Clopper and Pearson), for these inputs.

    Args:
        plan: That was built.
        observed: What was found, a network each.
        hazardous: Outcomes that count as failures.
        confidence: Of the plan's campaign.
        corners: Of its raw rates, and of the sizes of upsets.
        reserve: What its options may leave less than it says: `weak_reserve`.
    """
    joint = 1.0 - (1.0 - confidence) / len(observed)
    rows = [_network(plan, found, hazardous, joint, corners or {}) for found in observed]
    worst, least = max(rows, key=lambda row: row.fit_hi), least_predicted(plan, reserve)
    against = [refusals_on(plan, row, found, joint) for row, found in zip(rows, observed, strict=True)]
    reasons = [*(reason for own in against for reason in own), *too_high(least, rows)]
    injections, struck = sum(row.injections for row in rows), sum(row.copies for row in rows)
    mechanisms = tuple(_upsets_of(found.network, own) for found in observed for own in found.copies)
    bad = sum(own.hazardous + own.beyond_hazardous for own in mechanisms)
    return NewData(
        confirmed=not reasons,
        reasons=tuple(reasons),
        predicted=Predicted(
            fit=predicted_fit(plan),
            fit_lo=least,
            fit_hi=chosen(plan.fit_hi),
            spfm=plan.spfm,
            spfm_lo=plan.spfm_lo,
            injections=plan.basis.injections,
        ),
        measured=MeasuredRates(
            fit=worst.fit,
            fit_lo=worst.fit_lo,
            fit_hi=worst.fit_hi,
            spfm=worst.spfm,
            spfm_lo=worst.spfm_lo,
            injections=injections,
            network=worst.network,
        ),
        networks=tuple(rows),
        passed=tuple(row.network for row, own in zip(rows, against, strict=True) if not own),
        copies=RedundantStorage(
            injections=struck,
            hazardous=bad,
            mechanisms=mechanisms,
            harmless_lo=1.0 - clopper_pearson(bad, struck, confidence, "upper").hi if struck else 0.0,
            confidence=confidence,
        ),
    )


def latent_coverage(network: str, reported: int, injections: int, confidence: float) -> MechanismCoverage:
    """Return the part of the stuck bits of mechanisms that an alarm reports, with its exact lower limit."""
    found = clopper_pearson(reported, injections, confidence, "lower")
    return MechanismCoverage(
        network=network,
        injections=injections,
        reported=reported,
        coverage=found.estimate,
        coverage_lo=found.lo,
        confidence=confidence,
    )


@dataclass(frozen=True, slots=True)
class _AtCorner:
    """Upper limits of rates in FIT, the lower one of SPFM, and the upper one of what is left of the FIT.

    All of them are of storage and of pulses in logic, if these were injected, but `share` and `logic`.
    """

    fit: float
    due: float
    unaided: float
    spfm: float
    share: float
    logic: float = 0.0

    @staticmethod
    def of(
        found: Observed,
        hazardous: Collection[str],
        confidence: float,
        corner: Corner = CENTRE,
    ) -> _AtCorner:
        """Return them; hardened cells are at the ends of their ranges."""
        ends = [evidence_of(found.strata, end, confidence, corner) for end in (LEAST, STATED, MOST)]
        rates = [evidence.rate(hazardous) for evidence in ends]
        logic = _logic_at(found, corner)
        metrics = (_spfm_of(rate, own.fit_raw, logic) for rate, own in zip(rates, ends, strict=True))
        due, unaided = ends[MOST].rate({"due"}).hi, ends[MOST].rate({*hazardous, "due"}).hi
        bare = evidence_of(found.unprotected, STATED, confidence, corner).rate(hazardous).lo
        share = rates[MOST].hi / bare if bare > 0.0 else inf
        return _AtCorner(
            rates[MOST].hi + logic.fit_hi,
            due + logic.due_hi,
            unaided + logic.fit_hi + logic.due_hi,
            min(own.lo for own in metrics),
            share,
            logic.fit_hi,
        )


def _logic_at(found: Observed, corner: Corner = CENTRE) -> PulseRates:
    """Return the pulses in logic of what was built; none where none were injected."""
    return PulseRates() if found.logic is None else found.logic.whole[0].scaled(corner.logic)


def _spfm_of(rate: Interval, fit_raw: float, logic: PulseRates) -> Interval:
    both = Interval(rate.estimate + logic.fit, rate.lo, rate.hi + logic.fit_hi, rate.confidence)
    return spfm(both, fit_raw + logic.raw)


def _network(
    plan: Protection, found: Observed, hazardous: Collection[str], confidence: float, corners: Corners
) -> ConfirmingNetwork:
    ends = [evidence_of(found.strata, end, confidence) for end in (LEAST, STATED, MOST)]
    centre = _AtCorner.of(found, hazardous, confidence)
    corners_here = with_logic(corners, found.logic)
    at = {name: _AtCorner.of(found, hazardous, confidence, own) for name, own in corners_here.items()}
    corner, worst = max(at.items(), key=lambda own: own[1].fit, default=("", centre))
    rates = [evidence.rate(hazardous) for evidence in ends]
    fit = Interval(rates[1].estimate, rates[0].lo, rates[2].hi, confidence)
    share = max(own.share for own in (centre, *at.values()))
    logic = _logic_at(found)
    metrics = [_spfm_of(rate, own.fit_raw, logic) for rate, own in zip(rates, ends, strict=True)]
    return ConfirmingNetwork(
        network=found.network,
        population=found.population,
        inputs=max(1, len(ends[STATED].inputs)),
        injections=ends[1].injections,
        copies=sum(own.injections + own.beyond for own in found.copies),
        hazardous=ends[1].count(hazardous),
        fit=fit.estimate,
        fit_lo=fit.lo,
        fit_hi=fit.hi,
        fit_raw=ends[1].fit_raw,
        logic_fit=None if found.logic is None else logic.fit,
        logic_fit_hi=None if found.logic is None else worst.logic,
        permanent_fit_hi=None if found.permanent is None else found.permanent.fit_hi,
        permanent_spfm_lo=None if found.permanent is None else found.permanent.spfm_lo,
        due_fit_hi=centre.due,
        unaided_hi=centre.unaided,
        corner=corner,
        corner_fit_hi=worst.fit,
        corner_due_fit_hi=max(own.due for own in (centre, *at.values())),
        corner_unaided_hi=max(own.unaided for own in (centre, *at.values())),
        corner_spfm_lo=min(own.spfm for own in (centre, *at.values())),
        spfm=metrics[1].estimate,
        spfm_lo=min(metric.lo for metric in metrics),
        fit_share_hi=share if share < inf else None,
        missed_unprotected=missed_limits(plan, found.unprotected, hazardous, confidence, corners),
        golden=found.golden,
        confidence=confidence,
        safety=found.safety,
        hangs=None if found.hangs is None else found.hangs.seen,
        hangs_reported=None if found.hangs is None else found.hangs.reported,
    )


def _upsets_of(network: str, copies: Copies) -> MechanismUpsets:
    return MechanismUpsets(network=network, **asdict(copies))
