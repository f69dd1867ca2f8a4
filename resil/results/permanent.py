# SPDX-License-Identifier: Apache-2.0
"""What a finished campaign of permanent faults says for the safety verdict of another on the same target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from resil.bench.bench import Bench
from resil.bench.identity import Identity
from resil.bench.site_list import STORAGE, block_name
from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import STUCK_AT
from resil.campaign.safety import SafetySettings
from resil.campaign.sampling_settings import INPUTS
from resil.errors import ConsistencyError, StoreError
from resil.faults.content import Content
from resil.folder.contents import content_of
from resil.folder.finished import Finished, finished_run, require_ends, require_measured
from resil.folder.parts import read_part
from resil.folder.store import INJECTIONS, recorded_definition
from resil.record.blocks import RecordedStratum
from resil.record.summary import Summary
from resil.results.safety_grounds import belongs
from resil.results.safety_rows import NO_PERMANENT, Permanent
from resil.results.sampling_facts import beyond_sample
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.permanent import QUANTITIES

# Storage of a block of one kind; and whether it belongs to a mechanism.
Key = tuple[str, str, bool]
# Counts of one input, or of all together.
Counts = Mapping[Key, Counter[str]]


def permanent_of(campaign: Campaign, bench: Bench) -> Permanent | str:
    """Return what is known of permanent faults of the target, or in words why nothing is.

    A folder that cannot be used is no error: the rows that need it are not assessed, and say why.
    """
    settings = campaign.safety
    if settings is None or settings.permanent is None:
        return NO_PERMANENT
    try:
        found = finished_run(settings.permanent)
        require_measured(found)
        _check(found, bench)
        if campaign.over_inputs:
            _require_drawn(found)
    except (StoreError, ConsistencyError) as error:
        return f"[safety] permanent cannot be used: {error}."
    return _permanent(campaign, settings, bench, found)


def _check(found: Finished, bench: Bench) -> None:
    """Raise StoreError unless the run injected permanent faults into this target with this network."""
    if (model := found.summary.campaign.fault_model) != STUCK_AT:
        raise StoreError(
            f'{found.path}: expected a campaign with [faults] model = "{STUCK_AT}", found "'
            f'{model}"; give the run folder of one',
            "faults.model",
        )
    recorded = recorded_definition(found.path)
    here = bench.identity.definition
    names = [name for name in (*bench.hashes, "sites", "decision") if name in here]
    differing = [name for name in names if recorded.get(name) != here[name]]
    if differing:
        raise StoreError(
            f"{found.path}: expected a campaign on the same target and network, found another "
            f"{', '.join(differing)}; run the stuck-at campaign again on this target",
            "target",
        )
    require_ends(found, "it is asked which stuck bits are quiet, and which alarms come in time")
    sampling = found.summary.sampling
    if sampling is None or len(sampling.looks) > 1 or sampling.pilot:
        raise StoreError(
            f'{found.path}: expected the plan "proportional" or "uniform", found one that went by results; '
            "run it again with one of these",
            "sampling.plan",
        )


def _require_drawn(found: Finished) -> None:
    """Raise StoreError unless the inputs of the run stand for others, too."""
    sampling = found.summary.sampling
    own = "none" if sampling is None else sampling.inputs
    if own != INPUTS[1]:
        raise StoreError(
            f'{found.path}: expected a campaign whose inputs stand for inputs "{INPUTS[1]}", as the claim is '
            f'about them, found "{own}"; draw its inputs, too, or ask about "{INPUTS[0]}" alone',
            "sampling.inputs",
        )


def _permanent(
    campaign: Campaign, settings: SafetySettings, bench: Bench, found: Finished
) -> Permanent | str:
    by_input = _counts(settings, found)
    over_inputs = campaign.over_inputs
    if reason := beyond_sample(campaign, len(by_input)):
        return f"[safety] permanent: {reason}"
    bits = _bits(settings, bench)
    raw = _raw(found.summary.strata)
    together: dict[Key, Counter[str]] = {}
    for own in by_input.values():
        for key, counts in own.items():
            together[key] = together.get(key, Counter()) + counts
    everything, mechanisms = _groups(raw, bits, together)
    labels = tuple(sorted(by_input)) if over_inputs else ()
    inputs = [_groups(raw, bits, by_input[label]) for label in labels]
    confidence = campaign.confidence
    return Permanent(
        Evidence(everything, confidence, confidence, tuple(own for own, _ in inputs), labels=labels),
        Evidence(mechanisms, confidence, confidence, tuple(own for _, own in inputs)) if mechanisms else None,
        _origin(found),
        _left_out(found.summary),
        _variations(found.summary),
        found.summary.golden.comparison.remark,
        recorded_definition(found.path).get("workloads") == bench.identity.definition.get("workloads"),
    )


def _groups(
    raw: Mapping[tuple[str, str], float], bits: Mapping[Key, int], counts: Counts
) -> tuple[tuple[PooledGroup, ...], tuple[PooledGroup, ...]]:
    """Return the groups of all storage, and those of what belongs to mechanisms."""
    everything, mechanisms = [], []
    for (block, kind), rate in raw.items():
        own, rest = ((block, kind, mechanism) for mechanism in (True, False))
        inside, outside = Counter(counts.get(own, {})), Counter(counts.get(rest, {}))
        everything.append(PooledGroup(block, kind, rate, inside + outside))
        if bits.get(own):
            part = rate * bits[own] / (bits[own] + bits.get(rest, 0))
            mechanisms.append(PooledGroup(block, kind, part, inside))
    return tuple(everything), tuple(mechanisms)


def _counts(settings: SafetySettings, found: Finished) -> dict[int, dict[Key, Counter[str]]]:
    """Return how many injections of each class there are in each sort of storage, by input."""
    identity = Identity(recorded_definition(found.path)).digest
    parts = sorted((found.path / INJECTIONS).glob("part-*.parquet"))
    tables = [read_part(part, identity) for part in parts]
    content = Content.joined(content_of(table) for table in tables).within(settings.detection_cycles)
    rows = pa.concat_tables(tables)
    rows = rows.take(np.argsort(rows["injection"].to_numpy(), kind="stable"))
    names, place = content.classes()
    counts: dict[int, dict[Key, Counter[str]]] = {}
    columns = (rows[name].to_pylist() for name in ("block", "kind", "path", "input"))
    for block, kind, path, label, which in zip(*columns, place.tolist(), strict=True):
        own = counts.setdefault(label, {})
        own.setdefault((block, kind, _is_mechanism(settings, path)), Counter())[names[which]] += 1
    return counts


def _bits(settings: SafetySettings, bench: Bench) -> dict[Key, int]:
    bits: dict[Key, int] = {}
    for index, element in enumerate(bench.sites.elements):
        key = (block_name(element.block), element.kind, _is_mechanism(settings, element.path))
        bits[key] = bits.get(key, 0) + bench.sites.present(index)
    return bits


def _is_mechanism(settings: SafetySettings, path: str) -> bool:
    return any(belongs(path, storage) for m in settings.mechanisms for storage in m.storage)


def _raw(strata: Sequence[RecordedStratum]) -> dict[tuple[str, str], float]:
    raw: dict[tuple[str, str], float] = {}
    for stratum in strata:
        key = (stratum.block, stratum.kind)
        raw[key] = raw.get(key, 0.0) + stratum.fit_raw
    return raw


def _left_out(summary: Summary) -> str:
    left = [k for k in STORAGE if k not in summary.campaign.kinds and summary.target.bits(k)]
    return " and ".join(f"{summary.target.bits(kind):,} {STORAGE[kind]}" for kind in left)


def _variations(summary: Summary) -> dict[str, dict[str, float]]:
    """Return the ends of the ranges of all base rates together, as factors by kind of storage."""
    factors: dict[str, dict[str, float]] = {"lowest": {}, "highest": {}}
    for entry in summary.technology.entries:
        if entry.low is None or entry.high is None or not entry.low < entry.high:
            continue
        for kind in summary.campaign.kinds:
            if entry.quantity == QUANTITIES[kind]:
                factors["lowest"][kind] = entry.low / entry.value
                factors["highest"][kind] = entry.high / entry.value
    return {f"base rates of permanent faults {end}": own for end, own in factors.items() if own}


def _origin(found: Finished) -> str:
    total = found.summary.total.injections
    technology = found.summary.technology.name
    statuses = {entry.status for entry in found.summary.technology.entries}
    return (
        f"{total:,} stuck bits of {_short(found.path)}; base rates of {technology} "
        f"({', '.join(sorted(statuses))})"
    )


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:])
