# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from resil.record.protection_state import ProtectionState
from resil.record.summary import Summary
from tests.reports.example import example_protection, example_summary, protection_of, summary_of


@pytest.fixture
def summary_document() -> dict[str, Any]:
    return example_summary()


@pytest.fixture
def protection_document(summary_document) -> dict[str, Any]:
    return example_protection(summary_document)


@pytest.fixture
def summary(summary_document) -> Summary:
    return summary_of(summary_document)


@pytest.fixture
def protection(protection_document) -> ProtectionState:
    return protection_of(protection_document)
