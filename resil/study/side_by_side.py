# SPDX-License-Identifier: Apache-2.0
"""Parts of a study side by side, each in a process of its own with its part of the workers."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, Protocol, TextIO, TypeVar, cast

from resil.campaign.campaign import Campaign
from resil.campaign.data_set import DataSet
from resil.campaign.network_settings import NetworkSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_settings import TestbenchSettings
from resil.campaign.work_settings import Work
from resil.errors import Interrupted
from resil.prepare.targets import estimated_cycles
from resil.progress import Progress
from resil.rtl_harness.host import available_memory, end_with
from resil.rtl_harness.replay.waves import read_here
from resil.study.study import StudyCell
from resil.user_errors import USER_ERRORS

_PREFIX = "resil: "
# Bytes that a cell may take, and of each input: what is remembered of its run without a fault. Where its
# length is not known, it is taken for ResNet-8's, which takes 117 MB at 32 MACs and 177 MB at 256.
CELL_BYTES, INPUT_BYTES = 1 << 30, 180 << 20
# Of an input whose run has so many cycles by estimate: 5 MB and 200 to 600 bytes a cycle, estimates a third
# off; long runs are not remembered as a whole.
SHORT_BYTES, CYCLE_BYTES, LONG_BYTES = 16 << 20, 1000, 1 << 30


class StudyPart(Protocol):
    """What is carried out by itself: a cell, or the protection of a target."""

    @property
    def name(self) -> str:
        """For people."""
        ...


P = TypeVar("P", bound=StudyPart)
A = TypeVar("A")


@dataclass(frozen=True)
class PartEnd(Generic[A]):
    """How a part ended; what campaigns found is in their folders.

    Attributes:
        answer: What is known of it beside; None if it failed, or all is in folders.
        error: Why it failed; "" if it did not.
        internal: The error is one of resil's own.
        interrupted: It was interrupted, and can go on.
        built: Seconds that builds took.
        seconds: By the clock, builds and all.
    """

    answer: A | None = None
    error: str = ""
    internal: bool = False
    interrupted: bool = False
    built: float = 0.0
    seconds: float = 0.0


_UNKNOWN_INPUTS = 64

_RECORDED = (RecordingSettings, TestbenchSettings)

Attempt = Callable[[P, int, Progress], PartEnd[A]]
"""Carries a part out, with so many workers, and says how that ended; it raises nothing."""


def slots(cells: Sequence[StudyCell], workers: int) -> int:
    """Return how many cells are carried out side by side at most: one a worker.

    One after the other where cells read recordings and this process has read one: forked ones could not.
    """
    if read_here() and any(isinstance(cell.campaign.work, _RECORDED) for cell in cells):
        return 1
    return max(1, min(workers, len(cells)))


def in_turn(cells: Sequence[StudyCell]) -> list[StudyCell]:
    """Return cells in the order in which they begin side by side.

    Those of different targets in turn, for two of one would wait for the same builds; the longest networks
    first, for the last cells are carried out with nothing beside them.
    """
    cycles: dict[str, int] = {}
    for cell in cells:
        if cell.network not in cycles:
            cycles[cell.network] = _cycles(cell.campaign) or 0
    of_target: dict[str, list[StudyCell]] = {}
    for cell in sorted(cells, key=lambda cell: -cycles[cell.network]):
        of_target.setdefault(cell.target, []).append(cell)
    rounds = zip_longest(*of_target.values())
    return [cell for row in rounds for cell in row if cell is not None]


def cell_bytes(cell: StudyCell) -> int:
    """Return how many bytes a cell may take."""
    return CELL_BYTES + _input_bytes(cell.campaign) * _inputs(cell.campaign.work)


def _cycles(campaign: Campaign) -> int | None:
    """Return how long a campaign's runs are by estimate; None where none is made."""
    try:
        return estimated_cycles(campaign)
    except USER_ERRORS:
        return None  # The cell itself says what is wrong.


def _input_bytes(campaign: Campaign) -> int:
    cycles = _cycles(campaign)
    return INPUT_BYTES if cycles is None else min(LONG_BYTES, SHORT_BYTES + CYCLE_BYTES * cycles)


def _inputs(work: Work) -> int:
    """Return how many inputs are run at most, as far as the file says; else as many as studies draw."""
    if isinstance(work, RecordingSettings):
        return len(work.waves)
    if isinstance(work, TestbenchSettings):
        return 1
    inputs = work.inputs if isinstance(work, NetworkSettings) else ()
    if isinstance(inputs, DataSet):
        return inputs.most if inputs.draw is None else inputs.draw
    return len(inputs) if isinstance(inputs, tuple) and inputs else _UNKNOWN_INPUTS


class SideBySide(Generic[P, A]):
    """Carries out parts in processes of their own.

    A Ctrl-C reaches this process alone, which hands it on to each of them once: they keep what they have.

    Args:
        attempt: What each process does.
        workers: To be shared out.
        side: How many parts at a time, at most.
        weigh: Returns how many bytes a part may take; one by itself may have more than there are.
        progress: Where their lines go, each with the name of its part.
        memory: Bytes that all of them may take together; None: what is free now.
    """

    def __init__(
        self,
        attempt: Attempt[P, A],
        workers: int,
        side: int,
        weigh: Callable[[P], int],
        progress: Progress,
        memory: int | None = None,
    ) -> None:
        self._attempt = attempt
        self._workers = workers
        self._side = side
        self._weigh = weigh
        self._memory = available_memory() if memory is None else memory
        self._progress = progress
        self._running: dict[Connection, tuple[P, BaseProcess]] = {}
        self._weights: dict[str, int] = {}

    def run(self, parts: Sequence[P], began: Callable[[P], object]) -> Iterator[tuple[P, PartEnd[A]]]:
        """Yield each part when it has ended.

        Args:
            parts: In the order in which they begin.
            began: Called with each when it begins.

        Raises:
            Interrupted: Ctrl-C; all parts have kept what they had.
        """
        waiting = deque(parts)
        try:
            while waiting or self._running:
                while (joined := self._joined(waiting)) > len(self._running):
                    workers = max(1, self._workers // joined)
                    part = waiting.popleft()
                    began(part)
                    self._start(part, workers)
                yield from self._ended()
        except KeyboardInterrupt:
            self._interrupt()
            raise Interrupted("parts that were under way have kept what they had") from None
        finally:
            self._close()

    def _joined(self, waiting: Iterable[P]) -> int:
        """Return how many parts there are side by side when as many as may have begun; one by itself may."""
        parts = [part for part, _ in self._running.values()]
        for part in waiting:
            if len(parts) >= self._side or (parts and not self._fit([*parts, part])):
                break
            parts.append(part)
        return len(parts)

    def _fit(self, parts: Sequence[P]) -> bool:
        return self._memory is None or sum(map(self._weight, parts)) <= self._memory

    def _weight(self, part: P) -> int:
        if part.name not in self._weights:
            self._weights[part.name] = self._weigh(part)
        return self._weights[part.name]

    def _start(self, part: P, workers: int) -> None:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        others = [ours, *self._running]
        process = context.Process(
            target=_serve, args=(self._attempt, part, workers, theirs, others, os.getpid()), daemon=False
        )
        process.start()
        theirs.close()
        self._running[ours] = part, process

    def _ended(self) -> list[tuple[P, PartEnd[A]]]:
        """Wait until processes say something; return the parts that have ended."""
        ended = []
        for ready in wait(list(self._running)):
            assert isinstance(ready, Connection)
            part, process = self._running[ready]
            try:
                said = ready.recv()
            except (EOFError, OSError):
                process.join(timeout=5)
                said = PartEnd(
                    error=f"its process ended with exit code {process.exitcode}; go on with --resume",
                    internal=True,
                )
            if isinstance(said, str):
                self._progress.warn(f"{part.name}: {said}")
                continue
            del self._running[ready]
            ready.close()
            process.join()
            ended.append((part, said))
        return ended

    def _interrupt(self) -> None:
        """Hand the interrupt on, and wait; a further one kills."""
        for _, process in self._running.values():
            with suppress(ProcessLookupError, TypeError):
                os.kill(process.pid or 0, signal.SIGINT)
        with suppress(KeyboardInterrupt):
            while self._running:
                self._ended()

    def _close(self) -> None:
        for connection, (_, process) in self._running.items():
            connection.close()
            process.kill()
            process.join()
        self._running.clear()


class _Lines(io.TextIOBase):
    """A stream that sends each line that is written to it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._text = ""

    def write(self, text: str) -> int:
        self._text += text
        *lines, self._text = self._text.split("\n")
        for line in lines:
            with suppress(OSError):
                self._connection.send(line.removeprefix(_PREFIX))
        return len(text)

    def isatty(self) -> bool:
        return False


def _serve(
    attempt: Attempt[P, A],
    part: P,
    workers: int,
    connection: Connection,
    others: Sequence[Connection],
    parent: int,
) -> None:
    """Carry out one part; `others` are ends of the parent's, which a fork leaves open here."""
    os.setpgid(0, 0)
    end_with(parent)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for other in others:
        other.close()
    began = time.monotonic()
    progress = Progress(cast("TextIO", _Lines(connection)))
    try:
        end = attempt(part, workers, progress)
    except KeyboardInterrupt:
        end = PartEnd(interrupted=True)
    seconds = time.monotonic() - began
    with suppress(OSError):
        connection.send(replace(end, built=progress.built_seconds, seconds=seconds))
