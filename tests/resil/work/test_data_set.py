# SPDX-License-Identifier: Apache-2.0
"""Inputs out of a data set: which are drawn, from which sources, and what is said where they do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from resil.campaign.campaign import load_campaign
from resil.campaign.data_set import DataSet
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.networks import zoo
from resil.work.image_folder import image_folder
from resil.work.network import compile_campaign_network, network_inputs
from testkit.campaigns import TEXT
from testkit.errors import about


def loaded(folder, inputs, more=""):
    file = folder / "campaign.toml"
    file.write_text(TEXT.replace("inputs = [0, 3]", f"inputs = {inputs}") + more)
    return load_campaign(file)


@pytest.fixture(scope="module")
def compiled():
    from resil.networks.compile import compile_network

    return compile_network(zoo.load("digits").path, "ethos-u55-32")


def drawn(campaign, compiled):
    return network_inputs(campaign, campaign.network, compiled)


def test_a_draw_is_random_without_repetition_and_grows(tmp_path, compiled):
    few = loaded(tmp_path, '{ from = "held-out", draw = 8, seed = 5 }')
    many = loaded(tmp_path, '{ from = "held-out", draw = 64, seed = 5 }')
    labels, tensors = drawn(many, compiled)
    assert len(set(labels)) == 64
    assert labels[:8] == drawn(few, compiled)[0]
    assert labels != drawn(loaded(tmp_path, '{ from = "held-out", draw = 64 }'), compiled)[0]
    assert np.array_equal(tensors[3][0], zoo.load("digits").heldout_at([labels[3]])[0])


def test_drawn_inputs_stand_for_others_and_listed_ones_do_not(tmp_path):
    assert loaded(tmp_path, '{ from = "held-out", draw = 8 }').over_inputs
    assert not loaded(tmp_path, "[0, 3]").over_inputs
    assert not loaded(tmp_path, '{ from = "held-out", hardest = 8 }').over_inputs
    with pytest.raises(CampaignError, check=about("sampling.inputs")):
        loaded(tmp_path, '{ from = "held-out", hardest = 8 }', '[sampling]\ninputs = "like these"\n')


@pytest.mark.parametrize(
    "inputs",
    [
        '{ from = "held-out", draw = 8, seed = 3 }',
        '{ from = "held-out", draw = "planned", most = 99 }',
        '{ from = "held-out", hardest = 4, pixels = [-1, 1] }',
    ],
)
def test_written_text_reads_back(tmp_path, inputs):
    campaign = loaded(tmp_path, inputs)
    again = tmp_path / "again.toml"
    again.write_text(campaign_text(campaign))
    assert replace(load_campaign(again), file=campaign.file) == campaign


@pytest.mark.parametrize(
    ("inputs", "field"),
    [
        ('{ from = "held-out" }', "network.inputs.draw"),
        ('{ from = "held-out", draw = 0 }', "network.inputs.draw"),
        ('{ from = "held-out", draw = 4, hardest = 4 }', "network.inputs.draw"),
        ('{ from = "held-out", draw = 4, most = 9 }', "network.inputs.most"),
        ('{ from = "none.npy", draw = 4 }', "network.inputs.from"),
        ('{ from = "held-out", draw = 4, pixels = [1, 0] }', "network.inputs.pixels"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, inputs, field):
    with pytest.raises(CampaignError, check=about(field)):
        loaded(tmp_path, inputs)


def test_more_than_there_are(tmp_path, compiled):
    campaign = loaded(tmp_path, '{ from = "held-out", draw = 99999 }')
    with pytest.raises(CampaignError, check=about("network.inputs.draw")):
        drawn(campaign, compiled)


def test_hardest_inputs_have_the_closest_decisions(tmp_path, compiled):
    """The reference's own outputs say how close decisions are."""
    from resil.networks import reference
    from resil.networks.tflite_reader import read_network

    known = zoo.load("digits")
    labels, _ = drawn(loaded(tmp_path, '{ from = "held-out", hardest = 8 }'), compiled)
    outputs = reference.run(read_network(known.path), known.heldout_inputs).astype(int)
    ranked = np.sort(outputs.reshape(len(outputs), -1), axis=1)
    margins = ranked[:, -1] - ranked[:, -2]
    assert max(margins[list(labels)]) <= np.sort(margins)[7]


def test_a_folder_of_images_is_what_its_levels_say(tmp_path, compiled):
    folder = tmp_path / "images"
    folder.mkdir()
    rng = np.random.default_rng(2)
    levels = rng.integers(0, 256, (6, 8, 8), np.uint8)
    for place, image in enumerate(levels):
        Image.fromarray(image).save(folder / f"{place}.{'png' if place % 2 else 'pgm'}")
    (folder / "notes.txt").write_text("no image")
    values = image_folder(DataSet(folder, 6))
    np.testing.assert_allclose(values, levels[..., None] / 255.0)
    np.save(tmp_path / "set.npy", values)
    shown = [
        drawn(loaded(tmp_path, f'{{ from = "{source}", draw = 4 }}'), compiled)
        for source in ("images", "set.npy")
    ]
    assert shown[0][0] == shown[1][0]
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(shown[0][1], shown[1][1], strict=True))


def test_images_that_differ_in_shape_are_refused(tmp_path):
    for name, side in (("a", 8), ("b", 9)):
        Image.fromarray(np.zeros((side, side), np.uint8)).save(tmp_path / f"{name}.png")
    with pytest.raises(CampaignError, check=about("shape")):
        image_folder(DataSet(tmp_path, 2))
    (tmp_path / "b.png").write_bytes(b"no image")
    with pytest.raises(CampaignError, check=about("content")):
        image_folder(DataSet(tmp_path, 2))
    with pytest.raises(CampaignError, check=about("files")):
        image_folder(DataSet(_empty(tmp_path), 2))


def _empty(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


def test_a_pilot_says_how_many_in_its_absence(tmp_path, compiled):
    campaign = loaded(tmp_path, '{ from = "held-out", draw = "planned" }')
    assert campaign.data_set == DataSet(None, None)
    assert len(drawn(campaign, compiled)[0]) == 8
    assert compile_campaign_network(campaign.network, "ethos-u55-32").name == compiled.name
