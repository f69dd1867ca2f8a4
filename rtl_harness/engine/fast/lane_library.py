# SPDX-License-Identifier: Apache-2.0
"""Connects the lane model of a design with the storage of its compiled model."""

from __future__ import annotations

import numpy as np

from resil.rtl_harness.engine.fast.lanes.build import LaneModel
from resil.rtl_harness.engine.fast.lanes.words import UnsupportedLanesError
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.fast.native.sweep import PLACE, LaneLibrary, LaneMemory
from resil.rtl_harness.errors import UnmappedSiteError

# Bits of a place that reach beyond its first byte: together with those before them a word of 64.
_WIDEST = 57

# Of a memory; each of 32 machines has one of its own, and those that none writes are compared as a whole.
_LARGEST_BYTES = 1 << 23


def lanes_of(made: LaneModel, model: CompiledModel) -> LaneLibrary:
    """Return a lane model with the places of its storage in a compiled model.

    Raises:
        UnsupportedError: If storage of one is not in the other.
    """
    places = []
    known = {place.path for place in model.elaboration.locations.values()}
    covered: set[int] = set()
    for place in made.places:
        if place.path not in known:
            continue
        try:
            storage = model.origin.find(place.path)
        except UnmappedSiteError:
            continue
        done = 0
        while done < place.width:
            word, bit = divmod(place.low + done, storage.width)
            if word >= storage.depth:
                break
            width = min(place.width - done, storage.width - bit, _WIDEST - bit % 8)
            offset = storage.offset + storage.word_from_right(word) * storage.entry_bytes + bit // 8
            places.append((offset, bit % 8, width, place.piece, place.at + done))
            done += width
        covered.add(place.piece)
    if missing := {place.piece for place in made.places} - covered:
        raise UnsupportedLanesError(f"{len(missing)} flip-flops of the lane model have no name in the model")
    memories = []
    for number, (path, first) in enumerate(made.memories):
        storage = model.origin.find(path)
        words = min(storage.depth, model.memory_words.get(path, storage.depth))
        if words * storage.entry_bytes > _LARGEST_BYTES:
            raise UnsupportedLanesError(
                f"{path} has {words * storage.entry_bytes:,} bytes, lanes are for memories of at most "
                f"{_LARGEST_BYTES:,}"
            )
        memories.append(LaneMemory(storage.offset, storage.entry_bytes, words, int(number in made.shared)))
        if storage.first_word != first:
            raise UnsupportedLanesError(
                f"{path} begins at word {first} of the netlist, at {storage.first_word} of the model"
            )
    return LaneLibrary(made.library, np.array(places, PLACE), memories)
