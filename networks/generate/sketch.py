# SPDX-License-Identifier: Apache-2.0
"""Drawing one operation: random choices, and the tensors around the operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor
from resil.networks.quantise import INT8_MAX, INT8_MIN

T = TypeVar("T")
ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
DEVIATION = 75.0
"""Standard deviation of int8 levels that are all alike."""
BOUNDS = {"RELU6": 4.0, "RELU_N1_TO_1": 0.8}
"""Standard deviations of real values of which an activation cuts off some, not all."""
_EXTREME_ZERO_POINTS = 0.3
_MANY_CHANNELS = (48, 56, 64, 80, 96, 112, 128)
_CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40)


class Sketch:
    """A network of one operation in the making; the same seed draws the same network.

    With `one_row`, convolutions and pools have maps and kernels of height 1.
    """

    def __init__(self, kind: str, seed: int, *, one_row: bool = False) -> None:
        self.kind, self.one_row = kind, one_row
        self.random = np.random.default_rng([seed, *kind.encode()])
        self.tensors: list[Tensor] = []
        self.inputs: list[int] = []

    def integer(self, low: int, high: int) -> int:
        """Return an integer of [low, high]."""
        return int(self.random.integers(low, high + 1))

    def skewed(self, high: int) -> int:
        """Return an integer of [1, high], small ones more often."""
        return min(high, 1 + int((high + 1) ** self.random.random() - 1))

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices."""
        return choices[int(self.random.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        """Return True with that probability."""
        return bool(self.random.random() < probability)

    def channels(self, most: int = 40) -> int:
        """Return a number of channels, next to the sizes at which hardware and formats split them.

        With `one_row` half of the numbers are beyond `most`.
        """
        if self.one_row and self.chance(0.5):
            return self.pick(_MANY_CHANNELS)
        return self.pick([c for c in _CHANNELS if c <= most])

    def feature_map(self, most: int = 4096, side: int = 20) -> tuple[int, int, int, int]:
        """Return a shape (1, H, W, C) of at most `most` elements."""
        channels = self.channels(most)
        height = self.integer(1, min(side, max(1, most // channels)))
        return 1, height, self.integer(1, min(side, max(1, most // (channels * height)))), channels

    def scale(self, low: float = 2e-3, high: float = 0.5) -> float:
        """Return a scale, uniform in its logarithm."""
        return float(np.float32(low * (high / low) ** self.random.random()))

    def zero_point(self) -> int:
        """Return a zero point; the ends of the range, as after a RELU, come often."""
        if self.chance(_EXTREME_ZERO_POINTS):
            return self.pick((INT8_MIN, 0, INT8_MAX))
        return self.integer(INT8_MIN, INT8_MAX)

    def quantisation(self, activation: str = "NONE") -> Quantisation:
        """Return the quantisation of an input, one of which the fused activation cuts off some, not all."""
        scale = self.scale()
        if activation in BOUNDS:
            scale = BOUNDS[activation] / DEVIATION * self.scale(0.5, 2.0)
        return Quantisation((float(np.float32(scale)),), (self.zero_point(),))

    def scaled_output(self, deviation: float, activation: str = "NONE") -> Quantisation:
        """Return a quantisation for values with that standard deviation: from tight to much too narrow.

        After an activation the zero point is mostly at the low end, as converters place it.
        """
        spread = max(deviation, 1e-6) * self.pick((1.0, 2.0, 3.0, 3.0, 6.0))
        low_end = activation != "NONE" and self.chance(0.7)
        zero_point = INT8_MIN if low_end else self.zero_point()
        return Quantisation((float(np.float32(spread / 128.0)),), (zero_point,))

    def add(
        self,
        name: str,
        shape: tuple[int, ...],
        quantisation: Quantisation | None,
        data: npt.NDArray[np.generic] | None = None,
        dtype: str = "int8",
    ) -> int:
        """Add a tensor; return its index."""
        self.tensors.append(
            Tensor(name, shape, dtype if data is None else data.dtype.name, quantisation, data)
        )
        return len(self.tensors) - 1

    def add_input(self, shape: tuple[int, ...], quantisation: Quantisation) -> int:
        """Add an input of the network; return its index."""
        self.inputs.append(self.add(f"input{len(self.inputs)}", shape, quantisation))
        return self.inputs[-1]

    def integers(self, name: str, values: Sequence[int] | Sequence[Sequence[int]]) -> int:
        """Add a constant of int32, such as a shape or axes; return its index."""
        data = np.array(values, dtype=np.int32)
        return self.add(name, data.shape, None, data)

    def levels(self, shape: tuple[int, ...], low: int = INT8_MIN) -> npt.NDArray[np.int8]:
        """Return int8 contents of a constant in [low, 127]: all levels, small ones, or mostly one level."""
        way = self.pick(("all", "all", "small", "sparse", "ends"))
        data = self.random.integers(low, INT8_MAX, shape, endpoint=True)
        if way == "small":
            data = np.rint(self.random.normal(0.0, 6.0, shape)).astype(np.int64)
        elif way == "sparse":
            data = np.where(self.random.random(shape) < 0.8, 0, data)
        elif way == "ends":
            data = np.where(data < 0, low, INT8_MAX)
        result: npt.NDArray[np.int8] = np.clip(data, low, INT8_MAX).astype(np.int8)
        return result

    def graph(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Mapping[str, OptionValue] | None = None,
        table: str = "",
        version: int = 2,
    ) -> Graph:
        """Return the network of the one operation."""
        operator = Operator(self.kind, tuple(inputs), tuple(outputs), options or {}, table, version)
        return Graph(
            tuple(self.tensors), (operator,), tuple(self.inputs), tuple(outputs), "main", self.kind.lower()
        )
