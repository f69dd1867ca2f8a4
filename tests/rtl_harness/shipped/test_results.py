# SPDX-License-Identifier: Apache-2.0
"""Results that come with the package are taken where they are of just this design, and never else."""

from __future__ import annotations

import dataclasses
import json
import lzma
import shutil
import subprocess

import pytest

from resil.rtl_harness.cache import cache_root, cached_folder, seal, without_shipped
from resil.rtl_harness.design import hardware
from resil.rtl_harness.design.area import area_per_block
from resil.rtl_harness.design.elaboration import elaborate, yosys
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.ship.make import make_shipped, results_of
from resil.rtl_harness.shipped import results

RTL = """
`include "width.svh"
module core (input logic clk, input logic rst, output logic [`WIDTH-1:0] count, output logic spare);
  logic [`WIDTH-1:0] count_q, same_q, dead_q;
  always_ff @(posedge clk or negedge rst)
    if (!rst) begin count_q <= '0; same_q <= '0; dead_q <= '0; end
    else begin count_q <= count_q + 1; same_q <= count_q + 1; dead_q <= count_q; end
  assign count = count_q ^ ~(same_q >> 1);
  assign spare = 1'b0;
endmodule
module bench #(parameter int Limit = 9) (input logic clk, input logic rst, output logic done);
  logic [`WIDTH-1:0] count;
  logic spare;
  core u_core (.clk, .rst, .count, .spare);
  assign done = count == Limit;
endmodule
"""
TARGET = """
name = "small"
top = "bench"
sources = ["core.sv"]
include_dirs = ["include"]
clock = "clk"
reset = "rst"
dut = "u_core"
done = "done"
[parameters]
Limit = 9
[blocks]
core = "u_core"
[memories]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with RTL and target file, and one with the results that would ship with it."""
    design, package = tmp_path_factory.mktemp("design"), tmp_path_factory.mktemp("package")
    (design / "include").mkdir()
    (design / "core.sv").write_text(RTL)
    (design / "include" / "width.svh").write_text("`define WIDTH 6\n")
    (design / "target.toml").write_text(TARGET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESIL_CACHE", str(tmp_path_factory.mktemp("cache")))
        make_shipped(package, [str(design / "target.toml")])
    return design, package


@pytest.fixture
def design(made, tmp_path):
    return shutil.copytree(made[0], tmp_path / "design")


@pytest.fixture
def package(made, tmp_path, monkeypatch):
    """The folder of shipped results, with those of the design; the cache is empty."""
    folder = shutil.copytree(made[1], tmp_path / "package")
    monkeypatch.setattr(results, "FOLDER", folder)
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    results.shipped_results.cache_clear()
    yield folder
    results.shipped_results.cache_clear()


@pytest.fixture
def no_tools(monkeypatch):
    """Whatever would run Yosys fails."""

    def refuse(*_, **__):
        raise HarnessError("Yosys was asked for")

    monkeypatch.setattr(subprocess, "run", refuse)


def everything(target):
    elaboration = with_hardware(target, elaborate(target))
    return elaboration, area_per_block(target, elaboration), dump(read_gates(target, elaboration))


def dump(gates):
    return {name: str(getattr(gates, name)) for name in gates.__dataclass_fields__}


def test_what_ships_is_taken_without_any_tool(design, package, no_tools, tmp_path, monkeypatch):
    target = load_target(design / "target.toml")
    taken = everything(target)
    monkeypatch.undo()
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "made"))
    assert taken == everything(target)
    assert taken[0].sites.size == 18
    assert [run.hardware.value for run in taken[0].sites.absent] == ["unused", "duplicate"]


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("core.sv", "dead_q <= count_q;", "dead_q <= ~count_q;"),
        ("include/width.svh", "6", "7"),
        ("target.toml", "Limit = 9", "Limit = 10"),
        ("target.toml", "[parameters]", "[defines]\nOTHER = ''\n[parameters]"),
    ],
)
def test_what_is_of_another_design_is_never_taken(design, package, no_tools, file, old, new):
    everything(load_target(design / "target.toml"))
    edit(design / file, old, new)
    with pytest.raises(HarnessError, match="Yosys was asked for"):
        elaborate(load_target(design / "target.toml"))


def test_a_changed_design_is_elaborated_anew(design, package):
    stale = elaborate(load_target(design / "target.toml"))
    edit(
        design / "core.sv",
        "same_q, dead_q;",
        "same_q, dead_q, new_q;\n  always_ff @(posedge clk) new_q <= ~new_q;",
    )
    made = with_hardware(load_target(design / "target.toml"), elaborate(load_target(design / "target.toml")))
    assert (stale.sites.size, made.sites.size) == (18, 24)
    assert any(run.first >= 12 for run in made.sites.absent)


def test_each_result_is_bound_to_what_it_is_made_of(design, package, no_tools):
    """Also where the result before it, taken for an unchanged design, is handed on."""
    target = load_target(design / "target.toml")
    elaboration = elaborate(target)
    counted = with_hardware(target, elaboration)
    edit(design / "core.sv", "same_q <= count_q + 1;", "same_q <= count_q + 2;")
    for ask in (with_hardware, area_per_block, read_gates):
        with pytest.raises(Exception, match="Yosys was asked for"):
            ask(target, elaboration)
    edit(design / "core.sv", "same_q <= count_q + 2;", "same_q <= count_q + 1;")
    other = dataclasses.replace(target, blocks={"renamed": ("u_core",)})
    with pytest.raises(HarnessError, match="Yosys was asked for"):
        area_per_block(other, counted)
    with pytest.raises(Exception, match="Yosys was asked for"):
        read_gates(dataclasses.replace(target, done="u_other"), counted)
    path, place = next(iter(elaboration.locations.items()))
    renamed = {**elaboration.locations, path: dataclasses.replace(place, variable="other_q")}
    named = dataclasses.replace(elaboration, locations=renamed)
    with pytest.raises(Exception, match="Yosys was asked for"):
        read_gates(target, named)


def test_another_yosys_takes_nothing(design, package, no_tools, monkeypatch):
    monkeypatch.setattr(yosys, "yosys_version", lambda: "0.71")
    with pytest.raises(HarnessError, match="Yosys was asked for"):
        elaborate(load_target(design / "target.toml"))


def other_content(package):
    first = json.loads((package / results.INDEX).read_text())["results"][0]
    (package / first["file"]).write_bytes(lzma.compress(b"{}"))


def cut_file(package):
    first = json.loads((package / results.INDEX).read_text())["results"][0]
    file = package / first["file"]
    file.write_bytes(file.read_bytes()[:-20])


def no_file(package):
    for file in package.glob("*.xz"):
        file.unlink()


def other_schema(package):
    edit(package / results.INDEX, '"schema": 1', '"schema": 2')


def half_an_index(package):
    text = (package / results.INDEX).read_text()
    (package / results.INDEX).write_text(text[: len(text) // 2])


def old_key(package):
    index = json.loads((package / results.INDEX).read_text())
    for result in index["results"]:
        result["key"] = "0" * 32
    (package / results.INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize("damage", [other_content, cut_file, no_file, other_schema, half_an_index, old_key])
def test_what_is_damaged_or_stale_is_made_anew(design, package, damage):
    damage(package)
    results.shipped_results.cache_clear()
    target = load_target(design / "target.toml")
    assert with_hardware(target, elaborate(target)).sites.size == 18


def test_what_the_cache_has_from_the_package_is_no_proof_of_it(design, package, monkeypatch):
    """Results are made for a comparison, not taken from a cache that was filled from the package."""
    target = load_target(design / "target.toml")
    everything(target)
    for file in cache_root().rglob(hardware._RESULT):
        file.write_text(json.dumps({"absent": [], "remarks": []}))
        seal(file.parent, shipped=True)
    assert not with_hardware(target, elaborate(target)).sites.absent
    shipped = {
        (r.kind, r.key): results.shipped_content(r.kind, r.key) for r in results.shipped_results(package)
    }
    assert results_of(target) == shipped
    assert with_hardware(target, elaborate(target)).sites.absent


def test_a_build_that_is_asked_for_takes_nothing_from_the_package(package):
    listed = results.shipped_results(package)[0]
    with without_shipped() as asked:
        made = cached_folder(listed.kind, listed.key, lambda folder: (folder / "own").touch())
    assert asked == [made]
    assert (made / "own").is_file()


def test_a_design_that_cannot_be_made_leaves_the_results_as_they_are(design, package):
    before = {file.name: file.read_bytes() for file in package.iterdir()}
    edit(design / "core.sv", "assign spare = 1'b0;", "assign spare = ;")
    with pytest.raises(HarnessError):
        make_shipped(package, [str(design / "target.toml")])
    assert before == {file.name: file.read_bytes() for file in package.iterdir()}


def test_results_of_what_ships_no_longer_are_removed(design, package):
    (package / "gone.area.xz").touch()
    make_shipped(package, [str(design / "target.toml")])
    kept = {result["file"] for result in json.loads((package / results.INDEX).read_text())["results"]}
    assert {file.name for file in package.iterdir()} == {results.INDEX, *kept}
    assert len(kept) == len(results.FILES)
