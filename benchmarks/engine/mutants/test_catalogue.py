# SPDX-License-Identifier: Apache-2.0
"""The catalogue of mutants fits sources and tests as they are; what notices each is tried by its tool."""

import ast
from pathlib import Path

import pytest

from benchmarks.engine.mutants.catalogue import MUTANTS
from benchmarks.engine.mutants.edits import AnchorError, Edit, Mutant
from benchmarks.engine.mutants.trial import ROOT


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_edit_fits_and_each_test_is_there(mutant):
    texts = {}
    for edit in mutant.edits:
        text = texts.get(edit.file) or (ROOT / edit.file).read_text()
        texts[edit.file] = edit.applied(text)
        assert texts[edit.file] != text
    assert mutant.tests
    for test in mutant.tests:
        file, _, name = test.partition("::")
        found = ast.parse(Path(ROOT / file).read_text()).body
        assert not name or name in {node.name for node in found if isinstance(node, ast.FunctionDef)}


def test_names_are_different():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20


@pytest.mark.parametrize("text", ["nothing of it", "old and old"])
def test_an_edit_that_fits_not_once_is_said(text):
    with pytest.raises(AnchorError, match=r"a.cpp: expected once, found [02] times: 'old'"):
        Edit("a.cpp", "old", "new").applied(text)
    assert Mutant("m", "", (), ()).edits == ()
