# SPDX-License-Identifier: Apache-2.0
"""A detector by campaign file: what is read from two outputs, and what an upset of them is."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.networks.decision import real_values
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.quantise import quantise
from resil.networks.tflite_writer import write_network
from resil.progress import Progress
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.workload import classify
from resil.rtl_harness.faults import Fault, Outcome, RunEnd
from resil.sensitivity.campaign_inference import infer_campaign
from resil.study.folder import work_digest
from resil.work.network import network_work
from testkit.errors import about

TEXT = """
[campaign]
name = "detector"
seed = 1
[network]
path = "detector.tflite"
inputs = "inputs.npy"
decision = "detection"
[network.detection]
boxes = "boxes"
scores = "scores"
{more}
[target]
name = "ethos-u55-32"
[faults]
injections = 10
[technology]
name = "finfet-16nm"
"""
USUAL = 'activation = "sigmoid"\nanchors = "anchors.npy"\nscales = [10.0, 10.0, 5.0, 5.0]'
CELLS, CLASSES = 4, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A detector of bright spots: of a class by colour, in the cell where they are."""
    made = tmp_path_factory.mktemp("detector")
    generator = np.random.default_rng(3)
    window = Window((2, 2), (2, 2), "SAME")
    see = np.einsum("oi,hw->ohwi", np.eye(3), np.ones((2, 2))) / 4
    boxes = 0.5 * generator.normal(size=(4, 1, 1, 3))
    scores = 12.0 * np.eye(3).reshape(3, 1, 1, 3)
    one = Window((1, 1), (1, 1), "SAME")
    network = FloatNetwork(
        "detector",
        (8, 8, 3),
        (
            FloatLayer("see", "CONV_2D", see, np.zeros(3), window, relu6=True),
            FloatLayer("boxes", "CONV_2D", boxes, np.zeros(4), one, sources=("see",)),
            FloatLayer("scores", "CONV_2D", scores, np.full(3, -6.0), one, sources=("see",)),
        ),
        ("boxes", "scores"),
    )
    spots = np.zeros((2, 8, 8, 3))
    spots[0, 2:4, 4:6, 1] = spots[0, 6:8, 0:2, 2] = 1.0
    spots[1, 2:4, 4:6, 0] = 1.0
    graph = quantise(network, spots)
    write_network(graph, made / "detector.tflite")
    np.save(made / "inputs.npy", spots.astype(np.float32))
    np.save(made / "dark.npy", np.zeros((2, 8, 8, 3), np.float32))
    middle = (np.arange(CELLS) + 0.5) / CELLS
    y, x = np.meshgrid(middle, middle, indexing="ij")
    anchors = np.stack([y, x, np.full_like(y, 0.25), np.full_like(y, 0.25)], axis=-1).reshape(-1, 4)
    np.save(made / "anchors.npy", anchors)
    np.save(made / "short.npy", anchors[1:])
    np.save(made / "flat.npy", anchors * [1, 1, 0, 1])
    return made


@pytest.fixture
def campaign(folder):
    def make(more=USUAL, **changes):
        text = TEXT.format(more=more)
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        return parse_campaign(folder / "c.toml", tomllib.loads(text))

    return make


def work(made):
    return network_work(made, made.network, load_target("ethos-u55-32"), Progress())


def outcome(workload, golden, changed):
    ends = [RunEnd(True, 9, 0, output, "state") for output in (golden, changed)]
    return classify(Fault(0, 0), *ends, workload).outcome


def test_the_decision_is_what_is_kept_of_both_outputs(campaign):
    made = work(campaign())
    inference = infer_campaign(campaign(), "ethos-u55-32").of_inputs[0]
    outputs = inference.outputs
    workload = made.workloads[0][0]
    golden = b"".join(tensor.tobytes() for tensor in outputs)
    decision = workload.decision(golden)
    assert sorted(decision.classes.tolist()) == [1, 2]
    assert made.facts.remarks == ()
    drawn, said = (tensor.reshape(CELLS, CELLS, -1).copy() for tensor in outputs)

    def after(boxes=drawn, scores=said):
        return outcome(workload, golden, boxes.tobytes() + scores.tobytes())

    def changed(tensor, place, value):
        other = tensor.copy()
        other[place] = value
        return other

    assert after() is Outcome.MASKED
    assert after(scores=changed(said, (1, 2, 1), -128)) is Outcome.SDC_CRITICAL, "a box is lost"
    assert after(scores=changed(said, (0, 0, 0), 127)) is Outcome.SDC_CRITICAL, "one comes new"
    swapped = said.copy()
    swapped[1, 2] = swapped[1, 2][::-1] if swapped[1, 2].argmax() == 0 else np.roll(swapped[1, 2], 1)
    assert after(scores=swapped) is Outcome.SDC_CRITICAL, "another class"
    assert after(boxes=changed(drawn, (0, 0), 127)) is Outcome.SDC_TOLERABLE, "a box that nobody keeps"
    slight = drawn.copy()
    slight[1, 2, 0] ^= 1
    assert after(boxes=slight) is Outcome.SDC_TOLERABLE, "it hardly moves"
    anchored = campaign(USUAL.replace("10.0, 10.0", "0.5, 0.5"))
    far = work(anchored).workloads[0][0]
    ends = drawn.tobytes() + said.tobytes(), changed(drawn, (1, 2, 0), 127).tobytes() + said.tobytes()
    assert outcome(far, *ends) is Outcome.SDC_CRITICAL, "it moves away"


def test_real_values_are_those_of_each_output(campaign):
    made = campaign()
    inference = infer_campaign(made, "ethos-u55-32")
    detector = inference.decision.detector
    outputs = inference.of_inputs[0].outputs
    (boxes, drawn), (scores, said) = detector.boxes, detector.scores
    assert drawn.scale != said.scale
    expected = detector.rule.detect(real_values(outputs[boxes], drawn), real_values(outputs[scores], said))
    assert inference.decision.of_input([])(outputs[0]) if False else len(expected) == 2
    assert inference.decision.of_input([]).rule(outputs) == expected


def test_the_file_is_read_back_and_all_of_the_rule_is_part_of_what_a_campaign_is(campaign, folder):
    made = campaign()
    again = parse_campaign(made.file, tomllib.loads(campaign_text(made)))
    assert again.network == made.network
    names, digests = set(), set()
    for more in (
        USUAL,
        USUAL.replace("5.0, 5.0", "5.0, 4.0"),
        USUAL.replace("sigmoid", "softmax"),
        *(f"{USUAL}\n{key}" for key in ("threshold = 0.4", "overlap = 0.4", "match = 0.4", "most = 5")),
        f"{USUAL}\nbackground = 0",
        'activation = "sigmoid"',
    ):
        own = campaign(more)
        names.add(work(own).facts.decision)
        digests.add(work_digest(own.network))
    assert len(names) == len(digests) == 9
    kept = np.load(folder / "anchors.npy")
    try:
        np.save(folder / "anchors.npy", kept * 0.9)
        names.add(work(made).facts.decision)
        digests.add(work_digest(made.network))
    finally:
        np.save(folder / "anchors.npy", kept)
    assert len(names) == len(digests) == 10


def test_a_detector_that_sees_nothing_is_refused(campaign):
    """No fault could take a box away: every campaign would look better than the network is."""
    for changes in ({"inputs": ("inputs.npy", "dark.npy")}, {"rule": ("[target]", "")}):
        made = campaign(f"{USUAL}\nthreshold = 0.999999") if "rule" in changes else campaign(**changes)
        with pytest.raises(CampaignError, check=about("network.detection.threshold")):
            infer_campaign(made, "ethos-u55-32")
        compare = work(made).compare
        outputs = [bytes(64) + bytes([128]) * 48] * 2
        with pytest.raises(CampaignError, check=about("network.detection.threshold")):
            compare(outputs)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ('activation = "tanh"', "network.detection.activation"),
        ("scales = [1.0, 1.0, 1.0, 1.0]", "network.detection.scales"),
        (USUAL.replace("5.0, 5.0", "5.0, 0.0"), "network.detection.scales"),
        ("overlap = 1.5", "network.detection.overlap"),
        ("match = 0.0", "network.detection.match"),
        ("most = 0", "network.detection.most"),
        ('anchors = "none.npy"', "network.detection.anchors"),
        ("iou = 0.5", "network.detection.iou"),
    ],
)
def test_a_wrong_key_is_named(campaign, more, field):
    with pytest.raises(CampaignError, check=about(field)):
        campaign(more)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"a": ('boxes = "boxes"', 'boxes = "box"')}, "network.detection.boxes"),
        ({"a": ('boxes = "boxes"', "boxes = 2")}, "network.detection.boxes"),
        ({"a": ('boxes = "boxes"', "boxes = -1")}, "network.detection.boxes"),
        ({"a": ('boxes = "boxes"', 'boxes = "scores"')}, "network.detection.boxes"),
        ({"a": ('scores = "scores"', 'scores = "boxes"')}, "network.detection.boxes"),
        ({"a": ("anchors.npy", "short.npy")}, "network.detection.anchors"),
        ({"a": ("anchors.npy", "flat.npy")}, "network.detection.anchors"),
        ({"a": ("[target]", "background = 3\n[target]")}, "network.detection.background"),
        ({"a": ('decision = "detection"', 'decision = "detection"\noutput = 0')}, "network.output"),
        ({"a": ('decision = "detection"', 'decision = "exact"')}, "network.detection"),
    ],
)
def test_a_rule_that_does_not_fit_is_named(campaign, changes, field):
    with pytest.raises(CampaignError, check=about(field)):
        infer_campaign(campaign(**changes), "ethos-u55-32")


def test_without_its_table_the_decision_is_refused(folder):
    text = TEXT.format(more="").replace("[network.detection]\n", "").replace('boxes = "boxes"\n', "")
    with pytest.raises(CampaignError, check=about("network.detection")):
        parse_campaign(folder / "c.toml", tomllib.loads(text.replace('scores = "scores"\n', "")))
