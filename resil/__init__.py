# SPDX-License-Identifier: Apache-2.0
"""The application: campaigns of fault injection, from a configuration file to a verdict.

Public surface, each loaded when it is first used: `load_campaign` reads a campaign file, `run_campaign`
carries it out, `Run` reads what it left behind. `resil.cli.main` is the command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from resil.version import __version__

if TYPE_CHECKING:
    from resil.campaign.campaign import load_campaign
    from resil.run.campaign import run_campaign
    from resil.trace.run import Run

__all__ = ["Run", "__version__", "load_campaign", "run_campaign"]

_HOMES = {
    "Run": "resil.trace.run",
    "load_campaign": "resil.campaign.campaign",
    "run_campaign": "resil.run.campaign",
}


def __getattr__(name: str) -> object:
    """Load what is public when it is first asked for: the command line starts without all of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'resil' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
