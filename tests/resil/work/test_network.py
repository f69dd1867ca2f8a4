# SPDX-License-Identifier: Apache-2.0
"""Campaigns on networks as people have them."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.networks import oracle, zoo
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from resil.progress import Progress
from resil.results.summary_parts import network_record
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.workload import classify
from resil.rtl_harness.faults import Fault, Outcome, RunEnd
from resil.sensitivity.campaign_inference import infer_campaign
from resil.work.network import network_work
from testkit.errors import about
from tests.networks.dressed import with_computed_shapes, with_float_ends
from tests.networks.test_adapt import random_values, two_inputs, two_outputs

DIGITS = read_network(zoo.FOLDER / "digits.tflite")
TEXT = """
[campaign]
name = "networks"
seed = 1
[network]
path = "n.tflite"
inputs = "{inputs}"
{more}
[target]
name = "ethos-u55-32"
[faults]
injections = 10
[technology]
name = "finfet-16nm"
"""


@pytest.fixture
def campaign(tmp_path):
    def make(graph, more="", inputs="x.npy"):
        write_network(graph, tmp_path / "n.tflite")
        values = random_values(graph, 3, 8)
        np.save(tmp_path / "x.npy", values[0][:, 0])
        np.savez(tmp_path / "x.npz", *(array[:, 0] for array in values))
        text = TEXT.format(inputs=inputs, more=more)
        return parse_campaign(tmp_path / "c.toml", tomllib.loads(text)), values

    return make


def work(campaign):
    return network_work(campaign, campaign.network, load_target("ethos-u55-32"), Progress())


def test_float_ends_and_computed_shapes_run_as_the_plain_network(campaign, capsys):
    plain, _ = campaign(DIGITS)
    flash = work(plain).workloads[0][0].images["flash"]
    whole, values = campaign(with_computed_shapes(with_float_ends(DIGITS)))
    made = work(whole)
    assert made.labels == (0, 1, 2)
    assert made.workloads[0][0].images["flash"] == flash
    inferred = infer_campaign(whole, "ethos-u55-32")
    (expected,) = oracle.run_all(whole.network.path, values)
    for inference, one in zip(inferred.of_inputs, expected, strict=True):
        last = inference.feature_map(inference.operations - 1).reshape(-1)
        assert int(np.argmax(last)) == int(np.argmax(one))
    said = network_record(made.facts, []).remarks
    assert len(said) == 3
    err = capsys.readouterr().err
    assert all(f"resil: {line}" in err for line in said)


def test_several_inputs_come_from_one_file(campaign):
    whole, _ = campaign(with_float_ends(two_inputs()), "output = 1", "x.npz")
    made = work(whole)
    assert len(made.workloads) == 3
    assert made.facts.decision == "top1 of most_float32"
    again = parse_campaign(whole.file, tomllib.loads(campaign_text(whole)))
    assert again.network == whole.network
    one, _ = campaign(two_inputs(), "output = 1")
    with pytest.raises(CampaignError, check=about("inputs")):
        work(one)


@pytest.mark.parametrize("more", ["", "output = 2", 'output = "conv9"'])
def test_the_output_of_a_decision_has_to_be_stated(campaign, more):
    whole, _ = campaign(two_outputs(DIGITS), more)
    with pytest.raises(CampaignError, check=about("network.output")):
        work(whole)


@pytest.mark.parametrize("more", ["output = -1", "output = true", "output = 1.5"])
def test_an_output_is_a_name_or_a_number(campaign, more):
    with pytest.raises(CampaignError, check=about("network.output")):
        campaign(two_outputs(DIGITS), more)


def outcome(workload, golden, changed):
    ends = [RunEnd(True, 9, 0, output, "state") for output in (golden, changed)]
    return classify(Fault(0, 0), *ends, workload).outcome


def test_all_outputs_are_compared_and_the_stated_one_decides(campaign):
    """What is only seen in another output is an SDC, tolerable; for `exact` it is critical."""
    stated, _ = campaign(two_outputs(DIGITS), 'output = "logits"')
    workload = work(stated).workloads[0][0]
    assert [spec.shape for spec in workload.outputs] == [(1, 10), (1, 4, 4, 16)]
    golden = bytes(range(10)) + bytes(256)
    other = golden[:-1] + b"\1"
    decided = bytes([127, *range(1, 10)]) + bytes(256)
    assert outcome(workload, golden, golden) is Outcome.MASKED
    assert outcome(workload, golden, other) is Outcome.SDC_TOLERABLE
    assert outcome(workload, golden, decided) is Outcome.SDC_CRITICAL
    assert "where only conv2 differ, an SDC counts as tolerable" in work(stated).facts.remarks[-1]
    everything, _ = campaign(two_outputs(DIGITS), 'decision = "exact"')
    made = work(everything)
    assert outcome(made.workloads[0][0], golden, other) is Outcome.SDC_CRITICAL
    assert made.facts.remarks == ()
    one, _ = campaign(two_outputs(DIGITS), 'decision = "exact"\noutput = "logits"')
    made = work(one)
    ranked = bytes([1, *range(1, 10)]) + bytes(256)
    assert outcome(made.workloads[0][0], golden, other) is Outcome.SDC_TOLERABLE
    assert outcome(made.workloads[0][0], golden, ranked) is Outcome.SDC_CRITICAL
    assert "where only conv2 differ, an SDC counts as tolerable" in made.facts.remarks[-1]


def test_the_functional_model_sees_every_output_too(campaign):
    stated, _ = campaign(two_outputs(DIGITS), 'output = "logits"')
    inference = infer_campaign(stated, "ethos-u55-32").of_inputs[0]
    last = inference.operations - 1
    logits = inference.feature_map(last)
    worse = np.where(logits == logits.max(), -128, logits).astype(logits.dtype)
    assert inference.outcomes(last, [logits, worse]) == [Outcome.MASKED, Outcome.SDC_CRITICAL]
    seen = inference.feature_map(1)
    changed = seen.copy()
    changed.reshape(-1)[0] ^= 1
    assert inference.outcomes(1, [changed])[0] in (Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL)
    alone, _ = campaign(DIGITS)
    other = infer_campaign(alone, "ethos-u55-32").of_inputs[0]
    assert other.output_hash != inference.output_hash
