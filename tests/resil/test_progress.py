"""What a person sees: a line that is redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import io

from resil.progress import Progress


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
    assert "\rresil: 1 of 10,000 injections (0 %), 0.0/s, 9999:00:00 left" in text


def test_finish_ends_the_line_once():
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    progress.begin(1, 0)
    progress.advance()
    progress.finish()
    progress.finish()
    assert stream.getvalue().count("\n") == 1
