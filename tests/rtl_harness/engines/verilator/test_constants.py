"""Every constant of the engine is one that the benchmark varies, or one that is no choice."""

import re

import pytest

from benchmarks.engine.constants import CONSTANTS, CPP, FIXED, changed, value_of
from benchmarks.engine.mutants.trial import ROOT, edited

DECLARED = re.compile(r"constexpr \w+ (k[A-Z]\w*) = ")


def test_no_constant_is_left_out():
    files = [*(ROOT / CPP).glob("*.h"), *(ROOT / CPP).glob("*.cpp")]
    found = {name for file in files for name in DECLARED.findall(file.read_text(encoding="utf-8"))}
    assert found - FIXED == set(CONSTANTS)


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_value_is_changed_and_nothing_else(name):
    value = value_of(name)
    ((file, text),) = edited(changed(name, 4 * value)).items()
    lines = [set(t.splitlines()) for t in ((ROOT / file).read_text(encoding="utf-8"), text)]
    ((old,), (new,)) = lines[0] - lines[1], lines[1] - lines[0]
    assert new == old.replace(f"= {value};", f"= {4 * value};")
