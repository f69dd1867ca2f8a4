# SPDX-License-Identifier: Apache-2.0
"""Train and quantise the networks of the zoo: `python -m resil.networks.train digits --seed 1`.

The same seed gives the same file on the same machine with the same versions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks import reference
from resil.networks.datasets import Dataset
from resil.networks.decision import (
    RECONSTRUCTION_ERROR,
    accuracy,
    area_under_curve,
    real_values,
    reconstruction_errors,
)
from resil.networks.errors import NetworkError
from resil.networks.files import write_atomically
from resil.networks.float_network import FloatNetwork
from resil.networks.graph import Graph
from resil.networks.quantise import quantise, quantise_values
from resil.networks.recipes import RECIPES, Recipe, Training
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import serialise_network
from resil.networks.torch_model import Torch, TorchModel, import_torch
from resil.networks.zoo.heldout import HeldOut, pack, shipped_indices

ZOO = Path(__file__).parent / "zoo"
_CHUNK = 250
_ALARM_QUANTILE = 0.95
_ENDINGS = (".tflite", ".json")


def train(recipe: Recipe, data: Dataset, seed: int) -> FloatNetwork:
    """Train the network of a recipe on the training part of its data.

    Raises:
        NetworkError: PyTorch is not installed.
    """
    torch = import_torch()
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    settings = recipe.training
    model = TorchModel(torch, recipe.architecture)
    parameters = model.modules.parameters()
    optimiser = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    count = len(data.train_inputs) - recipe.threshold
    inputs = torch.from_numpy(_channels_first(data.train_inputs[:count]))
    labels = torch.from_numpy(data.train_labels)
    steps = settings.epochs * -(-len(inputs) // settings.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, settings.learning_rate, total_steps=steps)
    for _ in range(settings.epochs):
        for batch in torch.randperm(len(inputs)).split(settings.batch):
            outputs = model(_augmented(torch, inputs[batch], settings))
            if recipe.decision == RECONSTRUCTION_ERROR:
                loss = torch.nn.functional.mse_loss(outputs, inputs[batch])
            else:
                loss = torch.nn.functional.cross_entropy(
                    outputs, labels[batch], label_smoothing=settings.label_smoothing
                )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    return model.export()


def _channels_first(inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return inputs.transpose(0, 3, 1, 2).copy() if inputs.ndim == 4 else inputs


def _augmented(torch: Torch, inputs: Torch, settings: Training) -> Torch:
    if settings.warp:
        draw = settings.warp * (2 * torch.rand(4, len(inputs)) - 1)
        turn, zoom = draw[0] * math.pi / 2, 1 + draw[1]
        cosine, sine = torch.cos(turn) * zoom, torch.sin(turn) * zoom
        maps = torch.stack([cosine, -sine, 2 * draw[2], sine, cosine, 2 * draw[3]], dim=1).view(-1, 2, 3)
        functional = torch.nn.functional
        inputs = functional.grid_sample(
            inputs, functional.affine_grid(maps, list(inputs.shape), align_corners=False), align_corners=False
        )
    if settings.noise:
        inputs = (inputs + settings.noise * torch.randn_like(inputs)).clamp(0.0, 1.0)
    return inputs


def make(name: str, seed: int) -> tuple[bytes, dict[str, object]]:
    """Return the bytes of a network's .tflite file and the record of how it was made.

    Raises:
        NetworkError: There is no such network, or a package that training needs is not installed.
    """
    if name not in RECIPES:
        raise NetworkError(
            f"there is no recipe for {name!r}; there is one for {', '.join(sorted(RECIPES))}", "recipe"
        )
    recipe = RECIPES[name]
    data = recipe.dataset()
    network = train(recipe, data, seed)
    calibration = data.train_inputs[: recipe.calibration]
    graph = quantise(network, calibration)
    model = serialise_network(graph)
    record: dict[str, object] = {
        "name": name,
        "command": f"python -m resil.networks.train {name} --seed {seed}",
        "seed": seed,
        "sha256": hashlib.sha256(model).hexdigest(),
        "bytes": len(model),
        "dataset": data.title,
        "train_inputs": len(data.train_inputs),
        "heldout_inputs": len(data.heldout_inputs),
        "calibration": f"the first {len(calibration)} training inputs",
        "architecture": [
            f"{operator.kind} -> {list(graph.tensors[operator.outputs[0]].shape)}"
            for operator in graph.operators
        ],
        "training": {"optimiser": "AdamW", **asdict(recipe.training)},
        "decision": recipe.decision,
        **_quality(recipe, data, network, graph),
        "versions": {package: version(package) for package in recipe.packages},
    }
    return model, record


def shipped_images(recipe: Recipe, data: Dataset, graph: Graph) -> tuple[HeldOut, dict[str, object]]:
    """Return the held-out images that ship with a network, and what its record says of them."""
    indices = shipped_indices(len(data.heldout_inputs), recipe.shipped_every)
    inputs = quantise_inputs(graph, data.heldout_inputs[indices])
    record: dict[str, object] = {
        "count": len(indices),
        "format": "int8, as the network takes them, with indices in the held-out split and labels",
        "licence": data.licence,
    }
    return HeldOut(indices, inputs, data.heldout_labels[indices]), record


def _quality(recipe: Recipe, data: Dataset, network: FloatNetwork, graph: Graph) -> dict[str, object]:
    exact = _float_outputs(network, data.heldout_inputs)
    levels = quantise_inputs(graph, data.heldout_inputs)
    rounded = reference.run(graph, levels)
    if recipe.decision != RECONSTRUCTION_ERROR:
        return {
            "heldout_accuracy_float": accuracy(exact, data.heldout_labels),
            "heldout_accuracy_int8": accuracy(rounded, data.heldout_labels),
        }
    anomalies = data.heldout_labels.astype(bool)
    seen = _int8_errors(graph, quantise_inputs(graph, data.train_inputs[-recipe.threshold :]))
    errors = _int8_errors(graph, levels)
    threshold = float(np.quantile(seen, _ALARM_QUANTILE))
    return {
        "heldout_auc_float": area_under_curve(reconstruction_errors(data.heldout_inputs, exact), anomalies),
        "heldout_auc_int8": area_under_curve(errors, anomalies),
        "threshold": threshold,
        "threshold_rule": f"quantile {_ALARM_QUANTILE} of the int8 network's errors "
        f"on the last {recipe.threshold} training inputs, which it was not trained with",
        "heldout_alarms_on_anomalies_int8": float(np.mean(errors[anomalies] > threshold)),
        "heldout_alarms_on_normal_int8": float(np.mean(errors[~anomalies] > threshold)),
    }


def _float_outputs(network: FloatNetwork, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    parts = range(0, len(inputs), _CHUNK)
    return np.concatenate([network.activations(inputs[i : i + _CHUNK].astype(float))[-1] for i in parts])


def quantise_inputs(graph: Graph, inputs: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    """Return real inputs as the int8 levels that the graph takes.

    Raises:
        NetworkError: The graph's input is not quantised.
    """
    source = graph.tensors[graph.inputs[0]]
    if source.quantisation is None:
        raise NetworkError(
            f"the input {source.name!r} of the network is not quantised", f"inputs.{source.name}.quantisation"
        )
    return quantise_values(inputs, source.quantisation)


def _int8_errors(graph: Graph, levels: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    source, output = graph.tensors[graph.inputs[0]], graph.tensors[graph.outputs[0]]
    return reconstruction_errors(
        real_values(levels, source), real_values(reference.run(graph, levels), output)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Train one network and write it with its record; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m resil.networks.train", description="Train a network of the zoo."
    )
    parser.add_argument("network", choices=sorted(RECIPES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ZOO, help="folder for NAME.tflite, .json and .npz")
    parser.add_argument("--images", action="store_true", help="leave the network, write its images again")
    options = parser.parse_args(arguments)
    name, path, record_file = options.network, *(options.out / f"{options.network}{e}" for e in _ENDINGS)
    try:
        if options.images:
            record = json.loads(record_file.read_text(encoding="utf-8"))
        else:
            model, record = make(name, options.seed)
            write_atomically(path, model)
        images, record["shipped"] = shipped_images(RECIPES[name], RECIPES[name].dataset(), read_network(path))
    except (NetworkError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    write_atomically(options.out / f"{name}.npz", pack(images))
    text = json.dumps(record, indent=2) + "\n"
    write_atomically(record_file, text.encode())
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
