# SPDX-License-Identifier: Apache-2.0
"""The kit of a run for an assessor, and its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from resil.assessor.dependent import dependent_failures
from resil.assessor.evidence import ValidationEvidence, evidence_for
from resil.assessor.reservations import read_given, refused, reservations_of
from resil.assessor.uses import tool_uses
from resil.campaign.campaign import load_campaign
from resil.errors import ConsistencyError, StoreError
from resil.files import read_bytes
from resil.folder.finished import Finished, finished_results
from resil.folder.kept_plans import accepted_plan
from resil.folder.provenance import now
from resil.folder.recorded import read_document
from resil.folder.store import CAMPAIGN, recorded_provenance
from resil.layout import data_folder
from resil.record.assessor import AssessorKit, Change, FailureModeRow, ManualEntry, MetricRow, Reservation
from resil.record.errors import ReportError
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.provenance import Provenance
from resil.record.stored_audit import StoredAudit
from resil.record.summary import Summary
from resil.record.validation import Validation
from resil.reports import FIRST_PAGE, assessor_files, failure_modes, write_files
from resil.version import __version__

# What could be read of the standard, and what not.
EXCHANGE = (
    "IEEE 2851-2023 (Functional Safety Data Format for Interoperability within the Dependability "
    "Lifecycle): its "
    "scope and table of contents are public, its data model could not be read. Names of fields are "
    "resil's own; "
    "what an FMEDA holds (part, failure mode, base rate, share, mechanism, coverage, residual rate) is "
    "in them. "
    "Rates are in FIT, intervals are [estimate, lower limit, upper limit]."
)
_NOT_MODELLED = (
    ("transients in logic", "Upsets of storage say nothing of pulses in combinational logic: those "
    "are a campaign of their own, which [safety] logic names where there is one."),
    ("clock and reset trees", "Faults of clock and reset trees are not injected."),
    ("permanent faults of logic", "Stuck storage bits say nothing of stuck pins of cells: those are a "
    "campaign of their own, which [safety] permanent_logic names where there is one."),
    ("timing, voltage, temperature", "Nothing is said of delays, voltage, temperature or ageing."),
    ("systematic faults", "Bugs of the RTL, the compiler or the network are no random hardware failures."),
    ("layout", "Placement is not known: bits of different words are not hit together."),
    ("idle time", "Rates are of a target that runs its workload all the time, without a pause."),
    ("accuracy of the network", "A wrong answer of the network without a fault is no failure here."),
)  # fmt: skip


def make_kit(run_dir: Path, out: Path, validation: Path | None = None) -> AssessorKit:
    """Return the kit of a run, of an estimate or of a folder that may not be used.

    A folder whose results are refused gets a kit, too, so that none that was made before stays behind: it
    says why, first, and holds no figure.

    Args:
        run_dir: The folder.
        out: Where the kit will be, whose history goes on.
        validation: Folder or file of the validation evidence; the user's data folder if None.
    """
    try:
        found = finished_results(run_dir)
    except (StoreError, ConsistencyError) as error:
        return _without_results(run_dir, out, str(error), _evidence(validation, _provenance(run_dir)))
    evidence = _evidence(validation, found.provenance)
    left: list[Reservation] = []
    protection = _protection(run_dir, found, left)
    audit = _audit(run_dir, left)
    campaign = load_campaign(run_dir / CAMPAIGN)
    summary = found.summary
    given = read_given(run_dir)
    return AssessorKit(
        schema=AssessorKit.SCHEMA,
        usable=True,
        reservations=(
            *reservations_of(found, campaign, given, protection, audit),
            *left,
            *evidence.reservations,
        ),
        title=f"{summary.campaign.name}: {summary.network.name} on {summary.target.name}",
        identity=found.provenance.hashes.get("campaign", ""),
        results=found.digest,
        answers=_answers(found, protection),
        manual=tuple(_manual(found)),
        uses=tool_uses(found, evidence, audit, protection),
        evidence=evidence.state,
        validation=evidence.lines,
        exchange=EXCHANGE,
        failure_modes=tuple(_failure_modes(summary, protection)),
        metrics=tuple(_metrics(summary)),
        dependent=dependent_failures(
            run_dir, len(campaign.faults.clusters) > 1, campaign.faults.external, protection
        ),
        changes=_changes(out, found, protection, audit, evidence),
        resil=__version__,
        made=now(),
    )


def write_kit(kit: AssessorKit, out: Path) -> list[Path]:
    """Write all files of a kit, each whole or not at all; return their paths.

    Raises:
        ReportError: the folder cannot be written.
    """
    return write_files(assessor_files(kit), out)


def kit_text(kit: AssessorKit, out: Path) -> str:
    """Return where the kit is, and its reservations, as lines for a person."""
    lines = [f"{out / FIRST_PAGE}: {len(kit.reservations)} reservations"]
    return "\n".join([*lines, *(f"  {own.topic}: {own.text}" for own in kit.reservations)])


def _without_results(run_dir: Path, out: Path, why: str, evidence: ValidationEvidence) -> AssessorKit:
    return AssessorKit(
        schema=AssessorKit.SCHEMA,
        usable=False,
        reservations=(refused(why), *evidence.reservations),
        title=run_dir.name,
        identity="",
        results="",
        answers={},
        manual=tuple(ManualEntry(section="not modelled", topic=a, text=b) for a, b in _NOT_MODELLED),
        uses=(),
        evidence=evidence.state,
        validation=evidence.lines,
        exchange=EXCHANGE,
        failure_modes=(),
        metrics=(),
        dependent=(),
        changes=(*_earlier(out), Change(when=now(), what=f"Kit without results: {why}", digest="")),
        resil=__version__,
        made=now(),
    )


def _provenance(run_dir: Path) -> Provenance | None:
    with suppress(StoreError):
        return recorded_provenance(run_dir)
    return None


def _evidence(place: Path | None, run: Provenance | None) -> ValidationEvidence:
    folder = data_folder() / "validation" if place is None else place
    return evidence_for(folder / Validation.FILE if not folder.is_file() else folder, run)


def _protection(run_dir: Path, found: Finished, left: list[Reservation]) -> ProtectionState | None:
    try:
        return accepted_plan(run_dir, found.digest)
    except StoreError as error:
        left.append(Reservation(topic="protection cannot be read", text=str(error)))
        return None


def _audit(run_dir: Path, left: list[Reservation]) -> StoredAudit | None:
    file = run_dir / StoredAudit.FILE
    if not file.exists():
        return None
    try:
        return read_document(file, StoredAudit, StoredAudit.REMEDY)
    except StoreError as error:
        left.append(Reservation(topic="audit cannot be read", text=str(error)))
        return None


def _answers(found: Finished, protection: ProtectionState | None) -> Mapping[str, str]:
    summary = found.summary
    verdict, safety, total = summary.verdict, summary.safety, summary.total
    sure = f"{summary.campaign.confidence:.0%} confidence"
    answers = {
        "FIT budget": f"{'predicted: ' if summary.predicted else ''}{verdict.result}. {verdict.reason}",
        "hazardous FIT": f"{verdict.fit if verdict.fit is not None else 'not known'}, "
        f"{verdict.fit_lo:.3g} to "
        f"{verdict.fit_hi:.3g} ({sure})",
        "about": f"{verdict.population}; {verdict.scope}",
        "hazardous outcomes": ", ".join(summary.campaign.hazardous),
        "injections": "none, predicted" if summary.predicted else f"{total.injections:,}",
        "safety verdict": "none asked for" if safety is None else f"{safety.result}. {safety.reason}",
    }
    if safety is not None:
        for row in safety.rows:
            claimed = "claimed" if row.name in safety.claims else "not claimed"
            answers[row.title] = f"{row.state} ({claimed}): {row.shown_value} {row.shown_target}".rstrip()
    if protection is not None:
        answers["protection"] = f"{protection.plan.result} for {protection.plan.target}. " + (
            confirmation_line(protection) or "Not built."
        )
    return answers


def _failure_modes(summary: Summary, protection: ProtectionState | None) -> Iterator[FailureModeRow]:
    for mode in failure_modes(summary, protection):
        known = mode.block.sampled
        yield FailureModeRow(
            part=mode.block.name,
            failure_mode=mode.outcome.failure_mode,
            outcome=mode.outcome.key,
            base_rate=mode.block.fit_raw if known else None,
            share=mode.share if known else None,
            rate=mode.fit if known else None,
            violates=mode.violates,
            mechanism=mode.mechanism,
            base_factor=mode.base_factor,
            coverage=mode.coverage,
            residual=mode.residual if known else None,
            source=mode.source if known else "nothing injected: not known, which is not zero",
        )


def _metrics(summary: Summary) -> Iterator[MetricRow]:
    safety = summary.safety
    for row in () if safety is None else safety.rows:
        yield MetricRow(
            metric=row.name,
            state=row.state,
            claimed=safety is not None and row.name in safety.claims,
            unit=row.unit,
            value=row.value,
            lo=row.lo,
            hi=row.hi,
            target=row.target,
        )


def _manual(found: Finished) -> Iterator[ManualEntry]:
    summary = found.summary
    target, campaign = summary.target, summary.campaign

    def entry(section: str, topic: str, text: str) -> ManualEntry:
        return ManualEntry(section=section, topic=topic, text=text)

    settings = f", {target.settings}" if target.settings else ""
    yield entry(
        "use",
        "target",
        f"{target.name}, top {target.top}{settings}; area {target.area:,.0f} {target.area_unit}.",
    )
    yield entry(
        "use",
        "workload",
        f"{summary.network.name} (SHA-256 {summary.network.sha256}), inputs "
        f"{', '.join(map(str, campaign.inputs[:20]))}{' and more' if len(campaign.inputs) > 20 else ''}; the "
        f"decision is read by {summary.network.decision or 'the campaign'}.",
    )
    for remark in summary.network.remarks:
        yield entry("use", "network", remark)
    yield entry("scope", "storage", summary.verdict.scope)
    yield entry("scope", "population", summary.verdict.population)
    yield entry("scope", "faults", f"Fault model {campaign.fault_model}; {campaign.faults} faults.")
    for own in summary.technology.entries:
        span = "no range" if own.low is None or own.high is None else f"{own.low:g} to {own.high:g}"
        yield entry(
            "scope",
            f"raw rate: {own.title}",
            f"{own.shown} {own.unit} ({own.status}; {span}). Source: {own.source}",
        )
    for assumption in summary.assumptions:
        yield entry("assumption", assumption.topic, assumption.text)
    for topic, text in _NOT_MODELLED:
        yield entry("not modelled", topic, text)
    for note in summary.notes:
        yield entry("scope", "note", note)


def _changes(
    out: Path,
    found: Finished,
    protection: ProtectionState | None,
    audit: StoredAudit | None,
    evidence: ValidationEvidence,
) -> tuple[Change, ...]:
    facts, summary = found.provenance, found.summary
    own = [
        Change(
            when=facts.started,
            what=f"{'Estimate' if summary.predicted else 'Run'} begun by resil {facts.resil}, seed "
            f"{facts.seed}: "
            f"{' '.join(facts.command)}",
            digest=facts.hashes.get("campaign", ""),
        ),
        Change(
            when=facts.finished or "",
            what=f"Results: budget {summary.verdict.result}, {summary.total.injections:,} injections.",
            digest=found.digest,
        ),
    ]
    if audit is not None:
        what = f"{audit.drawn.tried:,} injections simulated again by the engine {audit.judge}: "
        own.append(
            Change(when=audit.made, what=f"{what}{audit.drawn.differ:,} differ.", digest=audit.content)
        )
    if protection is not None:
        text = f"Protection {protection.plan.name} for {protection.plan.target}: {protection.plan.result}. "
        digest = protection.plan.choice_digest
        own.append(Change(when="", what=f"{text}{confirmation_line(protection)}".strip(), digest=digest))
    if evidence.document is not None:
        passed = "passed" if evidence.document.passed else "failed"
        own.append(
            Change(
                when=evidence.document.made,
                what=f"Validation evidence {passed}{', short' if evidence.document.quick else ''}.",
                digest=evidence.document.package,
            )
        )
    now_made = Change(when=now(), what=f"Kit by resil {__version__}.", digest=found.digest)
    earlier = _earlier(out)
    return (*earlier, *(change for change in own if change not in earlier), now_made)


def _earlier(out: Path) -> tuple[Change, ...]:
    """Return the history of the kit that is there; a kit that cannot be read is said to be lost."""
    file = out / AssessorKit.FILE
    if not file.exists():
        return ()
    try:
        return AssessorKit.read(read_bytes(file, AssessorKit.REMEDY), str(file)).changes
    except (StoreError, ReportError) as error:
        return (Change(when=now(), what=f"The history before this could not be read: {error}", digest=""),)
