"""Train and quantise the networks of the zoo: `python -m networks.train digits --seed 1`.

The same seed gives the same file on the same machine with the same versions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from networks import reference
from networks.datasets import Dataset, digits
from networks.errors import NetworkError
from networks.files import write_atomically
from networks.float_network import FloatNetwork, Layer
from networks.geometry import Window
from networks.quantise import quantise, quantise_values
from networks.tflite_writer import serialise_network

Torch: TypeAlias = Any  # imported only to train, and without types here

ZOO = Path(__file__).parent / "zoo"
_SAME = "SAME"
DIGITS_CONVOLUTIONS = (("conv1", 1, 8, 1), ("conv2", 8, 16, 2), ("conv3", 16, 16, 2))
DIGITS_FEATURES = 64
DIGITS_CLASSES = 10
EPOCHS = 80
BATCH = 32
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 2e-2
NOISE = 0.1
LABEL_SMOOTHING = 0.05


def train_digits(data: Dataset, seed: int) -> FloatNetwork:
    """Train the digits network on the training part, with noise on the pixels as augmentation.

    Raises:
        NetworkError: PyTorch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise NetworkError(
            "training needs PyTorch, which is not installed; run `pip install 'resil[train]'`"
        ) from error

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = _digits_model(torch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    images = torch.from_numpy(data.train_inputs.transpose(0, 3, 1, 2).copy())
    labels = torch.from_numpy(data.train_labels)
    steps = -(-len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, LEARNING_RATE, total_steps=EPOCHS * steps)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(images)).split(BATCH):
            noisy = (images[batch] + NOISE * torch.randn_like(images[batch])).clamp(0.0, 1.0)
            loss = torch.nn.functional.cross_entropy(
                model(noisy), labels[batch], label_smoothing=LABEL_SMOOTHING
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return _export_digits(model)


def _digits_model(torch: Torch) -> Torch:
    """Return the model; TensorFlow's SAME padding of stride 2 is one pixel below and at the right."""
    layers: list[Torch] = []
    for _, channels, filters, stride in DIGITS_CONVOLUTIONS:
        layers.append(torch.nn.ZeroPad2d(1 if stride == 1 else (0, 1, 0, 1)))
        layers.append(torch.nn.Conv2d(channels, filters, 3, stride))
        layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(DIGITS_FEATURES, DIGITS_CLASSES))


def _export_digits(model: Torch) -> FloatNetwork:
    convolutions = [module for module in model if type(module).__name__ == "Conv2d"]
    layers = [
        Layer(
            name,
            "CONV_2D",
            _array(module.weight).transpose(0, 2, 3, 1),
            _array(module.bias),
            window,
            relu=True,
        )
        for (name, _, _, stride), module in zip(DIGITS_CONVOLUTIONS, convolutions, strict=True)
        for window in [Window((3, 3), (stride, stride), _SAME)]
    ]
    layers.append(Layer("flatten", "FLATTEN"))
    filters = DIGITS_CONVOLUTIONS[-1][2]
    dense = _array(model[-1].weight).reshape(DIGITS_CLASSES, filters, -1).transpose(0, 2, 1)
    layers.append(
        Layer(
            "logits",
            "FULLY_CONNECTED",
            dense.reshape(DIGITS_CLASSES, DIGITS_FEATURES),
            _array(model[-1].bias),
        )
    )
    return FloatNetwork("digits", (8, 8, 1), tuple(layers))


def _array(parameter: Torch) -> npt.NDArray[np.float64]:
    return np.asarray(parameter.detach().numpy(), dtype=np.float64)


def make_digits(seed: int) -> tuple[bytes, dict[str, object]]:
    """Return the bytes of digits.tflite and the record of how it was made."""
    data = digits()
    network = train_digits(data, seed)
    graph = quantise(network, data.train_inputs)
    source = graph.tensors[graph.inputs[0]]
    if source.quantisation is None:
        raise NetworkError("the input of the quantised network has no scale")
    logits = network.activations(data.heldout_inputs.astype(np.float64))[-1]
    quantised = reference.run(graph, quantise_values(data.heldout_inputs, source.quantisation))
    model = serialise_network(graph)
    record: dict[str, object] = {
        "name": "digits",
        "command": f"python -m networks.train digits --seed {seed}",
        "seed": seed,
        "sha256": hashlib.sha256(model).hexdigest(),
        "dataset": "scikit-learn digits (UCI Optical Recognition of Handwritten Digits), stratified split",
        "train_images": len(data.train_labels),
        "heldout_images": len(data.heldout_labels),
        "calibration": "all training images",
        "architecture": [
            f"{operator.kind} -> {list(graph.tensors[operator.outputs[0]].shape)}"
            for operator in graph.operators
        ],
        "training": {
            "optimiser": "AdamW",
            "epochs": EPOCHS,
            "batch": BATCH,
            "learning_rate": LEARNING_RATE,
            "weight_decay": WEIGHT_DECAY,
            "noise": NOISE,
            "label_smoothing": LABEL_SMOOTHING,
        },
        "heldout_accuracy_float": _accuracy(logits, data.heldout_labels),
        "heldout_accuracy_int8": _accuracy(quantised, data.heldout_labels),
        "versions": {name: version(name) for name in ("numpy", "scikit-learn", "tflite", "torch")},
    }
    return model, record


def _accuracy(logits: npt.NDArray[np.generic], labels: npt.NDArray[np.int64]) -> float:
    return float(np.mean(logits.argmax(axis=-1) == labels))


MAKERS = {"digits": make_digits}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train one network and write it with its record; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m networks.train", description="Train a network of the zoo."
    )
    parser.add_argument("network", choices=sorted(MAKERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ZOO, help="folder for NAME.tflite and NAME.json")
    options = parser.parse_args(arguments)
    try:
        model, record = MAKERS[options.network](options.seed)
    except NetworkError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write_atomically(options.out / f"{options.network}.tflite", model)
    text = json.dumps(record, indent=2) + "\n"
    write_atomically(options.out / f"{options.network}.json", text.encode())
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
