# SPDX-License-Identifier: Apache-2.0
"""Workers as the coordinator sees them: who is there, who is fit, and what each is doing."""

from __future__ import annotations

from dataclasses import dataclass, field

from resil.farm.audit import Sampled
from resil.farm.cluster import Future
from resil.farm.ledger import Portion
from resil.farm.pace import Pace

# Calls that a worker has at a time: behind one that takes no longer than these seconds the next one waits
# there while its answer travels. Behind a longer one it would wait for nothing: what a worker has is nobody
# else's, and it may be later than was expected.
AHEAD, SHORT = 2, 10.0


@dataclass(eq=False)
class Job:
    """A call that a worker is making.

    Attributes:
        worker: Address.
        work: A portion, rows to audit, or None: the worker is asked what it is.
        future: Of the answer.
        seconds: That it is likely to take; None if nothing is known of that.
    """

    worker: str
    work: Portion | list[Sampled] | None
    future: Future
    seconds: float | None = None


@dataclass
class Member:
    """A worker.

    Attributes:
        address: By which it is reached.
        host: Machine that it runs on; "" until it has said so.
        fit: Whether it may simulate.
        refused: Why it may not; "" if that is not known.
        jobs: What it has been given.
        since: Second in which it is likely to have begun the first of these.
        pace: How fast it simulates.
    """

    address: str
    host: str = ""
    fit: bool = False
    refused: str = ""
    jobs: list[Job] = field(default_factory=list)
    since: float = 0.0
    pace: Pace = field(default_factory=Pace)

    @property
    def name(self) -> str:
        """For people, and distinct from workers that had the same address before."""
        return f"worker {self.address} on {self.host}" if self.host else f"worker {self.address}"

    @property
    def ready(self) -> bool:
        """Whether it is to get another call now."""
        if not self.jobs:
            return True
        seconds = self.jobs[-1].seconds
        return len(self.jobs) < AHEAD and seconds is not None and seconds <= SHORT

    def free(self, now: float) -> float:
        """Return the second by which it is likely to have answered all that it has."""
        if not self.jobs:
            return now
        first, *others = (job.seconds or 0.0 for job in self.jobs)
        return max(now, self.since + first) + sum(others)


@dataclass
class Crew:
    """All workers.

    Attributes:
        members: By address.
        most: Fit workers that there were at a time.
    """

    members: dict[str, Member] = field(default_factory=dict)
    most: int = 0

    def update(self, addresses: set[str]) -> tuple[list[Member], list[Member]]:
        """Take the addresses of all workers that there are now; return who has come and who has gone."""
        gone = [self.members.pop(address) for address in self.members.keys() - addresses]
        come = [Member(address) for address in sorted(addresses - self.members.keys())]
        self.members |= {member.address: member for member in come}
        return come, gone

    @property
    def fit(self) -> list[Member]:
        """Those that may simulate."""
        return [member for member in self.members.values() if member.fit]

    @property
    def useless(self) -> bool:
        """Whether there are workers, and every one of them has been refused."""
        return bool(self.members) and all(member.refused for member in self.members.values())

    def end(self, left: int, now: float) -> float | None:
        """Return the second by which nothing is left, if no worker waits for another; None if nobody knows.

        Args:
            left: Injections that nobody has.
            now: Second.
        """
        shown = [(member.free(now), member.pace) for member in self.fit if member.pace.known]
        if not shown:
            return None

        def made(end: float) -> float:
            return sum(pace.made(end - free) for free, pace in shown)

        early, late = min(free for free, _ in shown), now + 1.0
        while made(late) < left:
            late = now + 2 * (late - now)
        while late - early > 0.1 + (late - now) / 200:
            middle = (early + late) / 2
            early, late = (middle, late) if made(middle) < left else (early, middle)
        return late

    def note_size(self) -> None:
        """Take notice of how many are fit by now."""
        self.most = max(self.most, len(self.fit))
