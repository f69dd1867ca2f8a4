"""What a person sees on stderr while a campaign runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

_TERMINAL_INTERVAL = 0.2
_PLAIN_INTERVAL = 10.0


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
        self._line = ""

    def stage(self, text: str) -> None:
        """Say what is being done now."""
        self._erase()
        print(f"resil: {text}", file=self._stream, flush=True)

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
            print(file=self._stream, flush=True)
            self._line = ""

    def _status(self, now: float) -> str:
        rate = (self._done - self._before) / max(now - self._began, 1e-9)
        left = _minutes((self._total - self._done) / rate) if rate else "unknown time"
        share = 100.0 * self._done / self._total
        return f"{self._done:,} of {self._total:,} injections ({share:.0f} %), {rate:.1f}/s, {left} left"

    def _draw(self, text: str) -> None:
        if not self._terminal:
            print(f"resil: {text}", file=self._stream, flush=True)
            return
        line = f"resil: {text}"
        print(f"\r{line.ljust(len(self._line))}", end="", file=self._stream, flush=True)
        self._line = line

    def _erase(self) -> None:
        if self._line:
            print(f"\r{' ' * len(self._line)}\r", end="", file=self._stream)
            self._line = ""


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
