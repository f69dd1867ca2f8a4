# SPDX-License-Identifier: Apache-2.0
"""Operations of one element each: arithmetic, comparison, activations by formula or table."""

from __future__ import annotations

import numpy as np

from resil.networks.generate.sketch import ACTIVATIONS, DEVIATION, Sketch
from resil.networks.graph import Graph, OptionValue, Quantisation
from resil.networks.quantise import SOFTMAX_OUTPUT

_SHAPES = ("same", "same", "constant", "scalar constant", "channel constant", "channels", "plane", "pixel")
_TABLES = {
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "SQUARED_DIFFERENCE": "SquaredDifferenceOptions",
}
_UNARY_TABLES = {"ABS": "AbsOptions", "HARD_SWISH": "HardSwishOptions", "QUANTIZE": "QuantizeOptions"}
_LOGISTIC_OUTPUT = Quantisation((1.0 / 256.0,), (-128,))
_TANH_OUTPUT = Quantisation((1.0 / 128.0,), (0,))


def binary(sketch: Sketch) -> Graph:
    """ADD, SUB, MUL, MINIMUM, MAXIMUM and SQUARED_DIFFERENCE, with broadcasting and constants."""
    shape = sketch.feature_map()
    activation = sketch.pick(ACTIVATIONS) if sketch.kind in ("ADD", "SUB", "MUL") else "NONE"
    first = sketch.quantisation(activation)
    alike = sketch.kind in ("MINIMUM", "MAXIMUM")
    second = first if alike or sketch.chance(0.2) else _near(sketch, first)
    way = sketch.pick(_SHAPES)
    operands = [
        sketch.add_input(shape, first),
        _second(sketch, shape, second, way),
    ]
    if sketch.chance(0.3):
        operands.reverse()
    output = sketch.add("output", shape, first if alike else _result(sketch, first, second, activation))
    options: dict[str, OptionValue] = {}
    if sketch.kind in ("ADD", "SUB", "MUL"):
        options["fused_activation_function"] = activation
    return sketch.graph(operands, [output], options, _TABLES[sketch.kind])


def _near(sketch: Sketch, other: Quantisation) -> Quantisation:
    """Return a quantisation whose scale is within a factor of 16 of the other."""
    factor = 16.0 ** (2.0 * sketch.random.random() - 1.0)
    return Quantisation((float(np.float32(other.scale[0] * factor)),), (sketch.zero_point(),))


def _second(sketch: Sketch, shape: tuple[int, ...], quantisation: Quantisation, way: str) -> int:
    small = {
        "scalar constant": (),
        "channel constant": (shape[3],),
        "channels": (1, 1, 1, shape[3]),
        "plane": (1, shape[1], shape[2], 1),
        "pixel": (1, 1, 1, 1),
    }.get(way, shape)
    if not way.endswith("constant"):
        return sketch.add_input(small, quantisation)
    return sketch.add("constant", small, quantisation, np.asarray(sketch.levels(small)))


def _result(sketch: Sketch, first: Quantisation, second: Quantisation, activation: str) -> Quantisation:
    one, other = DEVIATION * first.scale[0], DEVIATION * second.scale[0]
    spread = float(np.hypot(one, other))
    spread = {"MUL": one * other, "SQUARED_DIFFERENCE": spread**2}.get(sketch.kind, spread)
    return sketch.scaled_output(spread, activation)


def unary(sketch: Sketch) -> Graph:
    """ABS, ELU, HARD_SWISH, QUANTIZE, RELU and its kin."""
    given = sketch.quantisation()
    deviation = DEVIATION * given.scale[0]
    output = given if sketch.chance(0.3) else sketch.scaled_output(deviation)
    return _mapped(sketch, given, output, {}, _UNARY_TABLES.get(sketch.kind, ""))


def leaky_relu(sketch: Sketch) -> Graph:
    """LEAKY_RELU."""
    given = sketch.quantisation()
    alpha = float(np.float32(sketch.pick((0.0, 0.01, 0.1, 0.2, 0.3, 0.5, 1.0, sketch.random.random()))))
    output = given if sketch.chance(0.3) else sketch.scaled_output(DEVIATION * given.scale[0])
    return _mapped(sketch, given, output, {"alpha": alpha}, "LeakyReluOptions")


def prelu(sketch: Sketch) -> Graph:
    """PRELU with a slope per channel."""
    shape = sketch.feature_map()
    given = sketch.quantisation()
    slopes = Quantisation((sketch.scale(1e-3, 1e-2),), (sketch.pick((0, -128, 5)),))
    inputs = [
        sketch.add_input(shape, given),
        sketch.add("slopes", (1, 1, shape[3]), slopes, sketch.levels((1, 1, shape[3]))),
    ]
    output = sketch.add("output", shape, sketch.scaled_output(DEVIATION * given.scale[0]))
    return sketch.graph(inputs, [output], version=1)


def sigmoid(sketch: Sketch) -> Graph:
    """LOGISTIC and TANH, with the output quantisation that TensorFlow Lite fixes."""
    given = Quantisation((sketch.scale(5e-3, 0.2),), (sketch.zero_point(),))
    return _mapped(sketch, given, _LOGISTIC_OUTPUT if sketch.kind == "LOGISTIC" else _TANH_OUTPUT, {}, "")


def softmax(sketch: Sketch) -> Graph:
    """SOFTMAX over the last dimension."""
    given = Quantisation((sketch.scale(5e-3, 0.5),), (sketch.zero_point(),))
    shape = (1, sketch.integer(2, 40)) if sketch.chance(0.7) else sketch.feature_map(600, side=8)
    return _mapped(sketch, given, SOFTMAX_OUTPUT, {"beta": 1.0}, "SoftmaxOptions", shape)


def _mapped(
    sketch: Sketch,
    given: Quantisation,
    output: Quantisation,
    options: dict[str, OptionValue],
    table: str,
    shape: tuple[int, ...] | None = None,
) -> Graph:
    shape = shape or sketch.feature_map()
    return sketch.graph(
        [sketch.add_input(shape, given)], [sketch.add("output", shape, output)], options, table
    )
