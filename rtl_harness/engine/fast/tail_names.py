# SPDX-License-Identifier: Apache-2.0
"""What a workload's tail names, in a design whose storage may have been given redundancy and other names."""

from __future__ import annotations

from collections.abc import Sequence

from resil.rtl_harness.design.storage_names import Became, StorageNames
from resil.rtl_harness.engine.fast.state_map import StateMap
from resil.rtl_harness.engine.tail import Queue, Tail
from resil.rtl_harness.errors import HarnessError


class TailNames:
    """Resolves the names that a tail gives, those of the design without protection.

    A queue whose registers have redundant copies is left out: a copy that differs from the others raises an
    alarm. That only lets fewer runs leave.

    Args:
        tail: Names storage.
        names: What it was called, and what it is called now.
        state_map: The storage of the design.

    Attributes:
        queues: Queues that may be turned.
        notes: What was left out, in words.

    Raises:
        HarnessError: The tail names what neither the design has nor the one that it was made from.
    """

    def __init__(self, tail: Tail, names: StorageNames, state_map: StateMap) -> None:
        self._names = names
        self._map = state_map
        self._known = set(state_map.paths)
        self._left: list[str] = []
        self.queues = [found for queue in tail.queues() if (found := self._queue(queue))]

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        if not self._left:
            return []
        some = ", ".join(self._left[:3]) + (" and others" if len(self._left) > 3 else "")
        return [
            f"{len(self._left)} of the queues that may be turned when an operation has ended have redundant "
            f"copies, or are not found again ({some}): a run in which they are turned does not leave the "
            "RTL. Injections take longer, outcomes are the same"
        ]

    def _plain(self, became: Became) -> list[str]:
        """Return the paths that hold bits of one register and nothing else; none if that is not certain."""
        found = [path for path in became.plain if path in self._known]
        return found if not became.bits or self._bits(found) <= became.bits else []

    def _queue(self, queue: Queue) -> Queue | None:
        old = (queue.level, *queue.pointers)
        missing = [path for path in old if path not in self._names.became and path not in self._known]
        if missing:
            raise HarnessError(
                f"the workload's tail names a queue with the registers {', '.join(missing)}; the design has "
                "none of these",
                "tail.queue",
            )
        new = [self._plain(self._names.of(path)) for path in old]
        if any(len(paths) != 1 for paths in new) or any(self._names.of(path).copies for path in old):
            self._left.append(queue.level)
            return None
        (level,), (first,), (behind,) = new
        return Queue(level, (first, behind), queue.places)

    def _bits(self, paths: Sequence[str]) -> int:
        return sum(self._map.place(path)[2] * self._map.storage(path).depth for path in paths)
