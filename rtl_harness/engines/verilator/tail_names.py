"""What a workload's tail names, in a design whose storage may have been given redundancy and other names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rtl_harness.engines.tail import Held, Queue, Tail
from rtl_harness.engines.verilator.state import StateMap
from rtl_harness.errors import HarnessError
from rtl_harness.storage_names import Became, StorageNames


class TailNames:
    """Resolves the names that a tail gives, those of the design without protection.

    Redundant copies are never dead: one that differs from the others raises an alarm. So what a tail says to
    be dead, and to be a queue, is left out where it has copies; that only lets fewer runs leave.

    Args:
        tail: Names storage.
        names: What it was called, and what it is called now.
        state_map: The storage of the design.

    Attributes:
        dead: Registers and memories that are dead when an operation has ended.
        queues: Queues that may be turned.
        held: Dead registers that matter while others say so.
        notes: What was left out, in words.

    Raises:
        HarnessError: The tail names what neither the design has nor the one that it was made from.
    """

    def __init__(self, tail: Tail, names: StorageNames, state_map: StateMap) -> None:
        self._names = names
        self._map = state_map
        self._paths = state_map.paths
        self._known = set(self._paths)
        self._left: list[str] = []
        self._always: set[str] = set()
        self.queues = [found for queue in tail.queues() if (found := self._queue(queue))]
        self.held = [self._held(held) for held in tail.held()]
        dead = dict.fromkeys(path for pattern in tail.dead() for path in self._dead(pattern))
        self.dead = [path for path in dead if path not in self._always]

    @property
    def notes(self) -> list[str]:
        """What was left out."""
        if not self._left:
            return []
        some = ", ".join(self._left[:3]) + (" and others" if len(self._left) > 3 else "")
        return [
            f"{len(self._left)} of the registers and queues that no longer matter when an operation has "
            f"ended have redundant copies, or are not found again ({some}): a run in which they differ does "
            "not leave the RTL. Injections take longer, outcomes are the same"
        ]

    def live(self, rows: Mapping[str, Sequence[int]]) -> dict[str, Sequence[int]]:
        """Return words of memories that matter by the present paths of the memories.

        Raises:
            HarnessError: The design has no such memory.
        """
        found: dict[str, Sequence[int]] = {}
        for path, words in rows.items():
            plain = self._plain(self._names.of(path))
            if not plain and path not in self._names.became:
                raise HarnessError(
                    f"the workload's tail says that words of {path} matter; the design has no such memory"
                )
            # A memory that is not found again is not among the dead either.
            found |= dict.fromkeys(plain, words)
        return found

    def _dead(self, pattern: str) -> Iterator[str]:
        matching = list(self._names.matching(pattern, self._paths))
        if not matching:
            raise HarnessError(
                f"the workload's tail says that {pattern} is dead when an operation has ended; the "
                "design has no such register or memory"
            )
        for became in matching:
            plain = self._plain(became)
            if became.copies or not plain:
                self._left.append(f"{pattern} in part" if plain else pattern)
            yield from plain

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
                "none of these"
            )
        new = [self._plain(self._names.of(path)) for path in old]
        if any(len(paths) != 1 for paths in new) or any(self._names.of(path).copies for path in old):
            self._left.append(f"the queue of {queue.level}")
            return None
        (level,), (first,), (behind,) = new
        return Queue(level, (first, behind), queue.places)

    def _held(self, held: Held) -> Held:
        """Return it with present paths; what holds may have copies, all equal in a run without a fault."""
        by: list[str] = []
        registers = [new for path in held.registers for new in self._plain(self._names.of(path))]
        for path in held.by:
            became = self._names.of(path)
            plain = self._plain(became)
            found = [*plain, *(copy for copy in became.copies if copy in self._known)]
            if path not in self._names.became and not plain:
                raise HarnessError(
                    f"the workload's tail says that {path} holds others; the design has no such register"
                )
            if not found or (became.bits > 1 and self._bits(plain) < became.bits):
                # Where not all of its bits are found again, it is taken to hold at any time.
                self._left.append(f"what {path} holds")
                self._always.update(registers)
            by += found
        return Held(tuple(by), tuple(registers))

    def _bits(self, paths: Sequence[str]) -> int:
        return sum(self._map.place(path)[2] * self._map.storage(path).depth for path in paths)
