# SPDX-License-Identifier: Apache-2.0
"""Documents: links lead somewhere, commands exist, and the site builds without a warning."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

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
