"""What a person sees on stderr while a campaign runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import TextIO

_TERMINAL_INTERVAL = 0.2
_PLAIN_INTERVAL = 10.0


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
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._terminal = self._stream.isatty()
        self._interval = _TERMINAL_INTERVAL if self._terminal else _PLAIN_INTERVAL
        self._total = self._done = self._before = 0
        self._began = self._shown = clock()
        self._born = clock()
        self._line = ""

    def stage(self, text: str) -> None:
        """Say what is being done now."""
        if loudness() is not Loudness.QUIET:
            self.warn(text)

    def warn(self, text: str) -> None:
        """Say what a person has to know however quiet the command is asked to be."""
        self._erase()
        self._write(f"resil: {self._time()}{text}\n")

    def begin(self, total: int, done: int) -> None:
        """Start to count injections: `done` of `total` were there before."""
        self._total, self._done, self._before = total, done, done
        self._began = self._shown = self._clock()

    def advance(self) -> None:
        """Count one injection."""
        self._done += 1
        now = self._clock()
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
        """Write to the stream; that nobody reads it any more is no reason to lose a campaign."""
        with suppress(OSError):
            print(text, end="", file=self._stream, flush=True)

    def _status(self, now: float) -> str:
        rate = (self._done - self._before) / max(now - self._began, 1e-9)
        left = _minutes((self._total - self._done) / rate) if rate else "unknown time"
        share = 100.0 * self._done / self._total
        return f"{self._done:,} of {self._total:,} injections ({share:.0f} %), {rate:.1f}/s, {left} left"

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
