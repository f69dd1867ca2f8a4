# SPDX-License-Identifier: Apache-2.0
"""Bytes that a copy has under way, or that decide how long decoding takes, keep a run in the RTL."""

import random
from dataclasses import replace

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.fast.native.injector import Flip
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.npu.model.program import Copy, Execute
from resil.rtl_harness.npu.workload import npu_workload
from testkit.npu.model_support import command, setting, stream

EACH = 8


@pytest.fixture(scope="module")
def parts():
    network, target = zoo.load("digits_separable"), load_target("ethos-u55-32")
    workload = npu_workload(compile_network(network.path, "ethos-u55-32"), network.heldout_inputs[0])
    return target, workload, elaborate(target, workload.parameters)


def places(parts, engine):
    """Bytes of the memory, a cycle before the end of an operation, whether they are unsettled there."""
    choose, target, workload = random.Random(6), parts[0], parts[1]
    chosen = []
    for operation, cycle in enumerate(engine.golden().operation_ends, 1):
        unsettled = [byte for piece in workload.tail.unsettled(operation) for byte in piece]
        settled = sorted(
            set(range(workload.words["sram"] * target.memories["sram"].word_bytes)) - {*unsettled}
        )
        for bytes_, number in ((unsettled, EACH), (settled, 2)):
            some = choose.sample(bytes_, min(number, len(bytes_)))
            chosen += [(byte, cycle - 3, bytes_ is unsettled) for byte in some]
    return chosen


def test_runs_that_differ_there_do_not_leave(parts, monkeypatch):
    """The fault: such a byte differs at the end of an operation, and the run is finished by the model, which
    knows nothing of the time that decoding takes or of what a copy has read already."""
    with VerilatorEngine(*parts, sweep=True, audit=EVERYTHING) as engine:
        memory = parts[0].memories["sram"]
        storage, chosen = engine._model.map.storage(memory.path), places(parts, engine)

        def flips(fault):
            word, byte = divmod(chosen[fault.site][0], memory.word_bytes)
            return [Flip(storage, word, 8 * byte + bit) for bit in (0, 3, 6)]

        monkeypatch.setattr(engine._model.map, "flips", flips)
        faults = [Fault(number, cycle) for number, (_, cycle, _) in enumerate(chosen)]
        later = [i for i in engine.run(faults) if i.end_cycle != engine.golden().cycles]
        assert sum(chosen[injection.fault.site][2] for injection in later) > 3
        assert engine.ends["left"] > 3
        assert engine.audited == len(faults)


@pytest.fixture(scope="module")
def early(parts):
    """The same network, but weights of its third operation are copied before the first."""
    target, workload, elaboration = parts
    compiled = workload.tail.compiled
    copies = [step for step in workload.tail._program.steps if isinstance(step.action, Copy)]
    copy, word = copies[1].action, copies[1].word
    first = (
        *(setting("DMA0_SRC_REGION", copy.source_region), setting("DMA0_SRC", copy.source)),
        *(setting("DMA0_DST_REGION", copy.destination_region), setting("DMA0_DST", copy.destination)),
        *(setting("DMA0_LEN", copy.length), command("OP_DMA_START")),
    )
    commands = np.concatenate([stream(*first), compiled.commands[:word], compiled.commands[word + 1 :]])
    network = zoo.load("digits_separable")
    moved = npu_workload(replace(compiled, commands=commands), network.heldout_inputs[0])
    executed = [s.action.config for s in moved.tail._program.steps if isinstance(s.action, Execute)]
    return (target, moved, elaboration), executed[2].weights


def test_runs_with_wrong_weights_that_wait_do_not_leave(early, monkeypatch):
    """The fault: weights differ that no copy has under way any more, and the run is finished by the model,
    which knows nothing of the time that decoding takes."""
    parts, weights = early
    with VerilatorEngine(*parts, sweep=True, audit=EVERYTHING) as engine:
        end = engine.golden().operation_ends[1]
        assert engine.notes == []
        memory, choose = parts[0].memories["sram"], random.Random(7)
        first = parts[1].tail.regions[weights.region] + weights.base
        bytes_ = sorted(choose.sample(range(first, first + weights.length), 6 * EACH))

        def flips(fault):
            word, byte = divmod(bytes_[fault.site], memory.word_bytes)
            return [Flip(engine._model.map.storage(memory.path), word, 8 * byte + bit) for bit in (0, 3, 6)]

        monkeypatch.setattr(engine._model.map, "flips", flips)
        faults = [Fault(number, end - 3) for number in range(len(bytes_))]
        later = [i for i in engine.run(faults) if i.end_cycle != engine.golden().cycles]
        assert len(later) > 3
        assert engine.audited == len(faults)
