# SPDX-License-Identifier: Apache-2.0
import doctest

import pytest

from resil.protection import risks, units


@pytest.mark.parametrize("module", [risks, units])
def test_examples_in_docstrings_are_true(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
