# SPDX-License-Identifier: Apache-2.0
"""Upsets of memory outside the NPU: every answer of the model is tried on the RTL here."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import AuditError, HarnessError
from resil.rtl_harness.faults import Fault, Outcome
from resil.rtl_harness.npu.memory_engine import (
    ACTIVATIONS,
    WEIGHTS,
    MemoryEngine,
    memory_sites,
    remainder,
)
from resil.rtl_harness.npu.workload import npu_workload
from testkit.errors import about


def made(name: str, **options) -> MemoryEngine:
    known = zoo.load(name)
    compiled = compile_network(known.path, "ethos-u55-32")
    workload = npu_workload(compiled, known.shipped.inputs[0])
    return MemoryEngine(load_target("ethos-u55-32"), workload, memory_sites(workload), **options)


def drawn(engine: MemoryEngine, kind: str, count: int, seed: int = 3) -> list[Fault]:
    sites = engine._sites
    place = [e.kind for e in sites.elements].index(kind)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(sites.elements[place].bits, count, replace=False) + sites.offsets[place]
    cycles = rng.integers(0, engine.golden().cycles, count) * (kind == ACTIVATIONS)
    return [Fault(int(site), int(cycle)) for site, cycle in zip(chosen, cycles, strict=True)]


@pytest.fixture(scope="module")
def digits() -> MemoryEngine:
    return made("digits")


def test_each_upset_of_weights_ends_as_on_the_rtl_broken_streams_included(digits):
    found = Counter(digits.replay(fault).outcome for fault in drawn(digits, WEIGHTS, 60))
    assert {Outcome.MASKED, Outcome.SDC_TOLERABLE, Outcome.DUE} <= set(found)


# Tables in the shared buffer and copies of weights to the SRAM: mnist_vgg and mnist_residual have both.
@pytest.mark.parametrize(("name", "count"), [("digits", 40), ("mnist_residual", 12), ("mnist_vgg", 12)])
def test_each_upset_of_activations_ends_as_on_the_rtl(name, count):
    engine = made(name)
    found = Counter(engine.replay(fault).outcome for fault in drawn(engine, ACTIVATIONS, count))
    assert len(found) >= 2


def test_an_upset_after_the_last_operation_reaches_the_host(digits):
    sites, output = digits._sites, digits._workload.output
    place = [e.kind for e in sites.elements].index(ACTIVATIONS)
    last = digits.golden().cycles - 1
    assert last >= digits.golden().operation_ends[-1]
    fault = Fault(sites.offsets[place] + 8 * output.offset + 6, last)
    assert digits.replay(fault).outcome in (Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL)


def test_weights_have_no_cycle_and_a_cluster_flips_the_bits_above(digits):
    one = drawn(digits, WEIGHTS, 1)[0]
    base = one.site - one.site % 8
    cluster = Fault(base + 2, 0, bits=3)
    struck = digits._struck(digits._constants, [cluster])[0]
    assert (struck ^ digits._constants).sum() == 0b11100
    digits.replay(cluster)


def test_run_answers_for_all_and_tries_some(digits):
    before = digits.audits["functional model"]
    faults = [*drawn(digits, WEIGHTS, 50, 5), *drawn(digits, ACTIVATIONS, 50, 5)]
    found = {i.fault: i for i in digits.run(faults)}
    assert set(found) == set(faults)
    after = digits.audits["functional model"]
    assert after.answers - before.answers == 100
    assert after.tried - before.tried >= 8
    assert [found[f] for f in faults[:3]] == [digits.replay(f) for f in faults[:3]]


def test_a_model_that_decodes_in_another_way_is_refuted(monkeypatch):
    engine = made("digits")
    faults = drawn(engine, WEIGHTS, 40)
    monkeypatch.setattr(engine, "_constants", engine._constants.copy())
    honest = engine._model.run

    def blind(commands, regions, **options):
        undamaged = np.repeat(engine._constants[None], len(regions[0]), axis=0)
        return honest(commands, {**regions, 0: undamaged}, **options)

    monkeypatch.setattr(engine._model, "run", blind)
    with pytest.raises(AuditError, check=about("model")):
        list(engine.run(faults))


def test_a_hang_on_the_rtl_is_no_answer_of_the_model():
    engine = made("digits", timeout_factor=0.9)
    with pytest.raises(AuditError, match="HANG"):
        list(engine.run(drawn(engine, WEIGHTS, 10)))


def test_the_rest_of_a_stream_sets_what_was_set_and_does_what_is_left(digits):
    stream, program = digits._compiled.commands, digits._program
    assert remainder(stream, 0) is stream
    for done in range(1, len(program.operations) + 1):
        rest = digits._model.lower(remainder(stream, program.resume_word(done)), frozenset({0}))
        left = [step.action.config for step in program.operations[done:]]
        assert [step.action.config for step in rest.operations] == left


def test_another_workload_has_no_such_memory():
    known = zoo.load("digits")
    compiled = compile_network(known.path, "ethos-u55-32")
    twice = npu_workload(compiled, known.shipped.inputs[0], again="reset")
    with pytest.raises(HarnessError, check=about("workload")):
        memory_sites(twice)
