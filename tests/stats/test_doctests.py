# SPDX-License-Identifier: Apache-2.0
import doctest
import importlib
import pkgutil

import pytest

from resil import stats

MODULES = sorted(m.name for m in pkgutil.iter_modules(stats.__path__, "resil.stats."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = sum(len(t.examples) for m in MODULES for t in finder.find(importlib.import_module(m)))
    assert found >= 20
