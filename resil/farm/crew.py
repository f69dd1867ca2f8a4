# SPDX-License-Identifier: Apache-2.0
"""Workers as the coordinator sees them: who is there, who is fit, and what each is doing."""

from __future__ import annotations

from dataclasses import dataclass, field

from resil.farm.audit import Sampled
from resil.farm.cluster import Future
from resil.farm.ledger import Portion

# Portions that a worker has at a time: the next one waits there while an answer travels.
AHEAD = 2


@dataclass(eq=False)
class Job:
    """A call that a worker is making.

    Attributes:
        worker: Address.
        work: A portion, rows to audit, or None: the worker is asked what it is.
        future: Of the answer.
    """

    worker: str
    work: Portion | list[Sampled] | None
    future: Future


@dataclass
class Member:
    """A worker.

    Attributes:
        address: By which it is reached.
        host: Machine that it runs on; "" until it has said so.
        fit: Whether it may simulate.
        refused: Why it may not; "" if that is not known.
        rate: Injections a second; None until it has simulated.
        jobs: What it has been given.
    """

    address: str
    host: str = ""
    fit: bool = False
    refused: str = ""
    rate: float | None = None
    jobs: list[Job] = field(default_factory=list)

    @property
    def name(self) -> str:
        """For people, and distinct from workers that had the same address before."""
        return f"worker {self.address} on {self.host}" if self.host else f"worker {self.address}"


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

    def note_size(self) -> None:
        """Take notice of how many are fit by now."""
        self.most = max(self.most, len(self.fit))
