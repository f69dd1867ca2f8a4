# SPDX-License-Identifier: Apache-2.0
"""What a plan of protection predicts of networks that took no part in its choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from resil.protection.options import ProtectionError, ProtectionOption
from resil.record.protection import Protection


def predicted_fit(plan: Protection) -> float:
    """Return the hazardous FIT that a plan predicts for networks that took no part in its choice.

    What it leaves on the run's own network, as injections that did not choose say, or the mean of what sets
    so chosen leave on a network that was left out, if that is more.
    """
    others = [own.fit for own in plan.hold_out]
    return max(chosen(plan.fit), sum(others) / len(others) if others else 0.0)


def least_predicted(plan: Protection, reserve: float = 0.0) -> float:
    """Return the least hazardous FIT that a plan predicts for a network.

    Networks differ tenfold, and a new one may be as harmless as the most harmless of those that chose: the
    least that the set leaves on any of them, or that sets chosen without one leave on that one. Of each that
    is the lower end: as many times below the estimate as its upper limit is above it, and with options at the
    strong ends of their ranges, where the estimate has the weak ones.

    Args:
        plan: Of a set.
        reserve: `weak_reserve` of its options.
    """
    before = sum(choice.fit_before for choice in plan.choices)
    rows = [(chosen(plan.fit), chosen(plan.fit_hi), before)]
    rows += [(own.fit, own.fit_hi, own.fit_before) for own in (*plan.networks, *plan.hold_out)]
    lower = (
        fit * min(1.0, fit / most if most else 1.0) - reserve * max(0.0, whole - fit)
        for fit, most, whole in rows
    )
    return max(0.0, min(lower))


def weak_reserve(
    plan: Protection, options: Mapping[str, ProtectionOption], hazardous: Collection[str]
) -> float:
    """Return what may be left less than a plan says, at most, as a share of what its set takes away.

    An option that covers 99 % at the weak end of its range, and all at the strong end, takes 1 / 99 more.
    """
    names = {name for choice in plan.choices for name in choice.option.split("+")}
    shares = [0.0]
    for option in (options[name] for name in sorted(names & options.keys())):
        for kind in option.protects:
            weak = option.worst_residual_share(kind, hazardous)
            strong = option.best_residual_share(kind, hazardous)
            shares += [(weak - strong) / (1.0 - weak)] if weak < 1.0 else []
    return max(shares)


def chosen(value: float | None) -> float:
    """Return a figure of a plan that reaches its target; ProtectionError if it does not."""
    if value is None:
        raise ProtectionError("expected a plan that reaches its target, found one that does not", "result")
    return value
