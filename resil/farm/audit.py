# SPDX-License-Identifier: Apache-2.0
"""A share of every worker's rows is simulated again by another worker, and has to be the same."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from resil.errors import ConsistencyError
from resil.faults.plan import IntArray
from resil.folder.audits import replay_text

# Rows of a worker's first portion that are audited at least.
FIRST = 20
# Rows that wait until it is worth while to walk through the golden run for them: so many, in a long run so
# large a part of those compared by then. So that much more of it is simulated at most until a wrong worker is
# found.
TOGETHER, PART_COMPARED = 100, 1 / 4


@dataclass
class Sampled:
    """Rows of one worker that wait for their audit.

    Attributes:
        position: Place of their input.
        producer: Worker that made them.
        rows: As they were answered, without what an engine may see at another time, by number.
    """

    position: int
    producer: str
    rows: pa.Table


@dataclass
class AuditBook:
    """Chooses rows, and compares.

    Attributes:
        share: Part of the rows of a worker.
        compared: Rows that were the same.
    """

    share: float
    compared: int = 0
    _waiting: list[Sampled] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    @property
    def waiting(self) -> int:
        """Rows that no one has been asked for again yet."""
        return sum(sampled.rows.num_rows for sampled in self._waiting)

    def note(self, producer: str, position: int, rows: pa.Table) -> None:
        """Choose some of the rows that a worker has answered."""
        least = 1 if producer in self._seen else FIRST
        self._seen.add(producer)
        count = min(rows.num_rows, max(least, math.ceil(self.share * rows.num_rows)))
        chosen = random.Random(int(rows["injection"][0].as_py())).sample(range(rows.num_rows), count)
        self._waiting.append(Sampled(position, producer, _compared(rows.take(chosen))))

    def take(self, independent: Callable[[str], bool], most: int, *, all_: bool) -> list[Sampled]:
        """Return rows for one auditor, all of one input; none if it is not yet worth while.

        Args:
            independent: Whether the auditor is another than this producer.
            most: Rows, where there is more than one portion's; of one portion all are taken together.
            all_: However few they are.
        """
        fit = [sampled for sampled in self._waiting if independent(sampled.producer)]
        same = [sampled for sampled in fit if sampled.position == fit[0].position]
        rows = sum(sampled.rows.num_rows for sampled in same)
        if not all_ and rows < max(TOGETHER, PART_COMPARED * self.compared):
            return []
        taken = 0
        for place, sampled in enumerate(same):
            taken += sampled.rows.num_rows
            if taken >= max(most, 0 if all_ else TOGETHER):
                same = same[: place + 1]
                break
        self._waiting = [sampled for sampled in self._waiting if not any(sampled is own for own in same)]
        return same

    def give_back(self, sampled: list[Sampled]) -> None:
        """Take rows back whose auditor was lost."""
        self._waiting += sampled

    def compare(self, sampled: list[Sampled], auditor: str, rows: pa.Table, folder: Path) -> None:
        """Compare rows with those of an auditor.

        Raises:
            ConsistencyError: two workers do not say the same of one injection.
        """
        again = _compared(rows)
        for own in sampled:
            numbers = own.rows["injection"].to_numpy()
            found = again.take(np.searchsorted(again["injection"].to_numpy(), numbers)).combine_chunks()
            if not found.equals(own.rows):
                differing = next(i for i in range(len(numbers)) if found.slice(i, 1) != own.rows.slice(i, 1))
                raise ConsistencyError(
                    f"audit of workers: injection {numbers[differing]} was answered by {own.producer} in one "
                    f"way and by {auditor} in another; one of them simulates wrongly, and what they answered "
                    f"cannot be trusted{replay_text(folder, int(numbers[differing]))}",
                    f"injections[{numbers[differing]}]",
                )
            self.compared += len(numbers)


def numbers_of(sampled: list[Sampled]) -> IntArray:
    """Return the numbers of rows that are audited together, ascending."""
    return np.unique(np.concatenate([own.rows["injection"].to_numpy() for own in sampled]))


def _compared(rows: pa.Table) -> pa.Table:
    return rows.drop_columns("corruption").sort_by("injection").combine_chunks()
