"""The networks that ship with the project.

Each is a file NAME.tflite with a record NAME.json of how it was made; `python -m networks.train NAME` makes
both again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from networks import datasets
from networks.errors import NetworkError
from networks.quantise import quantise_values
from networks.tflite_reader import read_network

FOLDER = Path(__file__).parent
_DATASETS: Mapping[str, Callable[[], datasets.Dataset]] = MappingProxyType({"digits": datasets.digits})


@dataclass(frozen=True, eq=False)
class ZooNetwork:
    """A network with inputs that it has not been trained on.

    Attributes:
        name: Its name in the zoo.
        path: The .tflite file.
        heldout_inputs: int8 (N, H, W, C), as the network takes them.
        heldout_labels: int64 (N,).
        record: How it was made and its accuracy.
    """

    name: str
    path: Path
    heldout_inputs: npt.NDArray[np.int8]
    heldout_labels: npt.NDArray[np.int64]
    record: Mapping[str, object]


def names() -> tuple[str, ...]:
    """Return the names of all networks of the zoo."""
    return tuple(sorted(_DATASETS))


def load(name: str) -> ZooNetwork:
    """Return a network of the zoo.

    Raises:
        NetworkError: There is none of that name, or its files are missing or damaged.
    """
    if name not in _DATASETS:
        raise NetworkError(f"the zoo has no network {name!r}; it has {', '.join(names())}")
    path = FOLDER / f"{name}.tflite"
    graph = read_network(path)
    source = graph.tensors[graph.inputs[0]]
    if source.quantisation is None:
        raise NetworkError(
            f"{path}: the input {source.name!r} is not quantised; make it again: {_remake(name)}"
        )
    data = _DATASETS[name]()
    inputs = quantise_values(data.heldout_inputs, source.quantisation)
    return ZooNetwork(name, path, inputs, data.heldout_labels, _record(name))


def _record(name: str) -> Mapping[str, object]:
    path = FOLDER / f"{name}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NetworkError(f"{path}: no readable record ({error}); make it again: {_remake(name)}") from error
    if not isinstance(record, dict):
        raise NetworkError(
            f"{path}: expected an object, found {type(record).__name__}; make it again: {_remake(name)}"
        )
    return MappingProxyType(record)


def _remake(name: str) -> str:
    return f"`python -m networks.train {name} --seed 1`"
