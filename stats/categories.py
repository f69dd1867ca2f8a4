# SPDX-License-Identifier: Apache-2.0
"""Random categories, one for each draw of a stratum, decided by the seed alone."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def categories(seed: int, name: str, shares: Sequence[float], count: int, start: int = 0) -> IntArray:
    """Return the category of draws `start .. start + count - 1`.

    They are independent, category k with probability shares[k]; that of a draw is the same whatever the
    division into calls.

    Args:
        seed: Of the campaign.
        name: Keys the choice; another name gives other, independent categories.
        shares: Probability of each category; they sum to 1.
        count: Number of draws.
        start: Number of the first.

    Returns:
        Categories, counted from 0, shape (count,).

    Raises:
        ValueError: a share is negative, they do not sum to 1, or the count or the start is negative.

    References:
        J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (Philox).

    Examples:
        >>> categories(1, "mac/ff", (0.5, 0.5), 6).tolist()
        [0, 1, 0, 0, 1, 1]
        >>> categories(1, "mac/ff", (0.5, 0.5), 4, start=2).tolist()
        [0, 0, 1, 1]
        >>> np.bincount(categories(1, "mac/ff", (0.9, 0.1), 1000)).tolist()
        [910, 90]
    """
    limits = np.cumsum(np.asarray(shares, dtype=np.float64))
    if min(shares, default=-1.0) < 0.0 or abs(float(limits[-1]) - 1.0) > 1e-9 or min(count, start) < 0:
        raise ValueError(
            f"expected shares >= 0 that sum to 1 and a count and start >= 0, found {shares}, {count}, {start}"
        )
    key = int.from_bytes(blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest(), "little")
    block, before = divmod(start, 4)  # the generator makes four words at a time
    words = np.asarray(np.random.Philox(key=key, counter=block).random_raw(before + count)[before:])
    uniform = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    found: IntArray = np.searchsorted(limits[:-1], uniform, side="right").astype(np.int64)
    return found
