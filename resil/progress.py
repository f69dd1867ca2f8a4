# SPDX-License-Identifier: Apache-2.0
"""What a person sees on stderr while a campaign runs."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TextIO

_TERMINAL_INTERVAL = 0.2
_PLAIN_INTERVAL = 10.0
_TICK = 1.0

# Injections come in bursts: what is left is not foretold from the first seconds of them.
_FORETOLD_AFTER = 5.0

# What is built, by the kind of result in the cache of `resil.rtl_harness.cache`.
_BUILDS = {
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
    """Stages as lines, injections as a line that is redrawn (terminal) or repeated every ten seconds (else).

    Args:
        stream: Where to write; default stderr at the time of the call.
        clock: Seconds, monotonic.

    Attributes:
        built_seconds: What builds have taken by now.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._interval = _TERMINAL_INTERVAL if self._terminal else _PLAIN_INTERVAL
        self._total = self._done = self._before = 0
        self._began: float | None = None
        self._shown = clock()
        self._born = clock()
        self._line = ""
        self._lock = threading.RLock()
        self._working: list[tuple[str, float]] = []
        self._whole: Callable[[], str] | None = None
        self._builds = 0
        self.built_seconds = 0.0

    def stage(self, text: str) -> None:
        """Say what is being done now."""
        if loudness() is not Loudness.QUIET:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say what a person has to know however quiet the command is asked to be."""
        with self._lock:
            self._erase()
            self._write(f"resil: {self._time()}{text}\n")

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
        """Say again and again how long something takes, until it is done; within it other work may be told.

        On a terminal the time stands in a line that is redrawn every second, else a line comes every ten.
        """
        done, began = threading.Event(), self._clock()
        outermost = not self._working
        self._working.append((text, began))
        ticker = threading.Thread(target=self._tick, args=(done,), daemon=True)
        if outermost:
            ticker.start()
        try:
            yield
        finally:
            done.set()
            if outermost:
                ticker.join()
            self._working.pop()
            with self._lock:
                if self._line:
                    self._draw(f"{text}: {_minutes(self._clock() - began)}")
                    self.finish()

    def tick(self) -> None:
        """Say for how long the present work has been going on."""
        text, began = self._working[-1]
        with self._lock:
            self._draw(f"{text}: {_minutes(self._clock() - began)} so far")

    def _tick(self, done: threading.Event) -> None:
        while not done.wait(_TICK if self._terminal else _PLAIN_INTERVAL):
            self.tick()

    def beside(self, whole: Callable[[], str] | None) -> None:
        """Say behind the injections, from now on, how a larger work of which they are a part gets on."""
        self._whole = whole

    def begin(self, total: int, done: int) -> None:
        """Start to count injections: `done` of `total` were there before."""
        self._total, self._done = total, done
        self._began, self._shown = None, self._clock()

    def advance(self, count: int = 1) -> None:
        """Count one injection, or several that have come together."""
        self._done += count
        now = self._clock()
        if self._began is None:
            # What came before the first ones is preparation.
            self._before, self._began = self._done, now
        if now - self._shown >= self._interval or self._done == self._total:
            self._shown = now
            self._draw(self._status(now))

    def finish(self) -> None:
        """End the line that is being redrawn."""
        if self._line:
            self._write("\n")
            self._line = ""

    def _time(self) -> str:
        return f"[{self._clock() - self._born:.1f} s] " if loudness() is Loudness.VERBOSE else ""

    def _write(self, text: str) -> None:
        """Write to the stream; that it is full or closed by now is no reason to lose a campaign."""
        with suppress(OSError, ValueError):
            print(text, end="", file=self._stream, flush=True)

    def _status(self, now: float) -> str:
        passed = 0.0 if self._began is None else now - self._began
        said = f"{self._done:,} of {self._total:,} injections ({100.0 * self._done / self._total:.0f} %)"
        whole = f"; {self._whole()}" if self._whole is not None else ""
        if passed < _FORETOLD_AFTER:
            return said + whole
        rate = (self._done - self._before) / max(passed, 1e-9)
        left = _minutes((self._total - self._done) / rate) if rate else "unknown time"
        return f"{said}, {rate:.1f}/s, {left} left{whole}"

    def _draw(self, text: str) -> None:
        if loudness() is Loudness.QUIET:
            return
        line = f"resil: {self._time()}{text}"
        if not self._terminal:
            self._write(f"{line}\n")
            return
        self._write(f"\r{line.ljust(len(self._line))}")
        self._line = line

    def _erase(self) -> None:
        if self._line:
            self._write(f"\r{' ' * len(self._line)}\r")
            self._line = ""


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
