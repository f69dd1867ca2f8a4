# SPDX-License-Identifier: Apache-2.0
"""Dead storage where runs leave, from the cache: the analysis goes through the whole golden run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from resil.rtl_harness.cache import Part, cached_folder, content_key
from resil.rtl_harness.engine.fast.native.build import HEADERS, SHARED
from resil.rtl_harness.engine.fast.native.circuit import Circuit
from resil.rtl_harness.engine.fast.native.injector import Injector
from resil.rtl_harness.engine.fast.native.liveness import MOST_WINDOWS, DeadStorage, find_dead_storage
from resil.rtl_harness.engine.fast.native.sweep import BYTE

_FILE = "dead.npz"


def cached_dead_storage(
    injector: Injector,
    circuit: Circuit,
    external: Sequence[tuple[int, int]],
    fixed: Sequence[Sequence[tuple[int, int]]],
    ends: Sequence[int],
    beginning: bytes,
) -> DeadStorage:
    """Return what does not matter at the ends of operations; arguments and errors as `find_dead_storage`.

    What external memories hold beyond what is fixed makes no difference to it: inputs of a network share it.

    Args:
        injector: Has had its golden pass.
        circuit: The same design as gates.
        external: Memories that whoever finishes a run is given.
        fixed: Parts of them that may not differ.
        ends: Edges after which operations had ended, and the golden run.
        beginning: The state in which runs begin, but for what external memories may hold then.
    """
    gates: list[Part] = [circuit.nets, *(array.tobytes() for array in circuit[1:])]
    key = content_key(gates, external, fixed, ends, beginning, MOST_WINDOWS, SHARED, HEADERS)

    def build(folder: Path) -> None:
        found = find_dead_storage(injector, circuit, external, fixed, MOST_WINDOWS)
        bits = np.concatenate([np.zeros(0, BYTE), *found.bits])
        np.savez_compressed(
            folder / _FILE,
            offsets=bits["offset"],
            masks=bits["mask"].astype(np.uint8),
            counts=np.array([len(part) for part in found.bits], np.int64),
            settled=np.int64(found.settled),
        )

    return _read(cached_folder("dead", key, build) / _FILE)


@lru_cache(maxsize=4)
def _read(file: Path) -> DeadStorage:
    with np.load(file) as kept:
        bits = np.zeros(len(kept["offsets"]), BYTE)
        bits["offset"], bits["mask"] = kept["offsets"], kept["masks"]
        bits.flags.writeable = False
        return DeadStorage(np.split(bits, np.cumsum(kept["counts"])[:-1]), int(kept["settled"]))
