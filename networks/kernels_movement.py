# SPDX-License-Identifier: Apache-2.0
"""Integer kernels that move, cut, join, repeat or reduce elements, for `resil.networks.reference`."""

from __future__ import annotations

from math import prod

import numpy as np

from resil.networks.fixed_point import IntArray, multiply_by_quantized_multiplier
from resil.networks.graph import Operator, Tensor
from resil.networks.kernels import Tensors, Values, activated, constant_of, tensor_of
from resil.networks.kernels_elements import offset, operand
from resil.networks.quantise import quantize_multiplier


def reshaped(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """RESHAPE, SQUEEZE and EXPAND_DIMS; a batch that is larger than the network's own stays in front."""
    given = operand(tensors, values, 0)
    fits = given.size == prod(output.shape)
    return given.reshape(output.shape if fits else (len(given), *output.shape[1:]))


def transposed(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """TRANSPOSE."""
    return operand(tensors, values, 0).transpose(_integers(tensors, 1))


def joined(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """CONCATENATION; parts of another quantisation are rescaled."""
    parts = []
    for place in range(len(tensors)):
        part, given = operand(tensors, values, place), tensor_of(tensors, place)
        if (given.scale, given.zero_point) != (output.scale, output.zero_point):
            if output.dtype != "int8":
                raise ValueError(f"parts of different scales are joined in int8 alone, found {output.dtype}")
            part = offset(tensors, values, place)
            scaled = multiply_by_quantized_multiplier(part, *quantize_multiplier(given.scale / output.scale))
            part = activated(scaled + output.zero_point, operator, output)
        parts.append(part)
    return np.concatenate(parts, axis=_axis(operator))


def packed(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """PACK."""
    parts = [operand(tensors, values, place) for place in range(len(tensors))]
    return np.stack(parts, axis=_axis(operator))


def split(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> tuple[IntArray, ...]:
    """SPLIT."""
    (axis,) = _integers(tensors, 0)
    count = operator.options["num_splits"]
    return tuple(np.split(operand(tensors, values, 1), int(count), axis=axis))  # type: ignore[arg-type]


def split_sizes(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> tuple[IntArray, ...]:
    """SPLIT_V."""
    sizes, (axis,) = _integers(tensors, 1), _integers(tensors, 2)
    return tuple(np.split(operand(tensors, values, 0), np.cumsum(sizes)[:-1], axis=axis))


def unpacked(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> tuple[IntArray, ...]:
    """UNPACK."""
    return tuple(np.moveaxis(operand(tensors, values, 0), _axis(operator), 0))


def gathered(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """GATHER of constant places along one axis, without a batch of them."""
    places, source = constant_of(tensor_of(tensors, 1)), operand(tensors, values, 0)
    if operator.options.get("batch_dims"):
        raise ValueError("batch_dims are not supported")
    taken: IntArray = np.take(source, places, axis=_axis(operator))
    return taken


def cut(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """SLICE; a size of -1 is all that is left."""
    begin, size = _integers(tensors, 1), _integers(tensors, 2)
    ends = (None if n == -1 else low + n for low, n in zip(begin, size, strict=True))
    return operand(tensors, values, 0)[tuple(slice(a, b) for a, b in zip(begin, ends, strict=True))]


def strided(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """STRIDED_SLICE without ellipses and new axes."""
    begin, end, steps = (_integers(tensors, place) for place in (1, 2, 3))
    masks = {name: operator.options.get(f"{name}_mask", 0) for name in ("begin", "end", "shrink_axis")}
    if operator.options.get("ellipsis_mask") or operator.options.get("new_axis_mask"):
        raise ValueError("ellipsis_mask and new_axis_mask are not supported")
    parts: list[slice | int] = []
    for axis, (low, high, step) in enumerate(zip(begin, end, steps, strict=True)):
        own = {name: bool(int(mask) >> axis & 1) for name, mask in masks.items()}  # type: ignore[arg-type]
        if own["shrink_axis"]:
            parts.append(low)
        else:
            parts.append(slice(None if own["begin"] else low, None if own["end"] else high, step))
    return operand(tensors, values, 0)[tuple(parts)]


def padded(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """PAD with the level of zero."""
    widths = constant_of(tensor_of(tensors, 1)).tolist()
    return np.pad(operand(tensors, values, 0), widths, constant_values=output.zero_point)


def mirrored(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MIRROR_PAD."""
    widths = constant_of(tensor_of(tensors, 1)).tolist()
    mode = operator.options.get("mode", 0)
    if mode:
        return np.pad(operand(tensors, values, 0), widths, mode="symmetric")
    return np.pad(operand(tensors, values, 0), widths, mode="reflect")


def nearest(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """RESIZE_NEAREST_NEIGHBOR."""
    given = operand(tensors, values, 0)
    corners, centres = (bool(operator.options.get(n)) for n in ("align_corners", "half_pixel_centers"))
    rows, columns = (_nearest(given.shape[axis], output.shape[axis], corners, centres) for axis in (1, 2))
    taken: IntArray = given[:, rows][:, :, columns]
    return taken


def _nearest(before: int, after: int, corners: bool, centres: bool) -> IntArray:
    scale = np.float32(before - 1) / np.float32(after - 1) if corners and after > 1 else None
    scale = np.float32(before) / np.float32(after) if scale is None else scale
    place = (np.arange(after, dtype=np.float32) + np.float32(0.5 if centres else 0.0)) * scale
    # roundf goes away from zero at halves; places are not negative.
    whole = np.floor(place + np.float32(0.5)) if corners else np.floor(place)
    places: IntArray = np.clip(whole.astype(np.int64), 0, before - 1)
    return places


def mean(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MEAN: the number of elements is a part of the multiplier."""
    sums, count = _sums(operator, tensors, values)
    multiplier, shift = quantize_multiplier(tensor_of(tensors, 0).scale / output.scale)
    more = min(count.bit_length() - 1, 32, 31 + shift)
    found = multiply_by_quantized_multiplier(sums, (multiplier << more) // count, shift - more)
    return activated(found + output.zero_point, operator, output)


def total(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """SUM."""
    sums, _ = _sums(operator, tensors, values)
    found = multiply_by_quantized_multiplier(
        sums, *quantize_multiplier(tensor_of(tensors, 0).scale / output.scale)
    )
    return activated(found + output.zero_point, operator, output)


def _sums(operator: Operator, tensors: Tensors, values: Values) -> tuple[IntArray, int]:
    centred, axes = offset(tensors, values, 0), _integers(tensors, 1)
    keep = bool(operator.options.get("keep_dims", False))
    sums = centred.sum(axis=axes, keepdims=keep)
    return sums, prod(centred.shape[axis] for axis in axes)


def largest(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """REDUCE_MAX."""
    keep = bool(operator.options.get("keep_dims", False))
    found: IntArray = operand(tensors, values, 0).max(axis=_integers(tensors, 1), keepdims=keep)
    return found


def smallest(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """REDUCE_MIN."""
    keep = bool(operator.options.get("keep_dims", False))
    found: IntArray = operand(tensors, values, 0).min(axis=_integers(tensors, 1), keepdims=keep)
    return found


def place_of_largest(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """ARG_MAX: the first of equals."""
    (axis,) = _integers(tensors, 1)
    found: IntArray = np.argmax(operand(tensors, values, 0), axis=axis).astype(np.int64)
    return found


def _integers(tensors: Tensors, place: int) -> tuple[int, ...]:
    return tuple(int(value) for value in constant_of(tensor_of(tensors, place)).reshape(-1))


def _axis(operator: Operator) -> int:
    axis = operator.options.get("axis", 0)
    if not isinstance(axis, int):
        raise ValueError(f"option axis is {axis!r}, expected an integer")
    return axis
