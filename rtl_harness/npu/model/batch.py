# SPDX-License-Identifier: Apache-2.0
"""How the elements of a batch are divided, to bound the memory that work on them takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.npu.model.memory import Offsets

CHUNK_ELEMENTS = 1 << 18
_LARGEST_TENSOR = 1 << 27
_T = TypeVar("_T", bound=np.generic)

# From accumulators, (n, ...), and the batch elements that they are of, (n,): the accumulators after upsets.
Upset = Callable[[npt.NDArray[np.int64], Offsets], npt.NDArray[np.int64]]


def rows_of(data: npt.NDArray[_T], rows: Offsets) -> npt.NDArray[_T]:
    """Return the `rows` of an array that has one row for each batch element, or one for all."""
    return data if len(data) == 1 else data[rows]


def chunks(members: Offsets, elements: int) -> Iterator[Offsets]:
    """Yield the members so many at a time that work which holds `elements` numbers for each is bounded."""
    size = max(1, CHUNK_ELEMENTS // elements)
    for start in range(0, len(members), size):
        yield members[start : start + size]


def check_size(**elements: int) -> None:
    """Raise HarnessError if one of the named tensors is beyond what the model can hold."""
    for name, size in elements.items():
        if size > _LARGEST_TENSOR:
            raise HarnessError(
                f"the functional model holds tensors of {_LARGEST_TENSOR} elements, "
                f"the {name.replace('_', ' ')} of an operation has {size}: run this stream in RTL",
                name,
            )
