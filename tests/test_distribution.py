# SPDX-License-Identifier: Apache-2.0
"""What is published says the same everywhere, and holds all that it needs."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from resil import installation

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = ["3.11", "3.12", "3.13"]
PARTS = ("networks", "reports", "resil", "rtl_harness", "stats")


def test_supported_pythons_are_those_that_are_declared_and_tested():
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert declared == PYTHONS
    assert [f"{major}.{minor}" for major, minor in installation.PYTHONS] == PYTHONS
    assert PROJECT["requires-python"] == ">=3.11,<3.14"
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text()).group(1)
    assert re.findall(r'"([^"]+)"', matrix) == PYTHONS
    images = set(re.findall(r"python:([\d.]+)-", (ROOT / "Containerfile").read_text()))
    assert images <= set(PYTHONS)
    assert len(images) == 1


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {PROJECT['version']}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_container_gets_all_that_the_package_is_built_from():
    copied = re.findall(r"^COPY (.*) \S+$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    found = [name for line in copied for name in line.split()]
    assert {*PARTS, "pyproject.toml", "setup.py", "MANIFEST.in", PROJECT["readme"], "LICENSE"} == set(found)
    assert all((ROOT / name).exists() for name in found)


def test_the_release_is_published_only_when_tests_passed_and_without_a_token():
    text = (ROOT / ".github/workflows/release.yml").read_text()
    assert "needs: [test, build]" in text
    assert "id-token: write" in text
    assert not re.search(r"secrets\.|password", text)


@pytest.mark.parametrize("part", PARTS)
def test_every_file_of_the_package_has_a_kind_that_is_installed(part):
    """A file of a kind that `package-data` does not name is in no wheel."""
    kinds = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    tracked = subprocess.run(
        ["git", "ls-files", part], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert tracked
    left_out = [n for n in tracked if not any(Path(n).match(k) for k in [*kinds, "*.py", "*.md"])]
    assert left_out == []
