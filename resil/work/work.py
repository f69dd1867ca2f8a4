# SPDX-License-Identifier: Apache-2.0
"""What a campaign lets its target run, whichever table of the campaign file it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from resil.bench.bench import (
    Compare,
    Describe,
    NetworkFacts,
    OperationFacts,
    compare_nothing,
    say_nothing,
)
from resil.rtl_harness.engine.workload import Workload

Tensors: TypeAlias = tuple[npt.NDArray[np.generic], ...]
"""A tensor for each input, or for each output, of one inference."""

RunAgain: TypeAlias = Callable[[Workload], bytes]
"""Simulates a workload of the same target without a fault; returns its raw outputs."""


@dataclass(frozen=True)
class Work:
    """The runs of a campaign, one for each input.

    Attributes:
        facts: For reports.
        labels: Label of each input.
        workloads: Memory images of each input: one run, or several stretches of one in their order; all need
            the same parameters of the top.
        hashes: What the work was made from, by name, for identity and provenance.
        expected: Raw output tensor that each input must give without a fault; empty if none is expected.
        describe: As in `Bench`.
        compare: As in `Bench`.
        compare_with: Makes that of something that simulates other workloads; None if it needs none.
    """

    facts: NetworkFacts
    labels: tuple[int, ...]
    workloads: tuple[tuple[Workload, ...], ...]
    hashes: Mapping[str, str]
    expected: tuple[bytes, ...] = ()
    describe: Describe = say_nothing
    compare: Compare = compare_nothing
    compare_with: Callable[[RunAgain], Compare] | None = None


@dataclass(frozen=True)
class NetworkRuns:
    """The runs of a network on inputs, computed as a whole by the NPU or in parts.

    Attributes:
        labels: As of `Work`.
        workloads: As of `Work`.
        operations: Those of one run.
        inferences: Of a network with state that a run consists of, one after another.
        outputs: Returns the outputs of each of them, in the network's order, for the number of an input and
            the raw output of its run.
        hosts: What computes the operators of a host, by name and version.
        describe: As in `Bench`.
    """

    labels: tuple[int, ...]
    workloads: tuple[tuple[Workload, ...], ...]
    operations: tuple[OperationFacts, ...]
    inferences: int
    outputs: Callable[[int, bytes], list[Tensors]]
    hosts: tuple[str, ...] = ()
    describe: Describe = say_nothing
