# SPDX-License-Identifier: Apache-2.0
"""What a person sees: rows that are redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import re
import time

import pytest

from resil.progress import Loudness, Progress, set_loudness
from resil.rtl_harness.cache import cached_folder, observe_builds


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """A terminal of 80 columns that knows what rich writes; `screen` is what stands on it."""

    def __init__(self):
        super().__init__()
        self.rows, self.row, self.column = [""], 0, 0

    def isatty(self):
        return True

    def write(self, text):
        for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.", text, re.DOTALL):
            self._take(token)
        return super().write(text)

    def _take(self, token):
        if token == "\n":
            self._go(self.row + 1, 0)
        elif token == "\r":
            self.column = 0
        elif token.startswith("\x1b"):
            if token.endswith("A"):
                self._go(self.row - int(token[2:-1] or 1), self.column)
            elif token.endswith("K"):
                self.rows[self.row] = ""
        else:
            if self.column == 80:
                self._go(self.row + 1, 0)
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + token + line[self.column + 1 :]
            self.column += 1

    def _go(self, row, column):
        self.row, self.column = row, column
        self.rows += [""] * (row + 1 - len(self.rows))

    @property
    def screen(self):
        return [row.rstrip() for row in self.rows if row.strip()]


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")


def test_plain_lines_come_every_ten_seconds_and_at_the_end():
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    progress.begin(100, 40)
    for _ in range(60):
        clock.now += 1.0
        progress.advance()
    progress.finish()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "resil: 50 of 100 injections (50 %), 1.0/s, 0:50 left"
    assert lines[-1] == "resil: 100 of 100 injections (100 %), 1.0/s, 0:00 left"
    assert len(lines) == 6
    assert "\r" not in stream.getvalue()


def test_a_terminal_keeps_what_was_done_and_no_row_that_was_redrawn():
    """The fault: a line wider than the terminal was redrawn, and left a part of it behind each time."""
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.beside(lambda: "1 of 16 cells, about 12 min left, then the protection of ethos-u55-32, built")
    progress.stage("ethos-u55-32 x mnist_lenet: 10,000 injections with the verilator engine")
    progress.begin(10_000, 0)
    for _ in range(50):
        clock.now += 10.0
        progress.advance()
        progress._live._rows.refresh()
    assert len(stream.screen) == 3
    assert stream.screen[1].startswith("study")
    assert "50 of 10,000 injections (0 %)" in stream.screen[2]
    progress.finish()
    assert stream.screen == [
        "resil: ethos-u55-32 x mnist_lenet: 10,000 injections with the verilator engine",
        "resil: 50 of 10,000 injections (0 %), 0.1/s, 27:38:20 left",
    ]


def test_lines_that_stay_stand_above_the_rows():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.begin(10, 0)
    progress.advance()
    progress.warn("something that is longer than a line of the terminal has room for: " + "x" * 20)
    progress._live._rows.refresh()
    assert stream.screen[0].startswith("resil: something that")
    assert stream.screen[-1].startswith("1 of 10 injections (10 %)")
    progress.finish()


def test_a_terminal_that_wants_no_colour_gets_none(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    progress = Progress(stream, Clock())
    progress.begin(10, 0)
    progress.advance(5)
    progress._live._rows.refresh()
    progress.finish()
    colours = [code for code in re.findall(r"\x1b\[([0-9;]*)m", stream.getvalue()) if "3" in code]
    assert colours == []


def test_quiet_commands_draw_nothing(monkeypatch):
    set_loudness(Loudness.QUIET)
    try:
        stream, clock = Terminal(), Clock()
        progress = Progress(stream, clock)
        with progress.working("compiling"):
            clock.now += 60.0
        progress.begin(2, 0)
        progress.advance(2)
        progress.finish()
        progress.stage("next")
        assert stream.getvalue() == ""
    finally:
        set_loudness(Loudness.NORMAL)


def test_finish_says_once_how_far_it_came():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.begin(1, 0)
    progress.advance()
    progress.finish()
    progress.finish()
    assert stream.screen == ["resil: 1 of 1 injections (100 %)"]


def test_the_time_left_does_not_count_what_came_before_the_first_injection():
    """Gates took an hour, then come ten injections a second."""
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    progress.begin(1000, 0)
    clock.now += 3600.0
    for _ in range(201):
        progress.advance()
        clock.now += 0.1
    last = stream.getvalue().splitlines()[-1]
    assert last.endswith("10.0/s, 1:30 left")
    assert stream.getvalue().splitlines()[0] == "resil: 1 of 1,000 injections (0 %)"


def test_work_that_takes_long_says_for_how_long():
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    with progress.working("compiling"):
        clock.now += 20.0
        progress.tick()
        with progress.building("gates"):
            clock.now += 65.0
            progress.tick()
        progress.tick()
    assert stream.getvalue().splitlines() == [
        "resil: compiling: 0:20 so far",
        "resil: making gates for the fast engine: 1:05 so far",
        "resil: compiling: 1:25 so far",
    ]


def test_on_a_terminal_work_within_work_has_a_row_of_its_own_and_its_time_stays():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    with progress.working("running without a fault"):
        clock.now += 1.0
        with progress.building("gates"):
            clock.now += 6.0
            progress._live._rows.refresh()
            assert [row.split() for row in stream.screen] == [
                ["running", "without", "a", "fault", "0:07"],
                ["making", "gates", "for", "the", "fast", "engine", "0:06"],
            ]
            assert stream.screen[1].startswith("  making")
    assert stream.screen == [
        "resil: making gates for the fast engine: 0:06",
        "resil: running without a fault: 0:07",
    ]


def test_rows_are_redrawn_by_themselves():
    stream = Terminal()
    with Progress(stream).working("compiling"):
        until = time.monotonic() + 60
        while "compiling" not in stream.getvalue():
            assert time.monotonic() < until
            time.sleep(0.05)
    assert stream.screen == []


def test_short_work_leaves_nothing():
    stream = Terminal()
    with Progress(stream, Clock()).working("compiling"):
        pass
    assert stream.screen == []


def test_builds_are_told_of_and_what_is_cached_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("resil.rtl_harness.cache._observer", None)
    stream = io.StringIO()
    progress = Progress(stream, Clock())
    observe_builds(progress.building)
    cached_folder("objects", "key", lambda folder: progress.tick())
    cached_folder("objects", "key", lambda folder: progress.tick())
    assert stream.getvalue() == "resil: compiling the simulator: 0:00 so far\n"


def test_a_stream_that_was_closed_ends_nothing():
    stream = io.StringIO()
    progress = Progress(stream)
    stream.close()
    progress.stage("compiling")
    with progress.working("compiling"):
        progress.tick()


def test_a_larger_work_stands_behind_the_injections():
    stream = io.StringIO()
    progress = Progress(stream, clock=lambda: 0.0)
    progress.beside(lambda: "1 of 4 cells")
    progress.begin(1, 0)
    progress.advance()
    assert stream.getvalue() == "resil: 1 of 1 injections (100 %); 1 of 4 cells\n"


def test_builds_within_builds_count_once():
    now = [0.0]
    progress = Progress(io.StringIO(), clock=lambda: now[0])
    with progress.building("area"), progress.building("synthesis"):
        now[0] = 7.0
    assert progress.built_seconds == 7.0


def test_injections_that_are_under_way_together_count_for_pace_and_time_left():
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    progress.begin(100, 0)
    reached = 0.0
    with progress.following(lambda: reached):
        assert progress._status() == "0 of 100 injections (0 %)"
        reached = 1.0
        progress._status()
        clock.now += 10.0
        reached = 21.0
        assert progress._status() == "0 of 100 injections (0 %), 2.1/s, 0:38 left"
    assert "left" not in progress._status().replace("unknown time left", "")


def test_a_line_comes_while_no_injection_ends(monkeypatch):
    monkeypatch.setattr("resil.progress._PLAIN_INTERVAL", 0.05)
    stream = io.StringIO()
    progress = Progress(stream)
    progress.begin(100, 0)
    with progress.following(lambda: 50.0):
        until = time.monotonic() + 10
        while not stream.getvalue() and time.monotonic() < until:
            time.sleep(0.02)
    assert stream.getvalue().startswith("resil: 0 of 100 injections (0 %)")
