# SPDX-License-Identifier: Apache-2.0
"""What a study asks of every cell, and of the protection of each target."""

from __future__ import annotations

from resil.protection.targets import Targets, joined, limits_of
from resil.record.study import Asked, ProtectionAsked
from resil.study.study import Study


def asked(study: Study) -> Asked:
    """Return what the verdicts of a study are about, so that none of them is read as more."""
    rules = study.rules
    budget, safety, wanted = rules.budget, rules.safety, study.protection
    most = None if budget is None else budget.fit
    limits = limits_of(most, safety, rules.hazardous)
    return Asked(
        budget_fit=most,
        rationale=None if budget is None else budget.rationale,
        hazardous=tuple(rules.hazardous),
        claims=() if safety is None else tuple(safety.claims),
        asil=None if safety is None else safety.asil,
        protection=None if wanted is None else _kept(joined(wanted.targets, limits)),
    )


def _kept(targets: Targets) -> ProtectionAsked:
    return ProtectionAsked(
        budget_fit=targets.budget_fit,
        spfm_target=targets.spfm,
        fit_share=targets.fit_share,
        due_budget=targets.due_fit,
        waived=targets.waived,
    )
