# SPDX-License-Identifier: Apache-2.0
"""A sample as evidence for the rows of a safety verdict: counts by what is seen and what reported it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from resil.campaign.campaign import Campaign
from resil.faults.sampling import Sample
from resil.record.evidence import EvidenceGroup, EvidenceRecord
from resil.results.estimates import Estimates
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.parts import collapse

DUE = "due"
_SEPARATOR = ":"


@dataclass(frozen=True, slots=True)
class Class:
    """What a counted class of injections stands for, from its name.

    Attributes:
        outcome: In one word.
        seen: What was seen; of a detected fault whose effect is not recorded "".
        alarm: What reported it in time; "" if nothing did, or if that is not recorded.
        late: An alarm rose, but too late.
    """

    outcome: str
    seen: str
    alarm: str
    late: bool = False

    @staticmethod
    def of(name: str) -> Class:
        """Return the class of that name, as `Content.classes` gives it."""
        outcome, _, rest = name.partition(_SEPARATOR)
        if outcome != DUE:
            return Class(outcome, outcome, "", rest == "late")
        seen, _, alarm = rest.partition(_SEPARATOR)
        return Class(outcome, seen, alarm)


@dataclass(frozen=True)
class Hazards:
    """Which classes of injections violate the safety goal, under one set of credits.

    Attributes:
        outcomes: Hazardous if nothing reports them.
        due_credited: Detection in time makes harmless.
        latent: Latent state counts as hazardous too.
    """

    outcomes: frozenset[str]
    due_credited: bool = True
    latent: bool = False

    def holds(self, name: str) -> bool:
        """Whether injections of the class of that name violate the goal."""
        found = Class.of(name)
        if found.outcome == DUE and self.due_credited:
            return DUE in self.outcomes
        if found.outcome == DUE and (not found.seen or DUE in self.outcomes):
            return True
        return found.seen in self.outcomes or (self.latent and found.seen == "latent")

    def among(self, names: Collection[str]) -> frozenset[str]:
        """Return those of some classes that violate the goal."""
        return frozenset(name for name in names if self.holds(name))


def classes_of(evidence: Evidence) -> frozenset[str]:
    """Return the names of all classes that are counted."""
    return frozenset(name for group in evidence.groups for name in group.counts)


def sample_evidence(
    campaign: Campaign,
    sample: Sample,
    estimates: Estimates,
    *,
    by_block: bool = False,
    size: int | None = None,
) -> Evidence:
    """Return what a sample says of all injected storage.

    Args:
        campaign: Says what the intervals are about.
        sample: The injections and how they were chosen.
        estimates: Of the same sample: a total that was found in a better way is kept.
        by_block: No group may span several blocks.
        size: Of clusters, as if all upsets had it; None for all as they are declared.
    """
    classes = sample.classes if size is None else sample.by_size[size]
    names = sorted({name for own in classes.values() for name in own})
    none = np.zeros(len(sample.strata), dtype=np.int64)
    ordered = sorted(classes)
    inputs = [{name: classes[label].get(name, none) for name in names} for label in ordered]
    counts = {name: sum((own[name] for own in inputs), none) for name in names}

    def groups(found: Mapping[str, npt.ArrayLike]) -> tuple[PooledGroup, ...]:
        return tuple(
            PooledGroup(g.block, g.kind, g.weight, g.counts, g.members)
            for g in collapse(sample.strata, sample.design, found, by_block=by_block)
        )

    of_inputs = tuple(groups(own) for own in inputs) if campaign.over_inputs and len(inputs) > 1 else ()
    hazardous = Hazards(frozenset(campaign.hazardous)).among(counts)
    whole = size is None and not of_inputs and not by_block
    known = {hazardous: estimates.total.fit} if sample.guided and whole else {}
    return Evidence(
        groups(counts),
        sample.confidence,
        campaign.confidence,
        of_inputs,
        known,
        tuple(ordered) if of_inputs else (),
    )


def evidence_record(evidence: Evidence) -> EvidenceRecord:
    """Return evidence for `summary.json`; inputs are joined."""
    groups = tuple(
        EvidenceGroup(block=g.block, kind=g.kind, fit_raw=g.fit_raw, counts=_plain(g.counts))
        for g in evidence.groups
    )
    return EvidenceRecord(confidence=evidence.confidence, stated=evidence.stated, groups=groups)


def recorded_evidence(record: EvidenceRecord) -> Evidence:
    """Return evidence from its record."""
    groups = (PooledGroup(g.block, g.kind, g.fit_raw, dict(g.counts)) for g in record.groups)
    return Evidence(tuple(groups), record.confidence, record.stated)


def _plain(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: int(count) for name, count in counts.items()}


def in_blocks(blocks: Collection[str]) -> Callable[[PooledGroup], bool]:
    """Return whether a group lies in one of some blocks; in any, if none is named."""
    return lambda group: not blocks or group.block in blocks
