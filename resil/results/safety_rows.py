# SPDX-License-Identifier: Apache-2.0
"""The safety verdict of a campaign: every row, from its injections, its settings and its technology."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from resil.campaign.safety import SafetyMechanism, SafetySettings
from resil.record.blocks import LOGIC
from resil.record.safety import COVERAGE_PERMANENT, Safety, SafetyRow, UnaidedRow, Variation
from resil.results import fault_classes as classes
from resil.results.evidence import DUE, Class, Hazards, classes_of, in_blocks
from resil.results.grounds import Grounds
from resil.results.named_run import NamedRun
from resil.results.views import CENTRE
from resil.stats.evidence import Evidence
from resil.stats.judgement import STATES, Kind, Row, not_assessed, whole, worst
from resil.stats.metrics import spfm
from resil.stats.safety import (
    LatentPins,
    coverage_row,
    dual_point,
    lfm_row,
    pmhf_row,
    rate_row,
    spfm_row,
)

# Claims of coverage, with what the names of their rows begin with: there is one for each mechanism.
_COVERAGES = {"coverage": "coverage of ", "coverage_permanent": COVERAGE_PERMANENT}
_IN_TIME = 0.99
# Rows that rest on permanent faults, on these alone, and on what is credited.
_PERMANENT_ALONE = ("spfm_permanent", "lfm_permanent", *classes.PERMANENT)
_OF_PERMANENT = (*_PERMANENT_ALONE, "pmhf_share", classes.MEASURES)
_CREDITED = ("spfm_transient", classes.IN_USE, "spfm_permanent", "lfm_permanent", "pmhf_share")


def safety_verdict(grounds: Grounds, undecided: str = "") -> Safety:
    """Return the verdict on the safety claims.

    Args:
        grounds: What it rests on.
        undecided: Why nothing is decided, so that no row is assessed; "" if the rows may be.
    """
    if undecided:
        return _unassessed(grounds.settings, undecided)
    decided = over_corners(grounds, Hazards(grounds.hazardous))
    alone = over_corners(grounds, Hazards(grounds.hazardous, due_credited=False))
    claims = _claims(grounds.settings)
    again = sensitivity(grounds)
    last = _sensitivity_row(again, claims)
    rows = [*(own.row for own in decided), last]
    both = zip(decided, alone, strict=True)
    recorded = [own.record(bare if own.row.name in _CREDITED else None) for own, bare in both]
    settings = grounds.settings
    variations = (Variation(title=title, rows=_recorded(varied)) for title, varied in again)
    return _safety(settings, rows, claims, tuple(variations), (*recorded, Decided(last, last).record()))


def predicted_verdict(settings: SafetySettings) -> Safety:
    """Return the verdict where nothing was injected: every row not assessed."""
    reason = "The figures are predicted; a safety row is judged from injections: resil run."
    if settings.detection_cycles is not None:
        reason += " What is predicted takes every alarm for a detection, however late."
    return _unassessed(settings, reason)


def _unassessed(settings: SafetySettings, reason: str) -> Safety:
    rows = [not_assessed(kind, reason) for kind in _kinds(settings, "").values()]
    rows += [not_assessed(kind, reason) for m in settings.mechanisms for kind in _coverage_kinds(m, "")]
    rows.append(not_assessed(Kind("sensitivity", "share", at_least=True, target=None), reason))
    return _safety(settings, rows, _claims(settings), (), _recorded(rows))


def _safety(
    settings: SafetySettings,
    rows: Sequence[Row],
    claims: Sequence[str],
    sensitivity: tuple[Variation, ...],
    recorded: tuple[SafetyRow, ...],
) -> Safety:
    found = whole(rows, claims)
    return Safety(
        result=found.state,
        reason=found.reason,
        confidence=found.confidence,
        joint_confidence=found.joint,
        claims=tuple(found.claims),
        asil=settings.asil,
        rows=recorded,
        sensitivity=sensitivity,
    )


def _recorded(rows: Sequence[Row]) -> tuple[SafetyRow, ...]:
    return tuple(Decided(row, row).record() for row in rows)


@dataclass(frozen=True)
class Decided:
    """A row over the ranges of raw rates: figures at their centre, state of the worst corner.

    Attributes:
        centre: The row at the centre.
        worst: That of the corner which decides.
        corner: Its name.
    """

    centre: Row
    worst: Row
    corner: str = CENTRE

    @property
    def row(self) -> Row:
        """The row with the state that holds over all corners, and why."""
        if self.corner == CENTRE:
            return self.centre
        reason = f"{self.worst.reason} That is at the {self.corner}; at the centre: {self.centre.state}."
        return replace(self.centre, state=self.worst.state, reason=reason)

    def record(self, unaided: Decided | None = None) -> SafetyRow:
        """Return it for the summary; `unaided` is the same row if nobody reacts to what is detected."""
        row, value = self.row, self.row.value
        return SafetyRow(
            name=row.name,
            state=row.state,
            unit=row.unit,
            value=None if value is None else value.estimate,
            lo=None if value is None else value.lo,
            hi=None if value is None else value.hi,
            at_least=row.at_least,
            target=row.target,
            confidence=row.confidence,
            origin=row.origin,
            reason=row.reason,
            centre_state=self.centre.state,
            corner=self.corner,
            corner_limit=self.worst.limit,
            unaided=None if unaided is None else unaided.bare(),
        )

    def bare(self) -> UnaidedRow:
        """Return it as what stands beside the row with the error flag."""
        value = self.centre.value
        return UnaidedRow(
            state=self.row.state,
            value=None if value is None else value.estimate,
            lo=None if value is None else value.lo,
            hi=None if value is None else value.hi,
            corner=self.corner,
            corner_limit=self.worst.limit,
        )


def over_corners(grounds: Grounds, hazards: Hazards) -> list[Decided]:
    """Judge every row at the centre, which has the declared shares, and at each corner; the worst decides."""
    found = [Decided(row, row) for row in _rows(grounds, hazards)]
    for title, at in grounds.corners():
        varied = _rows(at, hazards)
        found = [
            replace(own, worst=row, corner=title) if _badness(row) > _badness(own.worst) else own
            for own, row in zip(found, varied, strict=True)
        ]
    return found


def _badness(row: Row) -> tuple[int, float]:
    """Return what is larger for the worse of two rows of one name."""
    limit = 0.0 if row.limit is None else row.limit
    return STATES.index(row.state), -limit if row.at_least else limit


def sensitivity(grounds: Grounds) -> list[tuple[str, list[Row]]]:
    """Return the rows that rest on credits and raw rates, judged again without and across them."""
    credits = {
        "detection not credited: a detected failure counts by what is seen": Hazards(
            grounds.hazardous, due_credited=False
        ),
        "hangs not credited to a watchdog": Hazards(grounds.hazardous | {"hang"}),
        "latent state counted as hazardous": Hazards(grounds.hazardous, latent=True),
        "nothing credited, latent state counted": Hazards(grounds.hazardous | {"hang"}, False, True),
    }
    found = [
        (title, [row for row in _rows(grounds, hazards) if row.name in _CREDITED])
        for title, hazards in credits.items()
        if hazards != Hazards(grounds.hazardous)
    ]
    for title, factors in grounds.rates.items():
        found.append((title, _rows(grounds.varied(factors), Hazards(grounds.hazardous))))
    for title, (evidence, by_block) in grounds.of_sizes.items():
        alone = replace(grounds, evidence=evidence, by_block=by_block)
        rows = _rows(alone, Hazards(grounds.hazardous))
        found.append((title, [row for row in rows if not _is_permanent_alone(row)]))
    if isinstance(grounds.logic, NamedRun) and grounds.logic.derating < 1.0:
        part, derated = grounds.logic.derating, grounds.settings.derated
        title = "pulses not derated" if derated else "pulses derated by timing and attenuation"
        varied = _rows(grounds.varied({LOGIC: 1.0 / part if derated else part}), Hazards(grounds.hazardous))
        found.append((title, [row for row in varied if not _is_permanent_alone(row)]))
    permanent = grounds.permanent
    if isinstance(permanent, NamedRun):
        for title, factors in permanent.rates.items():
            rows = _rows(replace(grounds, permanent=permanent.varied(factors)), Hazards(grounds.hazardous))
            found.append((title, [row for row in rows if _is_of_permanent(row)]))
    return found


def _claims(settings: SafetySettings) -> list[str]:
    """Return the names of the claimed rows: coverage is a row for each mechanism that claims one."""
    claims: list[str] = []
    for claim in settings.claims:
        if claim in _COVERAGES:
            claims += [_COVERAGES[claim] + m.alarm for m in settings.mechanisms if m.coverage is not None]
        else:
            claims.append(claim)
    return claims


def _kinds(settings: SafetySettings, origin: str) -> dict[str, Kind]:
    kinds = (
        Kind("spfm_transient", "share", True, settings.spfm, origin),
        Kind("spfm_permanent", "share", True, settings.spfm),
        Kind("lfm_permanent", "share", True, settings.lfm),
        Kind("pmhf_share", "FIT", False, settings.pmhf_fit, origin),
        Kind("due_rate", "FIT", False, settings.due_fit, origin),
        Kind("detection_time", "share", True, _IN_TIME, origin),
    )
    return {kind.name: kind for kind in (*kinds, *classes.class_kinds(settings, origin))}


def _coverage_kinds(mechanism: SafetyMechanism, origin: str) -> tuple[Kind, Kind]:
    """Return the rows of a mechanism, of transient and of permanent faults."""
    of_transients, of_permanent = (
        Kind(name + mechanism.alarm, "share", True, mechanism.coverage) for name in _COVERAGES.values()
    )
    return replace(of_transients, origin=origin), of_permanent


def _is_permanent_alone(row: Row) -> bool:
    return row.name in _PERMANENT_ALONE or row.name.startswith(COVERAGE_PERMANENT)


def _is_of_permanent(row: Row) -> bool:
    return row.name in _OF_PERMANENT or _is_permanent_alone(row)


def _rows(grounds: Grounds, hazards: Hazards) -> list[Row]:
    settings, kinds = grounds.settings, _kinds(grounds.settings, grounds.origin)
    names = classes_of(grounds.evidence)
    hazardous = hazards.among(names)
    detected = frozenset(name for name in names if Class.of(name).outcome == DUE)
    rows = [
        _parted(spfm_row(kinds["spfm_transient"], grounds.evidence, hazardous), grounds.evidence, hazardous)
    ]
    rows += _permanent_rows(grounds, hazards, kinds)
    rows.append(_pmhf(grounds, hazards, kinds["pmhf_share"]))
    for mechanism in settings.mechanisms:
        rows += _coverages(grounds, hazards, mechanism)
    rows.append(rate_row(kinds["due_rate"], grounds.evidence, detected))
    rows.append(_detection_time(grounds, hazards, kinds["detection_time"]))
    rows.append(classes.in_use_row(kinds[classes.IN_USE], grounds.evidence, hazardous))
    rows += _class_rows(grounds, hazards, kinds)
    return [_within_scope(_with_logic(_remarked(row, grounds), grounds), grounds) for row in rows]


def _parted(row: Row, evidence: Evidence, hazardous: frozenset[str]) -> Row:
    """Return a row of SPFM with what it is of storage and of logic alone: much of one hides the other."""
    logic, storage = (
        evidence.where(chosen)
        for chosen in (lambda group: group.kind == LOGIC, lambda group: group.kind != LOGIC)
    )
    if row.value is None or not logic.fit_raw or not storage.fit_raw:
        return row
    said = " and ".join(
        f"{100.0 * spfm(own.rate(hazardous), own.fit_raw).estimate:.6g} % of {name} ({own.fit_raw:.3g} FIT)"
        for name, own in (("storage", storage), ("logic", logic))
    )
    return replace(row, reason=f"{row.reason} It is {said}.")


def _with_logic(row: Row, grounds: Grounds) -> Row:
    """Return a row that says which faults of logic it leaves out; not assessed if their run is refused."""
    found, logic = grounds.permanent, grounds.logic
    left = [found.without] if isinstance(found, NamedRun) and _is_of_permanent(row) else []
    if not _is_permanent_alone(row):
        if isinstance(logic, str) and logic:
            return not_assessed(Kind(row.name, row.unit, row.at_least, row.target, row.origin), logic)
        left.insert(0, grounds.without)
    if row.name == "pmhf_share" and grounds.settings.pmhf_covers == "transient":
        left = [grounds.without]
    left = [text for text in left if text]
    if row.value is None or not left:
        return row
    return replace(row, reason=f"{row.reason} Without {' and '.join(left)}.")


def _remarked(row: Row, grounds: Grounds) -> Row:
    """Return a row with what is to be said of the golden output of the other runs that it rests on."""
    found, logic = grounds.permanent, grounds.logic
    if isinstance(logic, NamedRun) and logic.remark and not _is_permanent_alone(row):
        row = replace(row, reason=f"{row.reason} Of the campaign of pulses: {logic.remark}")
    if isinstance(found, str) or not found.remark or not _is_of_permanent(row):
        return row
    if row.name == "pmhf_share" and grounds.settings.pmhf_covers == "transient":
        return row
    return replace(row, reason=f"{row.reason} Of the stuck-at campaign: {found.remark}")


def _within_scope(row: Row, grounds: Grounds) -> Row:
    """Return a row that passes over storage only where a reason was given."""
    missing = [] if _is_permanent_alone(row) else [grounds.not_injected]
    if isinstance(grounds.permanent, NamedRun) and _is_of_permanent(row):
        left = grounds.permanent.not_injected
        missing.append(f"permanent faults of {left}" if left else "")
    left = " and ".join(dict.fromkeys(text for text in missing if text))
    if not left:
        return row
    if grounds.settings.left_out:
        text = f"{row.reason} Without {left}: {grounds.settings.left_out.rstrip('.')}."
        return replace(row, reason=text)
    reason = (
        f"{left} were not injected, and [safety] left_out does not say why they are no part of the claim."
    )
    kind = Kind(row.name, row.unit, row.at_least, row.target, row.origin)
    return not_assessed(kind, reason)


def _permanent_rows(grounds: Grounds, hazards: Hazards, kinds: Mapping[str, Kind]) -> list[Row]:
    found, asked = grounds.permanent, (kinds["spfm_permanent"], kinds["lfm_permanent"])
    if isinstance(found, str):
        return [not_assessed(kind, found) for kind in asked]
    spfm_kind, lfm_kind = (replace(kind, origin=found.origin) for kind in asked)
    names = classes_of(found.evidence)
    hazardous = hazards.among(names)
    rows = [_parted(spfm_row(spfm_kind, found.evidence, hazardous), found.evidence, hazardous)]
    if reason := found.unknown_mechanisms:
        return [*rows, not_assessed(lfm_kind, reason)]
    if found.mechanisms is None and found.pins is None:
        reason = "No mechanism names its own storage, so nothing is known of faults in mechanisms."
        return [*rows, not_assessed(lfm_kind, reason)]
    detected = {name for name in names if Class.of(name).outcome == DUE} - hazardous
    quiet = {name for name in names if hazards.latent and Class.of(name).seen == "latent"}
    bare = ", ".join(own.alarm for own in grounds.settings.mechanisms if not own.storage)
    unnamed = f" Of {bare} no storage is named: faults in it are not among these." if bare else ""
    if found.pins is not None:
        row = _lfm_by_pairs(lfm_kind, found, found.pins, hazardous, detected - quiet)
        return [*rows, replace(row, reason=row.reason + unnamed)]
    assert found.mechanisms is not None
    row = lfm_row(lfm_kind, found.evidence, hazardous, found.mechanisms, detected - quiet)
    share = found.mechanisms.fit_raw / found.evidence.fit_raw if found.evidence.fit_raw else 0.0
    where = "bits lay in the storage of" if found.without else "bits and pins lay in"
    scope = (
        f" {found.mechanisms.injections:,} of {found.evidence.injections:,} stuck {where} mechanisms, "
        f"{100 * share:.3g} % of the base rate{found.beyond_gates}."
    )
    return [*rows, replace(row, reason=row.reason + scope + unnamed)]


def _lfm_by_pairs(
    kind: Kind, found: NamedRun, pins: LatentPins, hazardous: frozenset[str], detected: Collection[str]
) -> Row:
    """Return the row of latent faults where faults in gates of mechanisms were followed by second ones."""
    own = found.mechanisms or replace(found.evidence, groups=(), inputs=(), known={})
    storage = own.where(lambda group: group.kind != LOGIC)
    row = lfm_row(kind, found.evidence, hazardous, storage, detected, pins)
    drawn = "all" if pins.complete else f"{pins.trials:,} drawn"
    return replace(
        row,
        reason=f"{row.reason} Of {drawn} faults in gates of mechanisms ({pins.fit_raw:.3g} FIT) "
        f"{pins.latent:,} count as latent: nothing reports them, and second faults did not show that they "
        f"are safe. Of storage of mechanisms all quiet stuck bits do, of {storage.injections:,}.",
    )


def _class_rows(grounds: Grounds, hazards: Hazards, kinds: Mapping[str, Kind]) -> list[Row]:
    evidence, found, guards = grounds.by_block, grounds.permanent, grounds.settings.mechanisms
    hazardous = hazards.among(classes_of(evidence))
    rows = classes.transient_rows(kinds, evidence, hazardous, guards)
    bare = Hazards(hazards.outcomes, due_credited=False)
    single, alone = [rows[0]], classes.unguarded_blocks(evidence, guards)
    weak = classes.weakly_covered(evidence, bare.among(classes_of(evidence)), guards)
    unknown = found if isinstance(found, str) else ""
    if isinstance(found, str):
        rows += [not_assessed(kinds[name], found) for name in classes.PERMANENT]
    else:
        of_origin = {name: replace(kinds[name], origin=found.origin) for name in classes.PERMANENT}
        harmful = hazards.among(classes_of(found.evidence))
        own = classes.permanent_rows(
            of_origin, found.evidence, harmful, guards, found.mechanisms, found.unknown_mechanisms
        )
        rows += own
        single.append(own[0])
        alone |= classes.unguarded_blocks(found.evidence, guards)
        weak |= classes.weakly_covered(found.evidence, bare.among(classes_of(found.evidence)), guards)
    kind, asking = kinds[classes.MEASURES], {"No mechanism stands": alone, "Coverage not shown": weak}
    return [*rows, classes.measures_row(kind, grounds.settings, single, asking, unknown)]


def _pmhf(grounds: Grounds, hazards: Hazards, kind: Kind) -> Row:
    evidence, found = grounds.evidence, grounds.permanent
    if grounds.settings.pmhf_covers == "transient":
        row = pmhf_row(kind, evidence, hazards.among(classes_of(evidence)))
        return replace(row, reason=f"{row.reason} Transient faults alone: permanent ones are not in it.")
    if isinstance(found, str):
        return not_assessed(kind, f"Permanent faults belong to it as well. {found}")
    if not found.same_inputs or evidence.labels != found.evidence.labels:
        return not_assessed(
            kind,
            "Transient and permanent rates are summed only if both campaigns ran the same inputs, by "
            "content: name, or draw, the same in both.",
        )
    if not evidence.injections or not found.evidence.injections:
        return not_assessed(kind, "There are no injections to judge from.")
    both = evidence.joined(found.evidence)
    hazardous = hazards.among(classes_of(both))
    dual, reason = _dual_point(grounds, found, hazardous)
    row = pmhf_row(replace(kind, origin=f"{kind.origin}; {found.origin}"), both, hazardous, dual)
    return replace(row, reason=f"{row.reason}{reason}")


def _dual_point(grounds: Grounds, found: NamedRun, hazardous: frozenset[str]) -> tuple[float, str]:
    """Return the upper limit of the dual-point term, and what is to be said of it."""
    if not grounds.settings.mechanisms:
        return 0.0, ""
    hours = grounds.settings.lifetime_hours
    if hours is None or found.mechanisms is None:
        said = " Without the dual-point term: it takes [safety] lifetime_hours and the mechanisms' storage."
        return 0.0, f"{said} {found.unknown_mechanisms}".rstrip()
    names = classes_of(found.mechanisms)
    quiet = {name for name in names if Class.of(name).outcome != DUE} - hazardous
    term = dual_point(found.mechanisms.rate(quiet).hi, found.evidence.fit_raw, hours)
    said = f" Of that {term:.3g} FIT is the dual-point term over {hours:,.0f} hours{found.beyond_gates}."
    return term, f"{said} {found.unknown_mechanisms}".rstrip()


def _coverages(grounds: Grounds, hazards: Hazards, mechanism: SafetyMechanism) -> list[Row]:
    """Return the rows of coverage of a mechanism, of transient and of permanent faults."""
    of_transients, of_permanent = _coverage_kinds(mechanism, grounds.origin)
    evidence, found = grounds.by_block if mechanism.blocks else grounds.evidence, grounds.permanent
    rows = [_coverage(of_transients, evidence, hazards, mechanism)]
    if isinstance(found, str):
        return [*rows, not_assessed(of_permanent, found)]
    return [*rows, _coverage(replace(of_permanent, origin=found.origin), found.evidence, hazards, mechanism)]


def _coverage(kind: Kind, evidence: Evidence, hazards: Hazards, mechanism: SafetyMechanism) -> Row:
    if mechanism.blocks:
        evidence = evidence.where(in_blocks(mechanism.blocks))
    names = classes_of(evidence)
    unseen = {name for name in names if Class.of(name).outcome == DUE and not Class.of(name).seen}
    if evidence.count(unseen):
        reason = "Alarms ended injections: which of the detected faults would have done harm is not known."
        return not_assessed(kind, f'{reason} Run the campaign with [execution] until = "end".')
    harmful = Hazards(hazards.outcomes, due_credited=False).among(names)
    detected = {name for name in harmful if Class.of(name).alarm == mechanism.alarm}
    return coverage_row(kind, evidence, detected, harmful - detected)


def _detection_time(grounds: Grounds, hazards: Hazards, kind: Kind) -> Row:
    limit = grounds.settings.detection_cycles
    if limit is None:
        return not_assessed(kind, "No fault-tolerant time was given.")
    evidence = grounds.evidence
    harmful = Hazards(hazards.outcomes, due_credited=False).among(classes_of(evidence))
    in_time = {name for name in harmful if Class.of(name).outcome == DUE}
    late = {name for name in harmful if Class.of(name).late}
    row = coverage_row(kind, evidence, in_time, late)
    if row.value is None:
        return replace(row, reason="No injection that would do harm raised an alarm: no time is known.")
    said = f"{evidence.count(in_time):,} alarms came within {limit:,} cycles of the fault"
    said += f", {evidence.count(late):,} later; the slowest of all took {grounds.slowest_alarm:,}"
    return replace(row, reason=f"{row.reason} Of faults that would do harm, {said}.")


def _sensitivity_row(again: Sequence[tuple[str, list[Row]]], claims: Sequence[str]) -> Row:
    """Return the row that is as good as the worst claimed row under any of the variations."""
    kind = Kind("sensitivity", "share", True, None)
    judged_again = [(title, [row for row in rows if row.name in claims]) for title, rows in again]
    states = [row.state for _, rows in judged_again for row in rows]
    if not states:
        return not_assessed(kind, "None of the claimed rows rests on credits or raw rates.")
    state = worst(states)
    turned: dict[tuple[str, str], int] = {}
    for _, rows in judged_again:
        for row in rows:
            if row.state != "met":
                turned[row.name, row.state] = turned.get((row.name, row.state), 0) + 1
    changed = [f"{name} {found} in {n} of {len(again)} variations" for (name, found), n in turned.items()]
    reason = "; ".join(changed) or "The claimed rows stay met without credits and across the raw rates"
    known = [row.confidence for _, rows in judged_again for row in rows if row.confidence is not None]
    return replace(not_assessed(kind, f"{reason}."), state=state, confidence=min(known, default=None))
