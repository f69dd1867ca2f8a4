# SPDX-License-Identifier: Apache-2.0
"""What a confirmation injected into built protection, read back from its run folders and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign
from resil.campaign.clusters import declared_sizes
from resil.errors import StoreError
from resil.files import read_parquet, write_text
from resil.folder.kept_plans import read_build
from resil.folder.store import SITES
from resil.prepare.bench import prepare
from resil.progress import Progress
from resil.protection.basis import pace_of
from resil.protection.build_rtl import was_changed
from resil.protection.groups_to_build import protected_parts, watchdog_of
from resil.protection.in_reset import reset_cycles
from resil.protection.logic import block_logic
from resil.protection.observed import Copies, Hangs, Observed, ObservedStratum, permanent_limits
from resil.protection.options import WATCHDOG, OptionSet, ProtectionOption
from resil.record.protection import Protection
from resil.record.protection_build import AreaMeasured, AreaPredicted, Build, HardenedBits, RedundantBits
from resil.results.run import FinishedRun
from resil.results.summarise import upset_rates
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.redundancy.build import NAMES, TARGET
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.target_file import target_text
from resil.rtl_harness.redundancy.watchdog import INSTANCE, Watchdog
from resil.stats.evidence import PooledGroup

if TYPE_CHECKING:
    import pandas as pd

_CONFIRM = "confirm.toml"
_SHOWN = ("sdc_tolerable", "sdc_critical", "hang")
_PLAIN = (1.0, 1.0, 1.0)
Factors = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class StorageGuard:
    """What a redundant register or memory is guarded by.

    Attributes:
        mechanism: That it has.
        ways: Of parity: how many neighbours lie under parity bits of their own.
        counted: Part of the upsets of as many bits as it is credited with that the plan counts as failures.
    """

    mechanism: Mechanism
    ways: int
    counted: float


@dataclass(frozen=True)
class BuiltProtection:
    """Protection that was built, as a confirmation injects into it.

    Attributes:
        target: Of the build.
        changed: Its RTL is no longer what was built: proofs and area are of something else.
        confirm_target: A target file of the same RTL, in which all redundant registers are one block.
        block: Name of that block.
        alerts: Name of the block that holds the alarms' registers.
        copies: Paths of copies, parity bits, and memories with a code.
        used: Those of them that are checked only when they are used, as copies in lockstep are.
        mechanisms: What each of them has.
        area_predicted: By the plan.
        area_measured: By synthesis.
        elaboration: Storage of the protected design, blocks as in `confirm_target`.
        hardened: Bits for hardened cells.
        factors: Share of the upset rate that hardened cells leave, least, stated and most, by their group.
        watchdog: That was built; None if there is none.
        watchdog_coverage: Part of the hangs that it detects at least.
        timer: Name of the block that holds it; "" without one.
    """

    target: Target
    changed: bool
    confirm_target: Path
    block: str
    alerts: str
    copies: frozenset[str]
    used: frozenset[str]
    mechanisms: Mapping[str, StorageGuard]
    area_predicted: AreaPredicted
    area_measured: AreaMeasured
    elaboration: Elaboration
    hardened: Sequence[HardenedBits]
    factors: Mapping[str, Factors]
    watchdog: Watchdog | None = None
    watchdog_coverage: float = 0.0
    timer: str = ""

    def bits(self, kinds: Sequence[str]) -> dict[tuple[str, str], int]:
        """Return the bits of each block and kind of storage, by both, of which there are any."""
        sites = self.elaboration.sites
        found: Counter[tuple[str, str]] = Counter()
        for index, element in enumerate(sites.elements):
            if element.kind in kinds:
                found[block_name(element.block), element.kind] += sites.present(index)
        return dict(+found)

    def reported_late(self, path: str) -> bool:
        """Whether a copy is written anew before its alarm could be taken: it is on the falling edge."""
        return not self.elaboration.clocking[path].rising


def read_built(
    folder: Path, plan: Protection, options: OptionSet, campaign: Campaign, progress: Progress
) -> BuiltProtection:
    """Return what a build holds, and write a target file for its confirmation beside its own.

    Raises:
        StoreError: The folder is none of a build, is one of another plan, or lacks what it was built with.
        HarnessError: Its RTL cannot be read.
    """
    record = read_build(folder)
    if record is None or record.plan != plan.name:
        raise StoreError(
            f"{folder}: expected the build of plan {plan.name}, found "
            f"{'none' if record is None else f'that of {record.plan}'}; build it into another folder",
            "plan",
        )
    target = load_target(folder / TARGET)
    became = target.storage_names.became.values()
    copies = frozenset(path for found in became for path in found.copies)
    block = _free("redundant", target.blocks)
    alerts = next((b for b, paths in target.blocks.items() if f"{target.dut}.u_resil_alert" in paths), "")
    timer = next((b for b, paths in target.blocks.items() if f"{target.dut}.{INSTANCE}" in paths), "")
    watchdog = watchdog_of(plan, options)
    if (watchdog is None) != (not timer):
        raise StoreError(
            f"{folder}: expected a watchdog {'in' if watchdog else 'neither in plan nor in'} the RTL, found "
            f"{'none' if watchdog else 'one'}; build it again",
            "watchdog",
        )
    holders = _holders(folder, record, copies)
    # A copy in lockstep is compared where it comes to an output, as a word of a memory is when it is read.
    used = frozenset(target.storage_names.checked_when_used)
    used |= {path for path, own in holders.items() if own.mechanism == Mechanism.LOCKSTEP}
    instances = tuple(sorted({own.path for own in holders.values()}))
    blocks = {b: tuple(p for p in paths if p not in instances) for b, paths in target.blocks.items()}
    blocks = {b: paths for b, paths in {**blocks, block: instances}.items() if paths}
    own = replace(target, blocks=blocks, titles={b: t for b, t in target.titles.items() if b in blocks})
    text = target_text(own, folder, {}, [], {}, NAMES if copies else "")
    write_text(folder / _CONFIRM, text)
    bench = prepare(replace(campaign, target=(folder / _CONFIRM).resolve()), progress)
    elaboration = with_hardware(own, elaborate(own, bench.parameters))
    known = {element.path for element in elaboration.sites.elements}
    if missing := sorted(copies - known):
        raise StoreError(
            f"{folder}: expected {len(copies):,} copies of registers, found {len(missing):,} of them gone, "
            f"{missing[0]} first; the RTL was changed, build it again",
            "copies",
        )
    return BuiltProtection(
        target,
        was_changed(record, target),
        (folder / _CONFIRM).resolve(),
        block,
        alerts,
        copies,
        used,
        _guards(plan, options, campaign, holders),
        record.area_predicted,
        record.area_measured,
        elaboration,
        record.hardened,
        {
            path: _factors(options.options[name])
            for path, name in protected_parts(plan)
            if options.options[name].builds == Mechanism.HARDENED
        },
        watchdog,
        1.0 - options.options[WATCHDOG].worst_residual_share("ff", campaign.hazardous) if watchdog else 0.0,
        timer,
    )


def _holders(folder: Path, record: Build, copies: Iterable[str]) -> dict[str, RedundantBits]:
    """Return what each copy, parity bit or memory with a code belongs to.

    Raises:
        StoreError: The build does not say of what.
    """
    known = {own.path: own for own in record.redundant}
    found = {}
    for path in copies:
        holder = path
        while holder and holder not in known:
            holder = holder.rpartition(".")[0]
        if not holder:
            raise StoreError(
                f"{folder}: expected each copy in a redundant register, memory or block that {Build.FILE} "
                f"names, found {path} in none; build it again",
                "redundant",
            )
        found[path] = known[holder]
    return found


def _guards(
    plan: Protection, options: OptionSet, campaign: Campaign, holders: Mapping[str, RedundantBits]
) -> dict[str, StorageGuard]:
    """Return what each copy and memory with a code is guarded by."""
    chosen = [options.options[name] for _, name in protected_parts(plan)]
    found = {}
    for path, bits in holders.items():
        left = [
            option.worst_residual_share(kind, campaign.hazardous)
            for option in chosen
            if option.builds == bits.mechanism
            for kind in option.protects
        ]
        found[path] = StorageGuard(Mechanism(bits.mechanism), bits.ways, max(left, default=0.0))
    return found


def _free(name: str, taken: Mapping[str, object]) -> str:
    return next(n for n in (name, *(f"{name}_{i}" for i in range(len(taken) + 1))) if n not in taken)


def _factors(option: ProtectionOption) -> Factors:
    least, most = (option.raw_share_at("ff", weak=weak) for weak in (False, True))
    return least, option.raw_share("ff"), most


def observed_on(network: str, run: FinishedRun, built: BuiltProtection, campaign: Campaign) -> Observed:
    """Return what a campaign of upsets found.

    Args:
        network: Its name.
        run: The finished campaign.
        built: What it injected into.
        campaign: Says the raw rates.
    """
    technology = upset_rates(campaign)
    factors = _site_factors(run, built)
    sites = read_parquet(run.path / SITES, ["block", "kind", "hardware"]).to_pydict()
    bits: Counter[tuple[str, str, Factors]] = Counter()
    kept = zip(sites["block"], sites["kind"], sites["hardware"], strict=True)
    for site, (block, kind, hardware) in enumerate(kept):
        if hardware == Hardware.KEPT.value and kind in campaign.faults.kinds:
            bits[block, kind, factors.get(site, _PLAIN)] += 1
    rows = run.injections()
    labels = run.summary.campaign.inputs
    # Of one input alone nothing of others is known, whatever is asked.
    apart = labels if campaign.over_inputs and len(labels) > 1 else ()
    counted: dict[tuple[str, str, Factors], Counter[tuple[int, int, str]]] = {key: Counter() for key in bits}
    drawn = run.drawn_sizes(rows).tolist()
    columns = (rows[name] for name in ("site", "block", "kind", "input", "outcome"))
    for size, site, block, kind, label, outcome in zip(drawn, *columns, strict=True):
        counted[block, kind, factors.get(site, _PLAIN)][size, label, outcome] += 1
    sizes = declared_sizes(campaign.faults.clusters)
    strata = []
    for (block, kind, own), n in sorted(bits.items()):
        group = PooledGroup(block, kind, n * technology.fit_per_bit(kind))
        found = counted[block, kind, own]
        of_size = {size: _stratum(group, own, _where(found, size), apart) for size in sizes if len(sizes) > 1}
        strata.append(replace(_stratum(group, own, found, apart), of_size=of_size))
    safety = run.summary.safety
    result = None if safety is None else safety.result
    copies = _copies(run, built, campaign, reset_cycles(campaign, built.target))
    hangs = _hangs(run, built)
    return Observed(
        network,
        tuple(strata),
        copies,
        result,
        hangs,
        run.summary.nothing_measured,
        run.summary.golden.comparison,
        population=run.summary.verdict.population,
        logic=block_logic(run.summary),
        permanent=permanent_limits(run.summary),
    )


_Counted = Mapping[tuple[int, int, str], int]
"""How many injections had a size, an input and an outcome."""


def _where(counted: _Counted, size: int) -> _Counted:
    return {key: number for key, number in counted.items() if key[0] == size}


def _stratum(
    group: PooledGroup, factors: Factors, counted: _Counted, labels: Sequence[int]
) -> ObservedStratum:
    """Return a stratum of some injections, with the counts of each input where they are kept apart."""
    counts, each = Counter[str](), {label: Counter[str]() for label in labels}
    for (_, label, outcome), number in counted.items():
        counts[outcome] += number
        if labels:
            each[label][outcome] += number
    return ObservedStratum(replace(group, counts=counts), factors, tuple(each.values()))


def _hangs(run: FinishedRun, built: BuiltProtection) -> Hangs | None:
    """Return how many hangs an alarm reported; nothing is promised where the time-out comes before it."""
    if built.watchdog is None:
        return None
    rows = run.injections()
    rows = rows[rows["seen"] == "hang"]
    pace = pace_of(run.summary, run.path)
    promised = built.watchdog_coverage if pace is not None and pace.detects(built.watchdog.limit) else 0.0
    return Hangs(len(rows), int((rows["alarm"] != "").sum()), promised)


def _site_factors(run: FinishedRun, built: BuiltProtection) -> dict[int, Factors]:
    """Return the factors of sites that are to become hardened cells."""
    if not built.hardened:
        return {}
    wanted: dict[str, list[tuple[int, int, Factors]]] = {}
    for own in built.hardened:
        low, high = sorted((own.left, own.right))
        wanted.setdefault(own.path, []).append((low, high, built.factors[own.group]))
    sites = read_parquet(run.path / SITES, ["path", "bit"]).to_pydict()
    found = {}
    for site, (path, bit) in enumerate(zip(sites["path"], sites["bit"], strict=True)):
        for low, high, factors in wanted.get(path, ()):
            if low <= bit <= high:
                found[site] = factors
    return found


def _copies(
    run: FinishedRun, built: BuiltProtection, campaign: Campaign, in_reset: Sequence[NDArray[np.bool_]]
) -> tuple[Copies, ...]:
    rows = run.injections()
    rows = rows[rows["register"].isin(built.copies)]
    guards = [built.mechanisms[path] for path in rows["register"]]
    sizes = zip(guards, rows["bits"], strict=True)
    beyond = np.array([guard.mechanism.misses(int(size), guard.ways) for guard, size in sizes], dtype=bool)
    hazardous = rows["outcome"].isin(campaign.hazardous).to_numpy()
    corrected = (rows["correction"] != "").to_numpy()
    alarmed = (rows["alarm"] != "").to_numpy()
    shown = rows["seen"].isin(_SHOWN).to_numpy()
    late = rows["register"].map(built.reported_late).to_numpy(dtype=bool)
    # What is checked when it is used has to report only if something came of it. Nothing reports in reset.
    due = ~rows["register"].isin(built.used).to_numpy() | shown
    due &= ~_waiting(run, rows, in_reset)
    unreported = ~alarmed & ~corrected & ~late & due
    wrong = corrected & ~alarmed & shown
    found = []
    for guard in sorted(set(guards), key=lambda guard: (guard.mechanism, guard.ways)):
        own = np.array([other == guard for other in guards], dtype=bool)
        within = own & ~beyond
        found.append(
            Copies(
                mechanism=guard.mechanism.value,
                injections=int(within.sum()),
                hazardous=int((within & hazardous).sum()),
                wrong=int((within & wrong).sum()),
                unreported=int((within & unreported).sum()),
                counted=guard.counted,
                beyond=int((own & beyond).sum()),
                beyond_hazardous=int((own & beyond & hazardous).sum()),
            )
        )
    return tuple(found)


def _waiting(
    run: FinishedRun, rows: pd.DataFrame, in_reset: Sequence[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Return which injections find the design in reset, when its alarms wait."""
    if not in_reset:
        return np.zeros(len(rows), dtype=bool)
    number = {label: place for place, label in enumerate(run.summary.campaign.inputs)}
    pairs = zip(rows["input"], rows["cycle"], strict=True)
    held = ((in_reset[number[label]], cycle) for label, cycle in pairs)
    return np.array([cycle < len(own) and own[cycle] for own, cycle in held], dtype=bool)


def mechanism_counts(run: FinishedRun, built: BuiltProtection) -> tuple[int, int]:
    """Return how many stuck bits of mechanisms an alarm reported, and how many there were.

    Words of memories with a code are none of them: they are looked at when they are read.
    """
    rows = run.injections()
    rows = rows[rows["kind"] != "sram"]
    rows = rows[rows["block"].isin([built.block, built.alerts, *filter(None, [built.timer])])]
    reported = (rows["alarm"] != "") | (rows["correction"] != "")
    return int(reported.sum()), len(rows)
