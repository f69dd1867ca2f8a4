"""The networks that ship with the project.

Each is a file NAME.tflite with a record NAME.json of how it was made; `python -m networks.train NAME` makes
both again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from networks.decision import (
    RECONSTRUCTION_ERROR,
    accuracy,
    area_under_curve,
    real_values,
    reconstruction_errors,
)
from networks.errors import NetworkError
from networks.graph import Tensor
from networks.quantise import quantise_values
from networks.recipes import RECIPES
from networks.tflite_reader import read_network

FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class ZooNetwork:
    """A network with inputs that it has not been trained on.

    Attributes:
        name: Its name in the zoo.
        path: The .tflite file.
        heldout_inputs: int8 (N, H, W, C) or (N, C), as the network takes them.
        heldout_labels: int64 (N,), the class of each input; None if the network does not classify.
        record: How it was made and its accuracy.
        decision: "top-1": the first largest output is the class; or "reconstruction error": an input is an
            anomaly if the mean squared difference of input and output is above the record's "threshold".
        heldout_anomalies: bool (N,), which inputs are anomalies; None if the network classifies.
        input: The network's input, with its quantisation.
        output: The network's output, with its quantisation.
    """

    name: str
    path: Path
    heldout_inputs: npt.NDArray[np.int8]
    heldout_labels: npt.NDArray[np.int64] | None
    record: Mapping[str, object]
    decision: str
    heldout_anomalies: npt.NDArray[np.bool_] | None
    input: Tensor
    output: Tensor

    @property
    def threshold(self) -> float:
        """Reconstruction error above which an input is an anomaly.

        Raises:
            NetworkError: The record has none.
        """
        threshold = self.record.get("threshold")
        if not isinstance(threshold, float):
            raise NetworkError(
                f"the record of {self.name} has no threshold; make it again: {_remake(self.name)}"
            )
        return threshold

    def decisions(self, inputs: npt.NDArray[np.int8], outputs: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return what the network decides, (N,): the class, or 1 for an anomaly and 0 for a normal input.

        Raises:
            NetworkError: The record has no threshold, though the decision takes one.
        """
        if self.decision != RECONSTRUCTION_ERROR:
            classes: npt.NDArray[np.int64] = outputs.reshape(len(outputs), -1).argmax(axis=1).astype(np.int64)
            return classes
        return (self.errors(inputs, outputs) > self.threshold).astype(np.int64)

    def errors(self, inputs: npt.NDArray[np.int8], outputs: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
        """Return the mean squared difference of each input and its reconstruction, real-valued, (N,)."""
        return reconstruction_errors(real_values(inputs, self.input), real_values(outputs, self.output))

    def quality(self, outputs: npt.NDArray[np.int8]) -> float:
        """Return how good the outputs for the held-out inputs are: accuracy, or area under the ROC curve."""
        if self.heldout_labels is not None:
            return accuracy(outputs, self.heldout_labels)
        if self.heldout_anomalies is None:
            raise NetworkError(f"{self.name} has neither labels nor anomalies to be judged by")
        return area_under_curve(self.errors(self.heldout_inputs, outputs), self.heldout_anomalies)


def names() -> tuple[str, ...]:
    """Return the names of all networks of the zoo."""
    return tuple(sorted(RECIPES))


def load(name: str) -> ZooNetwork:
    """Return a network of the zoo.

    Raises:
        NetworkError: There is none of that name, its files are missing or damaged, or the package that its
            held-out inputs come with is not installed.
    """
    if name not in RECIPES:
        raise NetworkError(f"the zoo has no network {name!r}; it has {', '.join(names())}")
    path = FOLDER / f"{name}.tflite"
    graph = read_network(path)
    source = graph.tensors[graph.inputs[0]]
    if source.quantisation is None:
        raise NetworkError(
            f"{path}: the input {source.name!r} is not quantised; make it again: {_remake(name)}"
        )
    record = _record(name)
    recipe = RECIPES[name]
    data = recipe.dataset()
    inputs = quantise_values(data.heldout_inputs, source.quantisation)
    detects = recipe.decision == RECONSTRUCTION_ERROR
    return ZooNetwork(
        name,
        path,
        inputs,
        None if detects else data.heldout_labels,
        record,
        recipe.decision,
        data.heldout_labels.astype(bool) if detects else None,
        source,
        graph.tensors[graph.outputs[0]],
    )


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
