# SPDX-License-Identifier: Apache-2.0
"""What a person sees: a line that is redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io
import time

from resil.progress import Progress
from resil.rtl_harness.cache import cached_folder, observe_builds


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


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


def test_a_terminal_has_one_line_that_is_redrawn():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.begin(10_000, 0)
    for _ in range(3):
        clock.now += 3600.0
        progress.advance()
    progress.stage("next")
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("resil: next\n")
    assert "\rresil: 1 of 10,000 injections (0 %)\r" in text
    assert "\rresil: 2 of 10,000 injections (0 %), 0.0/s, 9998:00:00 left" in text


def test_finish_ends_the_line_once():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.begin(1, 0)
    progress.advance()
    progress.finish()
    progress.finish()
    assert stream.getvalue().count("\n") == 1


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


def test_work_that_takes_long_says_for_how_long(monkeypatch):
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


def test_on_a_terminal_the_time_ticks_by_itself_and_stays_when_work_ends(monkeypatch):
    monkeypatch.setattr("resil.progress._TICK", 0.01)
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    with progress.working("compiling"):
        while "so far" not in stream.getvalue():
            time.sleep(0.01)
        clock.now += 7.0
    assert stream.getvalue().endswith("\n")
    assert "\rresil: compiling: 0:07" in stream.getvalue()


def test_short_work_and_quiet_commands_say_nothing():
    stream = Terminal()
    with Progress(stream, Clock()).working("compiling"):
        pass
    assert stream.getvalue() == ""


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
