# SPDX-License-Identifier: Apache-2.0
"""Reductions that Vela compiles wrongly are refused; those that it compiles rightly are not."""

from __future__ import annotations

import numpy as np
import pytest

from resil.networks.errors import NetworkError
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.miscompiled import check_reductions
from testkit.errors import about

FULL, FLAT, NARROW = (1, 5, 6, 7), (1, 1, 6, 7), (1, 5, 1, 7)


def reduction(kind: str, shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: bool) -> Graph:
    left = tuple(
        1 if axis in axes else size for axis, size in enumerate(shape) if keep_dims or axis not in axes
    )
    scale = Quantisation((0.05,), (7,))
    tensors = (
        Tensor("in", shape, "int8", scale),
        Tensor("axes", (len(axes),), "int32", None, np.array(axes, np.int32)),
        Tensor("out", left, "int8", scale),
    )
    operator = Operator(kind, (0, 1), (2,), {"keep_dims": keep_dims}, "ReducerOptions", 2)
    return Graph(tensors, (operator,), (0,), (2,))


@pytest.mark.parametrize("keep_dims", [False, True])
@pytest.mark.parametrize(
    ("shape", "axes"), [(FULL, (1, 2)), (FULL, (2, 3)), (FULL, (1, 2, 3)), (FLAT, (1, 2)), (FULL, (2, 1))]
)
def test_sums_over_several_axes(shape, axes, keep_dims):
    with pytest.raises(NetworkError, check=about("operators[0].axes")):
        check_reductions(reduction("SUM", shape, axes, keep_dims))


@pytest.mark.parametrize(("shape", "axes"), [(FULL, (1,)), (FULL, (2,)), (FULL, (3,)), (NARROW, (1, 2))])
def test_sums_over_one_axis(shape, axes):
    check_reductions(reduction("SUM", shape, axes, False))


@pytest.mark.parametrize("kind", ["REDUCE_MAX", "REDUCE_MIN"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [(FULL, (2,)), (FULL, (3,)), (FULL, (1, 3)), (FLAT, (3,)), (NARROW, (2,)), ((1, 6, 7), (2,))],
)
def test_extremes_whose_output_has_another_shape_than_with_keep_dims(kind, shape, axes):
    with pytest.raises(NetworkError, check=about("operators[0].keep_dims")):
        check_reductions(reduction(kind, shape, axes, False))
    check_reductions(reduction(kind, shape, axes, True))


@pytest.mark.parametrize(
    ("shape", "axes"), [(FULL, (1,)), (FULL, (1, 2)), (FULL, (1, 2, 3)), (FLAT, (2,)), ((1, 9), (1,))]
)
def test_extremes_over_the_first_axes(shape, axes):
    check_reductions(reduction("REDUCE_MAX", shape, axes, False))
