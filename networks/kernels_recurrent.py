# SPDX-License-Identifier: Apache-2.0
"""Integer kernels of operators with state of their own, for `resil.networks.reference`.

`resil.networks.state` makes the state an input and more outputs of the operator. Forms are those of
`resil.networks.kernels`; arithmetic is TensorFlow Lite Micro's, which leaves out the activation of SVDF.
"""

from __future__ import annotations

import math

import numpy as np

from resil.networks.fixed_point import IntArray, multiply_by_quantized_multiplier, wrap32
from resil.networks.graph import Operator, Tensor
from resil.networks.kernels import Tensors, Values, constant_of, tensor_of
from resil.networks.kernels_elements import operand
from resil.networks.logistic import logistic16, tanh16
from resil.networks.quantise import INT8_MAX, INT8_MIN, quantize_multiplier

LSTM_STATES = (18, 19)
"""Operands that hold the output and the cell of the step before."""
SVDF_STATES = (4,)
_GATES = ("input", "forget", "cell", "output")
_WEIGHTS, _RECURRENT, _BIASES = 1, 5, 12
_NOT_KNOWN = {"peepholes": range(9, 12), "a projection": (16, 17), "a normalisation of layers": range(20, 24)}
_GATE_POWER = -12
"""Scale of the sums of a gate, as a power of two."""
_UNIT = float(np.float32(2.0**-15))
"""Scale of a gate."""


def lstm(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> tuple[IntArray, ...]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM of int8 with a cell of int16; returns output, its state, the cell."""
    _check_lstm(operator, tensors, output)
    cell_tensor, hidden_tensor = tensor_of(tensors, LSTM_STATES[1]), tensor_of(tensors, LSTM_STATES[0])
    steps = operand(tensors, values, 0)
    hidden, cell = (operand(tensors, values, i) for i in LSTM_STATES)
    if operator.options.get("time_major", False):
        steps = steps.swapaxes(0, 1)
    clip = _clip(operator, cell_tensor)
    kept = _scale_of_product(cell_tensor.scale, _UNIT, cell_tensor.scale)
    added = _scale_of_product(_UNIT, _UNIT, cell_tensor.scale)
    given = _scale_of_product(_UNIT, _UNIT, hidden_tensor.scale)
    outputs = []
    for step in steps.swapaxes(0, 1):
        gates = {name: _gate(tensors, i, step, hidden) for i, name in enumerate(_GATES)}
        old = _int16(multiply_by_quantized_multiplier(cell * gates["forget"], *kept))
        new = _int16(multiply_by_quantized_multiplier(gates["input"] * gates["cell"], *added))
        cell = np.clip(_int16(old + new), -clip, clip) if clip else _int16(old + new)
        shown = tanh16(cell, round(math.log2(cell_tensor.scale)))
        scaled = multiply_by_quantized_multiplier(shown * gates["output"], *given)
        hidden = np.clip(scaled + hidden_tensor.zero_point, INT8_MIN, INT8_MAX)
        outputs.append(hidden)
    whole = np.stack(outputs, axis=0 if operator.options.get("time_major", False) else 1)
    return whole, hidden, cell


def _gate(tensors: Tensors, number: int, step: IntArray, hidden: IntArray) -> IntArray:
    given, state = tensor_of(tensors, 0), tensor_of(tensors, LSTM_STATES[0])
    weights, recurrent = (tensor_of(tensors, first + number) for first in (_WEIGHTS, _RECURRENT))
    sums = _sums(step, given, weights, tensors[_BIASES + number])
    total = _int16(sums + _sums(hidden, state, recurrent, None))
    return tanh16(total, _GATE_POWER) if _GATES[number] == "cell" else logistic16(total, _GATE_POWER)


def _sums(levels: IntArray, given: Tensor, weights: Tensor, bias: Tensor | None) -> IntArray:
    """Return products with weights, plus a bias, of the scale of a gate."""
    sums = (levels - given.zero_point) @ constant_of(weights).T
    if bias is not None:
        sums = sums + constant_of(bias)
    scaled = multiply_by_quantized_multiplier(
        wrap32(sums), *_scale_of_product(given.scale, weights.scale, 2.0**_GATE_POWER)
    )
    return _int16(scaled)


def _check_lstm(operator: Operator, tensors: Tensors, output: Tensor) -> None:
    for name, places in _NOT_KNOWN.items():
        if any(i < len(tensors) and tensors[i] is not None for i in places):
            raise ValueError(f"{name}, which TensorFlow Lite Micro does not know either")
    cell, hidden = tensor_of(tensors, LSTM_STATES[1]), tensor_of(tensors, LSTM_STATES[0])
    types = (output.dtype, hidden.dtype, cell.dtype)
    if types != ("int8", "int8", "int16"):
        raise ValueError(f"output, state and cell are {', '.join(types)}, expected int8, int8 and int16")
    if not cell.scale or not math.log2(cell.scale).is_integer():
        raise ValueError(f"the cell {cell.name!r} has the scale {cell.scale:g}, expected a power of two")
    if (hidden.scale, hidden.zero_point) != (output.scale, output.zero_point):
        raise ValueError(f"the state {hidden.name!r} is quantised in another way than the output")
    activation = operator.options.get("fused_activation_function", "NONE")
    if activation != "TANH":
        raise ValueError(f"the activation is {activation}, expected TANH")


def _clip(operator: Operator, cell: Tensor) -> int:
    """Return the largest level of the cell; 0 if it is not clipped."""
    real = float(operator.options.get("cell_clip", 0.0))  # type: ignore[arg-type]
    return int(min(float(np.float32(real) / np.float32(cell.scale)), 32767.0)) if real > 0.0 else 0


def svdf(operator: Operator, tensors: Tensors, output: Tensor, values: Values) -> tuple[IntArray, ...]:
    """SVDF of int8; returns output and state, of which each row is the memory of a filter, oldest first."""
    given, features, times = (tensor_of(tensors, i) for i in range(3))
    bias, state = tensors[3], tensor_of(tensors, SVDF_STATES[0])
    rank, memory = operator.options.get("rank", 0), times.shape[1]
    if not isinstance(rank, int) or rank < 1 or features.shape[0] % rank or output.dtype != "int8":
        raise ValueError(f"rank {rank!r} of {features.shape[0]} filters, output {output.dtype}")
    if state.zero_point or state.dtype != times.dtype:
        raise ValueError(
            f"the state {state.name!r} is {state.dtype} with the zero point {state.zero_point}, expected "
            f"{times.dtype}, as the weights of time are, and 0"
        )
    activation = operator.options.get("fused_activation_function", "NONE")
    if activation not in ("NONE", "RELU") or (activation == "RELU" and output.zero_point != INT8_MIN):
        raise ValueError(
            f"the activation is {activation}, the output's zero point {output.zero_point}: expected none, or "
            f"RELU with {INT8_MIN}, where the type bounds the levels; TensorFlow Lite Micro leaves it out"
        )
    levels = operand(tensors, values, 0) - given.zero_point
    before = operand(tensors, values, SVDF_STATES[0]).reshape(len(levels), -1, memory)
    sums = wrap32(levels @ constant_of(features).T)
    newest = multiply_by_quantized_multiplier(
        sums, *_scale_of_product(given.scale, features.scale, state.scale)
    )
    info = np.iinfo(state.dtype)
    after = np.concatenate([before[..., 1:], np.clip(newest, info.min, info.max)[..., None]], axis=-1)
    filters = (after * constant_of(times)).sum(axis=-1)
    units = filters.reshape(len(levels), -1, rank).sum(axis=-1)
    if bias is not None:
        units = units + constant_of(bias)
    scaled = multiply_by_quantized_multiplier(
        wrap32(units), *_scale_of_product(state.scale, times.scale, output.scale)
    )
    return np.clip(scaled + output.zero_point, INT8_MIN, INT8_MAX), after.reshape(len(levels), -1)


def _scale_of_product(first: float, second: float, output: float) -> tuple[int, int]:
    product = float(np.float32(first)) * float(np.float32(second))
    return quantize_multiplier(product / float(np.float32(output)))


def _int16(values: IntArray) -> IntArray:
    return np.clip(values, -32768, 32767)
