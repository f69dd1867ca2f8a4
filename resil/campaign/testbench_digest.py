# SPDX-License-Identifier: Apache-2.0
"""What a test of cocotb is made of: results with other modules or files are other results."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from resil.campaign.testbench_settings import TestbenchSettings
from resil.errors import CampaignError
from resil.rtl_harness.cache import file_digest

_MOST_MODULES = 5_000
_IGNORED = ("__pycache__", "sim_build", "node_modules")


def digest_of_test(settings: TestbenchSettings, seed: int) -> str:
    """Return a digest of a test: of all Python modules beside it, of its files, and of what it is given.

    Args:
        settings: The table of the campaign file.
        seed: Of its random numbers.

    Raises:
        CampaignError: there are more modules than a test has of its own, or one cannot be read.
    """
    modules: dict[str, Path] = {}
    for number, folder in enumerate(settings.python_path):
        modules |= {f"{number}/{path}": folder / path for path in _modules(folder)}
        if len(modules) > _MOST_MODULES:
            raise CampaignError(
                f"[workload] python_path: expected the folders of the test's own modules, found more than "
                f"{_MOST_MODULES:,} modules below {folder}; name the folders in which they are",
                "workload.python_path",
            )
    said = (settings.label, settings.plusargs, sorted(settings.environment.items()), settings.failures)
    state = sha256(repr((said, seed)).encode())
    for name, file in sorted({**modules, **settings.files}.items()):
        try:
            state.update(f"{name} {file_digest(file)}\n".encode())
        except OSError as error:
            raise CampaignError(
                f"{file}: expected a file that can be read, found {error.strerror}; let it be read",
                "workload.files",
            ) from None
    return state.hexdigest()


def _modules(folder: Path) -> list[str]:
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(own for own in folders if own not in _IGNORED and not own.startswith("."))
        found += [str(Path(place, own).relative_to(folder)) for own in names if own.endswith(".py")]
        if len(found) > _MOST_MODULES:
            break
    return sorted(found)
