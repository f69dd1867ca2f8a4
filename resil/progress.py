# SPDX-License-Identifier: Apache-2.0
"""What a person sees on stderr while a campaign runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from enum import Enum
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from resil.live import LiveRows

_PLAIN_INTERVAL = 10.0
# Seconds; what took less is not said when it is over.
_WORTH_A_LINE = 1.0

# Injections come in bursts: what is left is not foretold from the first seconds of them.
_FORETOLD_AFTER = 5.0

# What is built, by the kind of result in the cache of `resil.rtl_harness.cache`.
_BUILDS = {
    "sources": "copying the RTL",
    "elaboration": "elaborating the RTL",
    "design": "reading the design for synthesis",
    "synthesis": "simplifying the design to gates",
    "hardware": "following storage bits to the gates",
    "area": "mapping gates to cells",
    "gates": "making gates for the fast engine",
    "dead": "finding what no longer matters when an operation has ended",
    "lanes": "making a model of 32 machines at a time",
    "objects": "compiling the simulator",
    "verilated": "linking the simulator",
    "driver": "compiling what all simulators share",
    "verilated-runtime": "compiling the simulator's runtime",
    "cocotb": "compiling the simulator for cocotb",
    "plain": "compiling the simulator of the judge",
    "cxxrtl": "compiling the design as Yosys writes it in C++",
}


class Loudness(Enum):
    """How much is said on stderr."""

    QUIET = "warnings and errors"
    NORMAL = "stages and progress too"
    VERBOSE = "stages and progress, with times"


_loudness = Loudness.NORMAL


def loudness() -> Loudness:
    """Return how much the command that runs says."""
    return _loudness


def set_loudness(wanted: Loudness) -> None:
    """Let every `Progress` say as much from now on."""
    global _loudness
    _loudness = wanted


class Progress:
    """Stages as lines; what goes on as redrawn rows (terminal), or as a line every ten seconds (else).

    On a terminal no row is wider than it is, and work within other work has a row of its own beneath.
    `NO_COLOR` is respected.

    Args:
        stream: Where to write; default stderr at the time of the call.
        clock: Seconds, monotonic.

    Attributes:
        built_seconds: What builds have taken by now.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        stream = stream or sys.stderr
        self._stream = stream
        self._clock = clock
        self._live: LiveRows | None = None
        if stream.isatty():
            from resil.live import LiveRows  # takes longer to load than most commands have to say

            self._live = LiveRows(stream, clock)
        self._total = self._done = self._before = 0
        self._began: float | None = None
        self._shown = clock()
        self._born = clock()
        self._lock = threading.RLock()
        self._working: list[tuple[str, float]] = []
        self._whole: Callable[[], str] | None = None
        self._rows: list[int] = []
        self._under_way: Callable[[], float] | None = None
        self._builds = 0
        self.built_seconds = 0.0

    def stage(self, text: str) -> None:
        """Say what is being done now."""
        if loudness() is not Loudness.QUIET:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say what a person has to know however quiet the command is asked to be."""
        line = f"resil: {self._time()}{text}"
        with self._lock:
            if self._live is not None:
                self._live.line(line)
                return
            # That the stream is full or closed by now is no reason to lose a campaign.
            with suppress(OSError, ValueError):
                print(line, file=self._stream, flush=True)

    @contextmanager
    def building(self, kind: str) -> Iterator[None]:
        """As `working`, while a result of `kind` is made for the cache; see `resil.rtl_harness.cache`."""
        began, outermost = self._clock(), not self._builds
        self._builds += 1
        try:
            with self.working(_BUILDS.get(kind, kind)):
                yield
        finally:
            self._builds -= 1
            if outermost:
                self.built_seconds += self._clock() - began

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Say again and again how long something takes, until it is done; work within it may be shown, too.

        On a terminal it has a row, and if it took a second a line that stays; else a line comes every ten.
        """
        began = self._clock()
        with self._row(text, began) if self._live is not None else self._ticking(text, began):
            yield
        if self._live is not None and (took := self._clock() - began) >= _WORTH_A_LINE:
            self.stage(f"{text}: {_minutes(took)}")

    @contextmanager
    def _row(self, text: str, began: float) -> Iterator[None]:
        if self._live is None or loudness() is Loudness.QUIET:
            yield
            return
        indented = "  " * len(self._working) + text
        self._working.append((text, began))
        row = self._live.add(indented, lambda: _minutes(self._clock() - began))
        try:
            yield
        finally:
            self._working.pop()
            self._live.remove(row)

    @contextmanager
    def _ticking(self, text: str, began: float) -> Iterator[None]:
        outermost = not self._working
        self._working.append((text, began))
        try:
            with _again_and_again(self.tick) if outermost else nullcontext():
                yield
        finally:
            self._working.pop()

    def tick(self) -> None:
        """Say in a line for how long the present work has been going on."""
        text, began = self._working[-1]
        self.stage(f"{text}: {_minutes(self._clock() - began)} so far")

    def beside(self, whole: Callable[[], str] | None) -> None:
        """Say beside the injections, from now on, how a larger work of which they are a part gets on."""
        self._whole = whole

    def begin(self, total: int, done: int) -> None:
        """Start to count injections: `done` of `total` were there before."""
        self._total, self._done = total, done
        self._began, self._shown = None, self._clock()
        if self._live is None or loudness() is Loudness.QUIET:
            return
        if self._whole is not None:
            self._rows.append(self._live.add("study", self._whole, at_once=True))
        self._rows.append(self._live.add(self._count(), self._pace, total, at_once=True))

    def advance(self, count: int = 1) -> None:
        """Count one injection, or several that have come together."""
        self._done += count
        now = self._clock()
        if self._began is None:
            # What came before the first ones is preparation.
            self._before, self._began = self._done, now
        if self._live is not None:
            if self._rows:
                self._live.update(self._rows[-1], self._done, self._count())
        elif now - self._shown >= _PLAIN_INTERVAL or self._done == self._total:
            self._shown = now
            whole = f"; {self._whole()}" if self._whole is not None else ""
            self.stage(self._status() + whole)

    @contextmanager
    def following(self, under_way: Callable[[], float] | None) -> Iterator[None]:
        """Let pace and time left know of injections that are under way together, before any of them ends.

        Args:
            under_way: Returns what has been done of those that have not ended, in injections; None if nobody
                knows.
        """
        if under_way is None:
            yield
            return
        self._under_way = under_way
        try:
            with _again_and_again(self._follow) if self._live is None else nullcontext():
                yield
        finally:
            self._under_way = None

    def _follow(self) -> None:
        if self._clock() - self._shown >= _PLAIN_INTERVAL and self._going():
            self._shown = self._clock()
            self.stage(self._status())

    def _going(self) -> float:
        """Return how many injections are under way; the first of them begin the count."""
        going = 0.0 if self._under_way is None else self._under_way()
        if going and self._began is None:
            self._before, self._began = self._done, self._clock()
        return going

    def finish(self) -> None:
        """End the rows of the injections; how many there are now stays."""
        if self._live is None or not self._rows:
            return
        for row in self._rows:
            self._live.remove(row)
        self._rows = []
        self.stage(self._status())

    def _time(self) -> str:
        return f"[{self._clock() - self._born:.1f} s] " if loudness() is Loudness.VERBOSE else ""

    def _count(self) -> str:
        return f"{self._done:,} of {self._total:,} injections ({100.0 * self._done / self._total:.0f} %)"

    def _pace(self) -> str:
        """Return rate and time left; nothing as long as they are not known."""
        done = self._done + self._going()
        passed = 0.0 if self._began is None else self._clock() - self._began
        if passed < _FORETOLD_AFTER:
            return ""
        rate = (done - self._before) / max(passed, 1e-9)
        left = _minutes(max(0.0, self._total - done) / rate) if rate else "unknown time"
        return f"{rate:.1f}/s, {left} left"

    def _status(self) -> str:
        return ", ".join(filter(None, (self._count(), self._pace())))


@contextmanager
def _again_and_again(say: Callable[[], None]) -> Iterator[None]:
    """Call something every ten seconds, from another thread."""
    done = threading.Event()

    def run() -> None:
        while not done.wait(_PLAIN_INTERVAL):
            say()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
