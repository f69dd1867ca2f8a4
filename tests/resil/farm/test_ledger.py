# SPDX-License-Identifier: Apache-2.0
"""Portions: every injection is given out until it is answered, and to one worker at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from resil.farm.ledger import (
    FIRST,
    LEAST,
    LONGEST,
    MOST,
    SHORTEST,
    FarmError,
    Portion,
    PortionLedger,
    portion_seconds,
)
from testkit.errors import about


@pytest.mark.parametrize("seed", range(5))
def test_each_injection_is_answered_once_whoever_is_lost(seed):
    chance = random.Random(seed)
    wanted = [np.arange(0, 9000, 3), np.arange(0), np.arange(1, 700)]
    ledger, answered, out = PortionLedger(wanted), [], []
    while ledger.left or out:
        if (portion := ledger.take(chance.choice([None, 3.0, 900.0]), 2)) is not None:
            out.append(portion)
        if out and (len(out) > 3 or portion is None):
            portion = out.pop(chance.randrange(len(out)))
            if chance.random() < 0.3 and len(portion.numbers) > 1:
                ledger.give_back(portion, lost=chance.random() < 0.8)
            else:
                answered += [(portion.position, number) for number in portion.numbers.tolist()]
    assert sorted(answered) == [(p, n) for p, numbers in enumerate(wanted) for n in numbers.tolist()]


def test_portions_follow_the_rate_and_get_small_towards_the_end():
    ledger = PortionLedger([np.arange(400_000)])
    assert len(ledger.take(None, 2).numbers) == FIRST
    assert len(ledger.take(100.0, 2).numbers) == 2000
    assert len(ledger.take(100.0, 2, seconds=60.0).numbers) == 6000
    assert len(ledger.take(1e6, 2).numbers) == MOST
    assert len(ledger.take(0.01, 2).numbers) == LEAST
    assert len(ledger.take(1e6, 9000).numbers) == LEAST
    assert len(PortionLedger([np.arange(5)]).take(None, 2).numbers) == 5


@pytest.mark.parametrize(
    ("elapsed", "seconds"), [(0.0, SHORTEST), (100.0, SHORTEST), (800.0, 100.0), (1e6, LONGEST)]
)
def test_portions_get_longer_with_the_run_and_no_longer_than_what_may_be_lost(elapsed, seconds):
    assert portion_seconds(elapsed) == seconds


def test_an_injection_that_ends_its_workers_is_found_and_named():
    ledger, tries = PortionLedger([np.arange(500)]), []

    def work():
        while (portion := ledger.take(None, 1)) is not None:
            if 77 in portion.numbers:
                tries.append(portion)
                ledger.give_back(portion)

    with pytest.raises(FarmError, check=about("injections[77]")):
        work()
    assert len(tries) < 15


def test_what_is_refused_is_not_halved():
    ledger = PortionLedger([np.arange(10)])
    portion = ledger.take(None, 1)
    ledger.give_back(portion, lost=False)
    assert isinstance(portion, Portion)
    assert ledger.take(None, 1) is portion
    assert ledger.take(None, 1) is None
