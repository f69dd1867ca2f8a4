# SPDX-License-Identifier: Apache-2.0
"""`resil protect` over units and several runs: read, choose, keep a plan in every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from resil.folder.kept_plans import basis_of, check_name, keep_plan
from resil.progress import Progress
from resil.protection.basis import Basis, read_basis
from resil.protection.choose import choose
from resil.protection.hold_out import on_strangers
from resil.protection.judge import Targets
from resil.protection.options import ProtectionError, load_options
from resil.protection.prior_counts import prior_counts
from resil.protection.unit_plan import unit_plan
from resil.protection.units import Granularity
from resil.reports import parse_protection
from resil.results.write import Results

# Time for each choice without one of the networks.
_STRANGER_SECONDS = 20.0


def protect_units(
    runs_or_models: Sequence[Path],
    *,
    granularity: Granularity,
    targets: Targets,
    options: Path | None = None,
    name: str | None = None,
    buildable: bool = False,
    also_longest: Sequence[int] = (),
) -> Results:
    """Choose protections for all runs at once, keep the plan in each, and write their reports again.

    Args:
        runs_or_models: Finished runs on one target, a network each, and sensitivity models, whose injections
            help to choose.
        granularity: What is chosen for.
        targets: What is asked; without any the budget of the campaigns.
        options: Options of the user's own, over those that ship.
        name: Of the plan; None for one made of what is asked.
        buildable: Offer only what can be built.
        also_longest: Longest operations in cycles of other networks, which a watchdog has to let through.

    Returns:
        The results of the first run, with this plan.

    Raises:
        StoreError, ConsistencyError: A folder is none of a finished run of upsets.
        ProtectionError: The runs are not of one target, or contradict each other; there is no target; an
            option has no area.
    """
    known = load_options(options)
    models = [path for path in runs_or_models if path.is_file()]
    run_dirs = [path for path in runs_or_models if path not in models]
    if not run_dirs:
        raise ProtectionError(
            f"{models[0]}: is a model, which can help to choose but not to judge; give finished runs too"
        )
    basis = read_basis(run_dirs)
    asked = asked_of(basis, targets)
    named = check_name(name or plan_name(asked, granularity, options))
    design = basis.design(known, granularity, buildable=buildable, also_longest=also_longest)
    Progress().stage(
        f"choosing among {len(design.units):,} units for {len(basis.networks)} networks, "
        f"{sum(len(n.bit) for n in basis.networks):,} injections"
    )
    prior = prior_counts(models, basis.found, design.cells)
    choice = choose(design, basis.networks, asked, prior=prior)
    others = []
    if choice.needed and choice.chosen is not None:
        reserve = choice.chosen.reserve
        others = on_strangers(design, basis.networks, asked, reserve, _STRANGER_SECONDS, prior)
    plans = unit_plan(design, basis.networks, asked, choice, granularity, others)
    learnt = [{"model": path.name, "sha256": sha256(path.read_bytes()).hexdigest()} for path in models]
    for plan in plans:
        plan |= {"based_on": rests_on(basis), "models": learnt}
        parse_protection(plan)
    for found, plan in zip(basis.found, plans, strict=True):
        accepted = keep_plan(found, named, plan)
        Results(found.summary, accepted).write(found.path)
    first = basis.found[0]
    plan = {**plans[0], "name": named, "basis": basis_of(first)}
    return Results(first.summary, plan)


def rests_on(basis: Basis) -> list[dict[str, Any]]:
    """Return on which results of which networks a plan rests."""
    pairs = zip(basis.networks, basis.found, strict=True)
    return [{"run": network.name, **basis_of(found)} for network, found in pairs]


def asked_of(basis: Basis, targets: Targets) -> Targets:
    """Return the targets, with the campaigns' budget if none is given.

    Raises:
        ProtectionError: One is out of range, they contradict each other or the campaigns, or there is none.
    """
    for value, text, most in (
        (targets.budget_fit, "a budget is a number of FIT >= 0", np.inf),
        (targets.due_fit, "a budget of detected failures is a number of FIT >= 0", np.inf),
        (targets.spfm, "an SPFM target is from 0 to 1 (0.99 for ASIL D)", 1.0),
        (targets.fit_share, "a share of the FIT is from 0 to 1", 1.0),
    ):
        if value is not None and not (0.0 <= value <= most and value < np.inf):
            raise ProtectionError(f"{text}, found {value}: correct it")
    if targets.due_fit is not None and "due" in basis.networks[0].hazardous:
        raise ProtectionError(
            "targets contradict: these campaigns count detected failures as hazardous ([budget] hazardous "
            "has due), so a budget of their own cannot be kept apart; leave --due-budget out"
        )
    if targets != Targets():
        return targets
    budgets = {found.summary.verdict.budget_fit for found in basis.found}
    if len(budgets) > 1:
        told = ", ".join("none" if b is None else f"{b:g}" for b in sorted(budgets, key=lambda b: b or 0.0))
        raise ProtectionError(f"targets contradict: the campaigns' budgets are {told} FIT; give --budget-fit")
    (budget,) = budgets
    if budget is None:
        raise ProtectionError(
            "protection needs a target: give --budget-fit, --spfm-target, --fit-share or --due-budget"
        )
    return Targets(budget_fit=budget)


def plan_name(targets: Targets, granularity: Granularity, options: Path | None = None) -> str:
    """Return the name of a plan from what is asked: "by-register_fit-0.01"."""
    asked = {
        "fit": targets.budget_fit,
        "spfm": targets.spfm,
        "share": targets.fit_share,
        "due": targets.due_fit,
    }
    own = [] if options is None else ["".join(c if c.isalnum() or c in ".+-" else "-" for c in options.stem)]
    parts = [f"{key}-{value!r}" for key, value in asked.items() if value is not None]
    return "_".join([f"by-{granularity}", *parts, *own])[:64]


def units_text(plan: Mapping[str, Any]) -> str:
    """Return what was chosen over units, and what it leaves on each network, as lines for a person."""
    lines = []
    for own in plan["networks"]:
        share = f" of {own['fit_before']:.3g}" if own["fit_before"] else ""
        spfm = "" if own["spfm_lo"] is None else f", SPFM at least {own['spfm_lo']:.3%}"
        missed = f": MISSED: {'; '.join(own['missed'])}" if own["missed"] else ""
        lines.append(
            f"{own['network']}: {own['fit']:.3g} FIT, at most {own['fit_hi']:.3g}{share}{spfm}; detected at "
            f"most {own['due_hi']:.3g} FIT (judged by {own['injections']:,} injections){missed}"
        )
    if plan["result"] == "infeasible":
        return "\n".join([*lines, f"NOT REACHED: {plan['reason']}"])
    if plan["strangers"]:
        left = ", ".join(f"{own['fit']:.3g} on {own['network']}" for own in plan["strangers"])
        lines.append(f"chosen without one of them, on that one: {left} FIT")
    elif len(plan["networks"]) == 1 and plan["groups"]:
        lines.append("what it leaves on other networks one run does not tell: give runs of several")
    bits: dict[str, list[int]] = {}
    for group in plan["groups"]:
        own = bits.setdefault(group["option_title"], [0, 0])
        own[0] += group["bits"]
        own[1] += 1
    lines += [f"{title}: {count:,} bits in {units:,} units" for title, (count, units) in bits.items()]
    for own in plan["mechanisms"]:
        limit = f", limit {own['limit']:,} cycles" if "limit" in own else ""
        lines.append(f"{own['option_title']}: the whole NPU{limit}")
    return "\n".join(lines)
