# SPDX-License-Identifier: Apache-2.0
"""The first step of `resil protect`: read runs, choose for all of them at once, keep the plan in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resil.campaign.campaign import load_campaign
from resil.folder.finished import Finished, finished_results, finished_run
from resil.folder.kept_plans import basis_of, check_name, keep_plan
from resil.folder.store import CAMPAIGN
from resil.progress import Progress
from resil.protection.basis import Basis, basis_of_injections, basis_of_limits
from resil.protection.choose import choose
from resil.protection.hold_out import on_hold_out
from resil.protection.items import ProtectableDesign
from resil.protection.kept import kept_choice
from resil.protection.options import ERROR_FLAG, OptionSet, ProtectionError, load_options
from resil.protection.permanent import require_permanent, with_permanent
from resil.protection.prior_counts import prior_counts
from resil.protection.targets import Targets, asked_of
from resil.protection.unit_plan import Origin, unit_plan
from resil.protection.units import Granularity
from resil.protection.verify import longest_operations
from resil.protection.wanted import ProtectionRequest
from resil.record.protection import Protection
from resil.record.protection_parts import ChoosingModel, ChoosingRun
from resil.record.provenance import RUN
from resil.results.write import Results
from resil.rtl_harness.cache import file_digest

# Time for each choice without one of the networks.
_HOLD_OUT_SECONDS = 20.0


@dataclass(frozen=True)
class Chosen:
    """A plan that is kept in runs.

    Attributes:
        found: The runs, or the estimate.
        plan: That of the first.
    """

    found: Sequence[Finished]
    plan: Protection


def choose_plan(
    runs_or_models: Sequence[Path],
    wanted: ProtectionRequest,
    progress: Progress,
    *,
    buildable: bool = False,
) -> Chosen:
    """Choose protections for all runs at once, keep the plan in each, and write their reports again.

    One run or estimate is judged by the upper limits of all its blocks, which hold for any set, if the choice
    is by blocks and they can judge all that is asked; else injections that did not choose judge.

    Args:
        runs_or_models: Finished runs on one target, a network each, or one estimate, and sensitivity models,
            whose injections help to choose.
        wanted: What is asked.
        progress: For what goes on.
        buildable: Offer only what can be built, and shown by injecting into it.

    Raises:
        StoreError, ConsistencyError: A folder is none of a finished run of upsets.
        ProtectionError: The runs are not of one target or not of a network each, or contradict each other;
            there is no target; or the options are wrong.
    """
    models = [path for path in runs_or_models if path.is_file()]
    run_dirs = [path for path in runs_or_models if path not in models]
    if not run_dirs:
        raise ProtectionError(
            f"{models[0]}: is a model, which can help to choose but not to judge; give finished runs too",
            "model",
        )
    found = [finished_results(path) for path in run_dirs]
    known = load_options(wanted.options).for_clusters(found[0].summary.campaign.clusters)
    asked = asked_of(found, wanted.targets)
    granularity = wanted.granularity or _default(found, models, wanted.targets)
    basis = _read(found, models, granularity, asked, known)
    name = check_name(wanted.plan_name(asked, granularity))
    if wanted.reuse and (plan := kept_choice(found, name, granularity, asked, rests_on(basis))) is not None:
        return Chosen(found, plan)
    watched = buildable and wanted.verify
    longest = longest_operations(run_dirs, wanted, progress) if watched else ()
    design = basis.design(known, granularity, buildable=buildable, also_longest=longest)
    learnt = [ChoosingModel(model=path.name, sha256=file_digest(path)) for path in models]
    plans = _plans(
        basis,
        design,
        asked,
        granularity,
        models,
        progress,
        Origin(name, tuple(rests_on(basis)), tuple(learnt)),
    )
    for own, plan in zip(found, plans, strict=True):
        Results(own.summary, keep_plan(own, plan)).write(own.path)
    return Chosen(found, plans[0])


def rests_on(basis: Basis) -> list[ChoosingRun]:
    """Return on which results of which networks a plan rests."""
    pairs = zip(basis.networks, basis.found, strict=True)
    return [ChoosingRun(run=network.name, **dict(basis_of(found))) for network, found in pairs]


def _default(found: Sequence[Finished], models: Sequence[Path], targets: Targets) -> Granularity:
    plain = targets.fit_share is None and targets.due_fit is None
    return Granularity.BLOCK if len(found) == 1 and not models and plain else Granularity.GROUP


def _read(
    found: Sequence[Finished],
    models: Sequence[Path],
    granularity: Granularity,
    asked: Targets,
    options: OptionSet,
) -> Basis:
    """Return what judges. Limits know neither what was detected nor what it is worth undetected.

    Nor are they known of upsets of one size: where the shares of sizes may be any, injections judge. They do
    where a limit of permanent faults is asked, too: those of a run of stuck bits are by its own rules.
    """
    permanent = not asked.of_permanent.names_none
    known = asked.fit_share is None and asked.due_fit is None and ERROR_FLAG in options.options
    known = known and not permanent
    alone = granularity is Granularity.BLOCK and len(found) == 1 and not models
    if alone and known and not (found[0].kind == RUN and _any_shares(found[0])):
        return basis_of_limits(found[0], options)
    if permanent:
        require_permanent(found)
    for own in found:
        if own.kind != RUN:
            finished_run(own.path)
    basis = basis_of_injections(found)
    return with_permanent(basis) if permanent else basis


def _any_shares(found: Finished) -> bool:
    return load_campaign(found.path / CAMPAIGN).faults.any_shares


def _plans(
    basis: Basis,
    design: ProtectableDesign,
    asked: Targets,
    granularity: Granularity,
    models: Sequence[Path],
    progress: Progress,
    origin: Origin,
) -> list[Protection]:
    progress.stage(
        f"choosing among {len(design.units):,} units for {len(basis.networks)} networks, "
        f"{sum(len(n.bit) if n.limits is None else n.limits.injections for n in basis.networks):,} injections"
    )
    prior = prior_counts(models, basis.found, design.cells)
    choice = choose(design, basis.networks, asked, prior=prior)
    others = []
    if choice.needed and choice.chosen is not None:
        reserve = choice.chosen.reserve
        others = on_hold_out(design, basis.networks, asked, reserve, _HOLD_OUT_SECONDS, prior)
    summaries = [own.summary for own in basis.found]
    golden = tuple(
        f"{network.name}: {remark}"
        for network, own in zip(basis.networks, basis.found, strict=True)
        if (remark := own.summary.golden.comparison.remark)
    )
    return unit_plan(design, basis.networks, asked, choice, granularity, summaries, origin, others, golden)
