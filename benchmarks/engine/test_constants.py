# SPDX-License-Identifier: Apache-2.0
"""Every constant of the engine is one that the benchmark varies, or one that is no choice."""

import re

from benchmarks.engine.constants import CONSTANTS, CPP, FIXED, PYTHON, value_of, variables
from benchmarks.engine.mutants.trial import ROOT, edited

DECLARED = re.compile(r"constexpr \w+ (k[A-Z]\w*) = ")


def test_no_constant_is_left_out():
    files = [*(ROOT / CPP).glob("*.h"), *(ROOT / CPP).glob("*.cpp")]
    found = {name for file in files for name in DECLARED.findall(file.read_text(encoding="utf-8"))}
    assert found - FIXED == set(CONSTANTS)


def test_each_becomes_a_variable_of_its_value_and_what_sets_it_is_added():
    texts = edited(variables())
    declared = {name for text in texts.values() for name in DECLARED.findall(text)}
    assert declared.isdisjoint(CONSTANTS)
    for name, file in CONSTANTS.items():
        assert f'"{name}", {value_of(name)});' in texts[f"{CPP}/{file}"]
    assert "void resil_tune(" in texts[f"{CPP}/sweep.cpp"]


def test_those_of_python_are_there():
    assert all(value_of(name) > 0 for name in PYTHON)
