# SPDX-License-Identifier: Apache-2.0
"""House rules that tools check: lint, format, types, and what the README promises to scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from resil.layout import PARTS
from tests.conftest import BUILDERS

ROOT = Path(__file__).parents[1]
PYTHON_FOLDERS = [
    folder
    for folder in (*PARTS, "resil", "setup.py", "tests", "testkit", "benchmarks", "examples")
    if (ROOT / folder).exists()
]


def run(*arguments: str, folder: Path = ROOT) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint_is_clean():
    run("ruff", "check", "--no-cache", *PYTHON_FOLDERS)


def test_format_is_clean():
    run("ruff", "format", "--check", "--no-cache", *PYTHON_FOLDERS)


def test_types_are_clean(pytestconfig: pytest.Config, tmp_path: Path):
    kept = getattr(pytestconfig, "cache", None)
    cache = tmp_path if kept is None else kept.mkdir("mypy")
    (tmp_path / "resil").mkdir()
    for place in (*(ROOT / "resil").iterdir(), *(ROOT / part for part in PARTS)):
        (tmp_path / "resil" / place.name).symlink_to(place)
    settings = ROOT / "pyproject.toml"
    run("mypy", "-p", "resil", "--cache-dir", str(cache), "--config-file", str(settings), folder=tmp_path)


def test_builders_that_are_run_first_exist():
    assert [place for place in BUILDERS if not (ROOT / place).exists()] == []


def test_readme_has_one_command_for_the_main_job_and_one_for_the_tests():
    commands = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(commands) == 2
    job, tests = (command.strip() for command in commands)
    assert "\n" not in job
    assert job.endswith("resil run examples/digits.toml")
    assert "\n" not in tests
    assert tests.endswith("/pytest")


@pytest.mark.parametrize(("tests", "stranger"), [(0, 0), (7, 0), (0, 5)])
def test_ci_runs_the_test_command_of_the_readme_and_then_the_stranger(tmp_path, tests, stranger):
    """Stand-ins show that `.ci/run` takes its command from README.md, and fails with what fails."""
    (tmp_path / ".ci").mkdir()
    script = tmp_path / ".ci" / "run"
    script.write_bytes((ROOT / ".ci" / "run").read_bytes())
    after = tmp_path / ".ci" / "stranger"
    after.write_text(f'#!/bin/sh\necho "$RESIL_CACHE" > {tmp_path / "cache"}; exit {stranger}\n')
    after.chmod(0o755)
    seen = tmp_path / "seen"
    readme = (
        "```bash\nfalse\n```\n<!-- tests -->\n```bash\nprintf '%s' .venv > {}; cat; exit {} # pytest\n```\n"
    )
    (tmp_path / "README.md").write_text(readme.format(seen, tests))
    done = subprocess.run(["bash", str(script)], check=False, timeout=20)
    assert done.returncode == (tests or stranger)
    place = Path(seen.read_text()).parent
    assert Path(seen.read_text()).name == "venv"
    if tests:
        assert not (tmp_path / "cache").exists()
    else:
        assert (tmp_path / "cache").read_text().strip() == str(place / "cache")
