# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.networks import reference, zoo
from resil.networks.compile import compile_network
from resil.networks.tflite_reader import read_network
from resil.rtl_harness.faults import Outcome
from resil.sensitivity.campaign_inference import infer_campaign
from resil.work.decisions import network_decision
from testkit.errors import about

TEXT = """
[campaign]
name = "decisions"
seed = 1
[network]
path = "{path}"
inputs = {inputs}
{more}
[target]
name = "ethos-u55-32"
[faults]
injections = 10
[technology]
name = "finfet-16nm"
"""


@pytest.fixture(scope="module")
def autoencoder():
    return zoo.load("mnist_autoencoder")


@pytest.fixture
def campaign(tmp_path):
    np.save(tmp_path / "inputs.npy", np.zeros((1, 196), np.int8))

    def make(path, more="", inputs="[0, 1]"):
        text = TEXT.format(path=path, inputs=inputs, more=more)
        return parse_campaign(tmp_path / "c.toml", tomllib.loads(text))

    return make


def rule(campaign, path):
    return network_decision(campaign, campaign.network, compile_network(path, "ethos-u55-32"))


def test_an_autoencoder_decides_by_its_reconstruction_error(campaign, autoencoder):
    found = rule(campaign("zoo:mnist_autoencoder"), autoencoder.path)
    assert found.name == f"reconstruction error above {autoencoder.threshold:g}"
    inputs = autoencoder.heldout_inputs[:200]
    outputs = reference.run(read_network(autoencoder.path), inputs)
    alarms = [found.of_input([given])(drawn) for given, drawn in zip(inputs, outputs, strict=True)]
    assert alarms == autoencoder.decisions(inputs, outputs).astype(bool).tolist()
    assert 0 < sum(alarms) < 200


@pytest.mark.parametrize("shape", [(196,), (1, 196), (1, 1, 196)])
def test_axes_of_one_do_not_matter(campaign, autoencoder, shape):
    decide = rule(campaign("zoo:mnist_autoencoder"), autoencoder.path).of_input(
        [autoencoder.heldout_inputs[0]]
    )
    assert decide(np.full(shape, 127, np.int8)) is True


def test_classifiers_decide_by_the_largest_output(campaign):
    found = rule(campaign("zoo:digits"), zoo.load("digits").path)
    assert found.name == "top1"
    assert found.of_input([np.zeros((8, 8, 1), np.int8)])(np.array([3, 9, 9])) == 1


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ('decision = "top1"', "top1"),
        ('decision = "exact"', "exact"),
        ('decision = "reconstruction"', "reconstruction error above 0.0299419"),
        ('decision = "reconstruction"\nthreshold = 0.5', "reconstruction error above 0.5"),
    ],
)
def test_the_campaign_has_the_last_word(campaign, autoencoder, more, name):
    own = campaign("zoo:mnist_autoencoder", more)
    assert rule(own, autoencoder.path).name == name
    again = parse_campaign(own.file, tomllib.loads(campaign_text(own)))
    assert again.network == own.network


def test_a_file_takes_its_own_threshold(campaign, autoencoder):
    own = campaign(autoencoder.path, 'decision = "reconstruction"\nthreshold = 0.03', '"inputs.npy"')
    assert rule(own, autoencoder.path).name == "reconstruction error above 0.03"
    without = campaign(autoencoder.path, 'decision = "reconstruction"', '"inputs.npy"')
    with pytest.raises(CampaignError, check=about("network.threshold")):
        rule(without, autoencoder.path)


def test_what_draws_no_input_has_no_reconstruction_error(campaign):
    own = campaign("zoo:digits", 'decision = "reconstruction"\nthreshold = 0.1')
    with pytest.raises(CampaignError, check=about("network.decision")):
        rule(own, zoo.load("digits").path)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ('decision = "best"', "network.decision"),
        ("threshold = 0.1", "network.threshold"),
        ('decision = "top1"\nthreshold = 0.1', "network.threshold"),
        ('decision = "reconstruction"\nthreshold = -1', "network.threshold"),
    ],
)
def test_a_wrong_rule_is_named(campaign, more, field):
    with pytest.raises(CampaignError, check=about(field)):
        campaign("zoo:mnist_autoencoder", more)


def test_a_worse_drawing_is_critical_only_above_the_threshold(campaign, autoencoder):
    known = campaign("zoo:mnist_autoencoder")
    inferred = infer_campaign(replace(known, work=replace(known.network, inputs=(0,))), "ethos-u55-32")
    inference = inferred.of_inputs[0]
    last = inference.operations - 1
    good = inference.feature_map(last)
    near, far = good.copy(), np.full_like(good, 127)
    near.reshape(-1)[0] ^= 1
    assert inference.outcomes(last, [near, far]) == [Outcome.SDC_TOLERABLE, Outcome.SDC_CRITICAL]
    exact = campaign("zoo:mnist_autoencoder", 'decision = "exact"')
    assert infer_campaign(exact, "ethos-u55-32").of_inputs[0].outcomes(last, [near]) == [Outcome.SDC_CRITICAL]
