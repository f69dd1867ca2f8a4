# SPDX-License-Identifier: Apache-2.0
"""What a reader must know before any figure of a run: everything that makes it less than it looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from resil.bench.site_list import STORAGE
from resil.campaign.campaign import Campaign
from resil.campaign.rules import UNTIL
from resil.campaign.text import GIVEN
from resil.folder.finished import Finished
from resil.record.assessor import Reservation
from resil.record.golden import DIFFERS, EQUAL
from resil.record.outcomes import HAZARDOUS, OUTCOMES
from resil.record.protection import INFEASIBLE, NOT_NEEDED
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.stored_audit import StoredAudit
from resil.record.summary import Summary
from resil.version import __version__

_CONFIDENCE = 0.95
_AUDIT_AT_MOST = 0.01


def refused(why: str) -> Reservation:
    """Return what is said of a folder whose results may not be used."""
    return Reservation(
        topic="no usable results",
        text=f"The results of this folder may not be used, and the kit holds no figure of them. {why}",
    )


def reservations_of(
    found: Finished,
    campaign: Campaign,
    campaign_file: str,
    protection: ProtectionState | None,
    audit: StoredAudit | None,
) -> Iterator[Reservation]:
    """Yield what a reader must know, the weightiest first.

    Args:
        found: The results.
        campaign: What was asked.
        campaign_file: Text of `campaign.toml` in the folder.
        protection: The accepted plan, if there is one.
        audit: What a second simulation found; None if there was none.
    """
    summary = found.summary
    texts = (
        *_measured(summary),
        *_verdict(summary),
        *_golden(summary),
        *_population(summary),
        *_host(summary),
        *_asked(summary, campaign, campaign_file),
        *_rates(summary),
        *_protection(protection),
        *_simulation(found, audit),
    )
    for topic, text in texts:
        yield Reservation(topic=topic, text=text)


Texts = Iterator[tuple[str, str]]


def _measured(summary: Summary) -> Texts:
    if summary.predicted:
        yield (
            "estimate",
            "Nothing was injected: all figures are predicted by a sensitivity model from other networks. A "
            "prediction decides nothing and is no evidence for a safety case.",
        )
    if reason := summary.nothing_measured:
        yield "nothing measured", f"What the run watched could have shown no failure: {reason}"
    elif summary.sanity is not None:
        for check in summary.sanity.checks:
            if check.state != "passed":
                yield "check of the output", f"The check {check.name!r} was {check.state}: {check.text}"
    if unmapped := summary.target.unmapped_sites:
        yield "storage without fault sites", f"{unmapped:,} storage bits are in no figure."
    stored = [own for own in summary.blocks if own.ff_bits + own.macro_bits + own.sram_bits]
    if empty := [block.name for block in stored if not block.sampled]:
        yield (
            "blocks without injections",
            f"Nothing was injected into {', '.join(empty)}: not known, which is not zero.",
        )


def _verdict(summary: Summary) -> Texts:
    verdict, safety = summary.verdict, summary.safety
    if verdict.result == "none":
        yield "no budget", "No FIT budget was asked for: nothing is met."
    elif verdict.result != "met":
        yield f"FIT budget {verdict.result}", verdict.reason
    if safety is None:
        yield (
            "no safety verdict",
            "The campaign has no table [safety]: SPFM, LFM, PMHF share, coverage and detection in time "
            "were not "
            "asked for, and are not met.",
        )
    else:
        if safety.result != "met":
            yield f"safety verdict {safety.result}", safety.reason
        if open_rows := [row.title for row in safety.rows if row.state == "not assessed"]:
            yield "rows that are not assessed", f"Not assessed, so not met: {'; '.join(open_rows)}."
    if left := [own for own in verdict.left_out if own.outcome in HAZARDOUS]:
        said = "; ".join(f"{own.injections:,} of {own.outcome} ({own.fit:.3g} FIT)" for own in left)
        yield "failures that do not count", f"Occurred and do not count as hazardous: {said}."
    if missing := sorted(set(HAZARDOUS) - set(summary.campaign.hazardous)):
        titles = [own.title for own in OUTCOMES if own.key in missing]
        yield "outcomes that do not count", f"By the campaign these are not hazardous: {'; '.join(titles)}."
    if summary.campaign.confidence < _CONFIDENCE:
        yield (
            "confidence",
            f"Limits have {summary.campaign.confidence:.0%} confidence, less than the usual 95 %.",
        )


def _golden(summary: Summary) -> Texts:
    compared = summary.golden.comparison
    if compared.state == DIFFERS:
        yield "accepted golden difference", compared.sentence
    elif compared.state != EQUAL:
        yield "golden output not compared", compared.sentence


def _population(summary: Summary) -> Texts:
    inputs = summary.campaign.inputs
    if len(inputs) == 1:
        yield (
            "one input alone",
            f"Only input {inputs[0]} was run. Figures are about it; other inputs may be several times worse. "
            "Nothing is said of the network on inputs like it.",
        )
    elif summary.sampling is not None and summary.sampling.inputs == "these":
        yield (
            "these inputs alone",
            f"Limits are about the {len(inputs)} inputs that were run, not about inputs like them.",
        )
    if summary.sampling is not None and summary.sampling.over_inputs.searched:
        yield "inputs were searched for", "The inputs were chosen by their decision, and stand for no others."
    if len(inputs) > 1 and summary.sampling is not None and not summary.sampling.over_inputs.data_set:
        yield (
            "inputs were not drawn",
            "The inputs were listed by hand and not drawn at random from a data set: whether they stand for "
            "those in use has to be argued.",
        )


def _host(summary: Summary) -> Texts:
    unaided = summary.verdict.unaided
    if unaided is not None and unaided.result != summary.verdict.result:
        yield (
            "rests on a reaction of the host",
            f"The budget is {summary.verdict.result} only if the host reacts to what is detected. If nobody "
            f"does it is {unaided.result}: {unaided.fit:.3g} FIT ({unaided.fit_lo:.3g} to "
            f"{unaided.fit_hi:.3g}).",
        )
    if summary.verdict.centre is not None and summary.verdict.centre != summary.verdict.result:
        yield (
            "rests on the raw rates",
            f"At the centre of the raw rates the budget is {summary.verdict.centre}, at their worst corner "
            f"({summary.verdict.corner}) {summary.verdict.result}.",
        )


def _asked(summary: Summary, campaign: Campaign, campaign_file: str) -> Texts:
    for line in campaign_file.splitlines():
        if line.startswith(GIVEN):
            yield (
                "overridden keys",
                f"The command line replaced keys of the campaign's file: {line[len(GIVEN) :]}.",
            )
    bits = {"ff": summary.total.ff_bits, "macro": summary.total.macro_bits, "sram": summary.total.sram_bits}
    left = [
        f"{count:,} {STORAGE[kind]}"
        for kind, count in bits.items()
        if count
        and kind not in summary.campaign.kinds
        and not (kind == "macro" and "ff" in summary.campaign.kinds)
    ]
    if left:
        reason = campaign.safety.left_out if campaign.safety else ""
        yield (
            "storage left out",
            f"Not injected, and in no figure: {' and '.join(left)}{f' ({reason})' if reason else ''}.",
        )
    if summary.campaign.until != UNTIL[0]:
        yield (
            "ended at the alarm",
            "Injections ended with the first alarm: what they would have done is not known.",
        )
    if summary.campaign.fault_model != "upset":
        yield (
            "fault model",
            f"The faults are {summary.campaign.fault_model}: upsets of storage are in no figure.",
        )
    if len(summary.campaign.clusters) < 2 and summary.campaign.fault_model == "upset":
        yield (
            "single-bit upsets alone",
            "No clusters of adjacent bits were declared: multi-cell upsets, which defeat parity, were not "
            "injected.",
        )


def _rates(summary: Summary) -> Texts:
    assumed = [own for own in summary.technology.entries if own.status != "measured"]
    if assumed:
        said = "; ".join(f"{own.title} ({own.status})" for own in assumed)
        yield "raw rates that were not measured", f"Not measured figures of the technology: {said}."
    if bare := [own.title for own in summary.technology.entries if own.low is None or own.high is None]:
        yield "raw rates without a range", f"Taken as exact, as no range is given: {'; '.join(bare)}."


def _protection(protection: ProtectionState | None) -> Texts:
    if protection is None:
        return
    plan = protection.plan
    if plan.result == INFEASIBLE:
        yield "protection infeasible", f"No set of options reaches {plan.target}: {plan.reason}"
    elif plan.result != NOT_NEEDED and protection.confirmed is not True:
        yield (
            "protection not confirmed",
            confirmation_line(protection)
            or "A protection was chosen; it was not built, and not injected into.",
        )
    if plan.waived:
        yield "waived limits", f"The protection was chosen with limits waived: {'; '.join(plan.waived)}."
    if plan.from_estimate or plan.models:
        yield "protection from predictions", "The protection was chosen with the help of predictions."
    for text in plan.golden:
        yield "protection's golden outputs", text


def _simulation(found: Finished, audit: StoredAudit | None) -> Texts:
    facts = found.provenance
    if facts.resil != __version__:
        yield "other version", f"The run was made by resil {facts.resil}; this kit is by {__version__}."
    if found.summary.predicted:
        return
    if audit is None:
        yield (
            "not simulated again",
            "No stored injection was simulated again by another simulator: resil audit RUN_DIR -n 1000 "
            "does it.",
        )
        return
    sealed = facts.results
    if sealed is None or audit.content != sealed.content:
        yield (
            "audit of other injections",
            "The second simulation judged other injections than the run holds now; resil audit makes it "
            "again.",
        )
    if audit.judge == audit.engine:
        yield (
            "audit by the same engine",
            "The second simulation was by the run's own engine, without shortcuts.",
        )
    if audit.at_most > _AUDIT_AT_MOST:
        yield (
            "small audit",
            f"Only {audit.drawn.tried:,} injections were drawn for the second simulation: up to "
            f"{audit.at_most:.2%} of the run may be wrong at {audit.confidence:.0%} confidence.",
        )
    if audit.disagreements:
        yield (
            "audit failed",
            f"{len(audit.disagreements):,} injections came out otherwise when simulated again.",
        )


def read_given(folder: Path) -> str:
    """Return the text of a run's `campaign.toml`; "" if there is none."""
    file = folder / "campaign.toml"
    return file.read_text(encoding="utf-8") if file.is_file() else ""
