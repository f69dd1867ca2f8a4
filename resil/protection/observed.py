# SPDX-License-Identifier: Apache-2.0
"""What new injections into built protection found, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from resil.protection.corners import CENTRE, Corner
from resil.protection.logic import BlockLogic
from resil.record.golden import GoldenComparison
from resil.record.summary import Summary
from resil.results.named_run import BASE_RATES
from resil.stats.evidence import Evidence, PooledGroup

# Rows whose sum is the rate of hazardous permanent faults: each at its own upper limit.
_VIOLATING = ("single_point_permanent", "residual_permanent")
_NOT_LOOKED_AT = GoldenComparison.none("it was not looked at")
# Ends of the range of what hardened cells leave: `ObservedStratum.factors`.
LEAST, STATED, MOST = range(3)


@dataclass(frozen=True, slots=True)
class ObservedStratum:
    """New injections into storage of one kind in one block, hardened by one option or not at all.

    Attributes:
        group: Its raw rate without hardening, and its counts by outcome.
        factors: Share of that rate which hardened cells leave: least, stated, and most. RTL cannot show it.
        inputs: Counts by outcome of each input, if what is asked is about inputs like these; else none.
        of_size: By the size that upsets were drawn of, the same of those alone; nothing if there is but one.
    """

    group: PooledGroup
    factors: tuple[float, float, float] = (1.0, 1.0, 1.0)
    inputs: tuple[Mapping[str, int], ...] = ()
    of_size: Mapping[int, ObservedStratum] = field(default_factory=dict)

    def at(self, corner: Corner) -> ObservedStratum:
        """Return it at a corner: with its raw rate, and the upsets of its size alone."""
        own = self if corner.size is None else self._of_size(corner.size)
        fit_raw = self.group.fit_raw * corner.factor(self.group.kind)
        return replace(own, group=replace(own.group, fit_raw=fit_raw))

    def _of_size(self, size: int) -> ObservedStratum:
        return self.of_size[size]


@dataclass(frozen=True, slots=True)
class Copies:
    """New injections into redundant storage of one mechanism: copies, parity bits, words of a code.

    Attributes:
        mechanism: Its name.
        injections: Of as many wrong bits as it is credited with.
        hazardous: Those with a hazardous outcome.
        wrong: Said to be corrected, and yet the result differed or did not come.
        unreported: That no alarm reported, although there was something to report, and time.
        counted: Part of the injections that the plan counts as failures at most.
        beyond: Injections of clusters that defeat its code: the plan credits it with none of them.
        beyond_hazardous: Those with a hazardous outcome.
    """

    mechanism: str
    injections: int
    hazardous: int
    wrong: int = 0
    unreported: int = 0
    counted: float = 0.0
    beyond: int = 0
    beyond_hazardous: int = 0


@dataclass(frozen=True, slots=True)
class Hangs:
    """New injections of which a hang was seen, in a design with a watchdog.

    Attributes:
        seen: Hangs, an alarm or not.
        reported: Those that an alarm reported in time.
        promised: Part of them that the watchdog is to detect at least; 0 where it does after the time-out.
    """

    seen: int
    reported: int
    promised: float


@dataclass(frozen=True, slots=True)
class PermanentLimits:
    """Limits of permanent faults of what was built, over the ranges of their base rates.

    Attributes:
        fit_hi: Upper limit of hazardous ones, in FIT.
        spfm_lo: Lower limit of their single-point fault metric.
    """

    fit_hi: float
    spfm_lo: float


def permanent_limits(summary: Summary) -> PermanentLimits | None:
    """Return what a safety verdict says of permanent faults; None where it says nothing."""
    if summary.safety is None:
        return None
    rows = [summary.safety.rows]
    rows += [own.rows for own in summary.safety.sensitivity if own.title.startswith(BASE_RATES)]
    found = [{row.name: row for row in own} for own in rows]
    metrics = [own["spfm_permanent"].lo for own in found if "spfm_permanent" in own]
    rates = [own[name].hi for own in found for name in _VIOLATING if name in own]
    if len(metrics) < len(rows) or len(rates) < len(_VIOLATING) * len(rows) or None in (*metrics, *rates):
        return None
    size = len(_VIOLATING)
    sums = [sum(own or 0.0 for own in rates[i : i + size]) for i in range(0, len(rates), size)]
    return PermanentLimits(max(sums), min(own or 0.0 for own in metrics))


@dataclass(frozen=True, slots=True)
class Observed:
    """What was found on one network that took no part in the choice.

    Attributes:
        network: Its name.
        strata: Upsets, of all storage.
        copies: The part of them that struck redundant storage, a mechanism each.
        safety: Result of the campaign's safety verdict on this data alone; None if there is none.
        hangs: With a watchdog; None without.
        nothing_measured: Why what was watched could not have shown a failure; "" if it could.
        golden: Whether its output without a fault is the network's.
        unprotected: Upsets of the design without protection, of all storage; none if none were made.
        population: What all of this is about, in words: these inputs, or inputs like them.
        logic: Pulses in the logic of what was built, with limits at the joint confidence; None if none were
            injected.
        permanent: Limits of its permanent faults, likewise; None if nothing is known of them.
    """

    network: str
    strata: tuple[ObservedStratum, ...]
    copies: tuple[Copies, ...]
    safety: str | None = None
    hangs: Hangs | None = None
    nothing_measured: str = ""
    golden: GoldenComparison = _NOT_LOOKED_AT
    unprotected: tuple[ObservedStratum, ...] = ()
    population: str = ""
    logic: BlockLogic | None = None
    permanent: PermanentLimits | None = None


def evidence_of(
    strata: Sequence[ObservedStratum], end: int, confidence: float, corner: Corner = CENTRE
) -> Evidence:
    """Return strata as evidence; its intervals are over inputs if the strata have counts of each.

    Args:
        strata: Of one network.
        end: Of the range of what hardened cells leave: `LEAST`, `STATED` or `MOST`.
        confidence: Of two-sided limits.
        corner: Of raw rates and sizes of upsets.
    """
    strata = [own.at(corner) for own in strata]
    groups = tuple(replace(own.group, fit_raw=own.group.fit_raw * own.factors[end]) for own in strata)
    number = min((len(own.inputs) for own in strata), default=0)
    inputs = tuple(
        tuple(replace(group, counts=own.inputs[i]) for group, own in zip(groups, strata, strict=True))
        for i in range(number)
    )
    return Evidence(groups, confidence, confidence, inputs, labels=tuple(range(number)))
