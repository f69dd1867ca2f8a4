# SPDX-License-Identifier: Apache-2.0
"""Confidence in the tool by use, as ISO 26262-8:2018 clause 11 asks: errors, how they are noticed, level.

A use counts as well detected (TD1) only by evidence that is there: current validation, a second simulation of
this very run. Without it the level falls, and the kit says so.
"""

from __future__ import annotations

from resil.assessor.evidence import ValidationEvidence
from resil.folder.finished import Finished
from resil.record.assessor import ToolUse, level_of
from resil.record.protection import NOT_NEEDED
from resil.record.protection_state import ProtectionState, confirmation_line
from resil.record.stored_audit import StoredAudit

AUDIT_AT_MOST = 0.01


def tool_uses(
    found: Finished,
    evidence: ValidationEvidence,
    audit: StoredAudit | None,
    protection: ProtectionState | None,
) -> tuple[ToolUse, ...]:
    """Return every use of resil that a run's figures rest on."""
    if found.summary.predicted:
        return (_predict(found),)
    return (
        _inject(found, evidence, audit),
        _sites(),
        _estimate(evidence),
        _judge(evidence),
        *(() if protection is None else _protect(protection)),
        _golden(found),
    )


def is_independent(found: Finished, audit: StoredAudit | None) -> bool:
    """Whether a second simulation of this very run, by another engine, bounds what is wrong."""
    sealed = found.provenance.results
    return (
        audit is not None
        and sealed is not None
        and audit.content == sealed.content
        and audit.judge != audit.engine
        and audit.at_most <= AUDIT_AT_MOST
        and not audit.disagreements
    )


def _use(name: str, error: str, effect: str, detection: str, evidence: str, detected: str) -> ToolUse:
    return ToolUse(
        name=name,
        error=error,
        effect=effect,
        detection=detection,
        evidence=evidence,
        impact="TI2",
        detected=detected,
        level=level_of("TI2", detected),
    )


def _inject(found: Finished, evidence: ValidationEvidence, audit: StoredAudit | None) -> ToolUse:
    again = is_independent(found, audit)
    validated = evidence.passed("truth", "independent", "mutants")
    kept = found.provenance.audit
    tried = 0 if kept is None else kept.tried
    said = f"The engine's own audit ran {tried:,} early stops of this run to their ends, none differs"
    if audit is not None:
        said += (
            f"; the engine {audit.judge} simulated {audit.drawn.tried:,} injections drawn from "
            f"{audit.drawn.stored:,} "
            f"again, {audit.drawn.differ:,} differ: at most {audit.at_most:.2%} are wrong "
            f"({audit.confidence:.0%} confidence)"
        )
    if recalled := found.provenance.recalled:
        said += f"; {recalled:,} outcomes were taken from earlier campaigns, a sample of them simulated again"
    said += f". Validation: {'passed' if validated else 'not current, or not passed'}."
    level = "TD1" if again and validated and evidence.is_whole else "TD2" if again or validated else "TD3"
    return _use(
        "simulate faults and classify their outcomes",
        "an outcome is not what the RTL does: a shortcut of the engine, a flip that did not take, a "
        "wrong bit",
        "hazardous faults count as harmless, FIT is too low",
        "an audit of early stops in every run; resil audit with another driver; enumeration of a small "
        "design "
        "against a model in another language; mutants of the engine",
        said,
        level,
    )


def _sites() -> ToolUse:
    return _use(
        "list the storage of the RTL and what of it is hardware",
        "storage is missing, doubled or in another block, or synthesis is wrongly said to remove it",
        "the raw rate is too low or belongs to another block",
        "storage that no fault site was made for is counted and refused; the simulator has to have every "
        "name "
        "and width; both audits strike by name",
        "Not shown by a check of its own on this design: compare the bits of sites.parquet with the "
        "netlist of "
        "the layout.",
        "TD2",
    )


def _estimate(evidence: ValidationEvidence) -> ToolUse:
    covered = evidence.passed("coverage")
    whole = covered and evidence.is_whole
    return _use(
        "estimate FIT, metrics and their limits",
        "an interval holds the truth less often than it claims, or a rate has another unit",
        "a limit that meets the budget though the truth does not",
        "intervals of whole campaigns against an enumerated truth; units are typed, and rates beyond any "
        "storage's are refused",
        f"Validation: {'passed' if whole else 'passed, short' if covered else 'not current, or not passed'}.",
        "TD1" if whole else "TD2" if covered else "TD3",
    )


def _judge(evidence: ValidationEvidence) -> ToolUse:
    kept = evidence.passed("restart")
    return _use(
        "keep results, judge them and report them",
        "results of two designs are mixed, rows are lost, a report says other than the results",
        "a verdict about something else than what was run",
        "identity of every row, digests of all files, a resume that simulates some rows again, documents "
        "that "
        "are refused where their parts contradict each other",
        f"The folder was read whole and its digests agree. Restarts: "
        f"{'passed' if kept else 'not validated'}.",
        "TD2" if kept else "TD3",
    )


def _protect(protection: ProtectionState) -> tuple[ToolUse, ...]:
    if protection.plan.result == NOT_NEEDED:
        return ()
    confirmed = protection.confirmed is True
    return (
        _use(
            "choose protection and build it as RTL",
            "the set does not reach its target, or the built RTL does not do what the option promises",
            "protection that protects less than is said",
            "proof of each mechanism, runs without a fault bit by bit, and injections into the built RTL "
            "with a "
            "new seed on networks that took no part",
            confirmation_line(protection) or "Not built and not injected into.",
            "TD1" if confirmed else "TD3",
        ),
    )


def _golden(found: Finished) -> ToolUse:
    compared = found.summary.golden.comparison
    return _use(
        "compile the network and lay it out in memory",
        "what runs is not the network that was asked for",
        "figures of another computation",
        "the output without a fault is compared with an independent integer reference of the network's file",
        compared.sentence,
        "TD1" if compared.state == "equal" else "TD3",
    )


def _predict(found: Finished) -> ToolUse:
    del found
    return _use(
        "predict a campaign by a sensitivity model",
        "the network is unlike those that the model has seen",
        "FIT several times too low",
        "none: only injections notice it",
        "Nothing was injected.",
        "TD3",
    )
