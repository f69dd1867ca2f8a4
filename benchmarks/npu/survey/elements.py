# SPDX-License-Identifier: Apache-2.0
"""Survey of operations of one element each: arithmetic with broadcasting, activations."""

from __future__ import annotations

from benchmarks.npu.survey.drawing import Drawing, fixed
from resil.networks.graph import Graph, OptionValue

Shape = tuple[int, ...]
MAP: Shape = (1, 7, 9, 11)
_BINARY_TABLES = {
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
}
_UNARY_TABLES = {
    "ABS": "AbsOptions",
    "HARD_SWISH": "HardSwishOptions",
    "QUANTIZE": "QuantizeOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "EXP": "ExpOptions",
    "GELU": "GeluOptions",
    "DEQUANTIZE": "DequantizeOptions",
}


def binary(
    draw: Drawing,
    kind: str,
    ratio: float = 1.0,
    second: Shape = MAP,
    constant: bool = False,
    activation: str = "NONE",
    out: float | None = None,
    first: Shape = MAP,
) -> Graph:
    """ADD and its kin; the second operand's scale is `ratio` times the first's, 1 for the same."""
    given = draw.given(first)
    alike = draw.quantised(given)
    other = alike if ratio == 1.0 else draw.quantisation(ratio)
    operand = draw.levels("constant", second, other) if constant else draw.given(second, other)
    outputs = {"MINIMUM": alike, "MAXIMUM": alike}
    scale = draw.scale(given)
    spread = {"MUL": draw.deviation * draw.scale(operand), "SQUARED_DIFFERENCE": 3 * draw.deviation * scale}
    factor = out if out is not None else spread.get(kind, 1.5 * max(1.0, ratio)) / 1.3
    if activation in ("RELU6", "RELU_N1_TO_1"):
        factor = 0.04 * 75.0 / draw.deviation / scale
    result = outputs.get(kind, None if alike is None else fixed(scale * factor, draw.zero_point(given) // 2))
    options: dict[str, OptionValue] = {}
    if kind in ("ADD", "SUB", "MUL"):
        options["fused_activation_function"] = activation
    output = draw.add("output", first, result)
    return draw.graph(kind, [given, operand], [output], options, _BINARY_TABLES[kind])


def unary(draw: Drawing, kind: str, factor: float = 1.0, alpha: float | None = None, **more: object) -> Graph:
    """ABS, RELU and their kin; the output's scale is `factor` times the input's, 1 for the same."""
    given = draw.given(MAP)
    result = draw.quantised(given) if factor == 1.0 else draw.quantisation(factor)
    options: dict[str, OptionValue] = {} if alpha is None else {"alpha": alpha}
    output = draw.add("output", MAP, result)
    return draw.graph(kind, [given], [output], options, _UNARY_TABLES.get(kind, ""))


def to_type(draw: Drawing, target: str, scale: float, zero_point: int = 0) -> Graph:
    """QUANTIZE to another type."""
    given = draw.given(MAP)
    output = draw.add("output", MAP, fixed(scale, zero_point), None, target)
    return draw.graph("QUANTIZE", [given], [output], {}, "QuantizeOptions", 3)


def bounded(draw: Drawing, kind: str, scale: float) -> Graph:
    """LOGISTIC, TANH and RSQRT, with the output's quantisation fixed for the two first."""
    given = draw.given(MAP, fixed(scale, -128 if kind == "RSQRT" else 7 if draw.dtype == "int8" else 0))
    ends = {
        ("LOGISTIC", "int8"): fixed(1 / 256, -128),
        ("TANH", "int8"): fixed(1 / 128),
        ("RSQRT", "int8"): fixed(0.05, -128),
    }
    output = draw.add("output", MAP, ends.get((kind, draw.dtype), fixed(1 / 32768)))
    return draw.graph(kind, [given], [output])


def prelu(draw: Drawing, slopes: Shape = (1, 1, MAP[3]), factor: float = 1.0) -> Graph:
    """PRELU with constant slopes."""
    given = draw.given(MAP)
    constant = draw.levels("slopes", slopes, fixed(0.006, 5))
    output = draw.add("output", MAP, draw.quantisation(factor))
    return draw.graph("PRELU", [given, constant], [output], version=1)


def softmax(draw: Drawing, shape: Shape = (1, 20), beta: float = 1.0) -> Graph:
    """SOFTMAX over the last dimension."""
    int8 = draw.dtype == "int8"
    given = draw.given(shape, fixed(0.06 if int8 else 3.0e-4, 9 if int8 else 0))
    output = draw.add("output", shape, fixed(1 / 256, -128) if int8 else fixed(1 / 32768))
    return draw.graph("SOFTMAX", [given], [output], {"beta": beta}, "SoftmaxOptions")
