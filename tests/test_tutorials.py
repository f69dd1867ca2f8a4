# SPDX-License-Identifier: Apache-2.0
"""The commands of each tutorial run as they stand on its page, and end with an answer.

Those on the NPU run on the bench without a simulator; those on other RTL build the small example design.
That of a generated accelerator is slow: it installs the generator in an environment of its own, and builds
what it writes.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from resil.cli import main
from testkit import fake

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ANSWERS = (0, 1, 3)  # met, missed, inconclusive; neither a usage error nor an internal one
# From which heading on a page is about the small design, which is built and simulated as it is.
REAL = {
    "own-rtl": "# Tutorial",
    "recording": "# Tutorial",
    "protection": "## Build",
    "generated-npu": "# Tutorial",
}
SLOW = {"generated-npu": pytest.mark.slow}


def test_there_are_six():
    names = ["first-campaign", "generated-npu", "own-rtl", "protection", "recording", "study"]
    assert [page.stem for page in TUTORIALS] == names


@pytest.mark.parametrize(
    "page", [pytest.param(own, id=own.stem, marks=SLOW.get(own.stem, ())) for own in TUTORIALS]
)
def test_the_commands_of_the_tutorial_run(page, tmp_path, monkeypatch, capfd):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    for language, block in BLOCK.findall(text):
        if language == "toml" and (name := re.match(r"# file: (\S+)\n", block)):
            (tmp_path / name[1]).write_text(block)
    start = text.index(REAL[page.stem]) if page.stem in REAL else len(text)
    with monkeypatch.context() as patch:
        fake.install(patch)
        codes = [run(command) for command in commands_of(text[:start])]
    codes += [run(command) for command in commands_of(text[start:])]
    assert len(codes) >= 3
    assert set(codes) <= set(ANSWERS), codes
    if page.stem == "protection":
        assert codes[-1] == 0
        assert json.loads((tmp_path / "small" / "confirmation.json").read_text())["confirmed"] is True
    if page.stem == "generated-npu":
        study = json.loads((tmp_path / "walk" / "study" / "study.json").read_text())
        injected = {cell["run"]: (cell["error"], cell["predicted"]) for cell in study["cells"]}
        assert injected == {"ethos-u55-32/digits": (None, False), "nngen/dense": (None, False)}


def commands_of(text: str) -> list[str]:
    return [
        line for language, block in BLOCK.findall(text) if language == "bash" for line in block.splitlines()
    ]


def run(command: str) -> int:
    program, *arguments = shlex.split(command, comments=True)
    if program == "cp":
        shutil.copytree(arguments[-2], arguments[-1])
        return 0
    if program.startswith(("python", "nngen-venv/")):
        return subprocess.run([program, *arguments], check=True).returncode
    assert program == "resil", command
    return main([*arguments, "--quiet"])
