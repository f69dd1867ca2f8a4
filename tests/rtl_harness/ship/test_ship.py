# SPDX-License-Identifier: Apache-2.0
"""What comes with the package of the four targets is what would be made of them today."""

from __future__ import annotations

import ast
from hashlib import sha256
from pathlib import Path

import pytest

import resil.rtl_harness
from resil.rtl_harness.cache import cache_root, content_key
from resil.rtl_harness.design import area, hardware, synthesis
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates import gates
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.ship.make import results_of, shipped_targets
from resil.rtl_harness.shipped import results

ANEW = "python -m resil.rtl_harness.ship makes them anew"
HARNESS = Path(resil.rtl_harness.__file__).parent
_PREFIX = "resil.rtl_harness."


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache that is empty; returns where the one of all tests lies."""
    shared = cache_root()
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    return shared


@pytest.mark.parametrize("name", shipped_targets())
def test_every_shipped_target_is_elaborated_without_any_tool(name, monkeypatch):
    def refuse(*_, **__):
        raise HarnessError(f"expected that what ships is of the present sources; {ANEW}")

    monkeypatch.setattr("subprocess.run", refuse)
    target = load_target(name)
    elaboration = with_hardware(target, elaborate(target))
    assert elaboration.sites.absent
    assert area_per_block(target, elaboration).total.logic > 0
    assert len(read_gates(target, elaboration).gates) > 100_000


@pytest.mark.parametrize(
    "name", [n if n == "ethos-u55-32" else pytest.param(n, marks=pytest.mark.slow) for n in shipped_targets()]
)
def test_what_ships_is_what_is_made_today(name, own_cache, monkeypatch):
    """Made once for all that goes into it, as the keys say: later sessions find it in a cache of its own."""
    monkeypatch.setenv("RESIL_CACHE", str(own_cache / "made-anew"))
    made = {place: sha256(content).hexdigest() for place, content in results_of(load_target(name)).items()}
    listed = {(r.kind, r.key): r.digest for r in results.shipped_results(results.FOLDER)}
    assert sorted(kind for kind, _ in made) == sorted(results.FILES)
    assert made == {place: listed.get(place) for place in made}, ANEW


def test_the_package_stays_small():
    sizes = {file.name: file.stat().st_size for file in results.FOLDER.glob("*.xz")}
    assert sizes.keys() == {r.file for r in results.shipped_results(results.FOLDER)}
    assert sum(sizes.values()) < 4_000_000, sizes


# Modules that no result is made of: they start tools, keep files, or hold what keys have in words.
APART = {"resil.rtl_harness", "cache", "errors", "shipped.results", "design.target", "tools"}
# Likewise what copies the sources: each key has the digest of what was copied.
APART |= {"design.snapshot", "design.source_files"}
# What is added to an area that was kept, each time it is read.
APART |= {"design.stated_area"}

ROOTS = {
    "elaboration": (["design.elaboration.elaborate"], elaborate.__globals__["_OWN"]),
    "design": (["design.synthesis", "design.elaboration.synthesis_side"], synthesis._OWN),
    "hardware": (["design.hardware"], [*hardware._OWN, *synthesis._OWN]),
    "area": (["design.area"], [*area._OWN, *synthesis._OWN]),
    "gates": (["engine.fast.gates.gates"], gates._OWN),
}


def imported(module: str) -> set[str]:
    """Modules of the harness that a module imports, each the one that defines what is imported."""
    found = set()
    for node in ast.walk(ast.parse(path_of(module).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PREFIX):
            origin = node.module.removeprefix(_PREFIX)
            if path_of(origin).name == "__init__.py":
                defined = names_of(origin)
                found |= {defined[alias.name] for alias in node.names}
            else:
                found.add(origin)
    return found


def names_of(package: str) -> dict[str, str]:
    tree = ast.parse(path_of(package).read_text())
    return {
        alias.name: node.module.removeprefix(_PREFIX)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def path_of(module: str) -> Path:
    path = HARNESS.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def reached(roots: list[str]) -> set[str]:
    found, waiting = set(), list(roots)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imported(module) - APART
    return found


@pytest.mark.parametrize("kind", ROOTS)
def test_a_key_holds_all_code_that_a_result_is_made_by(kind):
    roots, own = ROOTS[kind]
    code = {path_of(module) for module in reached(roots)}
    # What an elaboration says is in the keys of what is made of it, and so is what makes it.
    given = (
        {path_of(module) for module in reached(["design.elaboration.elaborate"])}
        if kind != "elaboration"
        else set()
    )
    direct = {path_of(module) for root in roots for module in (root, *imported(root) - APART)}
    assert code - given - set(own) == set()
    assert (
        direct - set(own) - {path_of(f"design.elaboration.{name}") for name in ("elaborate", "model")}
        == set()
    )
    assert all(path.is_file() for path in own)


def test_an_edit_of_code_is_another_key(tmp_path):
    code = tmp_path / "code.py"
    code.write_text("a = 1\n")
    before = content_key([code])
    code.write_text("a = 2\n")
    assert content_key([code]) != before
