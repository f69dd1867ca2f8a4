# SPDX-License-Identifier: Apache-2.0
"""The finished runs that `[safety]` names: stuck bits, pulses in logic and stuck pins of the same target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from resil.bench.bench import Bench
from resil.bench.identity import Identity
from resil.bench.site_list import STORAGE, block_name
from resil.campaign.campaign import Campaign
from resil.campaign.fault_settings import BRIDGE, OPEN, PERMANENT_MODELS, PULSE, STUCK_AT
from resil.campaign.mechanism_storage import belongs
from resil.campaign.safety import SafetySettings
from resil.campaign.sampling_settings import INPUTS
from resil.errors import ConsistencyError, StoreError
from resil.faults.content import Content
from resil.files import read_parquet
from resil.folder.contents import content_of
from resil.folder.finished import Finished, finished_run, require_ends, require_measured
from resil.folder.parts import read_part
from resil.folder.store import INJECTIONS, SITES, STRATA, recorded_definition
from resil.folder.strata_file import read_strata
from resil.record.blocks import LOGIC, NO_SITES, RecordedStratum
from resil.record.summary import Summary
from resil.results.named_run import BASE_RATES, NO_PERMANENT, NO_PERMANENT_LOGIC, NamedRun, NamedRuns
from resil.results.pair_evidence import latent_pins
from resil.results.sampling_facts import beyond_sample
from resil.rtl_harness.design.sites import Hardware
from resil.stats.errors import StatsError
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.logic_rates import recorded_logic
from resil.stats.permanent import QUANTITIES

# Storage of a block of one kind; and whether it belongs to a mechanism.
Key = tuple[str, str, bool]
# Counts of one input, or of all together.
Counts = Mapping[Key, Counter[str]]
_NETLIST = "netlist"
# Of a definition: what faults in storage and in logic of one target do not share.
_OF_STORAGE = ("sites",)


@dataclass(frozen=True)
class _Role:
    """What a key of `[safety]` names.

    Attributes:
        key: Its name.
        model: The faults' model.
        logic: They lie in logic alone, else in storage; stuck bits may have stuck pins beside them.
    """

    key: str
    model: str
    logic: bool

    @property
    def asked(self) -> str:
        """The campaign that is expected, in the words of its file."""
        return f'[faults] model = "{self.model}"' + (f' and kinds = ["{LOGIC}"]' if self.logic else "")

    def is_met(self, model: str, kinds: Sequence[str]) -> bool:
        """Whether a run injected such faults, and no others."""
        models = PERMANENT_MODELS if self.logic and self.model == STUCK_AT else (self.model,)
        return model in models and (tuple(kinds) == (LOGIC,)) == self.logic


_PERMANENT = _Role("permanent", STUCK_AT, logic=False)
_LOGIC = _Role("logic", PULSE, logic=True)
_PERMANENT_LOGIC = _Role("permanent_logic", STUCK_AT, logic=True)


def named_runs(campaign: Campaign, bench: Bench) -> NamedRuns:
    """Return what the runs that `[safety]` names say, or in words why they say nothing.

    A folder that cannot be used is no error: the rows that need it are not assessed, and say why.
    """
    settings = campaign.safety
    if settings is None:
        return NamedRuns()
    found = _named_runs(campaign, settings, bench)
    permanent = found.permanent
    if settings.mechanism_faults is None or isinstance(permanent, str) or permanent.pins is not None:
        return found
    without = "expected a run of stuck pins, whose rates it takes, found none; name one as permanent_logic"
    return NamedRuns(f"[safety] mechanism_faults cannot be used: {without}.", found.logic)


def _named_runs(campaign: Campaign, settings: SafetySettings, bench: Bench) -> NamedRuns:
    netlists: dict[str, str] = {}

    def read(role: _Role, folder: Path) -> NamedRun | str:
        try:
            return _run(campaign, settings, bench, role, folder, netlists)
        except (StoreError, ConsistencyError, StatsError) as error:
            return f"[safety] {role.key} cannot be used: {error}."

    logic = "" if settings.logic is None else read(_LOGIC, settings.logic)
    if settings.permanent is None:
        return NamedRuns(NO_PERMANENT, logic)
    stored = read(_PERMANENT, settings.permanent)
    if settings.permanent_logic is None:
        return NamedRuns(stored, logic)
    if isinstance(stored, NamedRun) and not stored.without:
        twice = "expected a run of stuck bits alone beside permanent_logic, found one with stuck pins, too"
        return NamedRuns(f"[safety] permanent cannot be used: {twice}; remove permanent_logic.", logic)
    pins = read(_PERMANENT_LOGIC, settings.permanent_logic)
    refused = " ".join(own for own in (stored, pins) if isinstance(own, str))
    if refused or isinstance(stored, str) or isinstance(pins, str):
        return NamedRuns(refused, logic)
    return NamedRuns(stored.joined(pins), logic)


def _run(
    campaign: Campaign,
    settings: SafetySettings,
    bench: Bench,
    role: _Role,
    folder: Path,
    netlists: dict[str, str],
) -> NamedRun | str:
    found = finished_run(folder)
    require_measured(found)
    _check(found, bench, role)
    if found.summary.technology.name != campaign.technology.name:
        raise StoreError(
            f"{found.path}: expected rates of {campaign.technology.name}, as here, found those of "
            f"{found.summary.technology.name}; run that campaign again with this [technology] name: its "
            "injections are kept",
            "technology.name",
        )
    if campaign.over_inputs:
        _require_drawn(found)
    if _has_logic(found):
        _check_logic(found, bench, netlists)
    return _named(campaign, settings, bench, found, role)


def _check(found: Finished, bench: Bench, role: _Role) -> None:
    """Raise StoreError unless the run injected such faults into this target with this network."""
    asked = found.summary.campaign
    if not role.is_met(asked.fault_model, asked.kinds):
        kinds = ", ".join(asked.kinds)
        raise StoreError(
            f'{found.path}: expected a campaign with {role.asked}, found "{asked.fault_model}" of {kinds}; '
            "give the run folder of one",
            "faults.model",
        )
    if read_strata(found.path / STRATA).rated:
        raise StoreError(
            f"{found.path}: expected a run whose faults come equally often within a block, found classes "
            "with rates of their own (weights of bridges, or logic_by); give a run without, or use its "
            "figures by themselves",
            "technology.logic_by",
        )
    recorded = recorded_definition(found.path)
    here = bench.identity.definition
    names = [name for name in (*bench.hashes, "sites", "decision", "resil") if name in here]
    differing = [
        name
        for name in names
        if not (_has_logic(found) and name in _OF_STORAGE) and recorded.get(name) != here[name]
    ]
    if differing:
        raise StoreError(
            f"{found.path}: expected a campaign on the same target and network, found another "
            f"{', '.join(differing)}; run that campaign again on this target",
            "target",
        )
    require_ends(found, "it is asked which faults are quiet, and which alarms come in time")
    sampling = found.summary.sampling
    if sampling is None or len(sampling.looks) > 1 or sampling.pilot:
        raise StoreError(
            f'{found.path}: expected the plan "proportional" or "uniform", found one that went by results; '
            "run it again with one of these",
            "sampling.plan",
        )


def _check_logic(found: Finished, bench: Bench, netlists: dict[str, str]) -> None:
    """Raise StoreError unless rates of a run in logic can be added to those of storage, block by block."""
    recorded = recorded_definition(found.path)
    if recorded.get("workloads") != bench.identity.definition.get("workloads"):
        raise StoreError(
            f"{found.path}: expected a campaign on the same inputs, by content, as its rates are added; "
            "name, or draw, the same in both",
            "inputs",
        )
    netlist = recorded.get(_NETLIST, "")
    other = next((path for path, own in netlists.items() if own != netlist), None)
    if other is not None:
        raise StoreError(
            f"{found.path}: expected the netlist of {other}, found another one: cells of two libraries are "
            "no one design; run both with the same [area] liberty",
            _NETLIST,
        )
    netlists[str(found.path)] = netlist
    sampled: dict[str, int] = {}
    for stratum in (own for own in found.summary.strata if own.kind == LOGIC):
        sampled[stratum.block] = sampled.get(stratum.block, 0) + sum(stratum.counts.values())
    empty = sorted(block for block, injections in sampled.items() if not injections)
    if empty or not sampled:
        raise _nothing_into(found, empty)


def _nothing_into(found: Finished, blocks: Sequence[str]) -> StoreError:
    return StoreError(
        f"{found.path}: expected injections into the logic of every block, found none into "
        f"{', '.join(blocks) or 'any'}; raise [faults] injections or minimum_per_block and run it again",
        "blocks",
    )


def _has_logic(found: Finished) -> bool:
    return LOGIC in found.summary.campaign.kinds


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


def _named(
    campaign: Campaign, settings: SafetySettings, bench: Bench, found: Finished, role: _Role
) -> NamedRun | str:
    by_input = _counts(settings, found)
    over_inputs = campaign.over_inputs
    if reason := beyond_sample(campaign, len(by_input)):
        return f"[safety] {role.key}: {reason}"
    bits = {} if role.logic else _bits(settings, bench)
    gates: set[str] = set()
    counted = set() if role.logic else _counted(settings, bench, found.summary.campaign.kinds)
    if _has_logic(found):
        cells, gates, below = _pins(settings, bench, found)
        counted |= below
        bits |= cells
        struck = {stratum.block for stratum in found.summary.strata if stratum.kind == LOGIC}
        if left := sorted({block for block, _, _ in cells} - struck):
            raise _nothing_into(found, left)
    rates = _rates(found.summary, role, derated=settings.derated)
    raw = {key: own * rates.factor for key, own in _raw(found.summary.strata).items()}
    together: dict[Key, Counter[str]] = {}
    for own in by_input.values():
        for key, counts in own.items():
            together[key] = together.get(key, Counter()) + counts
    everything, mechanisms = _groups(raw, bits, together)
    pins = None
    if role is not _LOGIC and settings.mechanism_faults is not None and _has_logic(found):
        rate = sum(own for (_, kind), own in raw.items() if kind == LOGIC)
        count = sum(own for (_, kind, _), own in bits.items() if kind == LOGIC)
        netlist = recorded_definition(found.path).get(_NETLIST, "")
        pins = latent_pins(
            campaign,
            settings.mechanism_faults,
            bench.hashes,
            bench.sites.elements,
            netlist,
            rate / count,
        )
    labels = tuple(sorted(by_input)) if over_inputs else ()
    inputs = [_groups(raw, bits, by_input[label]) for label in labels]
    confidence = campaign.confidence
    return NamedRun(
        Evidence(everything, confidence, confidence, tuple(own for own, _ in inputs), labels=labels),
        Evidence(mechanisms, confidence, confidence, tuple(own for _, own in inputs)) if mechanisms else None,
        _origin(found, role, rates),
        "" if role.logic else _left_out(found.summary),
        rates.variations,
        " ".join(text for text in (found.summary.golden.comparison.remark, *_without_sites(found)) if text),
        recorded_definition(found.path).get("workloads") == bench.identity.definition.get("workloads"),
        NO_PERMANENT_LOGIC if role is _PERMANENT and not _has_logic(found) else "",
        rates.derating,
        pins,
        frozenset(gates),
        frozenset(own.alarm for own in settings.mechanisms if own.storage),
        frozenset(_paths(settings) - counted),
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


def _without_sites(found: Finished) -> list[str]:
    """Return what the run says of cells that it could not inject into: they are in no row."""
    return [f"{note}." for note in found.summary.notes if NO_SITES in note]


def _paths(settings: SafetySettings) -> set[str]:
    """Return the paths that mechanisms name as their own."""
    return {storage for mechanism in settings.mechanisms for storage in mechanism.storage}


def _counted(settings: SafetySettings, bench: Bench, kinds: Collection[str]) -> set[str]:
    """Return those paths of mechanisms at or below which there is storage of such kinds in hardware."""
    sites = bench.sites
    elements = [
        own for number, own in enumerate(sites.elements) if own.kind in kinds and sites.present(number)
    ]
    return {path for path in _paths(settings) if any(belongs(own.path, path) for own in elements)}


def _pins(
    settings: SafetySettings, bench: Bench, found: Finished
) -> tuple[dict[Key, int], set[str], set[str]]:
    """Return the sites in logic of each block, as the run that struck them lists them.

    Also the alarms of the mechanisms that gates belong to, and their paths that have any: flip-flops are
    named as what they store.
    """
    stored = {element.path for element in bench.sites.elements}
    sites = read_parquet(found.path / SITES)
    hardware, kind = (sites[name].cast(pa.string()) for name in ("hardware", "kind"))
    sites = sites.filter(pc.and_(pc.equal(hardware, Hardware.KEPT.value), pc.equal(kind, LOGIC)))
    bits: dict[Key, int] = {}
    gates: set[str] = set()
    below: set[str] = set()
    columns = (sites[name].cast(pa.string()).to_pylist() for name in ("block", "path"))
    for block, path in zip(*columns, strict=True):
        there = [(m.alarm, own) for m in settings.mechanisms for own in m.storage if belongs(path, own)]
        key = (block_name(block), LOGIC, bool(there))
        bits[key] = bits.get(key, 0) + 1
        below.update(own for _, own in there)
        if there and not _is_stored(path, stored):
            gates.update(alarm for alarm, _ in there)
    return bits, gates, below


def _is_stored(path: str, stored: Collection[str]) -> bool:
    """Whether a cell is a bit of what is stored."""
    while path not in stored and path.endswith("]"):
        path = path[: path.rindex("[")]
    return path in stored


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


@dataclass(frozen=True)
class _Rates:
    """How the rates of a run enter the rows.

    Attributes:
        factor: What those of its strata are multiplied with.
        variations: Factors of the result by kind of storage, by name of a variation.
        derating: Of pulses, the part that timing and attenuation leave.
        said: In words; "" if there is nothing to say.
    """

    factor: float
    variations: Mapping[str, Mapping[str, float]]
    derating: float = 1.0
    said: str = ""


def _rates(summary: Summary, role: _Role, *, derated: bool) -> _Rates:
    """Return how rates enter: those of pulses as they are before timing and attenuation, unless asked.

    Whichever is taken, the range goes from the lowest derated to the highest raw rate.
    """
    if role.model != PULSE:
        return _Rates(1.0, base_rate_ends(summary, " of logic" if role.logic else ""))
    rates = recorded_logic(summary.technology.name, summary.technology.node, summary.technology.entries)
    own = rates.fit_per_bit(LOGIC)
    taken = own if derated else rates.raw
    low, high = rates.range_of(LOGIC)[0], max(rates.raw_range[1], rates.raw)
    variations = {f"logic {end}": {LOGIC: rate / taken} for end, rate in (("lowest", low), ("highest", high))}
    said = (
        f"derated to {rates.derating:.3g} by timing and attenuation"
        if derated
        else "each pulse as if it lasted the cycle, not derated"
    )
    return _Rates(taken / own, variations, rates.derating, said)


def base_rate_ends(summary: Summary, of: str = "") -> dict[str, dict[str, float]]:
    """Return the ends of the ranges of all base rates of a run together, as factors by kind of storage.

    Args:
        summary: Of a run of permanent faults.
        of: What is put behind their names.
    """
    factors: dict[str, dict[str, float]] = {"lowest": {}, "highest": {}}
    for entry in summary.technology.entries:
        if entry.low is None or entry.high is None or not entry.low < entry.high:
            continue
        for kind in summary.campaign.kinds:
            bridges = kind == LOGIC and summary.campaign.fault_model == BRIDGE
            if entry.quantity == (BRIDGE if bridges else QUANTITIES[kind]):
                factors["lowest"][kind] = entry.low / entry.value
                factors["highest"][kind] = entry.high / entry.value
    return {f"{BASE_RATES}{of} {end}": own for end, own in factors.items() if own}


def _origin(found: Finished, role: _Role, rates: _Rates) -> str:
    total = found.summary.total.injections
    technology = found.summary.technology.name
    statuses = ", ".join(sorted({entry.status for entry in found.summary.technology.entries}))
    if role.model == PULSE:
        cells = f"{_width(found.summary):,} outputs of cells"
        rated = f"rates of {technology} ({statuses}), {rates.said}"
        return f"{total:,} pulses of {_short(found.path)} at {cells}; {rated}"
    what = "stuck bits and pins" if _has_logic(found) else "stuck bits"
    if role.logic:
        model, width = found.summary.campaign.fault_model, _width(found.summary)
        what = {OPEN: f"open inputs of {width:,}", BRIDGE: f"of {width:,} bridges"}.get(
            model, f"stuck pins of {width:,}"
        )
    return f"{total:,} {what} of {_short(found.path)}; base rates of {technology} ({statuses})"


def _width(summary: Summary) -> int:
    return sum({stratum.block: stratum.bits for stratum in summary.strata}.values())


def _short(path: Path) -> str:
    return "/".join(path.parts[-2:])
