# SPDX-License-Identifier: Apache-2.0
"""Whether new injections into built protection confirm what its plan predicts: pure, one look."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf

from resil.campaign.safety import SafetySettings
from resil.protection.corners import CENTRE, Corner, Corners, with_logic
from resil.protection.logic import PulseRates
from resil.protection.observed import LEAST, MOST, STATED, Copies, Observed, evidence_of
from resil.protection.options import ProtectionError, ProtectionOption
from resil.protection.sample_size import ENDLESS, SIZES, ExpectedStorage, InjectionSpread, spread_needed
from resil.protection.sensitive import asked_text, can_refuse, missed_limits
from resil.record.golden import DIFFERS
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

# Part of a limit up to which an estimate can be shown to keep it.
_NEAR = 0.9


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
      rates, of storage and, if it was chosen with logic, of pulses in the logic of what was built; and the
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
    against = [
        [
            *_too_low(plan, row),
            *_limits(plan, row),
            *_unsound(found),
            *_mechanisms(found, joint),
            *_hangs(found, joint),
        ]
        for row, found in zip(rows, observed, strict=True)
    ]
    reasons = [*(reason for own in against for reason in own), *_too_high(least, rows)]
    injections, struck = sum(row.injections for row in rows), sum(row.copies for row in rows)
    mechanisms = tuple(_upsets_of(found.network, own) for found in observed for own in found.copies)
    bad = sum(own.hazardous + own.beyond_hazardous for own in mechanisms)
    return NewData(
        confirmed=not reasons,
        reasons=tuple(reasons),
        predicted=Predicted(
            fit=predicted_fit(plan),
            fit_lo=least,
            fit_hi=_chosen(plan.fit_hi),
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


def predicted_fit(plan: Protection) -> float:
    """Return the hazardous FIT that a plan predicts for networks that took no part in its choice.

    What it leaves on the run's own network, as injections that did not choose say, or the mean of what sets
    so chosen leave on a network that was left out, if that is more.
    """
    others = [own.fit for own in plan.hold_out]
    return max(_chosen(plan.fit), sum(others) / len(others) if others else 0.0)


def least_predicted(plan: Protection, reserve: float = 0.0) -> float:
    """Return the least hazardous FIT that a plan predicts for a network.

    Networks differ tenfold, and a new one may be as harmless as the most harmless of those that chose: the
    least that the set leaves on any of them, or that sets chosen without one leave on that one. Of each that
    is the lower end: as many times below the estimate as its upper limit is above it, and with options at the
    strong ends of their ranges, where the estimate has the weak ones.

    Args:
        plan: Of a set.
        reserve: `weak_reserve` of its options.
    """
    before = sum(choice.fit_before for choice in plan.choices)
    rows = [(_chosen(plan.fit), _chosen(plan.fit_hi), before)]
    rows += [(own.fit, own.fit_hi, own.fit_before) for own in (*plan.networks, *plan.hold_out)]
    lower = (
        fit * min(1.0, fit / most if most else 1.0) - reserve * max(0.0, whole - fit)
        for fit, most, whole in rows
    )
    return max(0.0, min(lower))


def weak_reserve(
    plan: Protection, options: Mapping[str, ProtectionOption], hazardous: Collection[str]
) -> float:
    """Return what may be left less than a plan says, at most, as a share of what its set takes away.

    An option that covers 99 % at the weak end of its range, and all at the strong end, takes 1 / 99 more.
    """
    names = {name for choice in plan.choices for name in choice.option.split("+")}
    shares = [0.0]
    for option in (options[name] for name in sorted(names & options.keys())):
        for kind in option.protects:
            weak = option.worst_residual_share(kind, hazardous)
            strong = option.best_residual_share(kind, hazardous)
            shares += [(weak - strong) / (1.0 - weak)] if weak < 1.0 else []
    return max(shares)


def _chosen(value: float | None) -> float:
    """Return a figure of a plan that reaches its target; ProtectionError if it does not."""
    if value is None:
        raise ProtectionError("expected a plan that reaches its target, found one that does not", "result")
    return value


@dataclass(frozen=True, slots=True)
class Allowed:
    """Most that upper limits may be, in FIT; None where nothing is asked.

    Attributes:
        fit: Of hazardous failures.
        due: Of detected failures.
    """

    fit: float | None
    due: float | None

    @staticmethod
    def by(
        plan: Protection,
        fit_raw: float,
        highest: float = 1.0,
        safety: SafetySettings | None = None,
        hazardous: Collection[str] = (),
    ) -> Allowed:
        """Return what a plan promises, and what a campaign claims of the same rates.

        Rows of a safety verdict that ask for more than rates of upsets are none of them: what a plan predicts
        says nothing of permanent faults, of the coverage of alarms that were there before, or of times.

        Args:
            plan: That was built.
            fit_raw: Upset rate of all storage of what was built.
            highest: Factor of the raw rates at the corner at which rates have to be kept.
            safety: Claims of its campaign; None without any.
            hazardous: Outcomes that count as failures: detected ones have no limit of their own among these.
        """
        claims = () if safety is None else safety.claims
        least = [plan.spfm_target]
        budgets, due = [plan.storage_budget], [plan.storage_due]
        if safety is not None:
            least.append(safety.spfm if "spfm_transient" in claims else None)
            budgets.append(safety.pmhf_fit if "pmhf_share" in claims else None)
            due.append(safety.due_fit if "due_rate" in claims and "due" not in hazardous else None)
        fit = [plan.storage_within(own, fit_raw) for own in least if own is not None]
        fit += [own / highest for own in budgets if own is not None]
        return Allowed(
            min(fit, default=None), min((own / highest for own in due if own is not None), default=None)
        )


def planned_upsets(
    plan: Protection,
    fit_raw: Mapping[tuple[str, str], float],
    fixed: Mapping[tuple[str, str], int],
    networks: int,
    confidence: float,
    size: int | None = None,
    allowed: Allowed | None = None,
    faults: Mapping[tuple[str, str], int] | None = None,
) -> InjectionSpread:
    """Return how many upsets of which storage each of some networks needs to show what a plan predicts.

    They are judged as `confirmation` does: by the limits that the plan has to keep, and an interval over
    blocks and kinds of storage that has its part of the error. A network may be as unlike the plan's as the
    most unlike of these is the others: where a set chosen without it keeps the limits on it by estimate, as
    many are planned as show that.

    Args:
        plan: That was built.
        fit_raw: Upset rate of each kind of storage in each block of what was built, by both.
        fixed: Fewest injections into redundant storage, of which the plan expects no failure.
        networks: How many there are.
        confidence: Of the plan's campaign.
        size: Injections to be spread over the rest; None for as many as the plan's limits need.
        allowed: What is asked; None for what the plan promises, with raw rates at their centre.
        faults: How many there are in each storage on the network with the fewest; None for no bound.
    """
    allowed = allowed or Allowed.by(plan, sum(fit_raw.values()))
    left = {
        (choice.block, kind): fit for choice in plan.choices for kind, fit in choice.fit_after_by_kind.items()
    }
    foreseen = [
        predicted_fit(plan),
        *(own.fit for own in plan.hold_out if allowed.fit is not None and own.fit < _NEAR * allowed.fit),
    ]
    scale, most = max(foreseen) / sum(left.values()) if sum(left.values()) > 0.0 else 1.0, faults or {}
    due = _detected(plan, fit_raw, fixed, allowed.due)
    expected = []
    for key, raw in fit_raw.items():
        if raw > 0.0:
            share = min(1.0, scale * left.get(key, 0.0) / raw)
            reported = min(1.0 - share, due.get(key, 0.0) / raw)
            expected.append(
                ExpectedStorage(*key, raw, share, fixed.get(key), most.get(key, ENDLESS), reported)
            )
    joint = 1.0 - (1.0 - confidence) / networks
    sizes = SIZES if size is None else (size,)
    return spread_needed(expected, allowed.fit, joint, sizes, networks, allowed.due)


def _detected(
    plan: Protection,
    fit_raw: Mapping[tuple[str, str], float],
    fixed: Mapping[tuple[str, str], int],
    allowed: float | None,
) -> dict[tuple[str, str], float]:
    """Return the detected failures that are expected of each storage of what was built, in FIT.

    Those of the storage that options add are of the redundant one, of which they are spread evenly. Hold-out
    networks are taken as for hazardous failures.
    """
    if allowed is None or any(own.due_after_by_kind is None for own in plan.choices):
        return {}
    made = {
        (own.block, kind): due for own in plan.choices for kind, due in (own.due_after_by_kind or {}).items()
    }
    added, room = sum(own.due_added for own in plan.choices), sum(fit_raw.get(key, 0.0) for key in fixed)
    if room > 0.0:
        made |= {key: added * fit_raw[key] / room for key in fixed if key in fit_raw}
    whole, others = sum(made.values()), [own.due for own in plan.hold_out if own.due is not None]
    foreseen = [plan.due or 0.0, *(own for own in others if own < _NEAR * allowed)]
    foreseen += [sum(others) / len(others)] if others else []
    scale = max(foreseen) / whole if whole > 0.0 else 1.0
    return {key: scale * due for key, due in made.items()}


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


def _too_low(plan: Protection, row: ConfirmingNetwork) -> list[str]:
    fit = predicted_fit(plan)
    if fit >= row.fit_lo:
        return []
    return [
        f"predicted {fit:.3g} FIT is too low: measured {row.fit_lo:.3g} to {row.fit_hi:.3g} FIT on "
        f"{row.network}"
    ]


def _too_high(least: float, rows: Sequence[ConfirmingNetwork]) -> list[str]:
    most = max(row.fit_hi for row in rows)
    if least <= most:
        return []
    return [f"predicted at least {least:.3g} FIT is too high: at most {most:.3g} FIT measured"]


def _unsound(found: Observed) -> list[str]:
    reasons = []
    if found.nothing_measured:
        reasons.append(f"on {found.network} nothing was measured: {found.nothing_measured}")
    if found.golden.state == DIFFERS:
        reasons.append(
            f"the outputs of {found.network} without a fault are not the network's: {found.golden.text}"
        )
    return reasons


def _limits(plan: Protection, row: ConfirmingNetwork) -> list[str]:
    budget, target, due = plan.budget_fit, plan.spfm_target, plan.due_fit_target
    asked = plan.fit_share_target
    reasons = []
    at = f", {row.corner}," if row.corner else ""
    if plan.logic is not None and row.logic_fit_hi is None:
        reasons.append(f"on {row.network} no pulses in logic were injected, with which the set was chosen")
    if not can_refuse(plan, row.missed_unprotected):
        reasons.append(
            f"on {row.network} nothing shows that it can refuse a set: expected {asked_text(plan)} "
            "without protection"
        )
    if budget is not None and row.corner_fit_hi > budget:
        reasons.append(
            f"on {row.network}{at} at most {row.corner_fit_hi:.3g} FIT, asked: {budget:g} FIT or less"
        )
    if target is not None and row.corner_spfm_lo < target:
        reasons.append(
            f"on {row.network} SPFM of at least {row.corner_spfm_lo:.3%}, asked: {target:.3%} or more"
        )
    if due is not None and row.corner_due_fit_hi > due:
        reasons.append(
            f"on {row.network}{at} at most {row.corner_due_fit_hi:.3g} FIT of detected failures, asked: "
            f"{due:g} FIT or less"
        )
    if asked is not None and (row.fit_share_hi is None or row.fit_share_hi > asked):
        left = "an unknown part" if row.fit_share_hi is None else f"at most {row.fit_share_hi:.3%}"
        reasons.append(
            f"on {row.network} {left} of its FIT without protection is left, asked: {asked:.3%} or less"
        )
    if row.safety not in (None, "met"):
        reasons.append(f"on {row.network} the safety verdict is {row.safety}, asked: met")
    return reasons


def _hangs(found: Observed, confidence: float) -> list[str]:
    hangs = found.hangs
    if hangs is None or not hangs.seen:
        return []
    if clopper_pearson(hangs.reported, hangs.seen, confidence, "upper").hi >= hangs.promised:
        return []
    return [
        f"of {hangs.seen:,} hangs on {found.network} an alarm reported {hangs.reported:,}, of the watchdog "
        f"{hangs.promised:.1%} are expected: it does not detect them"
    ]


def _upsets_of(network: str, copies: Copies) -> MechanismUpsets:
    return MechanismUpsets(network=network, **asdict(copies))


def _mechanisms(found: Observed, confidence: float) -> list[str]:
    reasons = []
    for own in found.copies:
        on = f"of {own.injections:,} upsets of {own.mechanism} on {found.network}"
        for count, what in (
            (own.hazardous, "were hazardous: the mechanism does not protect"),
            (own.unreported, "raised no alarm: the mechanism does not detect"),
        ):
            if not count:
                continue
            least = clopper_pearson(count, own.injections, confidence, "lower").lo
            if least > own.counted:
                reasons.append(
                    f"{count:,} {on} {what}; at least {least:.2%}, where the plan counts {own.counted:.2%}"
                )
        if own.wrong:
            reasons.append(
                f"{own.wrong:,} {on} were said to be corrected and showed: the mechanism does not correct"
            )
    return reasons
