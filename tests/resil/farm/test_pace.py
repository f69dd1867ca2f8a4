# SPDX-License-Identifier: Apache-2.0
"""What a worker is expected to take: never less than it takes, where many injections take less time each."""

from __future__ import annotations

import pytest

from resil.farm.ledger import MOST
from resil.farm.pace import LONGEST, SHORTEST, Pace, portion_seconds


def seen(*portions):
    pace = Pace()
    for injections, seconds in portions:
        pace.see(injections, seconds)
    return pace


def test_one_portion_says_that_time_grows_with_size():
    pace = seen((500, 10.0))
    assert pace.size(40.0) == 2000
    assert pace.expected(100) == pytest.approx(2.0)
    assert not Pace().known


def test_two_portions_say_how_time_grows():
    """Beyond both a straight line, between and below a power: 500 in 10 s and 2,000 in 20 s are a root."""
    pace = seen((500, 10.0), (2000, 20.0))
    assert pace.expected(3500) == pytest.approx(30.0)
    assert pace.expected(1000) == pytest.approx(10.0 * 2**0.5)
    assert pace.expected(125) == pytest.approx(5.0)
    assert pace.expected(2000) == pytest.approx(20.0)


@pytest.mark.parametrize("portions", [[(700, 5.0)], [(500, 10.0), (2500, 30.0)], [(4000, 90.0), (100, 4.0)]])
@pytest.mark.parametrize("seconds", [0.5, 4.0, 12.0, 29.0, 31.0, 500.0])
def test_a_size_is_the_largest_that_is_expected_to_take_so_long(portions, seconds):
    pace = seen(*portions)
    size = pace.size(seconds)
    assert size == 0 or pace.expected(size) <= seconds * (1 + 1e-9)
    assert pace.expected(size + 1) > seconds


@pytest.mark.parametrize("power", [0.5, 2 / 3, 0.8, 1.0])
def test_no_larger_portion_takes_longer_than_it_is_expected_to(power):
    """Where time grows with a power of the size, as that of sweeps does."""
    pace = Pace()
    for injections in (500, 3000, 9000):
        pace.see(injections, 0.3 * injections**power)
        for more in (injections, 2 * injections, 30 * injections):
            assert 0.3 * more**power <= pace.expected(more) * (1 + 1e-9)
        for seconds in (pace.seconds, 3 * pace.seconds):
            assert 0.3 * pace.size(seconds) ** power <= seconds * (1 + 1e-9)


def test_portions_that_are_alike_keep_what_is_known_of_the_rest():
    pace = seen((500, 10.0), (2000, 20.0), (2100, 62.0))
    assert (pace.others, pace.apart) == (500, 10.0)
    assert pace.expected(2100) == pytest.approx(62.0)


@pytest.mark.parametrize(
    "portions",
    [
        ((500, 30.0), (5000, 20.0)),
        ((500, 10.0), (5000, 10.01)),
        ((100, 1.0), (300, 2.0), (150, 1.2), (100, 3.0)),
    ],
)
def test_a_line_that_falls_or_is_level_makes_no_portion_without_end(portions):
    pace = seen(*portions)
    injections, seconds = portions[-1]
    assert pace.size(10 * seconds) <= 40 * injections
    assert 0 < pace.expected(1) <= seconds


@pytest.mark.parametrize("portions", [[(700, 5.0)], [(500, 10.0), (2500, 30.0)]])
def test_what_is_made_in_a_long_time_is_made_in_portions(portions):
    pace = seen(*portions)
    assert pace.made(0.0) == pace.made(-3.0) == 0
    assert pace.made(30.0) == pace.size(30.0)
    longest = min(LONGEST, pace.expected(MOST))
    assert pace.made(10 * longest) == pytest.approx(10 * min(MOST, pace.size(longest)), rel=1e-3)


@pytest.mark.parametrize(
    ("elapsed", "rest", "seconds"),
    [
        (0.0, 40.0, SHORTEST),
        (0.0, 300.0, 100.0),
        (300.0, 60.0, 50.0),
        (1e6, 1e6, LONGEST),
        (390.0, 6.0, 9.75),
        (1e6, 1.0, LONGEST),
        (0.0, 0.0, 0.0),
    ],
)
def test_portions_get_longer_with_the_run_and_shorter_towards_its_end(elapsed, rest, seconds):
    assert portion_seconds(elapsed, rest) == pytest.approx(seconds)
