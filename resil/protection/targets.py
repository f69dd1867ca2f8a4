# SPDX-License-Identifier: Apache-2.0
"""What is asked of a protection: what a user names, and the campaigns' own limits unless waived."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from resil.campaign.campaign import load_campaign
from resil.campaign.safety import SafetySettings
from resil.folder.finished import Finished
from resil.folder.store import CAMPAIGN
from resil.protection.asked import BUDGET_FIT, DUE_BUDGET, LIMITS, PERMANENT_SPFM, SPFM_TARGET, flag
from resil.protection.options import ProtectionError

# Limits that a campaign may have, by the names that waive them, with the fields that replace them.
WAIVABLE = {"budget": "budget_fit", "spfm": "spfm", "due": "due_fit", "spfm_permanent": "permanent_spfm"}
_FIELDS = ("budget_fit", "spfm", "fit_share", "due_fit", "permanent_fit", "permanent_spfm")
_LEAST = ("spfm", "spfm_permanent")
_OPTIONS = {
    "budget": flag(BUDGET_FIT),
    "spfm": flag(SPFM_TARGET),
    "due": flag(DUE_BUDGET),
    "spfm_permanent": flag(PERMANENT_SPFM),
}


@dataclass(frozen=True, slots=True)
class Targets:
    """What has to be kept on every network; None where nothing is asked.

    Attributes:
        budget_fit: Most residual FIT.
        spfm: Least SPFM, 0 to 1.
        fit_share: Most residual FIT as a share of that without protection.
        due_fit: Most detected failures in FIT.
        permanent_fit: Most residual FIT of permanent faults.
        permanent_spfm: Least SPFM of permanent faults, 0 to 1.
        waive: Names of limits of the campaigns that need not be kept, out of `WAIVABLE`.
        waived: The limits that were waived or replaced by laxer ones, in words; empty until they are known.
    """

    budget_fit: float | None = None
    spfm: float | None = None
    fit_share: float | None = None
    due_fit: float | None = None
    permanent_fit: float | None = None
    permanent_spfm: float | None = None
    waive: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()

    @property
    def of_permanent(self) -> Targets:
        """What is asked of permanent faults, as a target of the faults that it is judged by."""
        return Targets(budget_fit=self.permanent_fit, spfm=self.permanent_spfm)

    @property
    def names_none(self) -> bool:
        """Whether no limit is named: those of the campaigns are all that there is."""
        return all(getattr(self, field) is None for field in _FIELDS)


def asked_of(found: Sequence[Finished], targets: Targets) -> Targets:
    """Return the targets with the campaigns' own limits, but for those that are waived or replaced.

    A campaign limits its FIT by [budget], and SPFM and detected failures by what [safety] claims.

    Args:
        found: Results that a choice rests on.
        targets: What the user names.

    Raises:
        ProtectionError: One is out of range, they contradict each other or the campaigns, a limit is waived
            that there is not, or there is none.
    """
    _check(found, targets)
    made = joined(targets, {name: _limit(found, name, targets) for name in WAIVABLE})
    if made.names_none:
        *most, last = map(flag, LIMITS)
        raise ProtectionError(f"protection needs a target: give {', '.join(most)} or {last}", "target")
    return made


def joined(targets: Targets, limits: Mapping[str, float | None]) -> Targets:
    """Return the targets with the limits that campaigns have, unless waived, and in words what was waived.

    Args:
        targets: What the user names.
        limits: By the names of `WAIVABLE`; None where there is no limit.
    """
    said = []
    kept: dict[str, float | None] = {field: getattr(targets, field) for field in _FIELDS}
    for name, field in WAIVABLE.items():
        own, given = limits[name], kept[field]
        if name in targets.waive:
            said.append(f"the campaign's {_text(name, own)} is waived")
        elif given is None:
            kept[field] = own
        elif own is not None and (given < own if name in _LEAST else given > own):
            said.append(f"{_text(name, given)} in place of the campaign's {_text(name, own)}")
    return Targets(**kept, waive=targets.waive, waived=tuple(said))


def limits_of(
    budget_fit: float | None, safety: SafetySettings | None, hazardous: Collection[str]
) -> dict[str, float | None]:
    """Return the limits that a campaign sets, by the names of `WAIVABLE`; None where it sets none.

    Args:
        budget_fit: Of its FIT budget.
        safety: Its safety claims.
        hazardous: Outcomes that count: where detected failures do, they have no limit of their own.
    """
    claims = () if safety is None else safety.claims
    apart = "due_rate" in claims and "due" not in hazardous
    return {
        "budget": budget_fit,
        "spfm": safety.spfm if safety is not None and "spfm_transient" in claims else None,
        "due": safety.due_fit if safety is not None and apart else None,
        "spfm_permanent": safety.spfm if safety is not None and "spfm_permanent" in claims else None,
    }


def _check(found: Sequence[Finished], targets: Targets) -> None:
    for value, text, most in (
        (targets.budget_fit, "a budget is a number of FIT >= 0", inf),
        (targets.due_fit, "a budget of detected failures is a number of FIT >= 0", inf),
        (targets.spfm, "an SPFM target is from 0 to 1 (0.99 for ASIL D)", 1.0),
        (targets.fit_share, "a share of the FIT is from 0 to 1", 1.0),
        (targets.permanent_fit, "a budget of permanent faults is a number of FIT >= 0", inf),
        (targets.permanent_spfm, "an SPFM target of permanent faults is from 0 to 1", 1.0),
    ):
        if value is not None and not (0.0 <= value <= most and value < inf):
            raise ProtectionError(f"{text}, found {value}: correct it")
    if unknown := [name for name in targets.waive if name not in WAIVABLE]:
        raise ProtectionError(
            f"--waive: expected {', '.join(WAIVABLE)}, found {', '.join(unknown)}: correct the name",
            "--waive",
        )
    if targets.due_fit is not None and "due" in found[0].summary.campaign.hazardous:
        raise ProtectionError(
            "targets contradict: these campaigns count detected failures as hazardous ([budget] hazardous "
            f"has due), so a budget of their own cannot be kept apart; leave {flag(DUE_BUDGET)} out",
            "budget.hazardous",
        )


def _limit(found: Sequence[Finished], name: str, targets: Targets) -> float | None:
    """Return a limit that all campaigns have alike, None if they have none."""
    limits = {_own(one, name) for one in found}
    field = WAIVABLE[name]
    if len(limits) > 1 and name not in targets.waive and getattr(targets, field) is None:
        each = ", ".join("none" if b is None else f"{b:g}" for b in sorted(limits, key=lambda b: b or 0.0))
        what = {
            "budget": "budgets are {} FIT",
            "spfm": "SPFM are {}",
            "due": "due_fit are {} FIT",
            "spfm_permanent": "SPFM of permanent faults are {}",
        }[name]
        raise ProtectionError(
            f"targets contradict: the campaigns' {what.format(each)}; give {_OPTIONS[name]}, or --waive "
            f"{name}",
            "--waive",
        )
    known = [own for own in limits if own is not None]
    if name in targets.waive:
        if getattr(targets, field) is not None:
            raise ProtectionError(
                f"--waive {name}: expected no {_OPTIONS[name]} beside it, found both; leave one out",
                "--waive",
            )
        if not known:
            raise ProtectionError(f"--waive {name}: the campaign has no such limit; leave it out", "--waive")
    return (max if name in _LEAST else min)(known, default=None)


def _own(found: Finished, name: str) -> float | None:
    summary = found.summary
    safety = load_campaign(found.path / CAMPAIGN).safety
    return limits_of(summary.verdict.budget_fit, safety, summary.campaign.hazardous)[name]


def _text(name: str, value: float | None) -> str:
    amount = "none" if value is None else f"{value:g}"
    return {
        "budget": f"budget of {amount} FIT",
        "spfm": f"SPFM of at least {amount}",
        "due": f"limit of {amount} FIT detected",
        "spfm_permanent": f"SPFM of permanent faults of at least {amount}",
    }[name]
