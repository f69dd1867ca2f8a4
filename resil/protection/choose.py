# SPDX-License-Identifier: Apache-2.0
"""The choice over units and networks: candidates on one half of the injections, a verdict by the other.

The choosing half gives candidates, each of least area by shrunk risks, with less and less reserve. The
judging half goes through them from the strongest on and stops at the first that it does not show to keep the
targets on every network; the one before it is chosen (`resil.protection.judge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt

import numpy as np
import numpy.typing as npt

from resil.protection.effects import Effect, Mechanisms
from resil.protection.items import (
    Item,
    Left,
    Menu,
    ProtectableDesign,
    covered_logic,
    menu_of_units,
    what_is_left,
    whole_npu,
)
from resil.protection.judge import JudgedSet, judge_over_corners
from resil.protection.least_area import LARGE, BoolArray, LeastAreaChoice, Programme
from resil.protection.logic import PulseRates
from resil.protection.risks import Network, risks_at_limits, shrunk_risks
from resil.protection.targets import Targets

FloatArray = npt.NDArray[np.float64]

# Shares of what the targets allow that candidates may use by the choosing half's estimates.
RESERVES = (0.01, 0.015, 0.02, 0.03, 0.04, 0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 1.0)
# How often the least share that any set can keep is looked for between two of these.
_HALVINGS = 3
# What a failed upset or two do to detected failures is small beside what mechanisms make of them by design.
_RESERVE_OF_DUE = 0.3
_GAP, _SECONDS = 1e-4, 60.0
_PROPOSALS = 20
# Where limits judge: shares of the FIT of which the front has a set, if there is one.
_FRONT = tuple(10.0 ** (-own / 2.0) for own in range(9))
# So that sums in another order do not break a limit by a last digit.
_WHOLE = 1.0 - 1e-12


@dataclass(frozen=True)
class Candidate:
    """A set of protections.

    Attributes:
        items: That are taken, one for each unit.
        mechanisms: Of the whole NPU.
        area_added: Of both.
        bound: Area that no set with this reserve can go below, by the solver's proof.
        reserve: Share of what the targets allow that it uses by the choosing half.
        claimed: Hazardous FIT that it leaves by the choosing half's estimates, by network.
    """

    items: tuple[Item, ...]
    mechanisms: Mechanisms
    area_added: float
    bound: float
    reserve: float
    claimed: tuple[float, ...]

    @property
    def gap(self) -> float:
        """How far the area is above the bound, as a part of it; 0 if nothing is smaller."""
        room = self.area_added - self.bound
        return room / self.area_added if room > 1e-9 * max(self.area_added, 1.0) else 0.0

    def effects(self, design: ProtectableDesign, network: Network) -> list[Effect]:
        """Return the effect on each cell, as a network's campaign counts failures and declares clusters."""
        found = [Effect()] * len(design.cells.bits)
        kinds = design.cells.kind
        for item in self.items:
            if item.option is None:
                continue
            of_kind = {
                kind: Effect.of(
                    item.option, kind, network.hazardous, network.clusters, permanent=network.stuck
                )
                for kind in dict.fromkeys(kinds)
            }
            for unit in item.units:
                for cell in design.units[unit].cells:
                    found[cell] = of_kind[kinds[cell]]
        return found


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Attributes:
        chosen: None if no candidate was shown to keep the targets.
        judged: What the judging half says of it on each network; of the strongest candidate if none is
            chosen, of the unprotected design if there is no candidate.
        needed: The unprotected design does not keep the targets.
        tried: Each candidate that was judged, the strongest first, with the verdicts.
        reason: Why nothing was chosen; "" if something was.
    """

    chosen: Candidate | None
    judged: tuple[JudgedSet, ...]
    needed: bool
    tried: tuple[tuple[Candidate, tuple[JudgedSet, ...]], ...]
    reason: str = ""


def choose(
    design: ProtectableDesign,
    networks: Sequence[Network],
    targets: Targets,
    seconds: float = _SECONDS,
    prior: FloatArray | None = None,
) -> Choice:
    """Choose protections of least area that keep the targets on every network.

    Args:
        design: What is chosen for.
        networks: Runs on it.
        targets: What is asked.
        seconds: Time for each candidate.
        prior: Counts of injections of neither half, which choose too (`shrunk_risks`).

    Raises:
        ProtectionError: The area of an option is not known.
    """
    nothing = _unprotected(design, networks)
    before = _judged(design, networks, nothing)
    needed = any(found.missed(targets) for found in before)
    if networks[0].limits is not None:
        return _within_limits(design, networks, targets, seconds, needed=needed)
    if not needed:
        return Choice(nothing, before, False, ())
    choosing, judging = zip(*(network.halves() for network in networks), strict=True)
    risks = shrunk_risks(choosing, design.cells, prior)
    stuck = stuck_risks(choosing, design)
    tried: list[tuple[Candidate, tuple[JudgedSet, ...]]] = []
    last: tuple[Candidate, tuple[JudgedSet, ...]] | None = None
    chooser = Chooser(design, choosing, risks, targets, stuck)
    for candidate in _from_the_strongest(chooser, seconds):
        if last is not None and candidate.items == last[0].items:
            continue
        found = (candidate, _judged(design, judging, candidate))
        tried.append(found)
        if any(own.missed(targets) for own in found[1]):
            break
        last = found
    if last is not None:
        return Choice(last[0], last[1], True, tuple(tried))
    if not tried:
        return Choice(None, before, True, (), "no set of options keeps the targets by the choosing half")
    missed = "; ".join(
        f"{own.network}: {', '.join(why)}" for own in tried[0][1] if (why := own.missed(targets))
    )
    return Choice(
        None,
        tried[0][1],
        True,
        tuple(tried),
        f"the judging half does not show that the strongest set keeps the targets ({missed}): more "
        "injections may, or fewer demands",
    )


def _from_the_strongest(chooser: Chooser, seconds: float) -> Iterator[Candidate]:
    """Yield sets of least area with less and less reserve, from the most that any set can have."""
    candidates = filter(None, (chooser.least(reserve, seconds) for reserve in RESERVES))
    first = next(candidates, None)
    if first is not None:
        yield _strongest(chooser, first, seconds)
        yield first
        yield from candidates


def _strongest(chooser: Chooser, first: Candidate, seconds: float) -> Candidate:
    """Return the set with the least share, by halvings between the first that is kept and the one before.

    Only of the strongest set does it say something that it is not shown to keep the targets.
    """
    strongest = first
    below = max((own for own in RESERVES if own < first.reserve), default=first.reserve / 2.0)
    for _ in range(_HALVINGS):
        between = sqrt(below * strongest.reserve)
        own = chooser.least(between, seconds)
        if own is None:
            below = between
        else:
            strongest = own
    return strongest


def _within_limits(
    design: ProtectableDesign, networks: Sequence[Network], targets: Targets, seconds: float, *, needed: bool
) -> Choice:
    """Choose by limits that hold for every set at once, and so judge what they choose; with the front."""
    risks = np.stack([risks_at_limits(network, design.cells) for network in networks])
    nothing = _unprotected(design, networks)
    best = Chooser(design, networks, risks, targets).least(_WHOLE, seconds) if needed else nothing
    shares = (Chooser(design, networks, risks, Targets(fit_share=own)).least(1.0, seconds) for own in _FRONT)
    judged = [(own, _judged(design, networks, own)) for own in (nothing, best, *shares) if own is not None]
    front: list[tuple[Candidate, tuple[JudgedSet, ...]]] = []
    for own, found in sorted(judged, key=lambda one: (one[0].area_added, _worst(one[1]))):
        if not front or _worst(found) < _worst(front[-1][1]):
            front.append((own, found))
    tried = tuple(reversed(front))
    if best is None:
        reason = "no set of options keeps the targets by the upper limits of all blocks"
        return Choice(None, tried[0][1], True, tried, reason)
    return Choice(replace(best, reserve=1.0), _judged(design, networks, best), needed, tried)


def _worst(judged: Sequence[JudgedSet]) -> float:
    return max(found.fit.hi for found in judged)


@dataclass(frozen=True)
class _Asked:
    """A programme of one set of mechanisms, what it has to keep, and the least area by its relaxation."""

    programme: Programme
    limits: Sequence[tuple[FloatArray, float]]
    left: Sequence[Left]
    mechanisms: Mechanisms
    bound: float


class Chooser:
    """Least area by given risks."""

    def __init__(
        self,
        design: ProtectableDesign,
        networks: Sequence[Network],
        risks: FloatArray,
        targets: Targets,
        stuck: FloatArray | None = None,
    ) -> None:
        self._design, self._networks, self._targets = design, networks, targets
        self._known = list(zip(networks, risks, strict=True))
        if stuck is not None:
            self._known += zip(permanent_of(networks), stuck, strict=True)
        hazardous = networks[0].hazardous
        self._menu = menu_of_units(design, hazardous)
        # A copy of the whole NPU would lie outside the design under test.
        self._whole = [] if design.buildable else whole_npu(design, hazardous)
        self._left: dict[int, list[Left]] = {}
        # Where logic is known, limits are narrower as long as nothing of it is copied.
        self._ways = (True, False) if any(own.logic is not None for own, _ in self._known) else (True,)
        # To declare what is there costs nothing but detected failures.
        some = [m for m in design.mechanisms() if m.error_flag or targets.due_fit is not None]
        self._all = some or design.mechanisms()

    def least(self, reserve: float, seconds: float = _SECONDS) -> Candidate | None:
        """Return the set of least area that uses at most a share of what the targets allow; None if none."""
        found = self._copies(reserve)
        bounds = []
        programmes = [
            self._programme(number, mechanisms, reserve, copies=copies)
            for number, mechanisms in enumerate(self._all)
            for copies in self._ways
        ]
        for programme in sorted(programmes, key=lambda p: p.bound):
            if found and programme.bound >= min(c.area_added for c in found):
                continue
            if (candidate := self._solved(programme, reserve, seconds)) is not None:
                found.append(candidate)
                bounds.append(candidate.bound)
        if not found:
            return None
        best = min(found, key=lambda c: c.area_added)
        bound = min(best.area_added, *bounds) if bounds else best.area_added
        return replace(best, bound=bound)

    def _limits(
        self, left: Sequence[Left], reserve: float, *, copies: bool
    ) -> list[tuple[FloatArray, float]]:
        """Return what has to be kept: rates where all raw rates are highest, ratios at every corner.

        Of logic upper limits count, whatever share of the rest storage may use.

        Args:
            left: What items leave.
            reserve: Share of what the targets allow that may be used.
            copies: Blocks may be copied, so limits of logic are those of blocks.
        """
        limits = []
        for own in left:
            asked = self._targets.of_permanent if own.stuck else self._targets
            there, made, reported = PulseRates(), np.zeros_like(own.fit), np.zeros_like(own.fit)
            if (logic := own.logic) is not None:
                there = logic.blocks if copies else logic.whole
                made, reported = logic.fit, logic.due
            if asked.budget_fit is not None and own.highest:
                limits.append((own.fit + reserve * made, reserve * (asked.budget_fit - there.fit_hi)))
            if asked.fit_share is not None:
                limits.append((own.fit, reserve * asked.fit_share * own.before))
            if asked.spfm is not None:
                allowed = 1.0 - asked.spfm
                limits.append(
                    (
                        own.fit + reserve * (made - allowed * own.raw),
                        reserve * (allowed * there.raw - there.fit_hi),
                    )
                )
            if asked.due_fit is not None and own.highest:
                share = 1.0 - _RESERVE_OF_DUE * (1.0 - reserve)
                limits.append((own.due + share * reported, share * (asked.due_fit - there.due_hi)))
        return limits

    def _programme(self, number: int, mechanisms: Mechanisms, reserve: float, *, copies: bool) -> _Asked:
        menu = self._menu
        if number not in self._left:
            self._left[number] = self._of(menu.items, mechanisms)
        limits = self._limits(self._left[number], reserve, copies=copies)
        allowed = np.ones(len(menu.items), dtype=bool)
        for own in self._left[number]:
            if own.logic is not None and not copies:
                allowed &= ~own.logic.copies
        programme = Programme(len(menu.items), menu.sets, allowed)
        for coefficients, most in limits:
            programme.add_limit(coefficients, most)
        least = programme.bound(menu.cost) if len(self._all) * len(self._ways) > 1 else 0.0
        bound = least + self._design.mechanisms_area(mechanisms)
        return _Asked(programme, limits, self._left[number], mechanisms, bound)

    def _solved(self, asked: _Asked, reserve: float, seconds: float) -> Candidate | None:
        menu = self._menu

        def keeps(chosen: BoolArray) -> bool:
            return all(float(c[chosen].sum()) <= most for c, most in asked.limits)

        gap = 0.0 if len(menu.items) < LARGE else _GAP
        found = asked.programme.least(
            menu.cost, keeps, relative_gap=gap, seconds=seconds, proposals=_PROPOSALS
        )
        return None if found is None else self._candidate(menu, found, asked.left, asked.mechanisms, reserve)

    def _candidate(
        self, menu: Menu, found: LeastAreaChoice, left: Sequence[Left], mechanisms: Mechanisms, reserve: float
    ) -> Candidate:
        own = self._design.mechanisms_area(mechanisms)
        return Candidate(
            tuple(menu.items[i] for i in np.flatnonzero(found.chosen).tolist()),
            mechanisms,
            float(menu.cost[found.chosen].sum()) + own,
            found.bound + own,
            reserve,
            tuple(float(n.fit[found.chosen].sum()) for n in left[: len(self._networks)]),
        )

    def _copies(self, reserve: float) -> list[Candidate]:
        """Return the copies of the whole NPU that keep the targets, with the error status declared."""
        found = []
        for item, area in self._whole:
            left = self._of([item], self._all[0])
            if all(float(c[0]) <= most for c, most in self._limits(left, reserve, copies=True)):
                claimed = tuple(float(own.fit[0]) for own in left[: len(self._networks)])
                found.append(Candidate((item,), self._all[0], area, area, reserve, claimed))
        return found

    def _of(self, items: Sequence[Item], mechanisms: Mechanisms) -> list[Left]:
        """Return what items leave at the centre of the raw rates, of each network first, then at corners."""
        at = [(own, risks, not own.corners) for own, risks in self._known]
        at += [(own.at(c), risks, c in own.highest()) for own, risks in self._known for c in own.corners]
        return [
            replace(what_is_left(self._design, items, own, risks, mechanisms), highest=highest)
            for own, risks, highest in at
        ]


def _unprotected(design: ProtectableDesign, networks: Sequence[Network]) -> Candidate:
    items = tuple(Item(None, (number,)) for number in range(len(design.units)))
    return Candidate(items, design.mechanisms()[0], 0.0, 0.0, 1.0, tuple(0.0 for _ in networks))


def _judged(
    design: ProtectableDesign, networks: Sequence[Network], candidate: Candidate
) -> tuple[JudgedSet, ...]:
    return tuple(judged_on(design, network, candidate) for network in networks)


def judged_on(design: ProtectableDesign, network: Network, candidate: Candidate) -> JudgedSet:
    """Return what a network says of a set, with what it says by its permanent faults."""
    effects, cells, whole = partial(candidate.effects, design), design.cells, candidate.mechanisms
    covers = covered_logic(design, candidate.items, network)
    found = judge_over_corners(network, cells, effects, whole, covers)
    if network.permanent is None:
        return found
    return replace(found, permanent=judged_on(design, network.permanent, candidate))


def permanent_of(networks: Sequence[Network]) -> list[Network]:
    """Return the permanent faults of networks, of those of which they are known."""
    return [own.permanent for own in networks if own.permanent is not None]


def stuck_risks(networks: Sequence[Network], design: ProtectableDesign) -> FloatArray | None:
    """Return the risks of bits that are stuck, as `shrunk_risks`; None where nothing is asked of them."""
    found = permanent_of(networks)
    return shrunk_risks(found, design.cells) if found else None
