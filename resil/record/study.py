# SPDX-License-Identifier: Apache-2.0
"""The results of a study, typed: what is shown of `study.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.record.interval import Interval

VERDICTS = ("met", "missed", "inconclusive", "not assessed", "none", "failed", "not run")
PROTECTIONS = ("not needed", "reached", "not reached", "not assessed")
CLAIM_RESULTS = ("supported", "refuted", "open")


@dataclass(frozen=True, slots=True)
class StudyClass:
    """AVF of a register class on a target, the mean over injected networks.

    Attributes:
        target: Name.
        name: Of the class.
        avf: P(SDC, DUE or hang | a bit of it flips), the mean.
        networks: Over which it is the mean.
    """

    target: str
    name: str
    avf: Interval
    networks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StudyCell:
    """A network on a target.

    Attributes:
        target: Name.
        network: Name.
        verdict: Out of `VERDICTS`.
        predicted: Nothing was injected.
        fit: Hazardous failures per 1e9 h; None without results.
        blocks: Likewise of each block; one that was not injected has none.
        spfm: Of the faults that were injected, with the error flag and a reaction; None if there is none.
        spfm_unaided: The same if nobody reacts to what is detected.
        injections: How many.
        foreseen: What a prediction foresees of the budget; "" if nothing.
        margin: Half width of the total's interval, as part of the estimate, that was asked for; None if none
            was.
        half_width: That of the interval; None without a failure, without results, or of a prediction.
        reached: Whether that is within the margin; None if none was asked for.
        titles: Blocks in words.
        scope: What the verdict is about.
        error: Why it failed; "" if it did not.
        run: Its folder.
        golden: What is to be said of its golden output; "" if it was compared with a reference and is equal.
    """

    target: str
    network: str
    verdict: str
    predicted: bool
    fit: Interval | None
    blocks: Mapping[str, Interval]
    spfm: Interval | None
    injections: int
    foreseen: str
    margin: float | None
    half_width: float | None
    reached: bool | None
    titles: Mapping[str, str]
    scope: str
    error: str
    run: str
    spfm_unaided: Interval | None = None
    golden: str = ""

    @property
    def answered(self) -> bool:
        """Whether it has results, injected or predicted."""
        return self.fit is not None


@dataclass(frozen=True, slots=True)
class Trend:
    """How a figure of a block goes with the size of the array.

    Attributes:
        what: "fit", "bits", "raw fit" or "area".
        block: Its name, or `total`.
        values: Of each size.
        per_doubling: What a doubling of the size adds; limits of any sign.
        trend: "grows", "shrinks", "constant" or "not shown".
    """

    what: str
    block: str
    values: tuple[Interval, ...]
    per_doubling: Interval
    trend: str


@dataclass(frozen=True, slots=True)
class Growth:
    """Trends over the targets, by the parameter that tells them apart; `reason` says why there are none."""

    parameter: str
    targets: tuple[str, ...]
    sizes: tuple[int, ...]
    networks: tuple[str, ...]
    trends: tuple[Trend, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class StudyProtection:
    """What is known of the protection of a target that holds for all its networks.

    Attributes:
        target: Its name.
        result: Out of `PROTECTIONS`.
        overhead: Area as a part of that without; None if no set was found.
        overhead_lockstep: Likewise of a second copy of everything; None if not known.
        networks: That it was judged on.
        fit_hi: Upper limit of what is left on the worst of them, in FIT; None if not known.
        spfm_lo: Lower limit of SPFM on the worst; None if not known.
        confirmed: Whether new injections into the protected RTL have confirmed it; None if it was not tried.
        reason: On what it rests, or why there is none.
    """

    target: str
    result: str
    overhead: float | None
    overhead_lockstep: float | None
    networks: tuple[str, ...]
    fit_hi: float | None
    spfm_lo: float | None
    confirmed: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class StudyTime:
    """Where the time of a target went, in seconds by the clock.

    Attributes:
        target: Its name.
        builds: Elaboration, simulators, gates, synthesis: what the cache then holds.
        cells: Everything else that its cells took.
        protection: Choice, and where it is asked for build and confirmation, of its set.
    """

    target: str
    builds: float
    cells: float
    protection: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence about all configurations, out of `CLAIM_RESULTS`, and a line of evidence for each."""

    claim: str
    result: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the verdicts are about.

    Attributes:
        budget_fit: Most hazardous failures per 1e9 h; None without a budget.
        rationale: Of the budget; "" without one.
        hazardous: Outcomes that count.
        claims: Safety rows that are claimed.
        asil: Level that gives their targets; "" if none does.
        protection: What a set of protection has to keep, by name; empty if none is asked for.
    """

    budget_fit: float | None
    rationale: str
    hazardous: tuple[str, ...]
    claims: tuple[str, ...]
    asil: str
    protection: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class StudySummary:
    """All of `study.json` that is shown."""

    name: str
    resil: str
    asked: Asked
    result: str
    reason: str
    confidence: float
    cells: tuple[StudyCell, ...]
    protection: tuple[StudyProtection, ...]
    claims: tuple[Claim, ...]
    growth: Growth
    classes: tuple[StudyClass, ...]
    seconds: float
    spent: tuple[StudyTime, ...]
    started: str
    finished: str
    definition: Mapping[str, str]

    @property
    def targets(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.target for cell in self.cells))

    @property
    def networks(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(cell.network for cell in self.cells))

    def titled(self, block: str) -> str:
        """Return a block in words, with its name; the name alone if it has no words."""
        words = next((own.titles[block] for own in self.cells if own.titles.get(block)), "")
        return f"{words} ({block})" if words else block

    def cell(self, target: str, network: str) -> StudyCell:
        """Return the cell of a network on a target."""
        return next(own for own in self.cells if (own.target, own.network) == (target, network))
