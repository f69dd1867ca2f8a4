# SPDX-License-Identifier: Apache-2.0
"""The survey's networks: one for each operator and variant that Vela may map to an Ethos-U55."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.npu.survey import areas, elements, hosts, movement, weighted
from benchmarks.npu.survey.drawing import Drawing
from resil.networks.graph import Graph

Make = Callable[[Drawing], Graph]


@dataclass(frozen=True)
class Case:
    """A network of one operation.

    Attributes:
        kind: TensorFlow Lite's name of the operator.
        variant: What is special about it.
        dtype: Of its feature maps.
        make: Draws it.
    """

    kind: str
    variant: str
    dtype: str
    make: Make

    @property
    def name(self) -> str:
        """Kind, variant and type."""
        return f"{self.kind} {self.variant} {self.dtype}"

    def graph(self) -> Graph:
        """Return the network."""
        return self.make(Drawing(self.name, self.dtype))


BOTH = ("int8", "int16")
INT8 = ("int8",)
_UP, _DOWN = 3.0, 0.4


def _weighted() -> list[tuple[str, str, tuple[str, ...], Make]]:
    conv, depth, full = weighted.convolution, weighted.depthwise, weighted.connected
    transposed, bmm = weighted.transposed, weighted.matrices
    return [
        ("CONV_2D", "1x1", BOTH, partial(conv, size=(1, 1))),
        ("CONV_2D", "3x3 SAME", BOTH, conv),
        ("CONV_2D", "3x3 VALID stride 2", BOTH, partial(conv, stride=(2, 2), padding="VALID")),
        ("CONV_2D", "5x3 stride 3x1", BOTH, partial(conv, size=(5, 3), stride=(3, 1))),
        ("CONV_2D", "3x3 dilation 2", BOTH, partial(conv, dilation=(2, 2))),
        ("CONV_2D", "3x3 dilation 3x1", INT8, partial(conv, dilation=(3, 1))),
        ("CONV_2D", "RELU", BOTH, partial(conv, activation="RELU")),
        ("CONV_2D", "RELU6", BOTH, partial(conv, activation="RELU6")),
        ("CONV_2D", "RELU_N1_TO_1", INT8, partial(conv, activation="RELU_N1_TO_1")),
        ("CONV_2D", "one scale", INT8, partial(conv, axis=None)),
        ("CONV_2D", "no bias", BOTH, partial(conv, biased=False)),
        ("CONV_2D", "one row", BOTH, partial(conv, source=(1, 40), size=(1, 5))),
        ("CONV_2D", "one channel", INT8, partial(conv, channels=1, size=(7, 7))),
        ("CONV_2D", "deep", INT8, partial(conv, source=(3, 3), channels=130, filters=70)),
        ("DEPTHWISE_CONV_2D", "3x3 SAME", BOTH, depth),
        ("DEPTHWISE_CONV_2D", "5x5 stride 2 VALID", BOTH,
         partial(depth, size=(5, 5), stride=(2, 2), padding="VALID")),
        ("DEPTHWISE_CONV_2D", "3x3 dilation 2", INT8, partial(depth, dilation=(2, 2))),
        ("DEPTHWISE_CONV_2D", "multiplier 5", BOTH, partial(depth, channels=1, multiplier=5)),
        ("DEPTHWISE_CONV_2D", "RELU6", INT8, partial(depth, activation="RELU6")),
        ("FULLY_CONNECTED", "one row", BOTH, full),
        ("FULLY_CONNECTED", "four rows", BOTH, partial(full, rows=4)),
        ("FULLY_CONNECTED", "RELU", INT8, partial(full, activation="RELU")),
        ("FULLY_CONNECTED", "scale per row", BOTH, partial(full, axis=0)),
        ("FULLY_CONNECTED", "no bias", INT8, partial(full, biased=False)),
        ("FULLY_CONNECTED", "both operands computed", BOTH, weighted.connected_dynamic),
        ("BATCH_MATMUL", "two matrices", BOTH, bmm),
        ("BATCH_MATMUL", "second transposed", BOTH, partial(bmm, adjoint=True)),
        ("TRANSPOSE_CONV", "3x3 stride 2 SAME", BOTH, transposed),
        ("TRANSPOSE_CONV", "2x2 stride 2 VALID", BOTH, partial(transposed, size=(2, 2), padding="VALID")),
        ("TRANSPOSE_CONV", "3x3 stride 1", INT8, partial(transposed, stride=(1, 1))),
    ]  # fmt: skip


def _elements() -> list[tuple[str, str, tuple[str, ...], Make]]:
    rows: list[tuple[str, str, tuple[str, ...], Make]] = []
    pixel, channel = (1, 1, 1, 1), (1, 1, 1, elements.MAP[3])
    for kind in ("ADD", "SUB", "MUL"):
        binary = partial(elements.binary, kind=kind)
        rows += [
            (kind, "equal scales", BOTH, partial(binary)),
            (kind, "unequal scales", BOTH, partial(binary, ratio=_UP)),
            (kind, "unequal scales, second finer", INT8, partial(binary, ratio=_DOWN)),
            (kind, "broadcast of channels", BOTH, partial(binary, ratio=1.7, second=channel)),
            (kind, "broadcast of one constant", INT8,
             partial(binary, ratio=_DOWN, second=pixel, constant=True)),
            (kind, "RELU", INT8, partial(binary, ratio=1.7, activation="RELU")),
            (kind, "RELU6", INT8, partial(binary, ratio=1.7, activation="RELU6")),
            (kind, "plain integers", ("int32",), partial(binary)),
        ]  # fmt: skip
    for kind in ("MINIMUM", "MAXIMUM"):
        rows += [
            (kind, "two maps", BOTH, partial(elements.binary, kind=kind)),
            (kind, "broadcast of channels", INT8, partial(elements.binary, kind=kind, second=channel)),
            (kind, "one constant", INT8, partial(elements.binary, kind=kind, second=pixel, constant=True)),
        ]
    squared = partial(elements.binary, kind="SQUARED_DIFFERENCE", ratio=1.7)
    rows.append(("SQUARED_DIFFERENCE", "unequal scales", INT8, squared))
    unary = elements.unary
    for kind in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ABS"):
        types = BOTH if kind in ("ABS", "RELU", "RELU6") else INT8
        rows.append((kind, "same scale", types, partial(unary, kind=kind)))
        rows.append((kind, "another scale", types, partial(unary, kind=kind, factor=_DOWN)))
    rows += [
        ("LEAKY_RELU", "slope 0.1", BOTH, partial(unary, kind="LEAKY_RELU", alpha=0.1)),
        ("LEAKY_RELU", "slope 0.3, another scale", BOTH,
         partial(unary, kind="LEAKY_RELU", alpha=0.3, factor=0.7)),
        ("LEAKY_RELU", "slope -0.2", INT8, partial(unary, kind="LEAKY_RELU", alpha=-0.2)),
        ("PRELU", "slope per channel", INT8, elements.prelu),
        ("PRELU", "one slope", INT8, partial(elements.prelu, slopes=(1, 1, 1), factor=0.7)),
        ("HARD_SWISH", "same scale", INT8, partial(unary, kind="HARD_SWISH")),
        ("HARD_SWISH", "another scale", INT8, partial(unary, kind="HARD_SWISH", factor=0.6)),
        ("ELU", "same scale", INT8, partial(unary, kind="ELU")),
        ("LOGISTIC", "map", INT8, partial(elements.bounded, kind="LOGISTIC", scale=0.05)),
        ("LOGISTIC", "map", ("int16",), partial(elements.bounded, kind="LOGISTIC", scale=1 / 4096)),
        ("TANH", "map", INT8, partial(elements.bounded, kind="TANH", scale=0.03)),
        ("TANH", "map", ("int16",), partial(elements.bounded, kind="TANH", scale=1 / 8192)),
        ("RSQRT", "map", INT8, partial(elements.bounded, kind="RSQRT", scale=0.05)),
        ("EXP", "same scale", BOTH, partial(unary, kind="EXP")),
        ("SOFTMAX", "one row", BOTH, elements.softmax),
        ("SOFTMAX", "map", BOTH, partial(elements.softmax, shape=(1, 4, 5, 11))),
        ("SOFTMAX", "beta 0.7", INT8, partial(elements.softmax, beta=0.7)),
        ("QUANTIZE", "another scale", BOTH, partial(unary, kind="QUANTIZE", factor=0.7)),
        ("QUANTIZE", "to int16", INT8, partial(elements.to_type, target="int16", scale=3e-4)),
        ("QUANTIZE", "to int8", ("int16",),
         partial(elements.to_type, target="int8", scale=0.03, zero_point=5)),
    ]  # fmt: skip
    return rows


def _areas() -> list[tuple[str, str, tuple[str, ...], Make]]:
    rows: list[tuple[str, str, tuple[str, ...], Make]] = []
    for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        pool = partial(areas.pool, kind=kind)
        rows += [
            (kind, "2x2 SAME", BOTH, pool),
            (kind, "3x3 stride 1 SAME", BOTH, partial(pool, size=(3, 3), stride=(1, 1))),
            (kind, "3x2 VALID", INT8, partial(pool, size=(3, 2), padding="VALID")),
            (kind, "whole map", INT8, partial(pool, size=(9, 10), stride=(1, 1), padding="VALID")),
            (kind, "RELU6", INT8, partial(pool, activation="RELU6")),
        ]
    for kind in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        reduced = partial(areas.reduced, kind=kind)
        types = BOTH if kind == "MEAN" else INT8
        rows += [
            (kind, "height and width", types, reduced),
            (kind, "width", INT8, partial(reduced, axes=(2,), keep=False)),
            (kind, "channels", types, partial(reduced, axes=(3,))),
        ]
    rows += [
        ("MEAN", "another scale", BOTH, partial(areas.reduced, kind="MEAN", other_scale=True)),
        ("MEAN", "height", INT8, partial(areas.reduced, kind="MEAN", axes=(1,), keep=False)),
        ("ARG_MAX", "map", INT8, areas.largest),
        ("ARG_MAX", "one row", INT8, partial(areas.largest, shape=(1, 12))),
    ]
    for kind in ("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"):
        resized = partial(areas.resized, kind=kind)
        rows += [
            (kind, "by 2", BOTH, resized),
            (kind, "by 4", INT8, partial(resized, factor=4)),
            (kind, "by 2, corners", INT8, partial(resized, corners=True)),
            (kind, "by 2, centres", INT8, partial(resized, centres=True)),
        ]
    return rows


def _movement() -> list[tuple[str, str, tuple[str, ...], Make]]:
    around = [(0, 0), (1, 2), (3, 0), (0, 0)]
    padded, transpose = movement.padded, movement.transpose
    return [
        ("PAD", "around the map", BOTH, partial(padded, kind="PAD", widths=around)),
        ("PAD", "channels", INT8, partial(padded, kind="PAD", widths=[(0, 0), (0, 0), (0, 1), (2, 3)])),
        ("MIRROR_PAD", "REFLECT", BOTH, partial(padded, kind="MIRROR_PAD", widths=around)),
        ("MIRROR_PAD", "SYMMETRIC", INT8, partial(padded, kind="MIRROR_PAD", widths=around, mode=1)),
        ("CONCATENATION", "height", BOTH, partial(movement.joined, axis=1)),
        ("CONCATENATION", "width", INT8, partial(movement.joined, axis=2)),
        ("CONCATENATION", "channels", BOTH, partial(movement.joined, axis=3, parts=(3, 17, 5))),
        ("CONCATENATION", "unequal scales", BOTH, partial(movement.joined, axis=3, unequal=True)),
        ("SPLIT", "height", INT8, partial(movement.split, axis=1)),
        ("SPLIT", "channels", BOTH, partial(movement.split, axis=3, count=3)),
        ("SPLIT_V", "channels", INT8, partial(movement.split_sizes, axis=3, sizes=(2, 7))),
        ("SLICE", "map", BOTH, partial(movement.cut, begin=(0, 1, 2, 3), size=(1, 4, 3, 5))),
        ("STRIDED_SLICE", "steps of 1", BOTH,
         partial(movement.strided, begin=(0, 1, 0, 2), end=(1, 5, 6, 9), steps=(1, 1, 1, 1))),
        ("STRIDED_SLICE", "steps of 2", INT8,
         partial(movement.strided, begin=(0, 1, 0, 2), end=(1, 6, 7, 9), steps=(1, 2, 2, 1))),
        ("STRIDED_SLICE", "one row taken out", INT8,
         partial(movement.strided, begin=(0, 2, 0, 0), end=(1, 3, 7, 9), steps=(1, 1, 1, 1), shrink=2)),
        ("TRANSPOSE", "height and width", BOTH, partial(transpose, order=(0, 2, 1, 3))),
        ("TRANSPOSE", "matrix", BOTH, partial(transpose, order=(1, 0), source=(6, 7))),
        ("TRANSPOSE", "width and channels of one row", INT8,
         partial(transpose, order=(0, 1, 3, 2), source=(1, 1, 7, 9))),
        ("RESHAPE", "to a vector", BOTH, partial(movement.reshape, new=(1, 378))),
        ("SQUEEZE", "batch", INT8, partial(movement.moved, kind="SQUEEZE", new=(6, 7, 9),
                                          options={"squeeze_dims": (0,)}, table="SqueezeOptions")),
        ("EXPAND_DIMS", "behind", INT8, partial(movement.moved, kind="EXPAND_DIMS", new=(1, 6, 7, 9, 1),
                                               constants=[[4]], table="ExpandDimsOptions")),
        ("PACK", "axis 1", BOTH, partial(movement.packed, axis=1)),
        ("PACK", "last axis", INT8, partial(movement.packed, axis=3)),
        ("UNPACK", "height", BOTH, partial(movement.unpacked, axis=1)),
        ("UNPACK", "channels", INT8, partial(movement.unpacked, axis=3)),
    ]  # fmt: skip


def _hosts() -> list[tuple[str, str, tuple[str, ...], Make]]:
    """Operators of the host, each before a dense layer of the NPU."""
    return [
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", "four steps", INT8, hosts.lstm),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", "time first", INT8, partial(hosts.lstm, time_major=True)),
        ("SVDF", "state of int16", INT8, hosts.svdf),
        ("SVDF", "state of int8", INT8, partial(hosts.svdf, state="int8")),
        *(
            (kind, "of real numbers", INT8, partial(hosts.real, kind=kind))
            for kind in ("EXP", "SQRT", "LOGISTIC", "MUL")
        ),
    ]


def _all() -> tuple[Case, ...]:
    rows = [*_weighted(), *_elements(), *_areas(), *_movement(), *_hosts()]
    return tuple(Case(kind, variant, t, make) for kind, variant, types, make in rows for t in types)


CASES: tuple[Case, ...] = _all()
