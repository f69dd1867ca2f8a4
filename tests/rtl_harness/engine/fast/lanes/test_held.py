# SPDX-License-Identifier: Apache-2.0
"""Stuck bits in lanes end as by themselves; a lane model that holds them otherwise is seen."""

import pickle
import random

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.engine.fast import acceleration
from resil.rtl_harness.engine.fast import engine as engines
from resil.rtl_harness.engine.fast.audit_sample import NOTHING, AuditSize
from resil.rtl_harness.engine.fast.concurrent_simulator import LANES_DIFFER
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.lanes import build
from resil.rtl_harness.engine.fast.native.held_lanes import HeldLanes
from resil.rtl_harness.engine.fast.native.injector import Shortcut
from resil.rtl_harness.engine.timeout import Timeout
from resil.rtl_harness.errors import AuditError
from resil.rtl_harness.faults import Fault, Seen
from testkit.errors import about
from tests.rtl_harness.engine.fast.lanes.test_machines import ALERTED, ARRAYS, TARGET, WORKLOAD
from tests.rtl_harness.engine.fast.lanes.test_seeded import CELLS, seed


def every(target):
    table = elaborate(target).sites
    return [Fault(site, 0, held=value) for site in range(table.size) for value in (0, 1)]


def answers(target, faults, lanes, workers=1, **options):
    """Return injections, notes, how many were audited, and the faults that were in a lane."""
    with VerilatorEngine(target, WORKLOAD, elaborate(target), lanes=lanes, **options) as made:
        in_lane = set()
        made.observer = lambda done: done.in_lane and in_lane.add(done.injection.fault)
        found = {one.fault: one for one in made.run(faults, workers=workers)}
        return found, made.notes, made.audited, in_lane


@pytest.fixture(scope="module", params=[TARGET, ALERTED, ARRAYS], ids=lambda target: target.name)
def target(request):
    return request.param


@pytest.fixture(scope="module")
def plain(target):
    """Every stuck bit there is, from reset to the end."""
    return answers(target, every(target), False, shortcuts=Shortcut.NONE, audit=NOTHING)[0]


def test_stuck_bits_end_as_by_themselves(target, plain):
    found, notes, audited, in_lane = answers(target, list(plain), True, audit=AuditSize(0, 40, 40))
    assert found == plain
    assert notes == []
    assert audited == 40
    assert len({own.seen for own in plain.values()}) >= 3
    assert len({found[fault].seen for fault in in_lane}) >= 3
    # Those of memories, and those that have no effect, are not.
    memory = {f for f in plain if elaborate(target).sites[f.site].element.kind == "sram"}
    assert len(memory) == (0 if target is ARRAYS else 2 * 16 * 72)
    assert not memory & in_lane
    assert 100 < len(in_lane) < len(plain) - len(memory)


@pytest.mark.parametrize("path", build.paths()[1:])
def test_stuck_bits_end_alike_however_lanes_compute(path, plain, target, monkeypatch):
    monkeypatch.setattr(build, "path", lambda: path)
    some = random.Random(4).sample(list(plain), 400)
    found, notes, _, in_lane = answers(target, some, True, audit=NOTHING)
    assert found == {fault: plain[fault] for fault in some}
    assert notes == []
    assert len(in_lane) > 30


@pytest.mark.parametrize(("factor", "hangs"), [(1.03, 5), (2.0, 0)])
def test_the_timeout_of_an_operation_ends_them_alike(target, factor, hangs):
    faults = random.Random(6).sample(every(target), 600)
    options = {"timeout": Timeout.OPERATION, "timeout_factor": factor, "audit": NOTHING}
    plain, *_ = answers(target, faults, False, shortcuts=Shortcut.NONE, **options)
    found, notes, _, in_lane = answers(target, faults, True, workers=2, **options)
    assert found == plain
    assert notes == []
    assert sum(plain[fault].seen is Seen.HANG for fault in in_lane) >= hangs


def test_a_detection_ends_them_alike():
    faults = every(ALERTED)
    options = {"until_detection": True, "audit": NOTHING}
    plain, *_ = answers(ALERTED, faults, False, shortcuts=Shortcut.NONE, **options)
    found, _, _, in_lane = answers(ALERTED, faults, True, **options)
    assert found == plain
    assert sum(plain[fault].detected is not None for fault in in_lane) > 5


@pytest.mark.parametrize("what", CELLS)
def test_lanes_that_differ_are_closed_and_no_row_is_wrong(what, monkeypatch):
    faults = every(TARGET)
    plain, *_ = answers(TARGET, faults, False, audit=NOTHING)
    seed(monkeypatch, what, *CELLS[what])
    found, notes, *_ = answers(TARGET, faults, True, audit=NOTHING)
    assert notes == [LANES_DIFFER]
    assert found == plain


def test_lanes_that_differ_after_answers_were_given_are_an_error(monkeypatch):
    """As if the running comparison had met the fault late: what was answered cannot be taken back."""
    asked = iter([False])
    monkeypatch.setattr(engines, "HELD_TOGETHER", 100)
    monkeypatch.setattr(HeldLanes, "differ", property(lambda self: next(asked, True)))
    with pytest.raises(AuditError, check=about("gates")) as error:
        answers(TARGET, every(TARGET), True)
    assert pickle.loads(pickle.dumps(error.value)).fault == error.value.fault


def test_lanes_are_used_where_they_pay(monkeypatch):
    faults = every(TARGET)[:64]
    assert answers(TARGET, faults, None, audit=NOTHING)[3] == set()
    answers(TARGET, faults, True, audit=NOTHING)  # made
    monkeypatch.setattr(acceleration, "pays", lambda: True)
    monkeypatch.setattr(acceleration, "HELD_LANES_FROM", 1000)
    assert len(answers(TARGET, faults, None, audit=NOTHING)[3]) > 5
    monkeypatch.setattr(acceleration, "is_made", lambda *_: False)
    assert answers(TARGET, faults, None, audit=NOTHING)[3] == set()
    monkeypatch.setattr(acceleration, "pays", lambda: False)
    monkeypatch.setattr(acceleration, "HELD_LANES_MADE_FROM", 1000)
    assert answers(TARGET, faults, None, audit=NOTHING)[3] == set()
