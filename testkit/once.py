# SPDX-License-Identifier: Apache-2.0
"""What several tests begin from, made once in a session: by whichever of its processes comes first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of that name, which is for reading: who wants to change it takes a copy.

    Args:
        factory: For the place of folders of this session, which all its processes share.
        name: Of the folder, one in the whole suite.
        make: Fills the folder, which is empty; what it raises fails who asked, and the next one tries again.
    """
    base = factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "once"
    place.mkdir(exist_ok=True)
    folder, whole = place / name, place / f"{name}.whole"
    with FileLock(place / f"{name}.lock"):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder
