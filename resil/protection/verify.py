# SPDX-License-Identifier: Apache-2.0
"""`resil protect --build DIR --verify`: new injections into what was built, on networks new to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from resil.campaign.campaign import Campaign, load_campaign
from resil.errors import StoreError
from resil.files import json_text
from resil.folder.kept_plans import keep_in_build, kept_plan
from resil.folder.store import CAMPAIGN, recorded_definition
from resil.networks import zoo
from resil.prepare.bench import prepare
from resil.prepare.targets import target_of
from resil.progress import Progress
from resil.protection.build_rtl import longest_of, require_same_runs, runs_without_fault
from resil.protection.confirm import confirmation
from resil.protection.confirm_runs import (
    UNPROTECTED,
    Sizes,
    by_block,
    by_raw_rate,
    inject_in_logic,
    inject_stuck,
    inject_unprotected,
    inject_upsets,
    struck_in_logic,
)
from resil.protection.corners import corners_of
from resil.protection.judges import require_sensitive
from resil.protection.ledger import LookLedger
from resil.protection.likeness import network_population, profile_of
from resil.protection.next_look import bearing, next_look, registered
from resil.protection.observed import Observed
from resil.protection.options import WATCHDOG, load_options
from resil.protection.planned_upsets import Allowed, inputs_asked, planned_upsets
from resil.protection.predictions import weak_reserve
from resil.protection.read_back import BuiltProtection, read_built
from resil.protection.sample_size import POWER
from resil.protection.sensitive import asks_of_hazards
from resil.protection.unused_networks import (
    asked_work,
    fresh_works,
    of_the_zoo,
    work_label,
)
from resil.protection.wanted import ProtectionRequest
from resil.record.golden import DIFFERS
from resil.record.protection import Protection
from resil.record.protection_build import BitExact
from resil.record.protection_confirmation import (
    Confirmation,
    LookNumber,
    MechanismCoverage,
    WatchdogRecord,
)
from resil.results.run import FinishedRun
from resil.results.summarise import upset_rates
from resil.results.views import highest_factor
from resil.rtl_harness.cache import content_key
from resil.rtl_harness.design.snapshot import rtl_digest

CONFIRMATION = "confirmation"
_CHANGED = "the RTL was changed since it was built: proofs and area are of another; build it again"
# What a plan promises, and what that rests on.
_PROMISED = (
    *("name", "basis", "choices", "groups", "mechanisms", "networks", "hold_out", "logic"),
    *("budget_fit", "spfm_target", "fit_share_target", "due_fit_target", "fit", "fit_hi", "spfm", "spfm_lo"),
    *("permanent_fit_target", "permanent_spfm_target"),
)


def verify_build(
    run_dirs: Sequence[Path],
    plan: Protection,
    folder: Path,
    wanted: ProtectionRequest,
    progress: Progress,
    *,
    sizes: Sizes | None = None,
) -> Confirmation:
    """Inject into built protection once, judge its plan by that alone, and keep what was found.

    Args:
        run_dirs: The runs that the plan is for; predicted is the most that it predicts for any of them.
        plan: As the first keeps it.
        folder: Of the build.
        wanted: What was asked, with the file of options that the plan was chosen from, too.
        progress: For what goes on.
        sizes: How many; None for the usual numbers.

    Returns:
        What was found.

    Raises:
        StoreError: The build was confirmed with this seed before, the seed or a network took part in the
            choice or in a confirmation that failed, a network keeps the targets without protection, there is
            no such network, or the ledger was edited or cut.
        ConsistencyError: Without a fault the protected design does something else than the source.
        HarnessError, NetworkError: The target or a network cannot be used.
    """
    if plan.asks_of_permanent and not (asks_of_hazards(plan) or plan.due_fit_target is not None):
        raise StoreError(
            f"{folder}: expected a plan with a limit of upsets to confirm, found limits of permanent faults "
            "alone, by which no hold-out network can be shown to refuse a set; ask for one of upsets, too",
            "--verify",
        )
    chose = [load_campaign(run_dir / CAMPAIGN).with_workers(wanted.workers) for run_dir in run_dirs]
    campaign = chose[0]
    known = load_options(wanted.options).for_clusters(campaign.faults.clusters)
    built = read_built(folder, plan, known, campaign, progress)
    ledger, digest = LookLedger(folder, run_dirs), rtl_digest(built.target)
    kept = [plan, *(kept_plan(run_dir, plan.name) for run_dir in run_dirs[1:])]
    plan = max(kept, key=lambda own: (own.fit or 0.0) + (0.0 if own.logic is None else own.logic.fit_hi))
    sizes, promised = sizes or Sizes(), plan.plain()
    asked = content_key(repr(sizes), *(json_text(promised[key]) for key in _PROMISED))
    works, look = next_look(ledger, run_dirs, folder, digest, asked, wanted.networks, wanted.seed, progress)
    works = {name: work.with_workers(wanted.workers) for name, work in works.items()}
    exact, beyond, cycles = _bit_exact(chose, built, works, progress)
    moments = min(map(sum, (cycles[name] for name in works)))
    spread = by_raw_rate(FinishedRun(run_dirs[0]), campaign, sizes.unprotected, moments)
    bare = {
        name: inject_unprotected(work, name, folder, built, spread, progress) for name, work in works.items()
    }
    corners = corners_of(campaign)
    require_sensitive(plan, list(bare.values()), campaign.hazardous, campaign.confidence, corners)
    seed, confidence = look.seed, look.confidence
    works = {name: replace(work, confidence=confidence) for name, work in works.items()}
    shared = replace(campaign, confidence=confidence)
    upsets = _planned(plan, built, shared, list(bare.values()), moments, sizes, progress)
    look = registered(ledger, look, sum(sum(own.values()) for own in upsets.values()))
    observed: list[Observed] = []
    mechanisms: MechanismCoverage | None = None
    shortest = min(works, key=lambda name: sum(cycles[name]))
    permanent = campaign.safety is not None and campaign.safety.permanent is not None
    struck = struck_in_logic(campaign.safety)
    # Limits of logic, as the safety verdict has them, hold for all networks together.
    counted = plan.logic is not None or plan.asks_of_permanent
    joint = 1.0 - (1.0 - confidence) / len(works) if counted else confidence
    for name, work in works.items():
        place = folder / CONFIRMATION / name
        own = replace(work, seed=seed, target=built.confirm_target, safety=None)
        if permanent or name == shortest:
            inputs, everything = len(cycles[name]), sizes.all_stuck if permanent else 0
            latent = inject_stuck(own, name, place / "stuck-at", built, sizes, inputs, everything, progress)
            mechanisms = latent if name == shortest else mechanisms
        if campaign.safety is not None:
            in_logic = {
                key: inject_in_logic(own, name, place / key, faults, progress) for key, faults in struck
            }
            claimed = replace(
                campaign.safety,
                permanent=place / "stuck-at" if permanent else None,
                logic=in_logic.get("logic"),
                permanent_logic=in_logic.get("permanent_logic"),
            )
            own = replace(own, confidence=joint, safety=claimed)
        found = inject_upsets(own, name, place / "upsets", built, upsets, progress)
        observed.append(replace(found, unprotected=bare[name].strata))
    _require_one_rtl([folder / CONFIRMATION / name for name in works], digest)
    reserve = weak_reserve(plan, known.options, campaign.hazardous)
    data = confirmation(plan, observed, campaign.hazardous, confidence, corners, reserve)
    if built.changed:
        data = data.changed(confirmed=False, reasons=(*data.reasons, _CHANGED))
    confirmed = Confirmation(
        **dict(data),
        schema=Confirmation.SCHEMA,
        plan=plan.name,
        choice=plan.choice_digest,
        rtl_digest=digest,
        look=LookNumber(number=look.number, confidence=confidence),
        population=network_population(
            {name: _profile(folder / UNPROTECTED / name) for name in works},
            {work_label(own): _profile(run) for run, own in zip(run_dirs, chose, strict=True)},
            data.passed,
            campaign.confidence,
        ),
        seed=seed,
        seed_of_choice=campaign.seed,
        golden_of_choice=_golden_of_choice(run_dirs),
        latent=mechanisms,
        hardened_not_confirmed=tuple(sorted({own.group for own in built.hardened})),
        watchdog=None
        if built.watchdog is None
        else WatchdogRecord(limit=built.watchdog.limit, false_alarms=tuple(beyond)),
        bit_exact=exact,
        area_predicted=built.area_predicted,
        area_measured=built.area_measured,
        commands=tuple(
            f"resil run {run / CAMPAIGN} --out {run} --resume"
            for run in sorted(path.parent for path in (folder / CONFIRMATION).glob(f"*/*/{CAMPAIGN}"))
        ),
    )
    ledger.finish(look, confirmed=confirmed.confirmed)
    keep_in_build(folder, confirmed)
    return confirmed


def _profile(run_dir: Path) -> dict[tuple[str, int, int], float]:
    return profile_of(FinishedRun(run_dir).summary.network.operations)


def _golden_of_choice(run_dirs: Sequence[Path]) -> tuple[str, ...]:
    """Return what is to be said of runs whose golden output is not their network's."""
    summaries = [FinishedRun(run_dir).summary for run_dir in run_dirs]
    return tuple(
        f"{own.network.name}: {own.golden.comparison.sentence}"
        for own in summaries
        if own.golden.comparison.state == DIFFERS
    )


def _bit_exact(
    chose: Sequence[Campaign], built: BuiltProtection, works: Mapping[str, Campaign], progress: Progress
) -> tuple[BitExact, list[str], dict[str, list[int]]]:
    """Compare runs without a fault of networks new and old, and of all of the zoo if one of it chose.

    Returns:
        What was equal, other networks of the zoo whose operations take longer than a watchdog waits, and the
        cycles of each input of each network that was run.
    """
    found = {work_label(own): own for own in chose if not of_the_zoo(own)} | dict(works)
    limit = None if built.watchdog is None else built.watchdog.limit
    for own in filter(of_the_zoo, chose):
        found |= {name: asked_work(own, name) for name in zoo.names() if name not in found}
    cycles: dict[str, list[int]] = {}
    beyond = []
    for name, work in found.items():
        bench = prepare(work, progress)
        before = runs_without_fault(bench, progress, work.execution.processes)
        if limit is not None and name not in works and longest_of(before) >= limit:
            beyond.append(name)
            continue
        protected = prepare(replace(work, target=built.confirm_target), progress)
        after = runs_without_fault(protected, progress, work.execution.processes)
        require_same_runs(bench, before, after, limit)
        cycles[name] = [run.cycles for run in before]
    exact = BitExact(networks=tuple(sorted(cycles)), inputs=sum(map(len, cycles.values())), equal=True)
    return exact, sorted(beyond), cycles


def longest_operations(run_dirs: Sequence[Path], wanted: ProtectionRequest, progress: Progress) -> list[int]:
    """Return the longest operations in cycles of the networks that a confirmation will run.

    A watchdog has to let them through; how long they take without a fault says nothing of what faults do.

    Args:
        run_dirs: The runs that choose.
        wanted: What is asked.
        progress: For what goes on.

    Returns:
        One for each network; nothing if there is no watchdog to be offered.

    Raises:
        StoreError, HarnessError, NetworkError: As `verify_build`.
    """
    target = target_of(load_campaign(run_dirs[0] / CAMPAIGN))
    if WATCHDOG not in load_options(wanted.options).options or not target.operation:
        return []
    looks = bearing(LookLedger(runs=run_dirs), run_dirs)
    works = fresh_works(run_dirs, looks, wanted.networks, progress)
    shared = [work.with_workers(wanted.workers) for work in works.values()]
    return [
        longest_of(runs_without_fault(prepare(work, progress), progress, work.execution.processes))
        for work in shared
    ]


def _planned(
    plan: Protection,
    built: BuiltProtection,
    campaign: Campaign,
    bare: Sequence[Observed],
    moments: int,
    sizes: Sizes,
    progress: Progress,
) -> dict[str, dict[str, int]]:
    """Return how many upsets of each kind of storage in each block are made on each network."""
    technology, bits = upset_rates(campaign), built.bits(campaign.faults.kinds)
    fit_raw = {(block, kind): n * technology.fit_per_bit(kind) for (block, kind), n in bits.items()}
    fixed = {key: sizes.redundant for key in bits if key[0] == built.block}
    allowed = Allowed.by(
        plan,
        sum(fit_raw.values()),
        highest_factor({name: own.rates for name, own in corners_of(campaign).items()}),
        campaign.safety,
        campaign.hazardous,
    )
    faults = {key: n * moments for key, n in bits.items()}
    drawn = inputs_asked(bare, campaign.hazardous)
    spread = planned_upsets(
        plan, fit_raw, fixed, len(bare), campaign.confidence, sizes.spread, allowed, faults, drawn
    )
    if spread.power < POWER:
        progress.warn(
            f"note: the plan has little reserve: if what it predicts is true, {spread.power:.0%} of such "
            "confirmations show it, by as many injections as are made at most"
        )
    return by_block(spread)


def _require_one_rtl(places: Sequence[Path], digest: str) -> None:
    """Raise StoreError if a run of a confirmation was made on other RTL than the one that it judges."""
    for file in (file for place in places for file in sorted(place.glob(f"*/{CAMPAIGN}"))):
        if recorded_definition(file.parent)["rtl"] != digest:
            raise StoreError(
                f"{file.parent}: expected injections into the RTL that was there when the confirmation "
                "began, found others: a file was changed meanwhile; restore it, move this folder away and "
                "confirm again",
                "rtl",
            )
