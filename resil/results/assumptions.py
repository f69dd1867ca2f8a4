# SPDX-License-Identifier: Apache-2.0
"""Assumptions of use: what must hold where the target is used for a campaign's figures to hold there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from resil.bench.bench import Bench
from resil.bench.site_list import STORAGE, site_word
from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import BRIDGE, LOGIC, OPEN
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_settings import TestbenchSettings
from resil.record.safety import Assumption
from resil.results.evidence import DUE, Hazards, classes_of
from resil.results.named_run import NamedRun, NamedRuns
from resil.rtl_harness.design.operations import longest_operation
from resil.rtl_harness.engine.contract import GoldenRun
from resil.stats.evidence import Evidence
from resil.stats.intervals import Interval
from resil.stats.technology import RawRates

_TREES = "clock and reset trees but clock gates, buffers that the netlist has, and what drives resets"


def assumptions_of_use(
    campaign: Campaign,
    bench: Bench,
    technology: RawRates,
    evidence: Evidence,
    bits: Mapping[str, int],
    goldens: Sequence[GoldenRun],
    runs: NamedRuns = NamedRuns(),  # noqa: B008
) -> tuple[Assumption, ...]:
    """Return the assumptions of use of a campaign.

    Args:
        campaign: What was asked.
        bench: What was injected into.
        technology: Raw rates of the campaign's faults.
        evidence: Of the injections.
        bits: The target's storage, by kind.
        goldens: The run without a fault of each input.
        runs: What the runs that `[safety]` names say.
    """
    texts = {
        "reaction to a detection": _reaction(campaign, evidence),
        "watchdog": _watchdog(campaign),
        "time-out": _timeout(campaign, goldens, bench.network.stretches),
        "fault-tolerant time": _fault_tolerant_time(campaign),
        "clock and operation": _operation(campaign, bench),
        "raw rates": _rates(campaign, technology, bits),
        "scope": _scope(campaign, bits, runs),
        "decision": _decision(campaign, bench),
        "inputs": _inputs(campaign, bench),
    }
    if bench.not_assessed:
        texts["scope"] += f" {bench.not_assessed}"
    if bench.codes:
        texts["codes of memories"] = bench.codes
    if bench.placement:
        texts["placement"] = bench.placement
    if isinstance(campaign.work, RecordingSettings | TestbenchSettings):
        texts["environment"] = bench.network.remarks[0]
    return tuple(Assumption(topic=topic, text=text) for topic, text in texts.items())


def _reaction(campaign: Campaign, evidence: Evidence) -> str:
    if DUE in campaign.hazardous:
        return "Detected failures (DUE) count as hazardous: nothing is assumed of a reaction."
    credited = Hazards(frozenset(campaign.hazardous))
    names = classes_of(evidence)
    now = evidence.rate(credited.among(names))
    without = evidence.rate(Hazards(credited.outcomes, due_credited=False).among(names))
    return (
        "A detected failure (DUE) does not violate the safety goal: the host looks at the error status and "
        "the alarms of every inference, drops the result and reaches a safe state in time. If nobody reacts, "
        f"a detected failure counts by what is seen, and the hazardous rate is {_fit(without)} in place of "
        f"{_fit(now)}."
    )


def _fit(found: Interval) -> str:
    return f"{found.estimate:.3g} FIT ({found.lo:.3g} to {found.hi:.3g})"


def _watchdog(campaign: Campaign) -> str:
    if "hang" in campaign.hazardous:
        return "None is assumed: an inference that does not end counts as hazardous."
    if campaign.safety is not None and campaign.safety.watchdog:
        return f"A hang does not violate the safety goal, because of: {campaign.safety.watchdog}"
    return (
        "A hang does not violate the safety goal in this campaign, so something outside the target has to "
        "detect it in time; which, the campaign does not say."
    )


def _timeout(campaign: Campaign, goldens: Sequence[GoldenRun], stretches: int) -> str:
    factor = campaign.execution.timeout_factor
    longest = math.ceil(factor * max((run.cycles for run in goldens), default=0))
    if stretches > 1:
        whole = (
            f"A hang is a stretch of the target, between two resets, that takes longer than {factor:g} times "
            "the same one without a fault"
        )
    else:
        whole = (
            f"A hang is an inference that takes longer than {factor:g} times the one without a fault (at "
            f"most {longest:,} cycles)"
        )
    if campaign.execution.ends_at_detection:
        whole = (
            "An injection ends with the first alarm that reports a detection: what such faults would "
            f"have done is not known. {whole}"
        )
    if not campaign.execution.limits_operations:
        return f"{whole}. Later results count as none: the host does not wait longer."
    operations = [longest_operation(run.moves, run.end.end_cycle) for run in goldens]
    return (
        f"{whole}, or in which no operation ends for longer than {factor:g} times what the longest takes "
        f"without a fault (at most {math.ceil(factor * max(operations, default=0)):,} cycles). The host has "
        "a watchdog that each end of an operation restarts, and drops the inference when it expires."
    )


def _fault_tolerant_time(campaign: Campaign) -> str:
    safety = campaign.safety
    if safety is None or safety.ftti_cycles is None or safety.detection_cycles is None:
        return (
            "None is given: an alarm at any time before the end of the inference counts as detection in "
            "time, and results are not used before that end."
        )
    seconds = safety.seconds(safety.ftti_cycles)
    time = "" if seconds is None else f" ({seconds:.4g} s at {safety.clock_mhz:g} MHz)"
    return (
        f"{safety.ftti_cycles:,} cycles{time}, of which the reaction takes {safety.reaction_cycles:,}: an "
        f"alarm later than {safety.detection_cycles:,} cycles after the fault does not count as detection."
    )


def _operation(campaign: Campaign, bench: Bench) -> str:
    clock = campaign.safety.clock_mhz if campaign.safety else None
    stated = f"The clock is {clock:g} MHz." if clock else "No clock is stated: times are in cycles."
    return (
        f"{stated} Rates are for a target that runs this workload all the time; what strikes while it idles "
        f"is not in them. {_between_inferences(campaign, bench)}"
    )


def _between_inferences(campaign: Campaign, bench: Bench) -> str:
    if campaign.faults.permanent:
        return "The target is reset before every inference, and a permanent fault is there in each of them."
    if bench.network.sequence:
        return (
            "The host resets the target before every run of it, and keeps the network's state in memory. "
            f"Every run of the campaign is {campaign.inferences} inferences from the first state on: what a "
            "fault does after the last is not in the figures."
        )
    if campaign.inferences == 1:
        return (
            "The target is reset before every inference. If it is not, latent state may harm a later one: "
            'counted as hazardous it is an upper bound of that, and "[campaign] inferences = 2" follows it.'
        )
    done = {"reset": "resets the target", "rewrite": "writes all registers again"}[campaign.between]
    if not isinstance(campaign.work, NetworkSettings):
        done = "does what the memory images say"
    return (
        f"Between inferences the host {done}. Every run is two of them, from reset on; what a fault does "
        "after the second is not in the figures."
    )


def rated_apart(kinds: Sequence[str]) -> list[str]:
    """Return the kinds with a raw rate of their own: flip-flops in SRAM macros have that of other ones."""
    return [kind for kind in kinds if kind != "macro" or "ff" not in kinds]


def _rates(campaign: Campaign, technology: RawRates, bits: Mapping[str, int]) -> str:
    parts = []
    for kind in rated_apart(campaign.faults.kinds):
        lo, hi = technology.range_of(kind)
        value = technology.fit_per_bit(kind)
        span = f", {1e6 * lo:.3g} to {1e6 * hi:.3g}" if lo < hi else ", no range given"
        sites = site_word(kind, campaign.faults.model)
        parts.append(f"{1e6 * value:.3g} FIT per 10^6 {sites}{span} ({technology.status_of(kind)})")
    where = "Permanent faults" if campaign.faults.permanent else "At sea level"
    macros = " Flip-flops in SRAM macros are taken to upset like others." if bits["macro"] else ""
    return f"{where}, {technology.node}: {'; '.join(parts)}.{macros}"


def _scope(campaign: Campaign, bits: Mapping[str, int], runs: NamedRuns) -> str:
    injected = [
        f"{bits[k]:,} {site_word(k, campaign.faults.model)}" for k in campaign.faults.kinds if bits[k]
    ]
    left = not_injected(campaign, bits)
    reason = campaign.safety.left_out if campaign.safety else ""
    without = f" Not in these figures: {left}{f' ({reason})' if reason else ''}." if left else ""
    what = campaign.faults.clusters_text
    logic = "transients in logic and in clock and reset trees"
    if isinstance(runs.logic, NamedRun):
        what = f"{what} The safety rows take transients in logic, too ({runs.logic.origin})."
        logic = f"transients in {_TREES}"
    if isinstance(runs.permanent, NamedRun) and not runs.permanent.without:
        what = f"{what} They take permanent faults of storage and of logic ({runs.permanent.origin})."
    elif campaign.safety is not None:
        known = isinstance(runs.permanent, NamedRun)
        logic = f"{logic}, permanent faults of {'logic' if known else 'storage and of logic'}"
    if campaign.faults.permanent:
        place = "bit or pin" if campaign.faults.logic else "bit"
        what = {
            OPEN: "Every fault is one input of a cell, open from reset on; upsets are not in these figures.",
            BRIDGE: "Every fault is one bridge of the list, from reset on; upsets are not in these figures.",
        }.get(
            campaign.faults.model,
            f"Every fault is one {place} held at 0 or at 1 from reset on; upsets are not in these figures.",
        )
        own = "" if campaign.faults.logic else "of logic and "
        logic = f"permanent faults {own}of clock and reset trees"
        if campaign.faults.logic:
            others = {OPEN: "stuck pins and bridges", BRIDGE: "stuck pins and open wires"}
            beyond = "" if campaign.faults.model in others else " but for cells that the netlist has"
            logic = f"{logic}{beyond}, {others.get(campaign.faults.model, 'open and shorted wires')}"
    if campaign.faults.pulses:
        return (
            f"Pulses of one cycle at {bits[LOGIC]:,} outputs of cells of the synthesised netlist of the "
            f"design under test.{without} Not assessed: upsets of storage, permanent faults, {_TREES}, "
            "memories outside the design, and common causes."
        )
    if campaign.faults.external:
        return (
            f"Faults in {' and '.join(injected)}. {what} Each upset of weights is there for the whole "
            "inference, each of activations from the beginning of the operation in whose time it lies. Not "
            "assessed: storage of the NPU itself, the command stream in memory, mechanisms of the memories."
        )
    return (
        f"Faults in {' and '.join(injected) or 'no storage'} of the design under test. {what}{without} Not "
        f"assessed: {logic}, memories outside the design, and common causes."
    )


def not_injected(campaign: Campaign, bits: Mapping[str, int]) -> str:
    """Return the storage of the target that the campaign leaves out, in words; "" if there is none."""
    left = [f"{bits[k]:,} {STORAGE[k]}" for k in STORAGE if k not in campaign.faults.kinds and bits[k]]
    return " and ".join(left)


def _decision(campaign: Campaign, bench: Bench) -> str:
    return (
        f'What the output decides is read by the rule "{bench.network.decision}"; an output that differs '
        f"without changing that is {'' if 'sdc_tolerable' in campaign.hazardous else 'not '}hazardous."
    )


def _inputs(campaign: Campaign, bench: Bench) -> str:
    labels = ", ".join(str(label) for label in bench.inputs[:20])
    more = f" and {len(bench.inputs) - 20} others" if len(bench.inputs) > 20 else ""
    if campaign.over_inputs and len(bench.inputs) > 1:
        return f"Inputs in use are like those that were run ({labels}{more}): how these differ is counted."
    return f"The figures are for the inputs that were run ({labels}{more}); others may do better or worse."
