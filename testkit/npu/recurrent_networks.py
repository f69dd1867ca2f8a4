# SPDX-License-Identifier: Apache-2.0
"""Networks with operators that keep state inside, and with real numbers between whole ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from resil.networks.graph import Graph, OptionValue, Quantisation, Tensor
from testkit.npu.parted_networks import NO_ACTIVATION, Drawing

LSTM_OPTIONS: dict[str, OptionValue] = {
    "fused_activation_function": "TANH",
    "cell_clip": 0.0,
    "proj_clip": 0.0,
    "time_major": False,
    "asymmetric_quantize_inputs": False,
}


def add_lstm(
    made: Drawing,
    name: str,
    given: int,
    units: int,
    cell_power: int = -11,
    scales: tuple[float, float] = (0.02, 1 / 128),
    zero_point: int = -2,
    options: dict[str, OptionValue] | None = None,
) -> int:
    """Add a UNIDIRECTIONAL_SEQUENCE_LSTM; return its output.

    Args:
        made: The network.
        name: Of the output.
        given: (batch, steps, features), or (steps, batch, features) with `time_major`.
        units: Size of its state.
        cell_power: Scale of the cell as a power of two.
        scales: Of weights, and of output and state.
        zero_point: Of output and state.
        options: Others than the usual ones.
    """
    chosen = LSTM_OPTIONS | (options or {})
    source = made.tensors[given]
    batch = source.shape[1] if chosen["time_major"] else source.shape[0]
    weight, output = scales
    operands = [given]
    for width, label in ((source.shape[2], "w"), (units, "r")):
        for gate in range(4):
            levels = made.random.integers(-127, 128, (units, width)).astype(np.int8)
            operands.append(made.constant(f"{name}_{label}{gate}", levels, weight * (1 + 0.2 * gate)))
    operands += [-1] * 3
    for gate in range(4):
        bias = made.random.integers(-3000, 3000, units).astype(np.int32)
        operands.append(made.constant(f"{name}_b{gate}", bias, weight * (1 + 0.2 * gate) * source.scale))
    operands += [-1, -1]
    operands.append(_variable(made, Tensor(f"{name}_h", (batch, units), "int8", _whole(output, zero_point))))
    operands.append(_variable(made, Tensor(f"{name}_c", (batch, units), "int16", _whole(2.0**cell_power))))
    result = made.tensor(name, (*source.shape[:2], units), output, zero_point)
    operator = (*operands, *[-1] * 4)
    return made.operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM", operator, result, chosen, "UnidirectionalSequenceLSTMOptions"
    )


def add_svdf(
    made: Drawing,
    name: str,
    given: int,
    units: int,
    rank: int = 2,
    memory: int = 6,
    state: str = "int16",
    scale: float = 2.0,
    zero_point: int = -128,
    activation: str = "RELU",
) -> int:
    """Add an SVDF over a vector, (batch, features); return its output, (batch, units)."""
    source, filters = made.tensors[given], units * rank
    state_scale, most = (0.002, 2000) if state == "int16" else (0.3, 127)
    features = made.random.integers(-127, 128, (filters, source.shape[1])).astype(np.int8)
    times = made.random.integers(-most, most + 1, (filters, memory)).astype(state)
    bias = made.random.integers(-3000, 3000, units).astype(np.int32)
    operands = (
        given,
        made.constant(f"{name}_features", features, 0.01),
        made.constant(f"{name}_times", times, 0.01),
        made.constant(f"{name}_bias", bias, 0.01 * state_scale),
        _variable(
            made, Tensor(f"{name}_state", (source.shape[0], filters * memory), state, _whole(state_scale))
        ),
    )
    result = made.tensor(name, (source.shape[0], units), scale, zero_point)
    options: dict[str, OptionValue] = {
        "rank": rank,
        "fused_activation_function": activation,
        "asymmetric_quantize_inputs": False,
    }
    return made.operator("SVDF", operands, result, options, "SVDFOptions")


def add_real(
    made: Drawing,
    name: str,
    given: int,
    kind: str,
    scale: float,
    zero_point: int = 0,
    second: int | None = None,
) -> int:
    """Add DEQUANTIZE, an operator of real numbers with one operand or two, and QUANTIZE; return levels."""
    shape = made.tensors[given].shape
    operands = []
    for place, own in enumerate((given,) if second is None else (given, second)):
        operands.append(_real(made, f"{name}_given{place}", shape))
        made.operator("DEQUANTIZE", (own,), operands[-1], {}, "DequantizeOptions")
    computed = _real(made, f"{name}_computed", shape)
    options, table = ({}, "") if second is None else (NO_ACTIVATION, f"{kind.title()}Options")
    made.operator(kind, tuple(operands), computed, options, table)
    return made.operator("QUANTIZE", (computed,), made.tensor(name, shape, scale, zero_point), {}, "")


def with_lstm(seed: int = 5) -> Graph:
    """A dense layer behind an LSTM over three steps."""
    made = Drawing(seed)
    given = made.tensor("given", (1, 3, 5), 0.05, 3)
    return made.graph((given,), (made.dense("scores", add_lstm(made, "lstm", given, 6), 5, 0.05),))


def with_svdf(seed: int = 6) -> Graph:
    """Two dense layers with an SVDF between them."""
    made = Drawing(seed)
    given = made.tensor("given", (1, 1, 4, 4), 0.05, -3)
    first = made.dense("first", given, 8, 0.3)
    return made.graph((given,), (made.dense("scores", add_svdf(made, "svdf", first, 6), 5, 2.0),))


def with_real_numbers(seed: int = 7) -> Graph:
    """Two convolutions, between them EXP of real numbers times what a GATHER of levels gives."""
    made = Drawing(seed)
    given = made.tensor("given", (1, 4, 4, 4), 0.05)
    first = made.conv("first", given, 8, 0.1)
    power = add_real(made, "power", first, "EXP", 0.4, -128)
    one, other, product = (_real(made, name, (1, 4, 4, 8)) for name in ("one", "other", "product"))
    made.operator("DEQUANTIZE", (power,), one, {}, "DequantizeOptions")
    made.operator("DEQUANTIZE", (made.gather("order", first),), other, {}, "DequantizeOptions")
    made.operator("MUL", (one, other), product, NO_ACTIVATION, "MulOptions")
    back = made.tensor("back", (1, 4, 4, 8), 0.5, 4)
    made.operator("QUANTIZE", (product,), back, {}, "")
    return made.graph((given,), (made.dense("scores", made.conv("second", back, 8, 20.0), 5, 40.0),))


def _whole(scale: float, zero_point: int = 0) -> Quantisation:
    return Quantisation((float(np.float32(scale)),), (zero_point,))


def _variable(made: Drawing, tensor: Tensor) -> int:
    return _added(made, replace(tensor, is_variable=True))


def _real(made: Drawing, name: str, shape: tuple[int, ...]) -> int:
    return _added(made, Tensor(name, shape, "float32"))


def _added(made: Drawing, tensor: Tensor) -> int:
    made.tensors.append(tensor)
    return len(made.tensors) - 1
