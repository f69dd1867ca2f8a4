"""The packages import each other only along the arrows of ARCHITECTURE.md, and nothing undeclared."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "networks": set(),
    "stats": set(),
    "rtl_harness": {"networks"},
    "reports": {"stats"},
    "resil": {"networks", "stats", "rtl_harness", "reports"},
}
DISTRIBUTION = {"ethosu": "ethos-u-vela", "sklearn": "scikit-learn"}
PARTS_OF_OTHERS = {
    "cocotb_tools": "cocotb",
    "find_libpython": "cocotb",
    "flatbuffers": "tflite",
    "markupsafe": "jinja2",
}


def imported(file: Path) -> set[str]:
    """Top-level names of all modules that `file` imports, at any depth of its code."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *extras["train"], *extras["test"]]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    return names | {name.replace("-", "_") for name in names}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_along_the_arrows(package):
    files = sources(package)
    assert files, f"no source files in {package}"
    wrong = {
        str(file.relative_to(ROOT)): sorted(bad)
        for file in files
        if (bad := imported(file) & (MAY_IMPORT.keys() | {"tests"}) - MAY_IMPORT[package] - {package})
    }
    assert wrong == {}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_every_foreign_import_is_declared(package):
    known = declared() | MAY_IMPORT.keys() | set(sys.stdlib_module_names)
    unknown = {
        str(file.relative_to(ROOT)): sorted(bad)
        for file in sources(package)
        if (bad := {n for n in imported(file) if DISTRIBUTION.get(n, PARTS_OF_OTHERS.get(n, n)) not in known})
    }
    assert unknown == {}


def test_the_command_line_starts_without_heavy_libraries():
    heavy = ("torch", "pyosys", "sklearn", "scipy", "plotly", "pandas", "cocotb")
    code = f"import resil.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
