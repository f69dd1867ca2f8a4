# SPDX-License-Identifier: Apache-2.0
"""What tests of campaigns that take kept outcomes share."""

import pytest

import resil.folder.outcomes
from resil.folder.outcomes import FOLDER


@pytest.fixture
def stores(tmp_path, monkeypatch):
    """Where outcomes are kept: a folder of the test's own."""
    own = tmp_path / "cache" / FOLDER
    monkeypatch.setattr(resil.folder.outcomes, "cache_root", lambda: own.parent)
    return own
