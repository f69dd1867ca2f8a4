# SPDX-License-Identifier: Apache-2.0
"""The scheduler in simulated time: the same rows whoever comes and goes, and short portions in the end."""

from __future__ import annotations

import random
from contextlib import contextmanager
from functools import partial

import pytest

from resil.cli import main
from resil.farm import pace
from resil.farm.executor import FarmExecutor
from resil.farm.ledger import FIRST, LEAST
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.runs import same
from testkit.simulated_farm import SimulatedFarm, SimulatedQueue, SimulatedTime, WorkerPlan, simulated_farm

LONGER = TEXT.replace("injections = 200", "injections = 6000")


def power(injections):
    """Seconds of a portion, of which a walk and few injections take most if there are few."""
    return 0.5 * injections**0.65


@pytest.mark.parametrize("seed", range(4))
def test_the_same_rows_come_whoever_answers_first(tmp_path, monkeypatch, seed):
    """Workers of all speeds come and go; each simulates what it is given, in another order each time."""
    fake.install(monkeypatch)
    monkeypatch.setattr("resil.prepare.bench.prepare", fake.fake_bench)
    file = write_campaign(tmp_path, LONGER)
    assert main(["run", str(file), "--out", str(tmp_path / "calm"), "--quiet"]) in (0, 1, 3)
    chance, time = random.Random(seed), SimulatedTime()
    lost = WorkerPlan(0.0, 30.0, slowness=lambda: 50.0)
    plans = [
        lost,
        *(
            WorkerPlan(
                comes := chance.uniform(0, 100) if place else 0.0,
                comes + chance.uniform(20, 200) if place else float("inf"),
                chance.uniform(0, 20),
                chance.uniform(0, 20),
                partial(chance.lognormvariate, chance.uniform(-1, 1), 0.5),
            )
            for place in range(12)
        ),
    ]
    farm = SimulatedFarm(time, plans, power, audit=0.05)

    @contextmanager
    def opened(*_given):
        yield farm

    made = partial(FarmExecutor, clock=time, answers=SimulatedQueue(time))
    monkeypatch.setattr("resil.run.campaign.open_farm", opened)
    monkeypatch.setattr("resil.run.campaign.FarmExecutor", made)
    file.write_text(f'{LONGER}\n[execution]\ndask = "tcp://127.0.0.1:1"\n')
    assert main(["run", str(file), "--out", str(tmp_path / "run"), "--quiet"]) in (0, 1, 3)
    assert same(tmp_path / "calm", tmp_path / "run")
    assert len({order.worker for order in farm.begun}) > 3
    assert any(plans[order.worker] is lost for order in farm.begun)


def too_long(folder, workers=20, total=400_000):
    """Return the orders that take more than the part of what is left, or of the run so far, that they may."""
    with simulated_farm(folder, [WorkerPlan()] * workers, power) as (time, farm, coordinator):
        coordinator.make(total)
    assert coordinator.kept == total
    end = time()
    # What is foreseen of the end is a little beside it.
    return [
        order
        for order in farm.begun
        if order.injections > max(LEAST, FIRST)
        and order.seconds > 1.1 * max((end - order.at) * 5 / 6, order.at / 40)
    ], max(order.seconds for order in farm.begun)


def test_no_portion_is_longer_than_a_part_of_what_is_left(tmp_path):
    found, longest = too_long(tmp_path / "run")
    assert found == []
    assert 60 < longest <= pace.LONGEST


def test_portions_that_take_all_that_is_left_are_found(tmp_path, monkeypatch):
    """The fault: portions go by time alone, and one that is given out late is waited for."""
    monkeypatch.setattr(pace, "PART_OF_REST", 8.0)
    assert too_long(tmp_path / "run")[0]


def seconds_of(folder, plans, total):
    with simulated_farm(folder, plans, power, row=1e-5, call=4e-3) as (time, _farm, coordinator):
        coordinator.make(total)
    assert coordinator.kept == total
    return time()


def test_many_workers_are_worth_nearly_as_many_though_large_portions_are_cheaper(tmp_path):
    """Twenty, of which one is lost: at least 80 % of twenty times one."""
    chance = random.Random(1)
    plans = [WorkerPlan(slowness=partial(chance.lognormvariate, 0.0, 0.1)) for _ in range(19)]
    plans.append(WorkerPlan(0.0, 400.0))
    alone = seconds_of(tmp_path / "alone", [WorkerPlan()], 2_000_000)
    assert alone / seconds_of(tmp_path / "many", plans, 2_000_000) > 0.8 * 20


def test_a_worker_that_is_late_is_given_nothing_more(tmp_path):
    """A portion takes a hundred times what was to be expected: what is left goes to the others meanwhile."""
    slow = iter([1.0, 100.0])
    plans = [WorkerPlan(slowness=lambda: next(slow, 1.0)), WorkerPlan(), WorkerPlan()]
    with simulated_farm(tmp_path / "run", plans, lambda injections: 0.01 * injections) as (time, farm, made):
        made.make(20_000)
    late = next(order for order in farm.begun if order.worker == 0 and order.seconds > 100)
    assert time() - (late.at + late.seconds) < 10
    assert sum(order.injections for order in farm.begun if order.worker == 0) < 4000


def test_a_crew_foresees_its_end(tmp_path):
    """Of a farm whose portions take what they did, the second of the last row, long before."""
    with simulated_farm(tmp_path / "run", [WorkerPlan()] * 5, lambda n: 0.01 * n) as (
        time,
        _farm,
        coordinator,
    ):
        foreseen = {}
        foresee = coordinator._end

        def noted(now):
            foreseen[now] = foresee(now)
            return foreseen[now]

        coordinator._end = noted
        coordinator.make(100_000)
    middle = [end for now, end in foreseen.items() if time() / 3 < now < 2 * time() / 3]
    assert middle
    assert all(abs(end - time()) < 0.1 * time() for end in middle)
