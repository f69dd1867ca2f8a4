# SPDX-License-Identifier: Apache-2.0
"""Operations that move, repeat, cut or join elements, and means over areas."""

from __future__ import annotations

from resil.networks.generate.sketch import DEVIATION, Sketch
from resil.networks.geometry import elements
from resil.networks.graph import Graph, OptionValue

Shape = tuple[int, ...]


def reshape(sketch: Sketch) -> Graph:
    """RESHAPE into another shape of two to four dimensions."""
    shape = sketch.feature_map()
    rest = elements(shape)
    factor = sketch.pick([n for n in range(1, min(rest, 64) + 1) if rest % n == 0])
    new: Shape = sketch.pick(
        (
            (1, rest),
            (1, factor, rest // factor),
            (1, factor, 1, rest // factor),
            (1, 1, rest // factor, factor),
        )
    )
    return _moved(
        sketch, shape, new, {"new_shape": new}, "ReshapeOptions", [sketch.integers("shape", new)], 1
    )


def transpose(sketch: Sketch) -> Graph:
    """TRANSPOSE of the dimensions after the batch."""
    shape = sketch.feature_map()
    order = sketch.pick(((0, 2, 1, 3), (0, 1, 3, 2), (0, 3, 2, 1), (0, 2, 3, 1), (0, 3, 1, 2)))
    new = tuple(shape[i] for i in order)
    return _moved(sketch, shape, new, {}, "TransposeOptions", [sketch.integers("order", order)])


def resize(sketch: Sketch) -> Graph:
    """RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR by 2, 4 or 8."""
    factor = sketch.pick((2, 2, 2, 4, 8))
    shape = sketch.feature_map(600, side=8)
    corners = sketch.chance(0.3) and min(shape[1:3]) > 1
    size = [(n - 1) * factor + 1 if corners else n * factor for n in shape[1:3]]
    centres = factor == 2 and not corners and sketch.chance(0.4)
    options: dict[str, OptionValue] = {"align_corners": corners, "half_pixel_centers": centres}
    table = "ResizeNearestNeighborOptions" if "NEAREST" in sketch.kind else "ResizeBilinearOptions"
    new = (1, *size, shape[3])
    return _moved(sketch, shape, new, options, table, [sketch.integers("size", size)], 3)


def concatenation(sketch: Sketch) -> Graph:
    """CONCATENATION of two to four inputs along any dimension but the batch."""
    shape = list(sketch.feature_map(1500))
    axis = sketch.integer(1, 3)
    parts = [sketch.skewed(20) for _ in range(sketch.integer(2, 4))]
    quantisation = sketch.quantisation()
    inputs = [sketch.add_input((*shape[:axis], part, *shape[axis + 1 :]), quantisation) for part in parts]
    output = sketch.add("output", (*shape[:axis], sum(parts), *shape[axis + 1 :]), quantisation)
    options: dict[str, OptionValue] = {"axis": axis, "fused_activation_function": "NONE"}
    return sketch.graph(inputs, [output], options, "ConcatenationOptions")


def pad(sketch: Sketch) -> Graph:
    """PAD with zeros around the map, sometimes around the channels."""
    shape = sketch.feature_map(1500)
    widths = [(0, 0), *((sketch.integer(0, 4), sketch.integer(0, 4)) for _ in range(2)), (0, 0)]
    if sketch.chance(0.3):
        widths[3] = (sketch.integer(0, 4), sketch.integer(0, 4))
    new = tuple(n + before + after for n, (before, after) in zip(shape, widths, strict=True))
    return _moved(sketch, shape, new, {}, "PadOptions", [sketch.integers("widths", widths)])


def mirror_pad(sketch: Sketch) -> Graph:
    """MIRROR_PAD around the map."""
    shape = sketch.feature_map(1500)
    mode = sketch.integer(0, 1)
    most = [max(0, min(4, n - 1 + mode)) for n in shape[1:3]]
    around = [(sketch.integer(0, n), sketch.integer(0, n)) for n in most]
    widths = [(0, 0), *around, (0, 0)]
    new = tuple(n + before + after for n, (before, after) in zip(shape, widths, strict=True))
    return _moved(sketch, shape, new, {"mode": mode}, "MirrorPadOptions", [sketch.integers("widths", widths)])


def mean(sketch: Sketch) -> Graph:
    """MEAN over height, width or both, SUM over one axis; input and output may differ in quantisation.

    Of sums over more axes Vela makes another stream, see `resil.networks.miscompiled`.
    """
    shape = sketch.feature_map()
    axes = sketch.pick(((1,), (2,), (3,)) if sketch.kind == "SUM" else ((1, 2), (1, 2), (1,), (2,)))
    keep = sketch.chance(0.5)
    new = tuple(1 if i in axes else n for i, n in enumerate(shape) if keep or i not in axes)
    given = sketch.quantisation()
    deviation = DEVIATION * given.scale[0] / 2
    if sketch.kind == "SUM":
        count = elements([shape[i] for i in axes])
        deviation = given.scale[0] * (DEVIATION * count**0.5 + count * abs(given.zero_point[0])) / 2
    output = given if sketch.kind == "MEAN" and sketch.chance(0.5) else sketch.scaled_output(deviation)
    inputs = [sketch.add_input(shape, given), sketch.integers("axes", axes)]
    return sketch.graph(inputs, [sketch.add("output", new, output)], {"keep_dims": keep}, "ReducerOptions")


def strided_slice(sketch: Sketch) -> Graph:
    """STRIDED_SLICE of the map, with steps of one or two in height and width."""
    shape = sketch.feature_map()
    begin = [0, *(sketch.integer(0, n - 1) for n in shape[1:])]
    end = [1, *(sketch.integer(low + 1, n) for low, n in zip(begin[1:], shape[1:], strict=True))]
    steps = [1, sketch.pick((1, 1, 2)), sketch.pick((1, 1, 2)), 1]
    new = tuple(-(-(high - low) // step) for low, high, step in zip(begin, end, steps, strict=True))
    options: dict[str, OptionValue] = {
        f"{name}_mask": 0 for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    bounds = [sketch.integers(name, v) for name, v in (("begin", begin), ("end", end), ("steps", steps))]
    return _moved(sketch, shape, new, options, "StridedSliceOptions", bounds)


def cut(sketch: Sketch) -> Graph:
    """SLICE."""
    shape = sketch.feature_map()
    begin = [0, *(sketch.integer(0, n - 1) for n in shape[1:])]
    size = [1, *(sketch.integer(1, n - low) for low, n in zip(begin[1:], shape[1:], strict=True))]
    bounds = [sketch.integers("begin", begin), sketch.integers("size", size)]
    return _moved(sketch, shape, tuple(size), {}, "SliceOptions", bounds)


def split(sketch: Sketch) -> Graph:
    """SPLIT into two to four equal parts along any dimension but the batch."""
    axis, count = sketch.integer(1, 3), sketch.integer(2, 4)
    shape = list(sketch.feature_map(1000))
    part = list(shape)
    shape[axis] *= count
    quantisation = sketch.quantisation()
    inputs = [sketch.integers("axis", [axis]), sketch.add_input(tuple(shape), quantisation)]
    outputs = [sketch.add(f"output{i}", tuple(part), quantisation) for i in range(count)]
    return sketch.graph(inputs, outputs, {"num_splits": count}, "SplitOptions")


def pack(sketch: Sketch) -> Graph:
    """PACK of two to four inputs (1, H, C) along a new dimension."""
    shape = sketch.feature_map(1500)
    part = (1, shape[1], shape[3])
    axis, count = sketch.integer(1, 3), sketch.integer(2, 4)
    quantisation = sketch.quantisation()
    inputs = [sketch.add_input(part, quantisation) for _ in range(count)]
    output = sketch.add("output", (*part[:axis], count, *part[axis:]), quantisation)
    return sketch.graph(inputs, [output], {"values_count": count, "axis": axis}, "PackOptions")


def _moved(
    sketch: Sketch,
    shape: Shape,
    new: Shape,
    options: dict[str, OptionValue],
    table: str,
    constants: list[int],
    version: int = 2,
) -> Graph:
    quantisation = sketch.quantisation()
    inputs = [sketch.add_input(shape, quantisation), *constants]
    return sketch.graph(inputs, [sketch.add("output", new, quantisation)], options, table, version)
