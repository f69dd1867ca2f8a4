# SPDX-License-Identifier: Apache-2.0
"""The audit tries some of every kind of exit in every block, and only a wrong answer makes it fail."""

import dataclasses
import random
from collections import Counter

import numpy as np
import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.sites import SiteTable, StorageElement
from resil.rtl_harness.engine.fast.audit_sample import (
    EVERYTHING,
    KEPT,
    NOTHING,
    AuditCounts,
    AuditSample,
    AuditSize,
    allocated,
    kind_of,
)
from resil.rtl_harness.engine.fast.concurrent_simulator import ConcurrentSimulator
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.processes import EngineOutcome
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Corruption, Fault, Injection, Seen
from testkit.awkward import awkward_target, awkward_workload
from testkit.errors import about

SITES = SiteTable.of([StorageElement(f"u.{b}_q", "ff", 1000, block=b) for b in ("a", "b", "c")])


def answer(
    site, cycle=0, how="vanished", early=True, seen=Seen.MASKED, end=100, in_lane=False, simulated=5, **more
):
    injection = Injection(Fault(site, cycle), seen, end, 0, "", **more)
    return EngineOutcome(injection, early, simulated, how, in_lane=in_lane)


def drawn(sample):
    return Counter(SITES[injection.fault.site].element.block for injection in sample.draw())


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (answer(0), "vanished"),
        (answer(0, end=101), "vanished, later"),
        (answer(0, simulated=0), "vanished along the gates"),
        (answer(0, how="left", seen=Seen.LATENT), "left"),
        (answer(0, how="left", end=101), "left, later"),
        (answer(0, how="merged", end=101, simulated=0), "merged along the gates"),
        (answer(0, how="stopped", seen=Seen.HANG), "hang foreseen"),
        (answer(0, how="stopped", seen=Seen.LATENT), "followed, then simulated to the end"),
        (answer(0, how="stopped", early=False, seen=Seen.HANG), "simulated to the end"),
        (answer(0, how="merged", in_lane=True), "merged, in a lane"),
        (answer(0, how="undecided, then vanished", end=7), "undecided, then vanished, later"),
        (answer(0, how="undecided, then stopped", seen=Seen.HANG), "undecided, then hang foreseen"),
    ],
)
def test_kinds_of_exits(outcome, kind):
    assert kind_of(outcome, 100) == kind


def test_every_stratum_is_tried_however_rare_it_is():
    """The fault: a uniform draw of 20 among 30,000 leaves out a kind that one fault in a thousand has."""
    sample = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    for i in range(30_000):
        sample.offer(answer(i % 2000, i))
    sample.offer(answer(2500, 7))
    sample.offer(answer(5, 9, how="left"))
    chosen = sample.draw()
    assert len(chosen) == 151 == len({injection.fault for injection in chosen})
    assert {Fault(2500, 7), Fault(5, 9)} <= {injection.fault for injection in chosen}
    assert sample.tally["left"] == (1, 1)
    assert sample.tally["vanished"] == (30_001, 150)


def test_few_tries_are_not_spent_on_strata_that_are_fine():
    """The fault: a small campaign has twice as many runs to the end as it has kinds of exit and blocks."""
    sample = AuditSample(AuditSize(minimum=1), SITES, 100, random.Random(1))
    for i in range(40):
        sample.offer(answer(i, i))
        sample.offer(answer(1000 + i, i, simulated=0))
        sample.offer(answer(2000 + i, i, how="left", end=100 + i % 2, simulated=i % 2))
    assert drawn(sample) == {"a": 1, "b": 1, "c": 1}
    answers = {(kind, "a"): 50 for kind in ("left", "left, later", "vanished", "vanished along the gates")}
    assert set(allocated(answers, {}, answers, 2)) in (
        {("left", "a"), ("vanished", "a")},
        {("left", "a"), ("vanished along the gates", "a")},
    )
    assert set(allocated(answers, {}, answers, 40).values()) == {10}


def test_what_is_tried_is_spread_over_kinds_then_in_proportion_over_blocks():
    answers = {("left", "a"): 30, ("left", "b"): 10, ("merged", "a"): 3, ("vanished", "c"): 10_000}
    given = allocated(answers, {}, answers, 60)
    assert given == {("left", "a"): 21, ("left", "b"): 7, ("merged", "a"): 3, ("vanished", "c"): 29}
    assert allocated(answers, {}, answers, 10_043) == answers
    assert allocated(answers, given, {("left", "a"): 9, ("vanished", "c"): 5}, 3) == {
        ("left", "a"): 2,
        ("vanished", "c"): 1,
    }


@pytest.mark.parametrize(("answers", "tried"), [(7, 7), (1000, 20), (30_000, 150), (300_000, 200)])
def test_the_number_grows_with_the_campaign_until_it_is_fixed(answers, tried):
    sample = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    for i in range(answers):
        sample.offer(answer(0, i))
    assert len(sample.draw()) == tried
    assert sample.draw() == []


def test_later_calls_are_tried_too():
    """The fault: the first calls use up the number, and what goes wrong later is never looked at."""
    sample = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    tried = []
    for call in range(12):
        for i in range(10_000):
            sample.offer(answer(1000 * (call == 7), 10_000 * call + i))
        tried.append([injection.fault.cycle // 10_000 for injection in sample.draw()])
    assert [set(calls) for calls in tried] == [{call} for call in range(12)]
    assert [len(calls) for calls in tried] == [50, 50, 50, 50, *[5] * 8]
    small = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    counts = []
    for call in range(20_000):
        small.offer(answer(0, call))
        counts.append(len(small.draw()))
    assert sum(counts[:10_000]) == 50
    assert sum(counts[-1000:]) == 5


def test_a_draw_is_uniform_among_all_answers_of_its_stratum():
    cycles = []
    for seed in range(200):
        sample = AuditSample(AuditSize(0.01, 1), SITES, 100, random.Random(seed))
        for i in range(1000):
            sample.offer(answer(0, i))
        cycles += [injection.fault.cycle for injection in sample.draw()]
    assert len(cycles) == 2000
    counts = np.bincount(np.array(cycles) // 100, minlength=10)
    assert abs(counts - 200).max() < 60


def test_memory_is_bounded():
    sample = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    large = Corruption(1, "sram", tuple(range(4096)), bytes(4096), 9000)
    for i in range(5000):
        sample.offer(answer(i % 3000, i, how="left", corruption=large))
    held = [injection for stratum in sample._held.values() for injection in stratum]
    assert len(held) == 600
    assert all(injection.corruption is None for injection in held)
    few = AuditSample(NOTHING, SITES, 100, random.Random(1))
    few.offer(answer(1))
    assert few.draw() == []
    assert few.tally == {"vanished": (1, 0)}


@pytest.fixture(scope="module")
def parts(repository):
    target = awkward_target()
    workload = awkward_workload()
    return target, workload, elaborate(target)


def faults_of(parts, number):
    """As many of each element as of any other."""
    choose, offsets, chosen = random.Random(4), parts[2].sites.offsets, set()
    while len(chosen) < number:
        element = len(chosen) % (len(offsets) - 1)
        site = choose.randrange(offsets[element], offsets[element + 1])
        chosen.add(Fault(site, choose.randrange(290)))
    return sorted(chosen)


def test_every_kind_that_a_campaign_has_is_tried(parts):
    with VerilatorEngine(*parts, sweep=True) as engine:
        list(engine.run(faults_of(parts, 600)))
        assert len(engine.audits) >= 3
        assert all(found.tried for found in engine.audits.values())
        assert engine.audited < 60


@pytest.mark.parametrize("workers", [1, 2])
def test_one_wrong_answer_of_a_rare_kind_is_found_before_the_campaign_ends(parts, workers, monkeypatch):
    """The fault: a single wrong answer, of a kind of its own, among 600 right ones."""
    faults = faults_of(parts, 600)
    right = ConcurrentSimulator.outcomes

    def wrong(simulator, chunk, shortcuts):
        for done in right(simulator, chunk, shortcuts):
            if done.injection.fault == faults[17]:
                changed = dataclasses.replace(done.injection, output_hash="0" * 16)
                done = done._replace(injection=changed, how="left")
            yield done

    monkeypatch.setattr(ConcurrentSimulator, "outcomes", wrong)
    answered = []
    with VerilatorEngine(*parts, sweep=True) as engine, pytest.raises(AuditError) as raised:
        answered.extend(engine.run(faults, workers))
    assert raised.value.fault == faults[17]
    assert len(answered) == len(faults)


def test_answers_that_were_simulated_to_the_end_in_a_sweep_are_tried_too(parts, monkeypatch):
    """The fault: what a sweep simulates from the fault to the end is taken for granted, though it begins
    from a state that the sweep has made."""
    right = ConcurrentSimulator.outcomes

    def wrong(simulator, chunk, shortcuts):
        for done in right(simulator, chunk, shortcuts):
            if not done.early:
                done = done._replace(injection=dataclasses.replace(done.injection, status=77))
            yield done

    with VerilatorEngine(*parts, sweep=True, audit=NOTHING) as engine:
        list(engine.run(faults := faults_of(parts, 600)))
        assert engine.early_stops < len(faults)
    monkeypatch.setattr(ConcurrentSimulator, "outcomes", wrong)
    with VerilatorEngine(*parts, sweep=True) as engine, pytest.raises(AuditError, match="status=77"):
        list(engine.run(faults))


def test_what_an_earlier_session_kept_is_tried(parts):
    with VerilatorEngine(*parts) as engine:
        kept = list(engine.run(faults_of(parts, 120)))
    with VerilatorEngine(*parts) as engine:
        engine.audit_kept(kept, workers=2)
        seen = {f"{KEPT}: {injection.seen.value}" for injection in kept}
        assert set(engine.audits) == seen
        assert all(found.tried for found in engine.audits.values())
    rare = min((i.seen for i in kept), key=[i.seen for i in kept].count)
    spoilt = [dataclasses.replace(i, end_cycle=i.end_cycle + 1) if i.seen is rare else i for i in kept]
    assert spoilt != kept
    with VerilatorEngine(*parts) as engine, pytest.raises(AuditError, check=about("early stops")):
        engine.audit_kept(spoilt)
    beyond = [dataclasses.replace(kept[0], fault=Fault(0, 10**6))]
    with VerilatorEngine(*parts) as engine, pytest.raises(HarnessError, check=about("fault.cycle")):
        engine.audit_kept(beyond)


def test_everything_can_be_tried(parts):
    with VerilatorEngine(*parts, sweep=True, audit=EVERYTHING) as engine:
        faults = faults_of(parts, 150)
        list(engine.run(faults))
        assert engine.audited == len(faults)


def test_engines_of_a_campaign_share_the_audit_and_each_is_tried():
    counts = AuditCounts()
    samples = [AuditSample(AuditSize(), SITES, 100, random.Random(i), counts) for i in range(8)]
    tried = []
    for sample in samples:
        for number in range(200):
            sample.offer(answer(number % 3 * 1000, number))
        tried.append(len(sample.draw()))
    alone = AuditSample(AuditSize(), SITES, 100, random.Random(1))
    for number in range(1600):
        alone.offer(answer(number % 3 * 1000, number))
    assert min(tried) >= 1
    assert sum(tried) <= len(alone.draw()) + len(samples)
    assert sum(own.tried for sample in samples for own in sample.tally.values()) == sum(tried)
    assert sum(own.answers for sample in samples for own in sample.tally.values()) == 1600
