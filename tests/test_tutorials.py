# SPDX-License-Identifier: Apache-2.0
"""The commands of each tutorial run as they stand on its page, and end with an answer.

Those on the NPU run on the bench without a simulator; those on other RTL build the small example design, or
a core from PyPI. That of a generated accelerator is slow: it installs the generator in an environment of its
own, and builds what it writes. What a page shows in a block `text` is what comes out.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from resil import Run
from resil.cli import main
from testkit import fake

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?:#|//) file: (\S+)\n")
ANSWERS = (0, 1, 3)  # met, missed, inconclusive; neither a usage error nor an internal one
# From which heading on a page is about the small design, which is built and simulated as it is.
REAL = {
    "own-rtl": "# Tutorial",
    "recording": "# Tutorial",
    "protection": "## Build",
    "generated-npu": "# Tutorial",
    "riscv": "# Tutorial",
    "lockstep": "# Tutorial",
}
BEFORE = {"lockstep": ["riscv"]}  # pages whose files a page goes on with
SLOW = {"generated-npu": pytest.mark.slow}


def test_there_are_eight():
    names = ["first-campaign", "generated-npu", "lockstep", "own-rtl", "protection", "recording", "riscv"]
    assert [page.stem for page in TUTORIALS] == [*names, "study"]


@pytest.mark.parametrize(
    "page", [pytest.param(own, id=own.stem, marks=SLOW.get(own.stem, ())) for own in TUTORIALS]
)
def test_the_commands_of_the_tutorial_run(page, tmp_path, monkeypatch, capfd):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    for own in (*BEFORE.get(page.stem, ()), page.stem):
        for language, block in BLOCK.findall(page.with_stem(own).read_text()):
            if language != "bash" and (name := FILE.match(block)):
                (tmp_path / name[1]).write_text(block)
    start = text.index(REAL[page.stem]) if page.stem in REAL else len(text)
    with monkeypatch.context() as patch:
        fake.install(patch)
        codes = [run(command) for command in commands_of(text[:start])]
    codes += [run(command) for command in commands_of(text[start:])]
    assert len(codes) >= 3
    assert set(codes) <= set(ANSWERS), codes
    assert not_printed(text, capfd.readouterr().out) == []
    if page.stem in CONSTRUCTED:
        CONSTRUCTED[page.stem](tmp_path, codes)
    if page.stem == "protection":
        assert codes[-1] == 0
        assert json.loads((tmp_path / "small" / "confirmation.json").read_text())["confirmed"] is True
    if page.stem == "generated-npu":
        study = json.loads((tmp_path / "walk" / "study" / "study.json").read_text())
        injected = {cell["run"]: (cell["error"], cell["predicted"]) for cell in study["cells"]}
        assert injected == {"ethos-u55-32/digits": (None, False), "nngen/dense": (None, False)}


def check_core(folder: Path, _codes: list[int]) -> None:
    """The register file is struck as the program uses it."""
    assert f"{zlib.crc32(b'RISC-V in a car!'):08x}" == "d4bdaa03"
    rows = Run(folder / "runs" / "checksum").injections()
    words = rows[rows["block"] == "registers"].groupby("word")["outcome"].agg(set)
    assert set(words.index) == set(range(32))
    assert all("sdc_critical" in words[word] for word in (1, 2, 3, 4, 6, 7))
    # x0 is not read, and no instruction names those above x8.
    assert all(words[word] <= {"masked", "latent"} for word in (0, *range(9, 32)))


def check_lockstep(folder: Path, codes: list[int]) -> None:
    """All that harms the guarded core is detected, nothing of what both cores share."""
    assert codes[-3:] == [0, 0, 1]
    with (folder / "runs" / "lockstep" / "blocks.csv").open(newline="") as file:
        blocks = {row["block"]: row for row in csv.DictReader(file)}
    counts = {
        name: {key: int(row[key]) for key in ("sdc_critical", "hang", "due", "due_harmless")}
        for name, row in blocks.items()
    }
    assert all(counts[name]["sdc_critical"] == 0 for name in ("main", "check", "compare"))
    assert all(counts[name]["due"] == counts[name]["due_harmless"] for name in ("check", "compare"))
    assert counts["compare"]["due"] == int(blocks["compare"]["injections"]) == 100
    assert counts["shared"]["due"] == 0 < counts["shared"]["sdc_critical"]
    summary = json.loads((folder / "runs" / "lockstep" / "summary.json").read_text())
    rows = {own["name"]: own for own in summary["safety"]["rows"]}
    row = rows["coverage of lockstep"]
    assert row["value"] == row["hi"] == 1.0
    assert 0.99 < row["lo"] < 1.0
    unknown = rows["coverage_permanent of lockstep"]  # no fault that lasts was injected
    assert unknown["state"] == "not assessed"
    assert unknown["value"] is None

    pins = json.loads((folder / "runs" / "pins" / "mechanism-faults.json").read_text())
    places = {own["name"]: own for own in pins["blocks"]}
    detected = places["main"]["counts"]["detected"]
    assert "hazardous" not in places["main"]["counts"]
    assert places["main"]["coverage"] == pytest.approx([1.0, 0.025 ** (1 / detected), 1.0])
    assert places["shared"]["simulated"] == places["shared"]["faults"]
    assert "detected" not in places["shared"]["counts"]
    assert places["shared"]["coverage"] == [0.0, 0.0, 0.0]


CONSTRUCTED = {"riscv": check_core, "lockstep": check_lockstep}  # what is known without injecting


def not_printed(text: str, output: str) -> list[str]:
    """Return what blocks `text` of a page show, and no command printed.

    A block is a sentence that was wrapped, or lines of which columns may be left out.
    """
    lines = [line.split() for line in output.splitlines()]
    joined = " ".join(output.split())
    return [
        line
        for language, block in BLOCK.findall(text)
        if language == "text" and not FILE.match(block) and " ".join(block.split()) not in joined
        for line in block.splitlines()
        if not any(is_part(line.split(), own) for own in lines)
    ]


def is_part(some: list[str], all_of_them: list[str]) -> bool:
    """Whether these stand among the others, in their order."""
    rest = iter(all_of_them)
    return all(own in rest for own in some)


def test_another_figure_on_a_page_is_found():
    output = "block  ff bits  DUE\n-----  -------  ---\nmain       567    4\n\nMET: 0.1 FIT, budget 2 FIT.\n"
    page = "```text\nblock  DUE\nmain     4\n```\n\n```text\nMET: 0.1 FIT,\nbudget 2 FIT.\n```\n"
    assert not_printed(page, output) == []
    assert not_printed(page.replace("4\n", "5\n"), output) == ["main     5"]
    assert not_printed(page.replace("0.1", "0.2"), output) == ["MET: 0.2 FIT,"]


def commands_of(text: str) -> list[str]:
    return [
        line
        for language, block in BLOCK.findall(text)
        if language == "bash"
        for line in block.replace("\\\n", " ").splitlines()
    ]


def run(command: str) -> int:
    program, *arguments = shlex.split(command, comments=True)
    if program == "cp":
        shutil.copytree(arguments[-2], arguments[-1])
        return 0
    if program == "python":  # that of the environment, in whatever way the tests were started
        program = sys.executable
    if program == sys.executable or program.startswith(("python", "nngen-venv/", "obj_dir/")):
        return subprocess.run([program, *arguments], check=True).returncode
    assert program == "resil", command
    return main([*arguments, "--quiet"])
