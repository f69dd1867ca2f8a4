# SPDX-License-Identifier: Apache-2.0
"""File lists: what simulators take, in the order of packages, and what is refused by name."""

import pytest

from resil.rtl_harness.design.file_list import read_file_lists
from resil.rtl_harness.design.slang import SlangSources, packages_first, read_design
from resil.rtl_harness.errors import HarnessError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("rtl/a.sv", "rtl/b.v", "lib/c.v", "extra/d.sv", "inc/x.svh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def listed(folder, text, name="files.f"):
    (folder / name).write_text(text)
    return read_file_lists([folder / name])


def test_the_options_of_simulators(folder, monkeypatch):
    monkeypatch.setenv("LIB", "lib")
    found = listed(
        folder,
        "// a comment\n# another\n/* and\n one more */\n"
        "+incdir+inc+extra -I inc +define+A=1+B -D C=x\n-y ${LIB} +libext+.v+.sv\n-v lib/c.v\n"
        "-timescale 1ns/1ps -sv\nrtl/a.sv rtl/b.v rtl/a.sv",
    )
    assert [file.name for file in found.sources] == ["a.sv", "b.v"]
    assert [own.name for own in found.include_dirs] == ["inc", "extra"]
    assert found.defines == {"A": "1", "B": "", "C": "x"}
    assert [own.name for own in found.library_dirs] == ["lib"]
    assert found.suffixes == [".v", ".sv"]
    assert [file.name for file in found.libraries] == ["c.v"]
    assert found.left_out == ["-sv"]


def test_a_list_names_others_from_the_working_folder_or_from_beside_it(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "own.sv").write_text("")
    (folder / "sub" / "inner.f").write_text("own.sv\nrtl/b.v\n")
    assert [f.name for f in listed(folder, "-f sub/inner.f\nrtl/a.sv").sources] == ["own.sv", "b.v", "a.sv"]
    assert [f.name for f in listed(folder, "-F sub/inner.f").sources] == ["own.sv", "b.v"]
    assert [f.name for f in listed(folder, "sub/inner.f").sources] == ["own.sv", "b.v"]


REFUSED = {
    "none.sv": "-f.path",
    "+incdir+none": "-f.path",
    "-f none.f": "-f.path",
    "$NOT_SET_ANYWHERE/a.sv": "-f.NOT_SET_ANYWHERE",
    "rtl/core.vhd": "-f.vhdl",
    "rtl/secret.v": "-f.encrypted",
    "-f files.f": "-f",
    "// nothing": "-f",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_by_name(folder, text):
    (folder / "rtl" / "core.vhd").write_text("entity core is end;")
    (folder / "rtl" / "secret.v").write_text("module s;\n`pragma protect begin_protected\nxyz\nendmodule")
    with pytest.raises(HarnessError) as raised:
        listed(folder, text)
    assert raised.value.field == REFUSED[text]


def test_packages_come_before_who_uses_them_and_all_else_keeps_its_order(tmp_path):
    texts = {
        "top.sv": "module top; import b_pkg::*; // c_pkg::no\nendmodule",
        "other.sv": "module other; endmodule",
        "b_pkg.sv": "package b_pkg; typedef a_pkg::t u; endpackage",
        "a_pkg.sv": 'package automatic a_pkg; typedef logic t; string s = "b_pkg::x"; endpackage',
        "c_pkg.sv": "package c_pkg; endpackage",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    ordered = [file.name for file in packages_first([tmp_path / name for name in texts])]
    assert ordered == ["a_pkg.sv", "b_pkg.sv", "top.sv", "other.sv", "c_pkg.sv"]


def test_a_module_of_a_library_folder_is_found_by_its_name(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "leaf.v").write_text("module leaf(input d, output q); assign q = d; endmodule")
    (tmp_path / "top.sv").write_text("module top(input logic d, output logic q); leaf u(.d, .q); endmodule")
    given = SlangSources((tmp_path / "top.sv",), library_dirs=(tmp_path / "lib",), suffixes=(".v",))
    assert [file.name for file in read_design("t", "top", given, {}).files] == ["top.sv", "leaf.v"]
