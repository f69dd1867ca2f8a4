# SPDX-License-Identifier: Apache-2.0
"""Survey of operations that move, cut, join or repeat elements."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.npu.survey.drawing import Drawing
from resil.networks.graph import Graph, OptionValue

Shape = tuple[int, ...]
MAP: Shape = (1, 6, 7, 9)


def moved(
    draw: Drawing,
    kind: str,
    new: Shape,
    source: Shape = MAP,
    constants: Sequence[Sequence[int] | Sequence[Sequence[int]]] = (),
    options: dict[str, OptionValue] | None = None,
    table: str = "",
    version: int = 2,
) -> Graph:
    """An operation whose output has the input's quantisation, and whose other operands are integers."""
    given = draw.given(source)
    operands = [draw.integers(f"operand{i}", values) for i, values in enumerate(constants)]
    output = draw.add("output", new, draw.quantised(given))
    return draw.graph(kind, [given, *operands], [output], options, table, version)


def reshape(draw: Drawing, new: Shape) -> Graph:
    """RESHAPE."""
    return moved(draw, "RESHAPE", new, MAP, [new], {"new_shape": new}, "ReshapeOptions", 1)


def transpose(draw: Drawing, order: Shape, source: Shape = MAP) -> Graph:
    """TRANSPOSE."""
    new = tuple(source[i] for i in order)
    return moved(draw, "TRANSPOSE", new, source, [order], {}, "TransposeOptions")


def padded(draw: Drawing, kind: str, widths: Sequence[tuple[int, int]], mode: int = 0) -> Graph:
    """PAD and MIRROR_PAD."""
    new = tuple(n + before + after for n, (before, after) in zip(MAP, widths, strict=True))
    options: dict[str, OptionValue] = {"mode": mode} if kind == "MIRROR_PAD" else {}
    table = "MirrorPadOptions" if kind == "MIRROR_PAD" else "PadOptions"
    return moved(draw, kind, new, MAP, [widths], options, table)


def joined(draw: Drawing, axis: int, parts: Sequence[int] = (3, 5), unequal: bool = False) -> Graph:
    """CONCATENATION; with `unequal` the parts have scales of their own."""
    inputs = []
    for i, part in enumerate(parts):
        shape = (*MAP[:axis], part, *MAP[axis + 1 :])
        first = draw.quantised(inputs[0]) if inputs else draw.quantisation()
        inputs.append(draw.given(shape, draw.quantisation(1.3**i) if unequal else first))
    output = draw.add("output", (*MAP[:axis], sum(parts), *MAP[axis + 1 :]), draw.quantised(inputs[0]))
    options: dict[str, OptionValue] = {"axis": axis, "fused_activation_function": "NONE"}
    return draw.graph("CONCATENATION", inputs, [output], options, "ConcatenationOptions")


def split(draw: Drawing, axis: int, count: int = 2) -> Graph:
    """SPLIT into equal parts."""
    source = tuple(n * count if i == axis else n for i, n in enumerate(MAP))
    inputs = [draw.integers("axis", axis), draw.given(source)]
    outputs = [draw.add(f"output{i}", MAP, draw.quantised(inputs[1])) for i in range(count)]
    return draw.graph("SPLIT", inputs, outputs, {"num_splits": count}, "SplitOptions")


def split_sizes(draw: Drawing, axis: int, sizes: Sequence[int]) -> Graph:
    """SPLIT_V into parts of different sizes."""
    source = tuple(sum(sizes) if i == axis else n for i, n in enumerate(MAP))
    inputs = [draw.given(source), draw.integers("sizes", sizes), draw.integers("axis", axis)]
    outputs = [
        draw.add(f"output{i}", (*MAP[:axis], size, *MAP[axis + 1 :]), draw.quantised(inputs[0]))
        for i, size in enumerate(sizes)
    ]
    return draw.graph("SPLIT_V", inputs, outputs, {"num_splits": len(sizes)}, "SplitVOptions")


def packed(draw: Drawing, axis: int, count: int = 3) -> Graph:
    """PACK along a new dimension."""
    part = (1, 6, 9)
    first = draw.quantisation()
    inputs = [draw.given(part, first) for _ in range(count)]
    output = draw.add("output", (*part[:axis], count, *part[axis:]), first)
    return draw.graph("PACK", inputs, [output], {"values_count": count, "axis": axis}, "PackOptions")


def unpacked(draw: Drawing, axis: int) -> Graph:
    """UNPACK along a dimension."""
    source = (1, 4, 5, 6)
    given = draw.given(source)
    part = (*source[:axis], *source[axis + 1 :])
    outputs = [draw.add(f"output{i}", part, draw.quantised(given)) for i in range(source[axis])]
    return draw.graph("UNPACK", [given], outputs, {"num": source[axis], "axis": axis}, "UnpackOptions")


def strided(draw: Drawing, begin: Shape, end: Shape, steps: Shape, shrink: int = 0) -> Graph:
    """STRIDED_SLICE."""
    new = tuple(
        -(-(high - low) // step)
        for i, (low, high, step) in enumerate(zip(begin, end, steps, strict=True))
        if not shrink >> i & 1
    )
    masks = ("begin", "end", "ellipsis", "new_axis")
    options: dict[str, OptionValue] = {f"{name}_mask": 0 for name in masks}
    options["shrink_axis_mask"] = shrink
    return moved(draw, "STRIDED_SLICE", new, MAP, [begin, end, steps], options, "StridedSliceOptions")


def cut(draw: Drawing, begin: Shape, size: Shape) -> Graph:
    """SLICE."""
    return moved(draw, "SLICE", size, MAP, [begin, size], {}, "SliceOptions")
