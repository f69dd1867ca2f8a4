# SPDX-License-Identifier: Apache-2.0
"""A network of one operation in the making: tensors with random contents, int8, int16 or int32."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor

DEVIATIONS = {"int8": 75.0, "int16": 19_000.0, "int32": 1_000.0}
"""Standard deviation of levels of a type that are all alike; int32 values are not quantised."""
_SCALES = {"int8": 0.05, "int16": 2.0e-4, "int32": 1.0}
_BIAS_TYPES = {"int8": "int32", "int16": "int64"}


class Drawing:
    """The tensors of one network; the same name draws the same contents.

    Args:
        name: Of the case; seeds the contents.
        dtype: Of feature maps.
    """

    def __init__(self, name: str, dtype: str = "int8") -> None:
        self.name = name
        self.dtype = dtype
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self._tensors: list[Tensor] = []
        self._inputs: list[int] = []

    @property
    def deviation(self) -> float:
        """Standard deviation of a feature map's levels that are all alike."""
        return DEVIATIONS[self.dtype]

    def quantisation(self, factor: float = 1.0, zero_point: int | None = None) -> Quantisation | None:
        """Return a usual scale of the type times `factor`; int16 has no zero points, int32 no scales."""
        if self.dtype == "int32":
            return None
        chosen = int(self.random.integers(-40, 40)) if zero_point is None else zero_point
        return fixed(_SCALES[self.dtype] * factor, chosen if self.dtype == "int8" else 0)

    def add(
        self,
        name: str,
        shape: Sequence[int],
        quantisation: Quantisation | None = None,
        data: npt.NDArray[np.generic] | None = None,
        dtype: str | None = None,
    ) -> int:
        """Add a tensor; return its index."""
        kind = data.dtype.name if data is not None else dtype or self.dtype
        self._tensors.append(Tensor(name, tuple(shape), kind, quantisation, data))
        return len(self._tensors) - 1

    def given(
        self, shape: Sequence[int], quantisation: Quantisation | None = None, dtype: str | None = None
    ) -> int:
        """Add an input of the network."""
        self._inputs.append(
            self.add(f"input{len(self._inputs)}", shape, quantisation or self.quantisation(), None, dtype)
        )
        return self._inputs[-1]

    def scale(self, index: int) -> float:
        """Return the scale of a tensor."""
        return self._tensors[index].scale

    def zero_point(self, index: int) -> int:
        """Return the zero point of a tensor."""
        return self._tensors[index].zero_point

    def quantised(self, index: int) -> Quantisation | None:
        """Return the quantisation of a tensor."""
        return self._tensors[index].quantisation

    def integers(self, name: str, values: Sequence[int] | Sequence[Sequence[int]] | int) -> int:
        """Add a constant of int32, such as a shape or axes."""
        data = np.array(values, np.int32)
        return self.add(name, data.shape, None, data)

    def levels(self, name: str, shape: Sequence[int], quantisation: Quantisation | None) -> int:
        """Add a constant feature map of all levels."""
        info = np.iinfo(self.dtype)
        data = self.random.integers(info.min, info.max, tuple(shape), endpoint=True).astype(self.dtype)
        return self.add(name, shape, quantisation, data)

    def weights(self, shape: Sequence[int], axis: int | None) -> tuple[int, npt.NDArray[np.float64]]:
        """Add int8 weights with a scale for each place along the axis, or one; return index and scales."""
        scales = 0.01 * self.random.uniform(0.4, 1.0, 1 if axis is None else shape[axis])
        quantisation = Quantisation(
            tuple(float(np.float32(s)) for s in scales), (0,) * len(scales), axis or 0
        )
        data = self.random.integers(-127, 127, tuple(shape), endpoint=True).astype(np.int8)
        return self.add("weights", shape, quantisation, data), scales

    def bias(self, filters: int, source: int, scales: npt.NDArray[np.float64], width: float) -> int:
        """Add biases of about `width` accumulated levels."""
        products = tuple(float(np.float32(self.scale(source)) * np.float32(s)) for s in scales)
        data = self.random.uniform(-width, width, filters).astype(_BIAS_TYPES[self.dtype])
        return self.add("bias", (filters,), Quantisation(products, (0,) * len(products)), data)

    def graph(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Mapping[str, OptionValue] | None = None,
        table: str = "",
        version: int = 2,
    ) -> Graph:
        """Return the network of one operator."""
        operator = Operator(kind, tuple(inputs), tuple(outputs), options or {}, table, version)
        return Graph(
            tuple(self._tensors), (operator,), tuple(self._inputs), tuple(outputs), "main", self.name
        )


def fixed(scale: float, zero_point: int = 0) -> Quantisation:
    """Return a quantisation of a tensor as a whole."""
    return Quantisation((float(np.float32(scale)),), (zero_point,))
