# SPDX-License-Identifier: Apache-2.0
"""Integer kernels of single operators, for `resil.networks.reference`.

Each takes the operator, the descriptions of its inputs and its output, and the batched values of those inputs
that are computed at run time (None for constants); it returns the batched output as int64.
Sums of products are exact in float64 (below 2**53), which lets BLAS do them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from resil.networks.fixed_point import IntArray, multiply_by_quantized_multiplier, wrap32
from resil.networks.geometry import Window
from resil.networks.graph import Operator, OptionValue, Tensor
from resil.networks.quantise import INT8_MIN, SOFTMAX_OUTPUT, quantize_multiplier
from resil.networks.softmax import softmax

Tensors = tuple[Tensor | None, ...]
Values = tuple[IntArray | None, ...]


def convolution(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """CONV_2D."""
    source, weights = tensor_of(tensors, 0), tensor_of(tensors, 1)
    kernel = constant_of(weights)
    patches = (
        _window(operator, kernel.shape[1:3]).patches(_run_time(values, 0), source.zero_point)
        - source.zero_point
    )
    if patches.shape[-1] != kernel.shape[-1]:
        raise ValueError(
            f"weights for {kernel.shape[-1]} channels, input with {patches.shape[-1]} (grouped?)"
        )
    flat = kernel.reshape(len(kernel), -1)
    sums = _exact_product(patches.reshape(*patches.shape[:3], -1), flat)
    return _requantise(sums, operator, source, weights, _bias(tensors), output, double_product=True)


def depthwise(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """DEPTHWISE_CONV_2D; output channel c * depth_multiplier + m comes from input channel c."""
    source, weights = tensor_of(tensors, 0), tensor_of(tensors, 1)
    kernel = constant_of(weights)[0]
    patches = (
        _window(operator, kernel.shape[:2]).patches(_run_time(values, 0), source.zero_point)
        - source.zero_point
    )
    multiplier = kernel.shape[-1] // patches.shape[-1]
    sums = np.einsum("nyxhwc,hwc->nyxc", np.repeat(patches, multiplier, axis=-1), kernel)
    return _requantise(sums, operator, source, weights, _bias(tensors), output, double_product=True)


def fully_connected(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """FULLY_CONNECTED; everything after the batch dimension is one vector."""
    source, weights = tensor_of(tensors, 0), tensor_of(tensors, 1)
    kernel = constant_of(weights) if values[1] is None else values[1]
    given = _run_time(values, 0)
    rows = given.reshape(len(given), -1, kernel.shape[1]) - source.zero_point
    zero_point = 0 if weights.quantisation is None else weights.zero_point
    sums = _exact_product(rows, kernel - zero_point).reshape(len(given), *output.shape[1:])
    per_channel = weights.quantisation is not None and len(weights.quantisation.scale) > 1
    return _requantise(sums, operator, source, weights, _bias(tensors), output, double_product=per_channel)


def matrices(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """BATCH_MATMUL."""
    factors = []
    for place, name in enumerate(("adj_x", "adj_y")):
        own = tensor_of(tensors, place)
        given = values[place]
        levels = (constant_of(own) if given is None else given) - own.zero_point
        factors.append(levels.swapaxes(-1, -2) if operator.options.get(name) else levels)
    first, second = factors
    sums = (first.astype(np.float64) @ second.astype(np.float64)).astype(np.int64)
    real = tensor_of(tensors, 0).scale * tensor_of(tensors, 1).scale / output.scale
    scaled = multiply_by_quantized_multiplier(wrap32(sums), *quantize_multiplier(real))
    return activated(scaled + output.zero_point, operator, output)


def transposed_convolution(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """TRANSPOSE_CONV: each input pixel is added into the window of output pixels that it reaches."""
    source, weights = tensor_of(tensors, 2), tensor_of(tensors, 1)
    kernel, given = constant_of(weights), _run_time(values, 2) - source.zero_point
    strides = _integer(operator.options, "stride_h"), _integer(operator.options, "stride_w")
    size, wanted = kernel.shape[1:3], output.shape[1:3]
    full = [(n - 1) * step + taps for n, step, taps in zip(given.shape[1:3], strides, size, strict=True)]
    sums = np.zeros((len(given), *full, len(kernel)), np.int64)
    for y in range(size[0]):
        for x in range(size[1]):
            rows = slice(y, y + (given.shape[1] - 1) * strides[0] + 1, strides[0])
            columns = slice(x, x + (given.shape[2] - 1) * strides[1] + 1, strides[1])
            sums[:, rows, columns] += given @ kernel[:, y, x].T
    before = [max(0, n - own) // 2 for n, own in zip(full, wanted, strict=True)]
    after = [max(0, own - n) for n, own in zip(full, wanted, strict=True)]
    sums = np.pad(sums, ((0, 0), (0, after[0]), (0, after[1]), (0, 0)))
    if operator.options["padding"] == "SAME":
        sums = sums[:, before[0] :, before[1] :]
    sums = sums[:, : wanted[0], : wanted[1]]
    bias = tensors[3] if len(tensors) > 3 else None
    return _requantise(sums, operator, source, weights, bias, output, double_product=True)


def average_pool(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """AVERAGE_POOL_2D over the elements inside the map, rounded half away from zero."""
    window = _pool_window(operator)
    given = _run_time(values, 0)
    sums = window.patches(given, 0).sum(axis=(3, 4)).astype(np.int64)
    counts = window.patches(np.ones_like(given[:1]), 0).sum(axis=(3, 4)).astype(np.int64)
    return activated(np.sign(sums) * ((np.abs(sums) + counts // 2) // counts), operator, output)


def max_pool(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """MAX_POOL_2D over the elements inside the map."""
    result = _pool_window(operator).patches(_run_time(values, 0), INT8_MIN).max(axis=(3, 4))
    return activated(result.astype(np.int64), operator, output)


def probabilities(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> IntArray:
    """SOFTMAX over the last dimension, with TensorFlow Lite's fixed output quantisation."""
    if (output.scale, output.zero_point) != (SOFTMAX_OUTPUT.scale[0], SOFTMAX_OUTPUT.zero_point[0]):
        raise ValueError(
            "expected an output of scale 1/256 and zero point -128, "
            f"found {output.scale} and {output.zero_point}"
        )
    beta = operator.options.get("beta", 1.0)
    if not isinstance(beta, int | float):
        raise ValueError(f"option beta is {beta!r}, expected a number")
    return softmax(_run_time(values, 0), tensor_of(tensors, 0).scale, float(beta))


def _requantise(
    sums: IntArray,
    operator: Operator,
    source: Tensor,
    weights: Tensor,
    bias: Tensor | None,
    output: Tensor,
    *,
    double_product: bool,
) -> IntArray:
    """Bias, scale, zero point and activation.

    TensorFlow Lite multiplies the scales of input and weights in double precision for scales per channel,
    and in single precision for the single scale of FULLY_CONNECTED; the multiplier's last bits depend on it.
    """
    if weights.quantisation is None:
        raise ValueError(f"the weights {weights.name!r} are not quantised")
    pairs = []
    for scale in weights.quantisation.scale:
        product = (
            source.scale * scale if double_product else float(np.float32(source.scale) * np.float32(scale))
        )
        pairs.append(quantize_multiplier(product / output.scale))
    multipliers = np.array([m for m, _ in pairs], np.int64)
    shifts = np.array([s for _, s in pairs], np.int64)
    biased = wrap32(sums if bias is None else sums + constant_of(bias))
    result = multiply_by_quantized_multiplier(biased, multipliers, shifts) + output.zero_point
    return activated(result, operator, output)


def activated(values: IntArray, operator: Operator, output: Tensor) -> IntArray:
    """Return levels within the fused activation and the output's type."""
    low, high = _activation_range(operator, output)
    return np.minimum(np.maximum(values, low), high)


def _activation_range(operator: Operator, output: Tensor) -> tuple[int, int]:
    activation = operator.options.get("fused_activation_function", "NONE")
    info = np.iinfo(output.dtype)
    low, high = int(info.min), int(info.max)
    if activation not in _ACTIVATION_BOUNDS:
        raise ValueError(
            f"the fused activation {activation} is not supported; {', '.join(_ACTIVATION_BOUNDS)} are"
        )
    real_low, real_high = _ACTIVATION_BOUNDS[str(activation)]
    if real_low is not None:
        low = max(low, quantised_bound(real_low, output))
    if real_high is not None:
        high = min(high, quantised_bound(real_high, output))
    return low, high


_ACTIVATION_BOUNDS: dict[str, tuple[float | None, float | None]] = {
    "NONE": (None, None),
    "RELU": (0.0, None),
    "RELU6": (0.0, 6.0),
    "RELU_N1_TO_1": (-1.0, 1.0),
}


def quantised_bound(real: float, output: Tensor) -> int:
    """Return the level of a bound that is a real number."""
    scaled = np.float32(real) / np.float32(output.scale)
    return output.zero_point + int(np.trunc(scaled + np.copysign(np.float32(0.5), scaled)))


def _window(operator: Operator, size: tuple[int, ...]) -> Window:
    options = operator.options
    stride = (_integer(options, "stride_h"), _integer(options, "stride_w"))
    dilation = (_integer(options, "dilation_h_factor", 1), _integer(options, "dilation_w_factor", 1))
    return Window((size[0], size[1]), stride, str(options["padding"]), dilation)


def _pool_window(operator: Operator) -> Window:
    options = operator.options
    size = (_integer(options, "filter_height"), _integer(options, "filter_width"))
    return Window(
        size, (_integer(options, "stride_h"), _integer(options, "stride_w")), str(options["padding"])
    )


def _integer(options: Mapping[str, OptionValue], name: str, default: int | None = None) -> int:
    value = options.get(name, default)
    if not isinstance(value, int):
        raise ValueError(f"option {name} is {value!r}, expected an integer")
    return value


def _exact_product(rows: npt.NDArray[np.generic], kernel: IntArray) -> IntArray:
    return (rows.astype(np.float64) @ kernel.astype(np.float64).T).astype(np.int64)


def tensor_of(tensors: Tensors, index: int) -> Tensor:
    """Return an operand that has to be there."""
    tensor = tensors[index]
    if tensor is None:
        raise ValueError(f"input {index} is absent")
    return tensor


def _bias(tensors: Tensors) -> Tensor | None:
    return tensors[2] if len(tensors) > 2 else None


def constant_of(tensor: Tensor) -> IntArray:
    """Return the contents of a constant."""
    if tensor.data is None:
        raise ValueError(f"tensor {tensor.name!r} has to be a constant")
    return tensor.data.astype(np.int64)


def _run_time(values: Values, index: int) -> IntArray:
    value = values[index]
    if value is None:
        raise ValueError(f"input {index} has to be computed at run time, it is a constant")
    return value
