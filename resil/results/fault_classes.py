# SPDX-License-Identifier: Apache-2.0
"""Faults by the classes of ISO 26262-5: single-point, residual, latent and safe ones, and storage in use.

A fault that violates the safety goal is a *single-point* fault where no mechanism stands, and a *residual*
one where a mechanism does and did not detect it in time. *Latent* are permanent faults of the mechanisms
themselves that nothing reports. *Safe* are those that neither violate the goal, nor are detected, nor latent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from resil.campaign.safety import SafetyMechanism, SafetySettings
from resil.results.evidence import DUE, Class, classes_of
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.intervals import Interval
from resil.stats.judgement import Kind, Row, judged, not_assessed

IN_USE = "spfm_in_use"
MEASURES = "dedicated_measures"
TRANSIENT = ("single_point_transient", "residual_transient", "safe_transient")
PERMANENT = ("single_point_permanent", "residual_permanent", "latent_permanent", "safe_permanent")
_IDLE = "idle"
_LEVELS = ("C", "D")
_COVERED = 0.9
_CLAUSE = "ISO 26262-5:2018, 9.4.2 and 9.4.3"


def class_kinds(settings: SafetySettings, origin: str) -> tuple[Kind, ...]:
    """Return the rows of this module, as far as campaign and origin say what they are."""
    return (
        Kind(IN_USE, "share", True, settings.spfm, origin),
        *(Kind(name, "FIT", False, None, origin) for name in TRANSIENT),
        *(Kind(name, "FIT", False, None) for name in PERMANENT),
        Kind(MEASURES, "FIT", False, 0.0 if settings.asil in _LEVELS else None, origin),
    )


def in_use_row(kind: Kind, evidence: Evidence, hazardous: Collection[str]) -> Row:
    """Judge SPFM over the storage that the workload uses: `1 - lambda(hazardous) / lambda(in use)`.

    An upset of memory that is neither read, nor written over, nor reported until the inference ends has hit a
    cell that was not in use then. Idle memory lifts SPFM with every kilobyte that is added; here it does not
    count. Flip-flops all count.
    """
    if not evidence.injections or evidence.fit_raw <= 0.0:
        return not_assessed(kind, "There are no injections, or no raw rate, to judge from.")
    apart = _idle_apart(evidence, hazardous)
    used = {name for name in classes_of(apart) if not name.startswith(_IDLE)}
    found = apart.part(used & set(hazardous), used - set(hazardous))
    if found is None:
        return not_assessed(kind, "No upset hit storage in use: nothing is known of it.")
    row = judged(kind, found.complement())
    idle = apart.rate([name for name in classes_of(apart) if name.startswith(_IDLE)])
    share = 100.0 * idle.estimate / apart.fit_raw
    said = f"{share:.3g} % of the raw rate is memory that was not in use when it was hit."
    return replace(row, reason=f"{row.reason} {said}")


def _idle_apart(evidence: Evidence, hazardous: Collection[str]) -> Evidence:
    def apart(groups: Sequence[PooledGroup]) -> tuple[PooledGroup, ...]:
        return tuple(
            replace(group, counts=_renamed(group.counts, hazardous)) if group.kind == "sram" else group
            for group in groups
        )

    inputs = tuple(apart(groups) for groups in evidence.inputs)
    return replace(evidence, groups=apart(evidence.groups), inputs=inputs, known={})


def _renamed(counts: Mapping[str, int], hazardous: Collection[str]) -> dict[str, int]:
    def idle(name: str) -> bool:
        return Class.of(name).outcome == "latent" and name not in hazardous

    return {f"{_IDLE} {name}" if idle(name) else name: count for name, count in counts.items()}


def transient_rows(
    kinds: Mapping[str, Kind],
    evidence: Evidence,
    hazardous: Collection[str],
    mechanisms: Sequence[SafetyMechanism],
) -> list[Row]:
    """Return the rates of single-point, residual and safe upsets.

    Args:
        kinds: Of the rows, by name.
        evidence: No group spans several blocks.
        hazardous: Outcomes that violate the safety goal.
        mechanisms: Those that the design has.
    """
    single, residual = _violating(evidence, hazardous, mechanisms)
    safe = _rate(evidence, _quiet(evidence, hazardous))
    found = dict(zip(TRANSIENT, (single, residual, safe), strict=True))
    return [_given(kinds[name], evidence, own) for name, own in found.items()]


def permanent_rows(
    kinds: Mapping[str, Kind],
    evidence: Evidence,
    hazardous: Collection[str],
    guards: Sequence[SafetyMechanism],
    mechanisms: Evidence | None,
    unknown: str = "",
) -> list[Row]:
    """Return the rates of single-point, residual, latent and safe stuck bits.

    Args:
        kinds: Of the rows, by name.
        evidence: Of permanent faults. A group that spans several blocks counts as one without a mechanism.
        hazardous: Outcomes that violate the safety goal.
        guards: Mechanisms that the design has.
        mechanisms: The part of the evidence that lies in their storage; None if none names any.
        unknown: Why nothing is known of latent faults of some of them; "" if all are known.
    """
    single, residual = _violating(evidence, hazardous, guards)
    names = ("single_point_permanent", "residual_permanent")
    rows = [_given(kinds[name], evidence, own) for name, own in zip(names, (single, residual), strict=True)]
    quiet = _rate(evidence, _quiet(evidence, hazardous))
    if unknown:
        return [*rows, *(not_assessed(kinds[name], unknown) for name in PERMANENT[2:])]
    if mechanisms is None:
        if guards:
            reason = "No mechanism names its own storage: latent faults are not divided from safe ones."
            return [*rows, *(not_assessed(kinds[name], reason) for name in PERMANENT[2:])]
        latent = Interval(0.0, 0.0, 0.0, evidence.stated)
        reason = "There is no mechanism whose fault could be latent."
        row = replace(_given(kinds["latent_permanent"], evidence, latent), reason=reason)
        return [*rows, row, _given(kinds["safe_permanent"], evidence, quiet)]
    latent = _rate(mechanisms, _quiet(mechanisms, hazardous))
    safe = Interval(
        max(quiet.estimate - latent.estimate, 0.0),
        max(quiet.lo - latent.hi, 0.0),
        max(quiet.hi - latent.lo, 0.0),
        quiet.confidence,
    )
    return [
        *rows,
        _given(kinds["latent_permanent"], mechanisms, latent),
        _given(kinds["safe_permanent"], evidence, safe),
    ]


def measures_row(
    kind: Kind,
    settings: SafetySettings,
    single: Sequence[Row],
    asking: Mapping[str, Collection[str]],
    unknown: str,
) -> Row:
    """Ask for dedicated measures where a fault violates the goal and no mechanism, or a weak one, stands.

    At ASIL C and D a single-point fault, or a residual one under a coverage below 90 %, is accepted only with
    dedicated measures: over-design, burn-in, a control plan. No injection can show them, so the row is met
    only where no storage asks for them.

    Args:
        kind: The row.
        settings: Name the level.
        single: Rows of single-point faults, of upsets and of permanent faults.
        asking: Blocks that ask for measures, by why they do.
        unknown: Why permanent faults are not known; "" if they are.
    """
    if settings.asil not in _LEVELS:
        return not_assessed(kind, "Dedicated measures are asked for at ASIL C and D, which was not named.")
    known = [row.value for row in single if row.value is not None]
    if not known:
        return not_assessed(kind, "Nothing is known of single-point faults.")
    row = judged(
        kind,
        Interval(
            sum(own.estimate for own in known),
            sum(own.lo for own in known),
            sum(own.hi for own in known),
            min(own.confidence for own in known),
        ),
    )
    also = f" {unknown}" if unknown else ""
    said = "; ".join(f"{why}: {', '.join(sorted(blocks))}" for why, blocks in asking.items() if blocks)
    if not said:
        reason = f"All storage has a mechanism that was shown to cover 90 % of what would do harm.{also}"
        return replace(row, reason=reason, state="inconclusive" if unknown else row.state)
    reason = (
        f"ASIL {settings.asil} asks for dedicated measures ({_CLAUSE}). {said}. Injections cannot show them: "
        f"argue them in the safety manual, or guard these blocks.{also}"
    )
    return replace(row, reason=reason, state="inconclusive")


def unguarded_blocks(evidence: Evidence, mechanisms: Sequence[SafetyMechanism]) -> set[str]:
    """Return the blocks that no mechanism guards; "several blocks" for a group that spans some."""
    return {g.block or "several blocks" for g in evidence.groups if g.fit_raw and not _guarded(g, mechanisms)}


def weakly_covered(
    evidence: Evidence, harmful: Collection[str], mechanisms: Sequence[SafetyMechanism]
) -> set[str]:
    """Return guarded blocks whose harmful faults were not shown to be detected by 90 %, at the lower limit.

    Args:
        evidence: No group spans several blocks.
        harmful: Outcomes that violate the goal if nothing is detected.
        mechanisms: Those that the design has.
    """
    found = set()
    for block in {g.block for g in evidence.groups if g.fit_raw and _guarded(g, mechanisms)}:
        own = evidence.where(_in_block(block))
        detected = {name for name in harmful if Class.of(name).outcome == DUE}
        unseen = any(Class.of(name).outcome == DUE and not Class.of(name).seen for name in classes_of(own))
        part = None if unseen else own.part(detected, set(harmful) - detected)
        if part is None or part.lo < _COVERED:
            found.add(block or "several blocks")
    return found


def _in_block(block: str) -> Callable[[PooledGroup], bool]:
    return lambda group: group.block == block


def _guarded(group: PooledGroup, mechanisms: Sequence[SafetyMechanism]) -> bool:
    return any(not own.blocks or group.block in own.blocks for own in mechanisms)


def _violating(
    evidence: Evidence, hazardous: Collection[str], mechanisms: Sequence[SafetyMechanism]
) -> tuple[Interval, Interval]:
    alone = evidence.where(lambda group: not _guarded(group, mechanisms))
    watched = evidence.where(lambda group: _guarded(group, mechanisms))
    return _rate(alone, hazardous), _rate(watched, hazardous)


def _quiet(evidence: Evidence, hazardous: Collection[str]) -> set[str]:
    names = classes_of(evidence) - set(hazardous)
    return {name for name in names if Class.of(name).outcome != DUE}


def _rate(evidence: Evidence, outcomes: Collection[str]) -> Interval:
    if not evidence.groups:
        return Interval(0.0, 0.0, 0.0, evidence.stated)
    return evidence.rate(outcomes)


def _given(kind: Kind, evidence: Evidence, found: Interval) -> Row:
    if not evidence.injections:
        return not_assessed(kind, "There are no injections to judge from.")
    return judged(kind, found)
