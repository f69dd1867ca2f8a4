# SPDX-License-Identifier: Apache-2.0
"""Which differences of the state leave at the end of an operation."""

import numpy as np

from resil.rtl_harness.engine.fast.native.injector import Flip, Shortcut
from resil.rtl_harness.engine.fast.native.sweep import SweepEnd


def flip_at(engine, offset, bit):
    """Return a flip of a bit of a byte of the state."""
    model = engine._model
    for storage in (*model.map.registers, *model.map.memories):
        if storage.offset <= offset < storage.offset + storage.size:
            word, byte = divmod(offset - storage.offset, storage.entry_bytes)
            return Flip(storage, word, 8 * byte + bit)
    raise AssertionError(offset)


def written(engine, memory, place):
    """Return a byte of a memory that an operation has changed: what comes next reads it."""
    first, size = memory
    ends = engine.golden().operation_ends
    with engine.start() as instance:
        if place:
            instance.run_to(ends[place - 1])
        before = np.array(instance.state[first : first + size])
        instance.run_to(ends[place])
        changed = np.flatnonzero(before != instance.state[first : first + size])
    return first + int(changed[len(changed) // 2])


def leaving(engine, place, differences):
    """Return the numbers of those differences that leave where they come up, at an end of an operation.

    Args:
        engine: Has had its golden run; sweeps may be made or not.
        place: The end, counted from 0.
        differences: Each a list of flips besides one in the memory that whoever finishes a run is given.
    """
    engine.prepare()
    exits, simulator = engine._golden.exits, engine._acceleration.made()
    end = engine.golden().operation_ends[place]
    external = flip_at(engine, written(engine, exits.boundaries.external[0], place), 0)
    jobs = [([external, *flips], end - 1) for flips in differences]
    found = simulator.sweep.run(jobs, simulator.limit, Shortcut.ALL)
    return {r.job for r in found if r.end is SweepEnd.LEFT and r.left.operation == place + 1}
