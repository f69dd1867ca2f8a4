# SPDX-License-Identifier: Apache-2.0
"""A worker is fit only with the very same package."""

from __future__ import annotations

import re

import pytest

from resil import __version__
from resil.farm.vet import WorkerFacts, question, unfit
from resil.layout import source_digest


def test_this_process_is_fit():
    assert unfit(WorkerFacts(*question()())) is None


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"resil": "0.0.9", "sources": source_digest()}, "found resil 0.0.9; install this version"),
        ({"resil": __version__, "sources": "f" * 64}, "found ffffffffffff; install the very same package"),
        ({"resil": "", "sources": "", "error": "ImportError: no"}, r"found no resil \(ImportError: no\)"),
        ({"resil": __version__, "sources": "", "error": "ImportError: no vet"}, "found ImportError: no vet"),
    ],
)
def test_others_are_not(facts, message):
    assert re.search(message, unfit(WorkerFacts(**{"host": "h", "error": "", **facts})))
