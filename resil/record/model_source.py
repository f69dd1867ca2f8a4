# SPDX-License-Identifier: Apache-2.0
"""What a sensitivity model was made from, as its file keeps it."""

from __future__ import annotations

from collections.abc import Mapping

from resil.record.typed import Count, Typed


class LearntRun(Typed):
    """A run that a model rests on."""

    name: str
    """Of its campaign."""
    network: str
    """Path of the network, as the campaign has it."""
    network_sha256: str
    """Digest of the network."""
    target: str
    """Name of the target."""
    kinds: tuple[str, ...]
    """Of storage that were injected into."""
    inputs: tuple[int, ...]
    """Inputs that were run."""
    seed: int
    """Of its injections."""
    injections: Count
    """How many were made."""
    campaign: str
    """Digest of the campaign."""
    golden: str = ""
    """Remark on its golden output; empty if there is none."""
    summary_sha256: str
    """Digest of its results."""


class ModelSource(Typed):
    """What a sensitivity model was made from."""

    resil: str
    """Version of resil."""
    made: str
    """When it was made."""
    injections: Count
    """In all of its runs."""
    runs: tuple[LearntRun, ...]
    """What its rates were learnt from."""
    versions: Mapping[str, str]
    """Of the packages that made the first run."""
    validated: tuple[LearntRun, ...] = ()
    """Runs that only its errors are known from."""

    @property
    def networks(self) -> frozenset[str]:
        """Digests of the networks that its rates were learnt from."""
        return frozenset(run.network_sha256 for run in self.runs)
