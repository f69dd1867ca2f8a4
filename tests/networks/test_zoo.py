"""The zoo, its data and how its networks are made."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from networks import datasets, reference, train, zoo
from networks.errors import NetworkError


def test_the_split_is_stratified_and_always_the_same():
    data = datasets.digits()
    assert data.train_inputs.shape == (1297, 8, 8, 1)
    assert data.heldout_inputs.shape == (500, 8, 8, 1)
    assert 0.0 <= data.train_inputs.min() < data.train_inputs.max() <= 1.0
    counts = np.bincount(data.heldout_labels) / np.bincount(np.r_[data.train_labels, data.heldout_labels])
    assert np.abs(counts - 500 / 1797).max() < 0.005
    np.testing.assert_array_equal(data.heldout_inputs, datasets.digits().heldout_inputs)


def test_no_image_is_in_both_parts():
    from sklearn.datasets import load_digits

    data = datasets.digits()
    together = np.concatenate([data.train_inputs, data.heldout_inputs]).reshape(1797, -1) * 16
    everything = load_digits().data
    order = np.lexsort(together.T), np.lexsort(everything.T)
    np.testing.assert_array_equal(together[order[0]], everything[order[1]])


def test_the_record_tells_the_truth(digits, digits_graph):
    assert digits.record["sha256"] == hashlib.sha256(digits.path.read_bytes()).hexdigest()
    outputs = reference.run(digits_graph, digits.heldout_inputs)
    accuracy = float(np.mean(outputs.argmax(axis=1) == digits.heldout_labels))
    assert digits.record["heldout_accuracy_int8"] == accuracy
    assert accuracy >= 0.95
    assert abs(digits.record["heldout_accuracy_float"] - accuracy) <= 0.01


def test_an_unknown_network_lists_those_there_are():
    with pytest.raises(NetworkError, match="no network 'imagenet'; it has digits"):
        zoo.load("imagenet")


def test_a_damaged_record_says_how_to_make_it_again(tmp_path, monkeypatch, digits):
    (tmp_path / "digits.tflite").write_bytes(digits.path.read_bytes())
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    with pytest.raises(NetworkError, match=r"no readable record .*networks\.train digits"):
        zoo.load("digits")
    (tmp_path / "digits.json").write_text("[]")
    with pytest.raises(NetworkError, match="expected an object, found list"):
        zoo.load("digits")


def test_the_same_seed_gives_the_same_bytes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(train, "EPOCHS", 2)
    made = []
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        assert train.main(["digits", "--seed", str(seed), "--out", str(tmp_path / folder)]) == 0
        made.append((tmp_path / folder / "digits.tflite").read_bytes())
    assert made[0] == made[1] != made[2]
    record = json.loads((tmp_path / "a" / "digits.json").read_text())
    assert record["command"] == "python -m networks.train digits --seed 7"
    assert record["sha256"] in capsys.readouterr().out


def test_without_torch_training_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert train.main(["digits", "--out", str(tmp_path)]) == 2
    assert "pip install" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_training_again_reaches_the_accuracy(tmp_path):
    assert train.main(["digits", "--seed", "1", "--out", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "digits.json").read_text())
    assert record["heldout_accuracy_int8"] >= 0.95
    assert abs(record["heldout_accuracy_float"] - record["heldout_accuracy_int8"]) <= 0.01
