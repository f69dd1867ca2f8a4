# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from resil.rtl_harness.engine.fast.native.build import build_model, variables_at
from resil.rtl_harness.engine.fast.native.library import Library
from tests.rtl_harness.engine.fast.native.design import ELEMENTS, closed_target


@pytest.fixture(scope="session")
def closed_library():
    target = closed_target()
    return Library(build_model(target, {}, variables_at(ELEMENTS)), target.top)


@pytest.fixture(scope="session")
def input_words():
    return np.random.default_rng(5).integers(0, 2**16, 64, dtype=np.uint64)


@pytest.fixture(scope="session")
def input_file(tmp_path_factory, input_words):
    file = tmp_path_factory.mktemp("images") / "input.hex"
    file.write_text("".join(f"{word:016x}\n" for word in input_words))
    return file


@pytest.fixture
def instance(closed_library, input_file):
    with closed_library.create([f"input={input_file}"]) as made:
        yield made
