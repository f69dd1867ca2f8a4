# SPDX-License-Identifier: Apache-2.0
"""`resil clip`: clamps from calibration inputs, judged by others."""

from __future__ import annotations

import json

import numpy as np
import pytest

from resil.cli import main
from resil.errors import ResilError
from resil.networks import zoo
from resil.networks.clamps import clamped_tensors
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from resil.work import clip as module
from resil.work.clip import check_apart, training_inputs
from testkit.errors import about
from tests.networks.dressed import with_float_ends


@pytest.fixture
def clip(tmp_path, capsys):
    def run(*arguments, code=0):
        out = tmp_path / "clipped.tflite"
        assert main(["clip", *map(str, arguments), "--out", str(out), "--json"]) == code
        said, err = capsys.readouterr()
        assert "Traceback" not in err
        assert out.exists() == (code == 0)
        return (json.loads(said), out) if code == 0 else err

    return run


@pytest.fixture
def saved(tmp_path):
    def save(name, values):
        np.save(tmp_path / f"{name}.npy", values)
        return tmp_path / f"{name}.npy"

    return save


DIGITS = zoo.load("digits")


def test_a_zoo_network_is_clipped_on_its_training_split_and_judged_on_the_other(clip):
    said, out = clip("zoo:digits")
    assert said["calibration_inputs"] == 1297
    assert [row["name"] for row in said["activations"]] == ["conv1", "conv2", "conv3", "logits"]
    assert {t.clamp for t in clamped_tensors(read_network(out)).values()} == {
        tuple(row["levels"]) for row in said["activations"]
    }
    judged = said["judged"]
    assert judged["inputs"] == 500
    assert judged["before"] == judged["after"] == pytest.approx(0.986)


def test_a_narrow_calibration_set_narrows_and_is_measured_on_other_inputs(clip, saved):
    inputs, labels = DIGITS.shipped.inputs, DIGITS.shipped.labels
    said, _ = clip(
        DIGITS.path,
        *("--calibration", saved("c", inputs[:3]), "--judge", saved("j", inputs[100:200])),
        *("--labels", saved("l", labels[100:200])),
    )
    assert any(row["levels"][1] < row["before"][1] for row in said["activations"])
    assert said["judged"]["changed_outputs"] > 0
    assert said["judged"]["before"] >= 0.95
    assert said["judged"]["after"] >= 0.9


def test_clips_a_network_with_float_ends(clip, saved, tmp_path):
    path = tmp_path / "n.tflite"
    write_network(with_float_ends(read_network(DIGITS.path)), path)
    said, out = clip(path, "--calibration", saved("c", DIGITS.shipped.inputs[:5]))
    assert len(clamped_tensors(read_network(out))) == len(said["activations"]) == 4
    assert said["judged"] is None


def test_data_that_chose_the_clamps_cannot_judge_them(clip, saved):
    inputs = DIGITS.shipped.inputs
    err = clip(
        DIGITS.path,
        *("--calibration", saved("c", inputs[:10]), "--judge", saved("j", inputs[9:12])),
        code=2,
    )
    assert "found 1 of 3 that are; data that chose the clamps cannot judge them" in err


@pytest.mark.parametrize("name", zoo.names())
def test_the_splits_of_the_zoo_are_apart(name):
    known = zoo.load(name)
    calibration = training_inputs(known)
    check_apart((calibration,), (known.heldout_inputs,))
    with pytest.raises(ResilError, check=about("--judge")):
        check_apart((calibration,), (calibration[7:8],))


def test_clamps_that_change_a_calibration_output_are_a_defect_and_nothing_is_written(
    clip, saved, monkeypatch
):
    honest = module.activation_ranges

    def wrong(compiled, inputs):
        ranges, outputs = honest(compiled, inputs)
        ranges[-1, 1] -= 1
        return ranges, outputs

    monkeypatch.setattr(module, "activation_ranges", wrong)
    err = clip(DIGITS.path, "--calibration", saved("c", DIGITS.shipped.inputs[:5]), code=4)
    assert "outputs for calibration inputs change" in err


def test_bad_input(clip, saved, tmp_path):
    inputs = saved("x", DIGITS.shipped.inputs[:5])
    assert "--calibration: expected a .npy file" in clip(DIGITS.path, code=2)
    assert "--labels: expected --judge" in clip("zoo:digits", "--labels", inputs, code=2)
    labels = saved("l", np.zeros(3, np.int64))
    arguments = ("--calibration", saved("c", DIGITS.shipped.inputs[5:9]), "--judge", inputs)
    assert "expected 5 whole numbers" in clip(DIGITS.path, *arguments, "--labels", labels, code=2)
    assert "cannot be read" in clip(tmp_path / "none.tflite", "--calibration", inputs, code=2)


def test_the_network_itself_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "n.tflite"
    path.write_bytes(DIGITS.path.read_bytes())
    np.save(tmp_path / "x.npy", DIGITS.shipped.inputs[:5])
    command = ["clip", str(path), "--calibration", str(tmp_path / "x.npy"), "--out"]
    assert main([*command, str(path)]) == 2
    assert "another file than the network itself" in capsys.readouterr().err
    assert main([*command, str(tmp_path / "no" / "n.tflite")]) == 2
    assert path.read_bytes() == DIGITS.path.read_bytes()
