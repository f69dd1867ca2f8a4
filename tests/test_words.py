# SPDX-License-Identifier: Apache-2.0
"""Code speaks the words of docs/reference/glossary.md, and a class has a name of its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

from resil.layout import PARTS

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / folder for folder in (*PARTS, "resil")]
KINDS = {".py", ".cpp", ".h", ".sv", ".j2", ".toml"}
# What the glossary has in place of each.
INSTEAD = {
    "told": "detected, corrected, reported",
    "tell": "detect, correct, report",
    "tells": "detects, corrects, reports",
    "untold": "unreported",
    "fate": "outcome",
    "fates": "outcomes",
    "stranger": "hold-out network",
    "strangers": "hold-out networks",
}
REPLACED = re.compile(rf"(?<![a-z])({'|'.join(INSTEAD)})(?![a-z])", re.I)
# Class names of two files whose text is part of the keys of what ships: until that is made anew, both stay.
_ELABORATION, _GATES = "rtl_harness/design/elaboration", "rtl_harness/engine/fast/gates"
IN_TWO_FILES = {"_Reader": {f"{_ELABORATION}/declarations.py", f"{_GATES}/gates.py"}}


def files():
    return [file for folder in FOLDERS for file in sorted(folder.rglob("*")) if file.suffix in KINDS]


def replaced(text):
    """Lines with a replaced word, with what stands for it."""
    found = ((number, REPLACED.search(line)) for number, line in enumerate(text.splitlines(), start=1))
    return [f"{number}: {word[0]}: say {INSTEAD[word[0].lower()]}" for number, word in found if word]


@pytest.mark.parametrize(
    "text", ["an alarm told of it", "hangs_told = 1", "TELLS: dict", "def on_strangers()"]
)
def test_a_replaced_word_is_found(text):
    assert replaced(text)
    assert not replaced("what is foretold stands on a stele")


def test_code_has_no_replaced_word():
    assert len(files()) > 500
    found = {str(file.relative_to(ROOT)): replaced(file.read_text(encoding="utf-8")) for file in files()}
    assert {file: lines for file, lines in found.items() if lines} == {}


def classes_by_file(folders):
    """The files of each class name that stands in several."""
    places = defaultdict(set)
    for folder in folders:
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places[node.name].add(str(file.relative_to(folder.parent)))
    return {name: files for name, files in places.items() if len(files) > 1}


def test_a_class_name_stands_in_one_file():
    assert classes_by_file(FOLDERS) == IN_TWO_FILES


def test_a_class_name_in_two_files_is_found(tmp_path):
    (tmp_path / "one").mkdir()
    for name, text in (
        ("a", "class Run: ...\nclass Run: ..."),
        ("one/b", "class Cell: ..."),
        ("c", "Run = 1"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    assert classes_by_file([tmp_path]) == {}
    (tmp_path / "one" / "b.py").write_text("def f():\n    class Run: ...")
    assert classes_by_file([tmp_path]) == {"Run": {f"{tmp_path.name}/a.py", f"{tmp_path.name}/one/b.py"}}
