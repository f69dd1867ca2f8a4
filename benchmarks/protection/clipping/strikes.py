# SPDX-License-Identifier: Apache-2.0
"""Upsets of weights at a rate, and what becomes of a network's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmarks.protection.clipping.subjects import Subject
from resil.networks import reference
from resil.networks.graph import Graph
from resil.rtl_harness.npu.upsets import flipped

RATES = tuple(10.0 ** (exponent / 2) for exponent in range(-16, -7))
MEMORIES = ("stored", "int8")
_WEIGHTED = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def drawn(bits: int, seed: int) -> npt.NDArray[np.float64]:
    """Return the rate from which on each bit is flipped; upsets of a rate are among those of a higher one."""
    return np.random.default_rng([seed, bits]).random(bits)


def stored_bits(subject: Subject) -> int:
    """Return the bits of what lies in memory for the NPU: compressed weights, biases, scales, tables."""
    return 8 * len(subject.compiled[0].constants)


def int8_bits(graph: Graph) -> int:
    """Return the bits of the int8 weights before compression."""
    return 8 * sum(graph.tensors[i].data.size for i in _weights(graph))  # type: ignore[union-attr]


def answers_stored(subject: Subject, variant: int, bits: Sequence[int]) -> tuple[float, float]:
    """Return the share of right answers, and of detected runs, with these bits of the memory inverted."""
    run = subject.memories[variant].run(flipped(subject.compiled[variant].constants, bits))
    right = _classes(run.outputs[0]) == subject.truth
    return float(np.mean(right & ~run.detected)), float(np.mean(run.detected))


def answers_int8(subject: Subject, variant: int, bits: Sequence[int]) -> tuple[float, float]:
    """Return the share of right answers with these bits of the int8 weights inverted; none is detected."""
    graph = with_flipped_weights(subject.graphs[variant], bits)
    return float(np.mean(_classes(reference.run(graph, subject.inputs)) == subject.truth)), 0.0


def with_flipped_weights(graph: Graph, bits: Sequence[int]) -> Graph:
    """Return the graph with bits of its int8 weights inverted, counted through all of them."""
    tensors, places = list(graph.tensors), _weights(graph)
    parts = [np.ascontiguousarray(tensors[i].data) for i in places]
    data = flipped(b"".join(part.tobytes() for part in parts), bits)
    ends = np.cumsum([part.size for part in parts])
    for index, part, piece in zip(places, parts, np.split(data, ends[:-1]), strict=True):
        tensors[index] = replace(tensors[index], data=piece.view(np.int8).reshape(part.shape))
    return replace(graph, tensors=tuple(tensors))


def _weights(graph: Graph) -> list[int]:
    return sorted({o.inputs[1] for o in graph.operators if o.kind in _WEIGHTED})


def _classes(outputs: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
    return outputs.reshape(len(outputs), -1).argmax(axis=1).astype(np.int64)
