# SPDX-License-Identifier: Apache-2.0
"""The held-out images that ship with each network, so that it can be run without the package of its data."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from resil.networks.errors import NetworkError

FIRST = 10


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out inputs with their places in the held-out split.

    Attributes:
        indices: int64 (N,), ascending.
        inputs: int8 (N, ...), as the network takes them.
        labels: int64 (N,): classes, or 1 for an anomaly and 0 for a normal input.
    """

    indices: npt.NDArray[np.int64]
    inputs: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int64]

    def missing(self, wanted: Sequence[int]) -> list[int]:
        """Return those of the wanted indices that are not here."""
        return sorted(set(wanted) - set(self.indices.tolist()))

    def pick(self, wanted: Sequence[int]) -> npt.NDArray[np.int8]:
        """Return the inputs of those indices, all of which are here."""
        inputs: npt.NDArray[np.int8] = self.inputs[np.searchsorted(self.indices, np.asarray(wanted))]
        return inputs


def shipped_indices(count: int, every: int) -> npt.NDArray[np.int64]:
    """Return which of `count` held-out inputs ship: the first ten, and of all others each `every`-th.

    >>> shipped_indices(40, 15).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 30]
    """
    indices = np.arange(count)
    chosen: npt.NDArray[np.int64] = indices[(indices < FIRST) | (indices % every == 0)]
    return chosen


def pack(images: HeldOut) -> bytes:
    """Return the bytes of the file that ships them."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, indices=images.indices, inputs=images.inputs, labels=images.labels)
    return buffer.getvalue()


def unpack(path: Path, shape: tuple[int, ...], remake: str) -> HeldOut:
    """Read a file of held-out images.

    Args:
        path: The file.
        shape: Of one input, without the batch dimension.
        remake: What to do if it cannot be read.

    Raises:
        NetworkError: It is not there or damaged.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as archive:
            found = HeldOut(archive["indices"], archive["inputs"], archive["labels"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise NetworkError(f"{path}: no readable held-out images ({error}); {remake}", "heldout") from error
    count = len(found.indices)
    if found.inputs.dtype != np.int8 or found.inputs.shape != (count, *shape) or len(found.labels) != count:
        raise NetworkError(
            f"{path}: expected {count} inputs and labels, int8 {shape}, found {found.inputs.dtype} "
            f"{found.inputs.shape} and {len(found.labels)} labels; {remake}",
            "heldout",
        )
    return found
