import doctest

import pytest

from resil.protection import front, optimise


@pytest.mark.parametrize("module", [front, optimise])
def test_examples_in_docstrings_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
