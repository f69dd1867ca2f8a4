# SPDX-License-Identifier: Apache-2.0
"""What a confirmation injected into built protection, read back from its run folders and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from resil.bench.site_list import block_name
from resil.campaign.campaign import Campaign
from resil.errors import StoreError
from resil.files import read_parquet, write_text
from resil.folder.kept_plans import read_build
from resil.folder.store import SITES
from resil.prepare import prepare
from resil.progress import Progress
from resil.protection.basis import pace_of
from resil.protection.build_rtl import was_changed
from resil.protection.groups_to_build import protected_parts, watchdog_of
from resil.protection.observed import Copies, Hangs, Observed, Stratum
from resil.protection.options import WATCHDOG, Option, OptionSet
from resil.record.protection import Protection
from resil.record.protection_build import HardenedBits
from resil.results.run import Run
from resil.results.summarise import upset_rates
from resil.rtl_harness.design.elaboration import Elaboration, elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.sites import Hardware
from resil.rtl_harness.design.target import Target, load_target
from resil.rtl_harness.redundancy.build import NAMES, TARGET
from resil.rtl_harness.redundancy.groups import Mechanism
from resil.rtl_harness.redundancy.target_file import target_text
from resil.rtl_harness.redundancy.watchdog import INSTANCE, Watchdog
from resil.stats.evidence import Group

_CONFIRM = "confirm.toml"
_SHOWN = ("sdc_tolerable", "sdc_critical", "hang")
# Cycles at the end of a run in which an alarm has no time to rise.
_LAST_CYCLES = 2
_PLAIN = (1.0, 1.0, 1.0)
Factors = tuple[float, float, float]


@dataclass(frozen=True)
class Built:
    """Protection that was built, as a confirmation injects into it.

    Attributes:
        target: Of the build.
        changed: Its RTL is no longer what was built: proofs and area are of something else.
        confirm_target: A target file of the same RTL, in which all redundant registers are one block.
        block: Name of that block.
        alerts: Name of the block that holds the alarms' registers.
        copies: Paths of copies, parity bits, and memories with a code.
        used: Those of them that are checked only when they are used.
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
) -> Built:
    """Return what a build holds, and write a target file for its confirmation beside its own.

    Raises:
        StoreError: The folder is none of a build, is one of another plan, or lacks what it was built with.
        HarnessError: Its RTL cannot be read.
    """
    record = read_build(folder)
    if record is None or record.plan != plan.name:
        raise StoreError(
            f"{folder}: expected the build of plan {plan.name}, found "
            f"{'none' if record is None else f'that of {record.plan}'}; build it into another folder"
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
            f"{'none' if watchdog else 'one'}; build it again"
        )
    used = frozenset(target.storage_names.checked_when_used)
    instances = tuple(sorted({path if path in used else path.rsplit(".", 2)[0] for path in copies}))
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
            f"{missing[0]} first; the RTL was changed, build it again"
        )
    return Built(
        target,
        was_changed(record, target),
        (folder / _CONFIRM).resolve(),
        block,
        alerts,
        copies,
        used,
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


def _free(name: str, taken: Mapping[str, object]) -> str:
    return next(n for n in (name, *(f"{name}_{i}" for i in range(len(taken) + 1))) if n not in taken)


def _factors(option: Option) -> Factors:
    least, most = (option.raw_share_at("ff", weak=weak) for weak in (False, True))
    return least, option.raw_share("ff"), most


def observed_on(network: str, run: Run, built: Built, campaign: Campaign) -> Observed:
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
    counts: dict[tuple[str, str, Factors], Counter[str]] = {key: Counter() for key in bits}
    for site, block, kind, outcome in zip(
        rows["site"], rows["block"], rows["kind"], rows["outcome"], strict=True
    ):
        counts[block, kind, factors.get(site, _PLAIN)][outcome] += 1
    strata = tuple(
        Stratum(Group(block, kind, n * technology.fit_per_bit(kind), counts[block, kind, own]), own)
        for (block, kind, own), n in sorted(bits.items())
    )
    safety = run.summary.safety
    result = None if safety is None else safety.result
    return Observed(network, strata, _copies(run, built, campaign), result, _hangs(run, built))


def _hangs(run: Run, built: Built) -> Hangs | None:
    """Return how many hangs an alarm reported; nothing is promised where the time-out comes before it."""
    if built.watchdog is None:
        return None
    rows = run.injections()
    rows = rows[rows["seen"] == "hang"]
    pace = pace_of(run.summary, run.path)
    promised = built.watchdog_coverage if pace is not None and pace.detects(built.watchdog.limit) else 0.0
    return Hangs(len(rows), int((rows["alarm"] != "").sum()), promised)


def _site_factors(run: Run, built: Built) -> dict[int, Factors]:
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


def _copies(run: Run, built: Built, campaign: Campaign) -> Copies:
    rows = run.injections()
    rows = rows[rows["register"].isin(built.copies)]
    hazardous = rows["outcome"].isin(campaign.hazardous)
    corrected = rows["correction"] != ""
    silent = (rows["alarm"] == "") & ~corrected
    last = min(run.summary.golden.cycles) - _LAST_CYCLES
    late = rows["register"].map(built.reported_late).astype(bool)
    # What is checked when it is used has to report only if something came of it.
    due = ~rows["register"].isin(built.used) | rows["seen"].isin(_SHOWN)
    unreported = silent & (rows["cycle"] < last) & (rows["bits"] == 1) & ~late & due
    wrong = corrected & (rows["alarm"] == "") & rows["seen"].isin(_SHOWN)
    return Copies(len(rows), int(hazardous.sum()), int(wrong.sum()), int(unreported.sum()))


def mechanism_counts(run: Run, built: Built) -> tuple[int, int]:
    """Return how many stuck bits of mechanisms an alarm reported, and how many there were."""
    rows = run.injections()
    rows = rows[rows["block"].isin([built.block, built.alerts, *filter(None, [built.timer])])]
    reported = (rows["alarm"] != "") | (rows["correction"] != "")
    return int(reported.sum()), len(rows)
