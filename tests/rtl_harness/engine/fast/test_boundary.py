# SPDX-License-Identifier: Apache-2.0
"""What is said of the end of an operation is taken bit by bit, and where it holds."""

import dataclasses

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast import exits
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.liveness_cache import cached_dead_storage
from resil.rtl_harness.npu.workload import npu_workload
from tests.rtl_harness.engine.fast.boundaries import flip_at, leaving


@pytest.fixture
def engine():
    target, digits = load_target("ethos-u55-32"), zoo.load("digits")
    workload = npu_workload(compile_network(digits.path, target.name), digits.heldout_inputs[0])
    with VerilatorEngine(target, workload, elaborate(target, workload.parameters), sweep=True) as made:
        made.golden()
        yield made


def changed(engine, **changes):
    exits = engine._golden.exits
    exits.boundaries = dataclasses.replace(exits.boundaries, **changes)


def test_of_a_byte_the_dead_bits_alone_are_dead(engine, monkeypatch):
    """The fault: a run leaves with a wrong bit beside one that no longer matters."""
    chosen = []

    def halved(*arguments):
        found = cached_dead_storage(*arguments)
        bits = [part.copy() for part in found.bits]
        whole = np.flatnonzero(bits[0]["mask"] == 0xFF)[:40]
        bits[0]["mask"][whole] = 0x0F
        chosen[:] = bits[0]["offset"][whole].tolist()
        return found._replace(bits=bits)

    monkeypatch.setattr(exits, "cached_dead_storage", halved)
    engine.prepare()
    flips = [[flip_at(engine, offset, bit)] for offset in chosen for bit in (0, 7)]
    left = leaving(engine, 0, flips)
    assert left <= set(range(0, len(flips), 2))
    assert len(left) > len(chosen) // 2


def test_what_is_dead_once_a_fault_is_detected_is_not_dead_before(engine, monkeypatch):
    """The fault: a run leaves with a wrong bit of which an alarm has still to tell."""
    chosen, find_dead = [], exits.Exits.find_dead

    def more(self, *arguments):
        find_dead(self, *arguments)
        dead = self.boundaries.dead[0]
        known = set(dead["offset"].tolist())
        chosen[:] = [s.offset for s in engine.model.map.registers if s.offset not in known][:20]
        added = np.array([(offset, 0xFF) for offset in chosen], dead.dtype)
        every = np.sort(np.concatenate([dead, added]), order="offset")
        after = [every, *self.boundaries.dead[1:]]
        self.boundaries = dataclasses.replace(self.boundaries, after_detected=after)

    monkeypatch.setattr(exits.Exits, "find_dead", more)
    engine.prepare()
    assert len(chosen) == 20
    assert leaving(engine, 0, [[], *([flip_at(engine, offset, 0)] for offset in chosen)]) == {0}


def test_a_queue_that_holds_something_may_not_be_turned(engine):
    """The fault: the pointers of a queue are turned away from what is in it, and the run leaves."""
    queue = engine._golden.exits.boundaries.queues[0]
    end = engine.golden().operation_ends[0]
    turned = [flip_at(engine, offset, 0) for offset in (queue.first, queue.next)]
    assert leaving(engine, 0, [[], turned, turned[:1], turned[1:]]) == {0, 1}
    with engine.start() as instance:
        instance.run_to(end)
        state = np.array(instance.state)
    busy = next(s.offset for s in engine._model.map.registers if state[s.offset] != 0)
    changed(engine, queues=[queue._replace(level=busy, level_bytes=1)])
    engine._acceleration.close()
    assert leaving(engine, 0, [[], turned]) == {0}
