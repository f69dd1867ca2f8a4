# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from resil.record.protection import Protection, parse_protection
from resil.record.summary import Summary
from tests.reports.example import example_protection, example_summary, summary_of


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
def protection(protection_document) -> Protection:
    return parse_protection(protection_document)
