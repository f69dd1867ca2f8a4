# SPDX-License-Identifier: Apache-2.0
"""The sample of the audit: which answers are tried again by a run to the end.

It is stratified by kind of exit and block; a uniform one would hardly ever meet the rare exits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from resil.rtl_harness.design.sites import SiteTable
from resil.rtl_harness.engine.contract import Audited
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.faults import Injection, Seen

Stratum = tuple[str, str]
"""Kind of exit, and block."""

KEPT = "kept by an earlier session"

# Answers of a call that are tried at least, once the campaign has had its number, as far as its share goes.
_PER_CALL = 5

# Bytes that a corruption may have to be kept with an answer that may be tried.
_CORRUPTION_BYTES = 256


@dataclass(frozen=True)
class AuditSize:
    """How many answers are tried again.

    Of each kind of exit in each block that there is, at least one is, whatever the number.

    Attributes:
        share: Part of all answers, as long as that is less than `most`.
        minimum: Number that is tried in any case, as far as there are answers. With a share of 0 as well
            nothing is.
        most: Number from which on more answers are no reason to try more.
    """

    share: float = 0.005
    minimum: int = 20
    most: int = 200

    def wanted(self, answers: int) -> int:
        """Return how many of so many answers are tried."""
        return min(answers, self.most, max(self.minimum, math.ceil(self.share * answers)))

    @property
    def is_off(self) -> bool:
        """Whether nothing is tried."""
        return self.most == 0 or self.share == self.minimum == 0


EVERYTHING = AuditSize(share=1.0, most=1 << 62)
NOTHING = AuditSize(share=0.0, minimum=0)


@dataclass
class AuditCounts:
    """Answers of the engines of a campaign, one an input, and how many of them were tried.

    The engines share code and design, so a kind of exit that was tried in one of them counts for all: a
    campaign over many inputs has an audit as large as one over a single input.

    Attributes:
        answers: By kind of exit and block.
        tried: Those of them that were tried.
    """

    answers: Counter[Stratum] = field(default_factory=Counter)
    tried: Counter[Stratum] = field(default_factory=Counter)


class AuditSample:
    """Draws the answers to be tried, as they come: of each stratum some, all alike likely.

    What it holds does not grow with the campaign: of each stratum at most `AuditSize.most`.

    Args:
        audit: How many.
        sites: Of the design.
        golden_end: Cycles of the golden run.
        generator: Chooses.
        counts: Of all engines of the campaign; None for one alone.
    """

    def __init__(
        self,
        audit: AuditSize,
        sites: SiteTable,
        golden_end: int,
        generator: Random,
        counts: AuditCounts | None = None,
    ) -> None:
        self._audit = audit
        self._sites = sites
        self._golden_end = golden_end
        self._random = generator
        self._room = audit.most
        self._counts = counts or AuditCounts()
        self._own = AuditCounts()
        self._since: Counter[Stratum] = Counter()
        self._held: dict[Stratum, list[Injection]] = {}

    def offer(self, outcome: EngineOutcome) -> None:
        """Take note of an answer."""
        self.offer_of(kind_of(outcome, self._golden_end), outcome.injection)

    def offer_of(self, kind: str, injection: Injection) -> None:
        """Take note of an answer that came about in a way, as `kind_of` has it."""
        self._note((kind, self._block(injection)), injection)

    def offer_kept(self, injection: Injection) -> None:
        """Take note of an answer of which nobody knows any more how it came about."""
        self._note((f"{KEPT}: {injection.seen.value}", self._block(injection)), injection)

    def draw(self) -> list[Injection]:
        """Return what is to be tried now, among the answers since the last draw; these are forgotten."""
        number, counts = self._number(), self._counts
        chosen: list[Injection] = []
        for stratum, some in allocated(counts.answers, counts.tried, _sizes(self._held), number).items():
            chosen += self._random.sample(self._held[stratum], some)
            counts.tried[stratum] += some
            self._own.tried[stratum] += some
        if chosen or not self._held:
            self._held.clear()
            self._since.clear()
        return chosen

    @property
    def tally(self) -> dict[str, Audited]:
        """Answers and how many of them were tried, by kind of exit."""
        found: dict[str, Audited] = {}
        own = self._own
        for stratum in sorted(own.answers):
            kind = stratum[0]
            answers, tried = found.get(kind, Audited(0, 0))
            found[kind] = Audited(answers + own.answers[stratum], tried + own.tried[stratum])
        return found

    def _number(self) -> int:
        if self._audit.is_off:
            return 0
        answers, tried = self._counts.answers.total(), self._counts.tried.total()
        known = {coarse(stratum) for stratum, times in self._counts.tried.items() if times}
        fresh = len({coarse(stratum) for stratum in self._held} - known)
        due = self._audit.wanted(answers) - tried
        full = tried >= self._audit.most
        still = min(_PER_CALL, int(self._audit.share * self._since.total())) if full else 0
        untried = int(bool(self._held) and not self._own.tried)
        return max(due, fresh, still, untried)

    def _block(self, injection: Injection) -> str:
        sites = self._sites
        return sites.elements[sites.element_index(injection.fault.site)].block

    def _note(self, stratum: Stratum, injection: Injection) -> None:
        self._counts.answers[stratum] += 1
        self._own.answers[stratum] += 1
        self._since[stratum] += 1
        if self._audit.is_off:
            return
        held = self._held.setdefault(stratum, [])
        if len(held) < self._room:
            held.append(light(injection))
        elif (place := self._random.randrange(self._since[stratum])) < self._room:
            held[place] = light(injection)


def kind_of(outcome: EngineOutcome, golden_end: int) -> str:
    """Return by which way an answer came about, in words.

    Ways that share no code are ways of their own: what was never simulated knows nothing of wrong restoring,
    rejoining or merging in the model, and what was simulated may have come to the golden state later than the
    answer says. So neither may be drawn for the other.
    """
    injection, kind = outcome.injection, outcome.how
    if kind.endswith("stopped"):
        hang = injection.seen is Seen.HANG
        way = "simulated to the end"
        if outcome.early:
            way = "hang foreseen" if hang else f"followed, then {way}"
        kind = kind.removesuffix("stopped") + way
    else:
        if not outcome.simulated:
            kind += " along the gates"
        if not outcome.how.endswith("merged") and injection.end_cycle != golden_end:
            kind += ", later"
    return f"{kind}, in a lane" if outcome.in_lane else kind


def coarse(stratum: Stratum) -> Stratum:
    """Return the stratum of which at least one answer is tried whatever the number.

    Finer ones have their share of a large number only: a small campaign has no time for one of each.
    """
    kind, block = stratum
    return kind.replace(" along the gates", "").replace("left, later", "left"), block


def allocated(
    answers: Mapping[Stratum, int], tried: Mapping[Stratum, int], held: Mapping[Stratum, int], number: int
) -> dict[Stratum, int]:
    """Return how many of each stratum are tried next.

    First one of each coarse stratum that had none; then one of each stratum; then all kinds of exit alike,
    for each can be wrong in its own way; and within a kind blocks in proportion to their answers (D'Hondt).

    Args:
        answers: So far.
        tried: Of these.
        held: That can be tried now.
        number: To be tried, as far as that many are held.

    Examples:
        >>> answers = {("left", "ao"): 30, ("left", "cc"): 1, ("vanished", "cc"): 1000}
        >>> allocated(answers, {}, {s: min(n, 100) for s, n in answers.items()}, 9)
        {('left', 'ao'): 4, ('left', 'cc'): 1, ('vanished', 'cc'): 4}
    """
    done = Counter(tried)
    known = Counter({coarse(stratum): 1 for stratum, times in tried.items() if times})
    kinds: Counter[str] = Counter()
    for (kind, _), times in tried.items():
        kinds[kind] += times
    left = Counter({stratum: some for stratum, some in held.items() if some})
    given: Counter[Stratum] = Counter()
    if number >= left.total():
        return dict(left)

    def order(stratum: Stratum) -> tuple[bool, bool, int, float, Stratum]:
        fewest = kinds[stratum[0]], -answers[stratum] / (done[stratum] + 1)
        return known[coarse(stratum)] > 0, done[stratum] > 0, *fewest, stratum

    for _ in range(number):
        stratum = min(left, key=order)
        done[stratum] += 1
        known[coarse(stratum)] += 1
        kinds[stratum[0]] += 1
        given[stratum] += 1
        left[stratum] -= 1
        if not left[stratum]:
            del left[stratum]
    return {stratum: given[stratum] for stratum in sorted(given)}


def _sizes(held: Mapping[Stratum, list[Injection]]) -> dict[Stratum, int]:
    return {stratum: len(some) for stratum, some in held.items()}


def light(injection: Injection) -> Injection:
    """Return an injection that may be held for a while: without a corruption of many bytes."""
    corruption = injection.corruption
    if corruption is None or corruption.total <= _CORRUPTION_BYTES:
        return injection
    return replace(injection, corruption=None)
