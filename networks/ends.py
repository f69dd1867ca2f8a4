# SPDX-License-Identifier: Apache-2.0
"""What a host does before and after the NPU: the ends of a network, in TensorFlow Lite's arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError
from resil.networks.fixed_point import multiply_by_quantized_multiplier
from resil.networks.graph import Quantisation, Tensor
from resil.networks.quantise import quantise_values, quantize_multiplier

Array = npt.NDArray[np.generic]


class QuantisedEnd(Protocol):
    """A tensor's type and quantisation."""

    @property
    def scale(self) -> float:
        """Scale; 0.0 if not quantised."""
        ...

    @property
    def zero_point(self) -> int:
        """Zero point."""
        ...


def each_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of one inference's values: a batch of one is left out.

    >>> each_shape((1, 8, 8, 3)), each_shape((4, 10))
    ((8, 8, 3), (4, 10))
    """
    return shape[1:] if shape[:1] == (1,) else shape


@dataclass(frozen=True, eq=False)
class Ends:
    """The tensors at the ends of a network's file, and those at the ends of what the NPU computes.

    Attributes:
        inputs: Of the file.
        outputs: Of the file.
        npu_inputs: Each with the number of the file's input that it comes from.
        npu_outputs: Each different one.
        sources: For each output of the file the number of the NPU's output that it comes from.
    """

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    npu_inputs: tuple[tuple[int, Tensor], ...]
    npu_outputs: tuple[Tensor, ...]
    sources: tuple[int, ...]

    def levels(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Return what the NPU is given, for N inferences.

        Args:
            values: For each input of the file N values, (N, ...): of the file's type, or the int8 levels that
                the NPU takes, or real values, which are quantised as QUANTIZE does.

        Returns:
            For each input of the NPU its values, (N, ...) without a batch of one.

        Raises:
            NetworkError: There are not so many values, or they are not of that shape or type.
        """
        if len(values) != len(self.inputs):
            names = ", ".join(repr(tensor.name) for tensor in self.inputs)
            raise NetworkError(
                f"expected values for {len(self.inputs)} inputs ({names}), found {len(values)}; "
                "give an array for each",
                "inputs",
            )
        arrays = [self._checked(given, array) for given, array in zip(self.inputs, values, strict=True)]
        if len({len(array) for array in arrays}) > 1:
            counts = ", ".join(f"{t.name!r} {len(a)}" for t, a in zip(self.inputs, arrays, strict=True))
            raise NetworkError(
                f"expected as many values for each input, found {counts}; give the same number", "inputs"
            )
        return tuple(
            self._level(source, tensor, arrays[source]).reshape(-1, *each_shape(tensor.shape))
            for source, tensor in self.npu_inputs
        )

    def givens(self, levels: Sequence[Array]) -> tuple[Array, ...] | None:
        """Return values of the file's inputs from which a host makes these levels; None if it makes none.

        Args:
            levels: For each input of the NPU N values, (N, ...) without a batch of one.
        """
        found: list[Array] = []
        for source, given in enumerate(self.inputs):
            own = [(tensor, v) for (s, tensor), v in zip(self.npu_inputs, levels, strict=True) if s == source]
            if not own:
                found.append(np.zeros((len(levels[0]), *each_shape(given.shape)), given.dtype))
                continue
            tensor, values = own[0]
            if given.dtype == "float32":
                values = dequantised(values, tensor)
            elif given.dtype != tensor.dtype:
                values = requantised(values, tensor, given)
            found.append(values.reshape(-1, *each_shape(given.shape)))
        again = self.levels(found)
        same = all(np.array_equal(a.reshape(-1), b.reshape(-1)) for a, b in zip(again, levels, strict=True))
        return tuple(found) if same else None

    def results(self, values: Sequence[Array]) -> tuple[Array, ...]:
        """Return the outputs of the file, (N, ...) each, for those of the NPU, as DEQUANTIZE does."""
        found = []
        for output, source in zip(self.outputs, self.sources, strict=True):
            levels, tensor = values[source], self.npu_outputs[source]
            if output.dtype == "float32":
                levels = dequantised(levels, tensor)
            elif output.dtype != tensor.dtype:
                levels = requantised(levels, tensor, output)
            found.append(levels.reshape(-1, *each_shape(output.shape)))
        return tuple(found)

    def _checked(self, tensor: Tensor, values: Array) -> Array:
        shape = each_shape(tensor.shape)
        accepted = {tensor.dtype, "float32", "int8"} if tensor.dtype in _QUANTISED else {tensor.dtype}
        found = "float32" if values.dtype.kind == "f" else values.dtype.name
        if values.ndim == 0 or values.shape[1:] != shape or found not in accepted:
            raise NetworkError(
                f"input {tensor.name!r}: expected {' or '.join(sorted(accepted))} values of shape (N, "
                f"{', '.join(map(str, shape))}), found {values.dtype} {values.shape}; reshape or "
                "convert them",
                f"inputs.{tensor.name}.shape",
            )
        if values.dtype.kind != "f":
            return values
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        if not np.isfinite(values).all():
            raise NetworkError(
                f"input {tensor.name!r}: expected finite values, found infinite ones or NaN; correct the "
                "data",
                f"inputs.{tensor.name}.values",
            )
        return values

    def _level(self, source: int, tensor: Tensor, values: Array) -> Array:
        given = self.inputs[source]
        if values.dtype.name == tensor.dtype and values.dtype.name != given.dtype:
            scales = {(t.scale, t.zero_point) for s, t in self.npu_inputs if s == source}
            if len(scales) > 1:
                raise NetworkError(
                    f"input {given.name!r} is quantised in {len(scales)} ways; give real values, not levels",
                    f"inputs.{given.name}.quantisation",
                )
            return values
        if values.dtype.kind == "f":
            levels = given if given.dtype != "float32" else tensor
            if levels.quantisation is None:
                raise NetworkError(
                    f"input {given.name!r} is not quantised; give values of its type {given.dtype}",
                    f"inputs.{given.name}.quantisation",
                )
            values = quantise_values(values, levels.quantisation, levels.dtype)
        return values if values.dtype.name == tensor.dtype else requantised(values, given, tensor)


_QUANTISED = ("float32", "int8", "uint8")


def dequantised(levels: Array, tensor: QuantisedEnd) -> npt.NDArray[np.float32]:
    """Return what levels stand for, as TensorFlow Lite's DEQUANTIZE computes it."""
    offsets = levels.astype(np.int64) - tensor.zero_point
    return (np.float64(np.float32(tensor.scale)) * offsets).astype(np.float32)


def requantised(levels: Array, given: Tensor, wanted: Tensor) -> Array:
    """Return levels of one quantisation as those of another one, as TensorFlow Lite's QUANTIZE does."""
    multiplier, shift = quantize_multiplier(given.scale / wanted.scale)
    offsets = levels.astype(np.int64) - given.zero_point
    scaled = multiply_by_quantized_multiplier(offsets, multiplier, shift) + wanted.zero_point
    info = np.iinfo(wanted.dtype)
    return np.clip(scaled, info.min, info.max).astype(wanted.dtype)


def is_whole(quantisation: Quantisation | None) -> bool:
    """Whether a tensor is quantised as a whole."""
    return quantisation is not None and len(quantisation.scale) == 1
