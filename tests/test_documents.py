# SPDX-License-Identifier: Apache-2.0
"""Documents: links lead somewhere, commands and messages exist, sentences are short, the site builds."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import resil
from resil.reports.blocks_csv import COLUMNS as BLOCK_COLUMNS
from testkit import fake
from testkit.campaigns import TEXT
from tests import prose
from tests.test_import_arrows import APPLICATION, HARNESS

ROOT = Path(__file__).parents[1]
NOT_OURS = {".venv", "build", "runs", ".git", ".pytest_cache"}
DOCUMENTS = sorted(
    path for path in ROOT.rglob("*.md") if not NOT_OURS & set(path.relative_to(ROOT).parts[:-1])
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "benchmarks").rglob("*.py")
}
MODULE = re.compile(r"python -m ([\w.]+)")


def anchors(document: Path) -> set[str]:
    """Anchors of the headings, as forges and the site make them."""
    heads = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


def broken_links(document: Path) -> list[str]:
    found = []
    for link in LINK.findall(document.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name).resolve() if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def test_there_are_documents():
    assert {path.name for path in DOCUMENTS} >= {
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "index.md",
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document):
    assert broken_links(document) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_that_is_to_be_run_exists(document):
    ours = {
        name for name in MODULE.findall(document.read_text()) if name.split(".")[0] in ("resil", "benchmarks")
    }
    assert [name for name in ours if find_spec(name) is None] == []


WIDTH = 120
MOST_LONG = 0.06  # part of the sentences that may have more than 35 words


def wide_lines(page: str) -> list[str]:
    """Lines wider than they may be; rows of tables, pictures and code cannot be wrapped."""
    lines = prose.FENCE.sub("", page).splitlines()
    return [line for line in lines if len(line) > WIDTH and not line.startswith(("|", "![", "    "))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_are_narrow(document):
    assert wide_lines(document.read_text()) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short(document):
    found = prose.sentences(document.read_text())
    long = [text for text in found if prose.words(text) > prose.LONG]
    assert len(long) <= max(1, MOST_LONG * len(found)), long


def test_the_share_of_long_sentences_over_all_pages():
    counts = [prose.words(text) for path in DOCUMENTS for text in prose.sentences(path.read_text())]
    assert sum(count > prose.LONG for count in counts) < MOST_LONG * len(counts)


def test_sentences_are_told_apart_as_a_reader_does():
    page = (
        "# Heading. Not prose\n\nOne, at 2.5 % of e.g. Wilson. `Two` is code! Is [three](a.md) last?\n"
        "goes on\n\n- four\n- five; R. L. Berger wrote it.\n\n    code. Code\n\n```\nx. Y\n```\n| a. B |\n"
    )
    assert [prose.words(text) for text in prose.sentences(page)] == [6, 3, 5, 1, 6]
    assert wide_lines("x " * 80 + "\n| " + "y " * 80) == ["x " * 80]


def test_every_message_of_the_troubleshooting_page_is_in_the_code():
    page = (ROOT / "docs" / "how-to" / "troubleshooting.md").read_text()
    messages = [
        name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall("`([^`]+)`", row)
    ]
    assert len(messages) >= 15
    code = "".join(
        path.read_text() for folder in ("resil", "rtl_harness") for path in (ROOT / folder).rglob("*.py")
    )
    joined = re.sub(r'"\n\s+f?"', "", code)
    assert [message for message in messages if message not in joined] == []


def test_the_glossary_has_every_column_and_outcome():
    glossary = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    terms = {
        name
        for line in glossary.splitlines()
        if line.startswith("- ")
        for name in re.findall(r"[`*]([\w-]+)[`*]", line.partition(":")[0])
    }
    assert [column for column in BLOCK_COLUMNS if column not in terms] == []
    entries = re.findall(r"^- .*?(?=^- |\Z)", glossary, re.M | re.S)
    assert [
        entry for entry in entries if not re.search(r"\((26262|lit|resil)[^)]*\)\s*$", entry.strip())
    ] == []


def test_every_measured_table_names_its_command_commit_and_date():
    blocks = (ROOT / "docs" / "results.md").read_text().split("\n\n")
    command = re.compile(r"Command: .*?\. Commit [0-9a-f]{7}, \d{4}-\d\d-\d\d\.")
    after = [" ".join(blocks[i + 1].split()) for i, block in enumerate(blocks) if block.startswith("|")]
    assert len(after) >= 30
    assert [text[:80] for text in after if not command.fullmatch(text)] == []


def test_no_page_has_figures_of_an_earlier_rtl():
    found = [path.name for path in DOCUMENTS if re.search(r"earlier rtl", path.read_text(), re.I)]
    assert found == []


def test_every_room_is_on_the_map():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    rows = set(re.findall(r"^\| `([\w/]+?)/?` \|", page, re.M))
    rooms = {room.replace(".", "/") for house in (APPLICATION, HARNESS) for room in house.rooms}
    assert rooms - rows == set()


def test_every_module_of_the_statistics_is_on_the_map():
    rows = re.findall(r"^\| (`stats/[^|]*) \|", (ROOT / "ARCHITECTURE.md").read_text(), re.M)
    named = {name.removeprefix("stats/") for row in rows for name in re.findall(r"`([\w/]+\w)`", row)}
    assert named == {path.stem for path in (ROOT / "stats").glob("*.py")} - {"__init__", "errors"}


def test_every_command_is_in_the_readme():
    commands = re.findall(r"^## resil (\w+)", (ROOT / "docs" / "reference" / "cli.md").read_text(), re.M)
    rows = re.findall(r"^\| (`resil [^|]*) \|", (ROOT / "README.md").read_text(), re.M)
    named = {name for row in rows for name in re.findall(r"`(?:resil )?(\w+)[^`]*`", row)}
    assert len(commands) > 15
    assert set(commands) - named == set()


def test_examples_on_the_pages_run(tmp_path, monkeypatch):
    (tmp_path / "campaign.toml").write_text(TEXT)
    fake.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    resil.run_campaign(resil.load_campaign("campaign.toml"), "run")
    found = {}
    for page in (ROOT / "docs").rglob("*.md"):
        test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
        if test.examples:
            found[page.name] = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed
    assert found == {"python.md": 0, "statistics.md": 0}


def test_a_broken_link_is_found(tmp_path):
    document = tmp_path / "page.md"
    document.write_text(
        "# A heading\n[a](page.md#a-heading) [b](page.md#none) [c](no.md) [d](https://e.org)\n"
    )
    assert broken_links(document) == ["page.md#none", "no.md"]


def test_every_benchmark_is_in_the_index():
    index = (ROOT / "benchmarks" / "README.md").read_text()
    commands = {
        "benchmarks." + ".".join(path.relative_to(ROOT / "benchmarks").with_suffix("").parts)
        for path in (ROOT / "benchmarks").rglob("*.py")
        if path.stem == "__main__"
        or re.search(r'^if __name__ == "__main__":', path.read_text(), re.MULTILINE)
    }
    commands = {name.removesuffix(".__main__") for name in commands}
    assert commands == set(re.findall(r"`python -m (benchmarks[\w.]+)", index))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_of_the_benchmarks_can_be_imported(module):
    importlib.import_module(module)


def test_the_site_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").is_file()
