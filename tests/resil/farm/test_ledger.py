# SPDX-License-Identifier: Apache-2.0
"""Portions: every injection is given out until it is answered, and to one worker at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from resil.farm.ledger import FIRST, LEAST, MOST, FarmError, Portion, PortionLedger
from testkit.errors import about


@pytest.mark.parametrize("seed", range(5))
def test_each_injection_is_answered_once_whoever_is_lost(seed):
    chance = random.Random(seed)
    wanted = [np.arange(0, 9000, 3), np.arange(0), np.arange(1, 700)]
    ledger, answered, out = PortionLedger(wanted), [], []
    while ledger.left or out:
        if (portion := ledger.take(chance.choice([FIRST, 3, 9000]))) is not None:
            out.append(portion)
        if out and (len(out) > 3 or portion is None):
            portion = out.pop(chance.randrange(len(out)))
            if chance.random() < 0.3 and len(portion.numbers) > 1:
                ledger.give_back(portion, lost=chance.random() < 0.8)
            else:
                answered += [(portion.position, number) for number in portion.numbers.tolist()]
    assert sorted(answered) == [(p, n) for p, numbers in enumerate(wanted) for n in numbers.tolist()]


def test_portions_are_of_the_wanted_size_between_the_least_and_the_most():
    ledger = PortionLedger([np.arange(400_000)])
    assert len(ledger.take(2000).numbers) == 2000
    assert len(ledger.take(10**6).numbers) == MOST
    assert len(ledger.take(0).numbers) == LEAST
    assert len(PortionLedger([np.arange(5)]).take(FIRST).numbers) == 5


@pytest.mark.parametrize("lost", [True, False])
def test_what_came_back_is_given_out_first_and_in_no_larger_portions(lost):
    ledger = PortionLedger([np.arange(40_000), np.arange(500)])
    ledger.give_back(ledger.take(20_000), lost=lost)
    sizes = []
    while ledger.left > 20_500:
        sizes.append(len(ledger.take(3000).numbers))
    assert max(sizes) == 3000
    assert sum(sizes) == 20_000


def test_an_injection_that_ends_its_workers_is_found_and_named():
    ledger, tries = PortionLedger([np.arange(500)]), []

    def work():
        while (portion := ledger.take(FIRST)) is not None:
            if 77 in portion.numbers:
                tries.append(portion)
                ledger.give_back(portion)

    with pytest.raises(FarmError, check=about("injections[77]")):
        work()
    assert len(tries) < 15


def test_what_is_refused_is_not_halved():
    ledger = PortionLedger([np.arange(10)])
    portion = ledger.take(FIRST)
    ledger.give_back(portion, lost=False)
    assert isinstance(portion, Portion)
    assert ledger.take(FIRST) is portion
    assert ledger.take(FIRST) is None
