# SPDX-License-Identifier: Apache-2.0
"""The survey on the functional model of one size: what it computes is exact, the rest is refused when read.

`WRONG` names what neither holds for: networks whose numbers the compiler's stream makes differ. Campaigns on
them are refused before they inject; so every one of them has to be found by the comparison of golden outputs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.npu.survey.cases import CASES
from benchmarks.npu.survey.judge import DIFFERS, EXACT, REFUSED, SIZES, UNJUDGED, Outcome, both, judge
from benchmarks.npu.survey.rounding import by_compiler, by_reference
from benchmarks.npu.survey.wrong import UNCOMPARED, WRONG
from resil.cli import main
from resil.errors import ExitCode
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


@pytest.mark.parametrize("name", sorted(set(WRONG) - {"SOFTMAX map int16"}))
def test_whose_rounding_it_is(name):
    """The NPU computes what the compiler asks for, the reference what it says; both to the last level."""
    graph = next(case for case in CASES if case.name == name).graph()
    given = random_inputs(graph, 40, 1)
    found, expected = both(graph, given, NPU)
    assert (found != expected).any()
    assert np.array_equal(by_compiler(graph, given).reshape(found.shape), found)
    assert np.array_equal(by_reference(graph, given).reshape(found.shape), expected)
    assert np.abs(found.astype(int) - expected.astype(int)).max() == 1


def test_a_campaign_on_one_is_refused_or_says_so(tmp_path, capsys):
    graph = next(case for case in CASES if case.name == "SUM channels int8").graph()
    write_network(graph, tmp_path / "network.tflite")
    np.save(tmp_path / "x.npy", random_inputs(graph, 1, 1)[0][:, 0])
    file = tmp_path / "campaign.toml"
    file.write_text(CAMPAIGN)
    command = ["run", str(file), "--out", str(tmp_path / "run")]
    assert main(command) == ExitCode.USAGE
    assert "the first operation to differ is" in capsys.readouterr().err
    assert not (tmp_path / "run" / "summary.json").exists()
    assert main([*command, "--accept-golden"]) == ExitCode.MET
    assert "differ" in capsys.readouterr().out


CAMPAIGN = """
[campaign]
name = "sum"
seed = 1
[target]
name = "ethos-u55-32"
[network]
path = "network.tflite"
inputs = "x.npy"
[faults]
injections = 60
[technology]
name = "finfet-16nm"
[execution]
workers = 1
"""


def test_an_outcome_that_misleads_is_not_sound():
    assert not Outcome("x", NPU, "functional", DIFFERS).sound
    assert not Outcome("x", NPU, "functional", UNJUDGED).sound
    assert Outcome("x", NPU, "functional", REFUSED).sound
