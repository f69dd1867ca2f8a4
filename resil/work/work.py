# SPDX-License-Identifier: Apache-2.0
"""What a campaign lets its target run, whichever table of the campaign file it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from resil.bench.bench import Compare, Describe, NetworkFacts, compare_nothing, say_nothing
from resil.rtl_harness.engine.workload import Workload


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
    """

    facts: NetworkFacts
    labels: tuple[int, ...]
    workloads: tuple[tuple[Workload, ...], ...]
    hashes: Mapping[str, str]
    expected: tuple[bytes, ...] = ()
    describe: Describe = say_nothing
    compare: Compare = compare_nothing
