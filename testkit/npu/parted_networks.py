# SPDX-License-Identifier: Apache-2.0
"""Networks with operators that Vela leaves to a CPU, at their ends and between those of the NPU."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from resil.networks.graph import Graph, Operator, OptionValue, Quantisation, Tensor

NO_ACTIVATION: Mapping[str, OptionValue] = {"fused_activation_function": "NONE"}
CONV: Mapping[str, OptionValue] = {
    "padding": "SAME",
    "stride_w": 1,
    "stride_h": 1,
    "dilation_w_factor": 1,
    "dilation_h_factor": 1,
    **NO_ACTIVATION,
}


class Drawing:
    """A network in the making: tensors and operators one after another, weights by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []
        self.subgraphs: tuple[Graph, ...] = ()

    def tensor(self, name: str, shape: tuple[int, ...], scale: float, zero_point: int = 0) -> int:
        """Add an int8 tensor."""
        quantisation = Quantisation((float(np.float32(scale)),), (zero_point,))
        return self._add(Tensor(name, shape, "int8", quantisation))

    def constant(self, name: str, data: np.ndarray, scale: float = 0.0, channels: int = 0) -> int:
        """Add a constant; with `channels` it has that many equal scales along its first dimension."""
        count = channels or 1
        own = Quantisation((float(np.float32(scale)),) * count, (0,) * count) if scale else None
        return self._add(Tensor(name, data.shape, data.dtype.name, own, data))

    def operator(
        self, kind: str, inputs: tuple[int, ...], output: int, options: Mapping[str, OptionValue], table: str
    ) -> int:
        """Add an operator; return its output."""
        versions = {"CONV_2D": 3, "FULLY_CONNECTED": 4, "RESHAPE": 1}
        self.operators.append(Operator(kind, inputs, (output,), options, table, versions.get(kind, 2)))
        return output

    def conv(self, name: str, given: int, filters: int, scale: float, size: int = 3) -> int:
        """Add a CONV_2D without padding's effect on the size."""
        source = self.tensors[given]
        shape = (filters, min(size, source.shape[1]), size, source.shape[3])
        weights = self.constant(f"{name}_w", self._levels(shape), 0.02, filters)
        bias = self.constant(
            f"{name}_b",
            self.random.integers(-500, 500, filters).astype(np.int32),
            0.02 * source.scale,
            filters,
        )
        output = self.tensor(name, (*source.shape[:3], filters), scale, -5)
        return self.operator("CONV_2D", (given, weights, bias), output, CONV, "Conv2DOptions")

    def dense(self, name: str, given: int, units: int, scale: float) -> int:
        """Add a RESHAPE to a vector and a FULLY_CONNECTED."""
        source = self.tensors[given]
        inner = int(np.prod(source.shape))
        shape = self.constant(f"{name}_shape", np.array([1, inner], np.int32))
        flat = self.tensor(f"{name}_flat", (1, inner), source.scale, source.zero_point)
        self.operator("RESHAPE", (given, shape), flat, {}, "")
        weights = self.constant(f"{name}_w", self._levels((units, inner)), 0.01)
        bias = self.constant(
            f"{name}_b", self.random.integers(-500, 500, units).astype(np.int32), 0.01 * source.scale
        )
        output = self.tensor(name, (1, units), scale, 1)
        options = {**NO_ACTIVATION, "keep_num_dims": False, "weights_format": 0}
        return self.operator(
            "FULLY_CONNECTED", (flat, weights, bias), output, options, "FullyConnectedOptions"
        )

    def like(self, name: str, given: int) -> int:
        """Add a tensor of the shape and quantisation of another."""
        source = self.tensors[given]
        return self.tensor(name, source.shape, source.scale, source.zero_point)

    def gather(self, name: str, given: int) -> int:
        """Add a GATHER that puts the channels into another order, some of them twice."""
        channels = self.tensors[given].shape[-1]
        places = self.constant(f"{name}_at", self.random.integers(0, channels, channels).astype(np.int32))
        options = {"axis": len(self.tensors[given].shape) - 1, "batch_dims": 0}
        return self.operator("GATHER", (given, places), self.like(name, given), options, "GatherOptions")

    def log_softmax(self, name: str, given: int) -> int:
        """Add a LOG_SOFTMAX."""
        output = self.tensor(name, self.tensors[given].shape, 1 / 16, 127)
        return self.operator("LOG_SOFTMAX", (given,), output, {}, "LogSoftmaxOptions")

    def unit_length(self, name: str, given: int) -> int:
        """Add a L2_NORMALIZATION."""
        output = self.tensor(name, self.tensors[given].shape, 1 / 128)
        return self.operator("L2_NORMALIZATION", (given,), output, NO_ACTIVATION, "L2NormOptions")

    def call_once(self, initial: Mapping[str, np.ndarray]) -> None:
        """Give variables their first values, in a subgraph of their own."""
        first = Drawing(0)
        for name, data in initial.items():
            handle = first.handle(name)
            value = first.constant(f"{name}_first", data)
            first.operators.append(_assign(handle, value))
        self.subgraphs = (*self.subgraphs, first.graph((), ()))
        options = {"init_subgraph_index": len(self.subgraphs)}
        self.operators.append(Operator("CALL_ONCE", (), (), options, "CallOnceOptions"))

    def handle(self, name: str) -> int:
        """Add the handle of a variable."""
        output = self._add(Tensor(f"{name}_handle", (), "resource"))
        options = {"container": "", "shared_name": name}
        self.operators.append(Operator("VAR_HANDLE", (), (output,), options, "VarHandleOptions"))
        return output

    def read(self, handle: int, output: int) -> int:
        """Add a READ_VARIABLE; return its output."""
        self.operators.append(Operator("READ_VARIABLE", (handle,), (output,), {}, "ReadVariableOptions"))
        return output

    def assign(self, handle: int, value: int) -> None:
        """Add an ASSIGN_VARIABLE."""
        self.operators.append(_assign(handle, value))

    def slice_rows(self, name: str, given: int, begin: int, rows: int) -> int:
        """Add a STRIDED_SLICE of rows (the second dimension)."""
        source = self.tensors[given]
        shape = (1, rows, *source.shape[2:])
        firsts = self.constant(f"{name}_begin", np.array([0, begin, *[0] * (len(shape) - 2)], np.int32))
        lasts = self.constant(f"{name}_end", np.array([1, begin + rows, *source.shape[2:]], np.int32))
        steps = self.constant(f"{name}_steps", np.ones(len(shape), np.int32))
        output = self.tensor(name, shape, source.scale, source.zero_point)
        masks = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        options = {**dict.fromkeys(masks, 0), "offset": False}
        return self.operator(
            "STRIDED_SLICE", (given, firsts, lasts, steps), output, options, "StridedSliceOptions"
        )

    def join_rows(self, name: str, *given: int) -> int:
        """Add a CONCATENATION along the rows (the second dimension)."""
        sources = [self.tensors[i] for i in given]
        shape = (1, sum(s.shape[1] for s in sources), *sources[0].shape[2:])
        output = self.tensor(name, shape, sources[0].scale, sources[0].zero_point)
        options = {"axis": 1, **NO_ACTIVATION}
        return self.operator("CONCATENATION", given, output, options, "ConcatenationOptions")

    def graph(self, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Graph:
        """Return the network."""
        return Graph(tuple(self.tensors), tuple(self.operators), inputs, outputs, subgraphs=self.subgraphs)

    def _add(self, tensor: Tensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def _levels(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.random.integers(-127, 128, shape).astype(np.int8)


def _assign(handle: int, value: int) -> Operator:
    return Operator("ASSIGN_VARIABLE", (handle, value), (), {}, "AssignVariableOptions")


def host_at_both_ends(seed: int = 1) -> Graph:
    """GATHER, then a convolution and a dense layer, then LOG_SOFTMAX: one part of the NPU."""
    made = Drawing(seed)
    given = made.tensor("given", (1, 4, 4, 4), 0.05)
    scores = made.dense("scores", made.conv("conv", made.gather("order", given), 8, 0.1), 5, 0.05)
    return made.graph((given,), (made.log_softmax("log", scores),))


def foreign_host(seed: int = 4) -> Graph:
    """DEPTH_TO_SPACE between convolution and dense layer, which resil's own reference does not know."""
    made = Drawing(seed)
    given = made.tensor("given", (1, 4, 4, 4), 0.05)
    spread = made.tensor("spread", (1, 8, 8, 2), 0.1, -5)
    made.operator(
        "DEPTH_TO_SPACE",
        (made.conv("conv", given, 8, 0.1),),
        spread,
        {"block_size": 2},
        "DepthToSpaceOptions",
    )
    return made.graph((given,), (made.dense("scores", spread, 5, 1.0),))


def host_between(seed: int = 2) -> Graph:
    """Three parts of the NPU with GATHER and L2_NORMALIZATION between them; the first's output skips one.

    The second part gets what the first has computed, and so does the last, which the host keeps until then.
    """
    made = Drawing(seed)
    given = made.tensor("given", (1, 4, 4, 4), 0.05)
    first = made.conv("first", given, 8, 0.1)
    second = made.conv("second", made.gather("order", first), 8, 0.1)
    both = made.tensor("both", made.tensors[first].shape, 0.15, 3)
    made.operator("ADD", (second, first), both, NO_ACTIVATION, "AddOptions")
    unit = made.unit_length("unit", both)
    again = made.tensor("again", made.tensors[first].shape, 0.1, -4)
    made.operator("ADD", (unit, first), again, NO_ACTIVATION, "AddOptions")
    scores = made.dense("scores", again, 5, 0.05)
    return made.graph((given,), (scores,))


def streaming(seed: int = 3, *, with_host: bool = False) -> Graph:
    """Two convolutions over a stream of rows, each with a variable of the rows before; a row an inference.

    The variables are `past` (two rows of the input, at first its zero point) and `inner` (one row of what the
    first convolution gave, at first any levels). `with_host` puts a GATHER between the convolutions.
    """
    made = Drawing(seed)
    given = made.tensor("row", (1, 1, 4, 4), 0.05, -3)
    first_inner = made.random.integers(-20, 20, (1, 1, 4, 8)).astype(np.int8)
    made.call_once({"past": np.full((1, 2, 4, 4), -3, np.int8), "inner": first_inner})
    past, inner = made.handle("past"), made.handle("inner")
    before = made.read(past, made.tensor("past_before", (1, 2, 4, 4), 0.05, -3))
    rows = made.join_rows("rows", before, given)
    made.assign(past, made.slice_rows("past_after", rows, 1, 2))
    all_rows = made.conv("first", rows, 8, 0.1)
    last = made.slice_rows("last", all_rows, 2, 1)
    if with_host:
        last = made.gather("order", last)
    before = made.read(inner, made.tensor("inner_before", (1, 1, 4, 8), 0.1, -5))
    pair = made.join_rows("pair", before, last)
    made.assign(inner, last)
    scores = made.dense("scores", made.conv("second", pair, 8, 0.1), 5, 1.0)
    return made.graph((given,), (scores,))
