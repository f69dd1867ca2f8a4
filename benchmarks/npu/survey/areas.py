# SPDX-License-Identifier: Apache-2.0
"""Survey of pools, reductions and resizing."""

from __future__ import annotations

from math import prod

from benchmarks.npu.survey.drawing import Drawing
from resil.networks.geometry import Window
from resil.networks.graph import Graph, OptionValue

Pair = tuple[int, int]
Shape = tuple[int, ...]


def pool(
    draw: Drawing,
    kind: str,
    size: Pair = (2, 2),
    stride: Pair = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    source: Shape = (1, 9, 10, 12),
) -> Graph:
    """AVERAGE_POOL_2D and MAX_POOL_2D."""
    window = Window(size, stride, padding)
    given = draw.given(source)
    output = draw.add("output", (1, *window.output_shape(*source[1:3]), source[3]), draw.quantised(given))
    options: dict[str, OptionValue] = {
        "filter_height": size[0],
        "filter_width": size[1],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "padding": padding,
        "fused_activation_function": activation,
    }
    return draw.graph(kind, [given], [output], options, "Pool2DOptions")


def reduced(
    draw: Drawing,
    kind: str,
    axes: Shape = (1, 2),
    keep: bool = True,
    other_scale: bool = False,
    source: Shape = (1, 8, 9, 11),
) -> Graph:
    """MEAN, SUM, REDUCE_MAX and REDUCE_MIN."""
    given = draw.given(source)
    shape = tuple(1 if i in axes else n for i, n in enumerate(source) if keep or i not in axes)
    count = prod(source[i] for i in axes)
    result = draw.quantised(given)
    if kind == "SUM":
        result = draw.quantisation(1.7 * count**0.5, 0)
    elif other_scale:
        result = draw.quantisation(0.4)
    output = draw.add("output", shape, result)
    return draw.graph(
        kind, [given, draw.integers("axes", axes)], [output], {"keep_dims": keep}, "ReducerOptions"
    )


def largest(draw: Drawing, shape: Shape = (1, 6, 7, 9)) -> Graph:
    """ARG_MAX over the last dimension."""
    given = draw.given(shape)
    output = draw.add("output", shape[:-1], None, None, "int32")
    inputs = [given, draw.integers("axis", len(shape) - 1)]
    return draw.graph("ARG_MAX", inputs, [output], {"output_type": 2}, "ArgMaxOptions")


def resized(draw: Drawing, kind: str, factor: int = 2, corners: bool = False, centres: bool = False) -> Graph:
    """RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""
    source = (1, 4, 5, 6)
    given = draw.given(source)
    size = [(n - 1) * factor + 1 if corners else n * factor for n in source[1:3]]
    output = draw.add("output", (1, *size, source[3]), draw.quantised(given))
    table = "ResizeNearestNeighborOptions" if "NEAREST" in kind else "ResizeBilinearOptions"
    options: dict[str, OptionValue] = {"align_corners": corners, "half_pixel_centers": centres}
    return draw.graph(kind, [given, draw.integers("size", size)], [output], options, table, 3)
