# SPDX-License-Identifier: Apache-2.0
"""Rows at the foot of a terminal that are redrawn while work goes on, by rich."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TextIO, cast

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID
from rich.text import Text

# Work that is over sooner gets no row: it would only flicker.
_SHOWN_AFTER = 0.3
_REDRAWS_PER_SECOND = 4
_BAR_WIDTH = 20


class Forgiving:
    """A stream whose writes may be lost: that it is full or closed by now is no reason to lose a campaign."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what the stream takes."""
        with suppress(OSError, ValueError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream if it can be."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        with suppress(OSError, ValueError):
            return self._stream.isatty()
        return False

    @property
    def encoding(self) -> str:
        """Of the stream."""
        return self._stream.encoding or "utf-8"

    def fileno(self) -> int:
        """Of the stream."""
        return self._stream.fileno()


class _Words(ProgressColumn):
    """What is being done."""

    def render(self, task: Task) -> Text:
        return Text(task.description, no_wrap=True, overflow="ellipsis")


class _Bar(BarColumn):
    """How much of it is done, where that is known."""

    def render(self, task: Task) -> RenderableType:  # type: ignore[override]
        return Text("") if task.total is None else super().render(task)


class _Rest(ProgressColumn):
    """What else there is to say of it now."""

    def render(self, task: Task) -> Text:
        say: Callable[[], str] = task.fields["say"]
        return Text(say(), no_wrap=True, overflow="ellipsis")


class _TaskTable(Progress):
    """Rows that have been there for a while."""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield self.make_tasks_table([task for task in self.tasks if task.fields["is_shown"]()])


class LiveRows:
    """Lines that stay, above rows that are redrawn; nothing is ever wider than the terminal.

    The rows are there from the first `add` to the last `remove`; then the terminal is as it was.

    Args:
        stream: A terminal.
        clock: Seconds, monotonic.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        file = cast(TextIO, Forgiving(stream))
        self._clock = clock
        self._console = Console(file=file, highlight=False, markup=False, emoji=False)
        self._rows = _TaskTable(
            _Words(),
            _Bar(bar_width=_BAR_WIDTH),
            _Rest(),
            console=self._console,
            get_time=clock,
            refresh_per_second=_REDRAWS_PER_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def line(self, text: str) -> None:
        """Print a line that stays; it is wrapped by the terminal alone."""
        self._console.print(text, soft_wrap=True)

    def add(self, text: str, say: Callable[[], str], total: int | None = None, at_once: bool = False) -> int:
        """Begin a row; return its number.

        Args:
            text: What is being done.
            say: What to say of it, asked at every redraw.
            total: What a bar ends at; None for no bar.
            at_once: Show it even if it is over soon.
        """
        begins = self._clock() + (0.0 if at_once else _SHOWN_AFTER)
        row = self._rows.add_task(text, total=total, say=say, is_shown=lambda: self._clock() >= begins)
        self._rows.start()
        return row

    def update(self, row: int, done: int, text: str) -> None:
        """Let a bar show how much is done, and the row say what."""
        self._rows.update(TaskID(row), completed=done, description=text)

    def remove(self, row: int) -> None:
        """End a row."""
        self._rows.remove_task(TaskID(row))
        if not self._rows.task_ids:
            self._rows.stop()
