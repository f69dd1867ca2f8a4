# SPDX-License-Identifier: Apache-2.0
"""From a finished sample to what its safety verdict rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from resil.bench.bench import Bench
from resil.bench.site_list import STORAGE, block_bits, whole
from resil.campaign.campaign import Campaign
from resil.campaign.clusters import declared_sizes, size_alone
from resil.campaign.mechanism_storage import MechanismPlaces, check_mechanism_storage
from resil.campaign.safety import SafetySettings
from resil.errors import CampaignError
from resil.faults.sampling import Sample
from resil.record.blocks import LOGIC
from resil.results.assumptions import not_injected, rated_apart
from resil.results.estimates import Estimates
from resil.results.evidence import sample_evidence
from resil.results.grounds import Grounds, Sizes
from resil.results.named_run import NamedRun, NamedRuns
from resil.stats.evidence import Evidence
from resil.stats.technology import RawRates

_NAMES = {**STORAGE, "sram": "SRAM"}
_ENDS = ("lowest", "highest")
_OF_INJECTIONS = ("spfm_transient", "spfm_in_use", "pmhf_share", "coverage", "due_rate", "detection_time")


def check_safety(campaign: Campaign, bench: Bench) -> None:
    """Refuse claims that injections into this target cannot decide, before any is made.

    Raises:
        CampaignError: a claimed row would pass over storage without a reason, or a mechanism guards a block
            that the target does not have.
    """
    settings = campaign.safety
    if settings is None:
        return
    bits = whole(block_bits(bench.sites, bench.blocks))
    left = not_injected(campaign, bits)
    claimed = [claim for claim in settings.claims if claim in _OF_INJECTIONS]
    if left and claimed and not settings.left_out:
        raise CampaignError(
            f"{campaign.file}: [safety] claims: expected all storage of {bench.target_name} to be injected "
            f"for {', '.join(claimed)}, found {left} left out; add it to [faults] kinds, or say in [safety] "
            "left_out why it is no part of the claims",
            "safety.claims",
        )
    places = MechanismPlaces(bench.target_name, bench.sites, bench.gate_places)
    for mechanism in settings.mechanisms:
        if bench.alarms.get(mechanism.alarm) != "detected":
            known = ", ".join(name for name, kind in bench.alarms.items() if kind == "detected") or "none"
            raise CampaignError(
                f"{campaign.file}: [safety.mechanism] alarm: expected an alarm of {bench.target_name} "
                f"({known}), found {mechanism.alarm}; correct it, or name the alarm in the target file",
                "safety.mechanism.alarm",
            )
        check_mechanism_storage(campaign, mechanism, places)
        if unknown := [block for block in mechanism.blocks if block not in bench.blocks]:
            raise CampaignError(
                f"{campaign.file}: [safety.mechanism] blocks: expected blocks out of "
                f"{', '.join(bench.blocks)}, found {', '.join(unknown)}; correct them",
                "safety.mechanism.blocks",
            )


def grounds_of(
    campaign: Campaign,
    settings: SafetySettings,
    evidence: Evidence,
    sample: Sample,
    estimates: Estimates,
    technology: RawRates,
    bits: Mapping[str, int],
    runs: NamedRuns,
) -> Grounds:
    """Return what the verdict of a campaign rests on.

    Args:
        campaign: What was asked.
        settings: Its `[safety]`.
        evidence: Of all injected storage.
        sample: The injections and how they were chosen.
        estimates: Of the same sample.
        technology: Raw rates of the campaign's faults.
        bits: The target's storage, by kind.
        runs: What is known of permanent faults and of logic.
    """
    logic = runs.logic
    by_block = _with(sample_evidence(campaign, sample, estimates, by_block=True), logic)
    origin = _origin(campaign, evidence, technology, bits)

    def with_pulses(sizes: Sizes) -> Sizes:
        return {title: (_with(own, logic), _with(blocks, logic)) for title, (own, blocks) in sizes.items()}

    return Grounds(
        settings,
        frozenset(campaign.hazardous),
        _with(evidence, logic),
        by_block,
        origin if isinstance(logic, str) else f"{origin}; {logic.origin}",
        not_injected(campaign, bits),
        runs.permanent,
        _with_rates(rate_variations(technology, campaign.faults.kinds), logic),
        sample.slowest_alarm,
        with_pulses(_of_sizes(campaign, sample, estimates, sample.by_size)),
        with_pulses(deciding_sizes(campaign, sample, estimates)),
        logic,
    )


def deciding_sizes(campaign: Campaign, sample: Sample, estimates: Estimates) -> Sizes:
    """Return what is known if all upsets had one of the declared sizes, where the shares may be any.

    Rates are sums over sizes, weighted by their shares, so what they can be is reached where one has all.

    Returns:
        By name of a corner, the evidence, and the same by block; none where the declared shares decide.
    """
    if not campaign.faults.any_shares:
        return {}
    return _of_sizes(campaign, sample, estimates, declared_sizes(campaign.faults.clusters))


def _of_sizes(campaign: Campaign, sample: Sample, estimates: Estimates, sizes: Iterable[int]) -> Sizes:
    return {
        size_alone(size): (
            sample_evidence(campaign, sample, estimates, size=size),
            sample_evidence(campaign, sample, estimates, size=size, by_block=True),
        )
        for size in sizes
    }


def _with(evidence: Evidence, logic: NamedRun | str) -> Evidence:
    """Return the evidence of upsets with that of pulses in logic, if there is some."""
    return evidence if isinstance(logic, str) else evidence.joined(logic.evidence)


def _with_rates(corners: dict[str, dict[str, float]], logic: NamedRun | str) -> dict[str, dict[str, float]]:
    """Return the corners of the raw rates, each with either end of the rate of pulses."""
    if isinstance(logic, str) or not logic.rates:
        return corners
    ends = {title: own[LOGIC] for title, own in logic.rates.items()}
    return {
        f"{title} and {end}" if title else f"raw rates of {end}": {**factors, LOGIC: factor}
        for title, factors in (corners or {"": {}}).items()
        for end, factor in ends.items()
    }


def rate_variations(technology: RawRates, kinds: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Return the corners of the ranges of raw rates, as factors of the rates by kind of storage.

    SPFM depends on the ratio of the rates alone and PMHF grows with each, so what they can be is reached at
    the corners.
    """
    own = rated_apart(kinds)
    factors = {}
    for kind in own:
        value = technology.fit_per_bit(kind)
        lo, hi = technology.range_of(kind)
        if lo < hi and value > 0.0:
            factors[kind] = dict(zip(_ENDS, (lo / value, hi / value), strict=True))
    return {
        "raw rates of "
        + " and ".join(f"{_NAMES[kind]} {end}" for kind, end in zip(factors, ends, strict=True)): {
            kind: factors[owner][end]
            for owner, end in zip(factors, ends, strict=True)
            for kind in kinds
            if kind == owner or (kind not in own and owner == "ff")
        }
        for ends in product(_ENDS, repeat=len(factors))
        if factors
    }


def _origin(campaign: Campaign, evidence: Evidence, technology: RawRates, bits: Mapping[str, int]) -> str:
    kinds = campaign.faults.kinds
    stored = " and ".join(f"{bits[kind]:,} {STORAGE[kind]}" for kind in kinds if bits[kind])
    rates = ", ".join(f"{_NAMES[kind]} {technology.status_of(kind)}" for kind in rated_apart(kinds))
    return f"{evidence.injections:,} injections into {stored}; raw rates of {technology.name} ({rates})"
