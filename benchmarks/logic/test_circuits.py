# SPDX-License-Identifier: Apache-2.0
"""All faults of the smallest circuit of the textbooks, from campaign to rows."""

from __future__ import annotations

import pytest

from benchmarks.logic.circuits import TEXTBOOKS, classes_here, compared, wrong
from testkit import circuits
from testkit.circuits import Machine, core_of, faults_of, textbook_classes, write_campaigns


@pytest.fixture(scope="module")
def c17():
    return circuits.circuits()["c17"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("circuits") / "c17"


@pytest.fixture(scope="module")
def found(c17, folder):
    return compared(c17, folder)


def test_all_faults_end_as_the_judge_says_and_the_textbooks_numbers_come_out(c17, found):
    assert wrong(c17, found) == []
    assert found.faults == {"stuck_at": 72, "open": 38, "set": 374}
    assert all(len(own) > 1 for own in found.outcomes.values())
    assert (found.classes, found.coverage) == TEXTBOOKS["c17"]


def test_what_differs_from_the_judge_is_named(c17, folder, found, monkeypatch):
    monkeypatch.setitem(circuits.CELLS, "NAND2", lambda a, b: 1 - (a | b))
    named = compared(c17, folder).different
    assert all(len(own) > found.faults[model] / 4 for model, own in named.items())
    assert any("g_16" in text and "by the campaign" in text for text in named["set"])


def test_the_judge_multiplies_and_takes_no_way_round_that_changes_a_pulse():
    every = circuits.circuits()
    multiplier, s27 = every["multiplier4"], every["s27"]
    assert Machine(multiplier).outputs[1:] == [(v & 15) * (v >> 4) for v in multiplier.vectors]
    right = Machine(s27)
    for fault in [*faults_of(s27, "pulse")][::997]:
        short, whole = Machine(s27, fault, right), Machine(s27, fault)
        assert (short.outputs, short.states) == (whole.outputs, whole.states)
    assert textbook_classes(s27) == TEXTBOOKS["s27"][0]


def test_a_circuit_that_stores_has_the_textbooks_classes_and_its_own(tmp_path):
    """What a flip-flop gives out, and what alone takes that, are two: held, the first is stored as well."""
    s27 = circuits.circuits()["s27"]
    write_campaigns(s27, tmp_path)
    assert classes_here(tmp_path, {cell.name for cell in core_of(s27)}) == TEXTBOOKS["s27"][0] + 2 * 3
