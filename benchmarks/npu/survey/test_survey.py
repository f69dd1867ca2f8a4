# SPDX-License-Identifier: Apache-2.0
"""The survey on the functional model of one size: what it computes is exact, the rest is refused when read.

`WRONG` names what neither holds for: networks whose numbers the compiler's stream makes differ. Campaigns on
them are refused before they inject; so every one of them has to be found by the comparison of golden outputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.npu.survey.cases import CASES
from benchmarks.npu.survey.judge import DIFFERS, EXACT, REFUSED, SIZES, UNJUDGED, Outcome, judge
from benchmarks.npu.survey.wrong import UNCOMPARED, WRONG
from resil.networks.compile import compile_network
from resil.networks.generate import random_inputs
from resil.networks.tflite_writer import write_network
from resil.work.golden import comparison
from resil.work.inference import Inference

NPU = SIZES[2]
KINDS = sorted({case.kind for case in CASES})


def test_each_case_is_drawn_once_and_alike():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names) > 200
    assert set(WRONG) | set(UNCOMPARED) <= set(names)


@pytest.mark.parametrize("kind", KINDS)
def test_exact_or_refused(kind):
    for case in CASES:
        if case.kind != kind:
            continue
        found = judge(case, NPU, inputs=3)
        allowed = {EXACT, REFUSED}
        allowed |= {DIFFERS} if case.name in WRONG else set()
        allowed |= {UNJUDGED} if case.name in UNCOMPARED else set()
        assert found.state in allowed, found


@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_differs_is_found_before_a_campaign_injects(name, tmp_path):
    case = next(case for case in CASES if case.name == name)
    graph, path = case.graph(), tmp_path / "network.tflite"
    write_network(graph, path)
    compiled = compile_network(path, NPU)
    for count in (8, 3):
        drawn = random_inputs(graph, count, 1)
        by_name = {graph.tensors[i].name: v for i, v in zip(graph.inputs, drawn, strict=True)}
        inputs = [tuple(by_name[slot.name][i] for slot in compiled.inputs) for i in range(count)]
        outputs = [Inference(compiled, own).outputs for own in inputs]
        found = comparison(Path(path), compiled, inputs, outputs)
        if found.state == DIFFERS:
            break
    assert found.state == DIFFERS
    assert case.kind in found.text or "the first operation to differ" in found.text


def test_an_outcome_that_misleads_is_not_sound():
    assert not Outcome("x", NPU, "functional", DIFFERS).sound
    assert not Outcome("x", NPU, "functional", UNJUDGED).sound
    assert Outcome("x", NPU, "functional", REFUSED).sound
