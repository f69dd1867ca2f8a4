# SPDX-License-Identifier: Apache-2.0
"""The networks that ship with the project.

Each is a file NAME.tflite with a record NAME.json of how it was made, and NAME.npz with held-out images, of
which the record gives source and licence; `python -m resil.networks.train NAME` makes all three again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from resil.networks.decision import (
    RECONSTRUCTION_ERROR,
    accuracy,
    area_under_curve,
    real_values,
    reconstruction_errors,
)
from resil.networks.errors import NetworkError
from resil.networks.graph import Tensor
from resil.networks.quantise import quantise_values
from resil.networks.recipes import RECIPES
from resil.networks.tflite_reader import read_network
from resil.networks.zoo.heldout import HeldOut, unpack

FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class ZooNetwork:
    """A network with inputs that it has not been trained on.

    Attributes:
        name: Its name in the zoo.
        path: The .tflite file.
        shipped: The held-out inputs that ship with the network.
        record: How it was made and its accuracy.
        decision: "top-1": the first largest output is the class; or "reconstruction error": an input is an
            anomaly if the mean squared difference of input and output is above the record's "threshold".
        input: The network's input, with its quantisation.
        output: The network's output, with its quantisation.
    """

    name: str
    path: Path
    shipped: HeldOut
    record: Mapping[str, object]
    decision: str
    input: Tensor
    output: Tensor

    @property
    def heldout_count(self) -> int:
        """Number of inputs in the held-out split.

        Raises:
            NetworkError: The record has none.
        """
        count = self.record.get("heldout_inputs")
        if not isinstance(count, int):
            raise NetworkError(
                f"the record of {self.name} has no heldout_inputs; {_remake(self.name)}",
                "record.heldout_inputs",
            )
        return count

    @cached_property
    def heldout(self) -> HeldOut:
        """The whole held-out split.

        Raises:
            NetworkError: Not all of it ships, and the package that the data come with is not installed.
        """
        if len(self.shipped.indices) == self.heldout_count:
            return self.shipped
        data = RECIPES[self.name].dataset()
        assert self.input.quantisation is not None  # `load` has seen to it
        inputs = quantise_values(data.heldout_inputs, self.input.quantisation)
        return HeldOut(np.arange(len(inputs)), inputs, data.heldout_labels)

    def heldout_at(self, indices: Sequence[int]) -> npt.NDArray[np.int8]:
        """Return the held-out inputs of these indices, each below `heldout_count`, (N, ...).

        Raises:
            NetworkError: Some do not ship, and the package that the data come with is not installed.
        """
        missing = self.shipped.missing(indices)
        if not missing:
            return self.shipped.pick(indices)
        try:
            return self.heldout.pick(indices)
        except NetworkError as error:
            known = ", ".join(map(str, self.shipped.indices[:12].tolist()))
            raise NetworkError(
                f"{self.name}: the held-out input {missing[0]} does not ship with resil: {error}, or take "
                f"one of the {len(self.shipped.indices)} that ship ({known}, ...)",
                f"heldout[{missing[0]}]",
            ) from error

    @property
    def heldout_inputs(self) -> npt.NDArray[np.int8]:
        """The inputs of the whole held-out split, (N, ...), as the network takes them; see `heldout`."""
        return self.heldout.inputs

    @property
    def heldout_labels(self) -> npt.NDArray[np.int64] | None:
        """The class of each of these inputs, (N,); None if the network does not classify."""
        return None if self.decision == RECONSTRUCTION_ERROR else self.heldout.labels

    @property
    def heldout_anomalies(self) -> npt.NDArray[np.bool_] | None:
        """Which of these inputs are anomalies, (N,); None if the network classifies."""
        return self.heldout.labels.astype(bool) if self.decision == RECONSTRUCTION_ERROR else None

    @property
    def threshold(self) -> float:
        """Reconstruction error above which an input is an anomaly.

        Raises:
            NetworkError: The record has none.
        """
        threshold = self.record.get("threshold")
        if not isinstance(threshold, float):
            raise NetworkError(
                f"the record of {self.name} has no threshold; {_remake(self.name)}", "record.threshold"
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
        NetworkError: There is none of that name, or its files are missing or damaged.
    """
    if name not in RECIPES:
        raise NetworkError(f"the zoo has no network {name!r}; it has {', '.join(names())}", "name")
    path = FOLDER / f"{name}.tflite"
    graph = read_network(path)
    source = graph.tensors[graph.inputs[0]]
    if source.quantisation is None:
        raise NetworkError(
            f"{path}: the input {source.name!r} is not quantised; {_remake(name)}",
            f"inputs.{source.name}.quantisation",
        )
    record = _record(name)
    shipped = unpack(FOLDER / f"{name}.npz", source.shape[1:], _remake(name))
    output = graph.tensors[graph.outputs[0]]
    return ZooNetwork(name, path, shipped, record, RECIPES[name].decision, source, output)


def _record(name: str) -> Mapping[str, object]:
    path = FOLDER / f"{name}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NetworkError(f"{path}: no readable record ({error}); {_remake(name)}", "record") from error
    if not isinstance(record, dict):
        raise NetworkError(
            f"{path}: expected an object, found {type(record).__name__}; {_remake(name)}", "record"
        )
    return MappingProxyType(record)


def _remake(name: str) -> str:
    return f"make it again: `python -m resil.networks.train {name} --seed 1`"
