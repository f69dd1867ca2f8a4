# SPDX-License-Identifier: Apache-2.0
"""The commands of each tutorial run as they stand on its page, and end with an answer.

Those on the NPU run on the bench without a simulator; the one on other RTL builds the small example design.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from resil.cli import main
from testkit import fake

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANSWERS = (0, 1, 3)  # met, missed, inconclusive; neither a usage error nor an internal one
REAL = {"own-rtl"}


def test_there_are_four():
    assert [page.stem for page in TUTORIALS] == ["first-campaign", "own-rtl", "protection", "study"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_commands_of_the_tutorial_run(page, tmp_path, monkeypatch, capfd):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    if page.stem not in REAL:
        fake.install(monkeypatch)
    blocks = BLOCK.findall(page.read_text())
    for language, text in blocks:
        if language == "toml" and (name := re.match(r"# file: (\S+)\n", text)):
            (tmp_path / name[1]).write_text(text)
    commands = [line for language, text in blocks if language == "bash" for line in text.splitlines()]
    assert len(commands) >= 3
    for command in commands:
        run(command)


def run(command: str) -> None:
    program, *arguments = shlex.split(command, comments=True)
    if program == "cp":
        shutil.copytree(arguments[-2], arguments[-1])
    else:
        assert program == "resil", command
        assert main([*arguments, "--quiet"]) in ANSWERS, command
