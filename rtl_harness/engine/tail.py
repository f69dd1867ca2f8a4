# SPDX-License-Identifier: Apache-2.0
"""The contract of a tail: what finishes runs of a workload that left the RTL at the end of an operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Departure:
    """A run that left the RTL.

    Attributes:
        operation: Operations finished.
        offsets: Bytes of the tail's memory that differ from the golden run's at that point, ascending, (n,).
        xors: What each is XORed with, (n,).
    """

    operation: int
    offsets: npt.NDArray[np.int64]
    xors: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Queue:
    """A ring buffer in registers, of which only the contents matter and not where in the ring they lie.

    When it is empty, every value of its pointers is as good as another one as long as they are equal.

    Attributes:
        level: Path of the register that counts its entries.
        pointers: Paths of the registers that point to its first entry and behind its last one.
        places: Values that a pointer may have; 0 if it may have all.
    """

    level: str
    pointers: tuple[str, str]
    places: int = 0


class Tail(Protocol):
    """Finishes runs of one workload, from the contents of one memory at the end of an operation.

    A run that leaves takes the golden run's cycles for each operation that is left.

    What no longer matters in the design where a run leaves is found along its gates. What the tail says is
    tried, not believed: the engine turns queues in golden runs, and runs a share of the departures to their
    end in the RTL.

    Attributes:
        memory: Name of the observed memory in which runs may differ when they leave.
        quiet: Outputs of the target that stay 0 from where a run leaves to its end, unless `finish` says that
            it has to go on in the RTL. Nothing leaves if the target has an alarm that is none of these.
    """

    memory: str
    quiet: tuple[str, ...]

    def prepare(self, golden: Mapping[int, bytes], end: bytes) -> frozenset[int]:
        """Take the golden run's contents of the memory, and say where runs may leave.

        Args:
            golden: Contents when so many operations had finished, which are found when they are asked for.
            end: Contents at the end of the run.

        Returns:
            The numbers of finished operations at which runs may leave.
        """
        ...

    def unsettled(self, operation: int) -> Sequence[range]:
        """Return bytes of the memory in which a run may not differ that leaves after so many operations.

        They may be under way in the design, or decide how long the rest of the run takes. After none have
        finished, these are what a run may not begin with. Asked for after `prepare`; the golden run's
        contents of them need not be what the tail expects.
        """
        ...

    def queues(self) -> Sequence[Queue]:
        """Ring buffers that may be turned, where they are empty, when an operation has ended."""
        ...

    def finish(self, departures: Sequence[Departure]) -> Iterable[bytes | None]:
        """Yield the memory's contents at the end of each run, None for one that has to go on in the RTL."""
        ...
