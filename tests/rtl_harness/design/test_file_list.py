# SPDX-License-Identifier: Apache-2.0
"""File lists: what simulators take, in the order of packages, and what is refused by name."""

from pathlib import Path

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
    assert (found.ignored, found.left_out) == (["-timescale 1ns/1ps", "-sv"], [])


def made_by(tool, folder, suffix="f"):
    """Read a list as a tool writes it, of a project in the folder."""
    text = (Path(__file__).parent / "lists" / f"{tool}.{suffix}").read_text()
    (folder / "main.cpp").write_text("int main() {}")
    return listed(folder, text.replace("{root}", str(folder)), f"{tool}.{suffix}")


LISTS = {
    ("edalize_verilator", "vc"): [
        *("--Mdir .", "--cc", "--trace", "-Wno-fatal", "--x-assign 0", "-CFLAGS -O2 -g", "-LDFLAGS -lelf"),
        *("-CFLAGS -Iinc", "waive.vlt", "--exe", "main.cpp", "support.c"),
    ],
    ("edalize_icarus", "scr"): [],
    ("edalize_vcs", "scr"): ["main.cpp"],
    ("edalize_xcelium", "f"): ["-makelib worklib", "-endlib", "-makelib worklib", "-sv", "-endlib"],
    ("bender_verilator", "f"): [],
    ("bender_flist_plus", "f"): [],
    ("bender_flist", "f"): [],
}


@pytest.mark.parametrize(("tool", "suffix"), LISTS)
def test_lists_as_project_tools_write_them(tool, suffix, folder):
    """Edalize, which FuseSoC calls, and Bender: same sources, macros and parameters, and no word is lost."""
    found = made_by(tool, folder, suffix)
    assert [file.name for file in found.sources] == ["a.sv", "b.v"]
    assert (found.ignored, found.left_out) == (LISTS[tool, suffix], [])
    if tool != "bender_flist":
        assert [own.name for own in found.include_dirs] == ["inc"]
        assert {**found.defines, "TARGET_RTL": ""} == {"DEPTH": "3", "LABEL": "abc", "TARGET_RTL": ""}
    wanted = {
        "edalize_verilator": {"Width": 8, "Name": '"fast"'},
        "edalize_icarus": {"tb.Width": 8, "tb.Name": '"fast"'},
    }
    wanted["edalize_vcs"] = wanted["edalize_icarus"]
    assert found.parameters == wanted.get(tool, {})
    assert found.tops == (["dut"] if tool == "edalize_verilator" else [])


def test_an_option_that_is_not_known_takes_its_value_along_and_no_file(folder):
    found = listed(folder, "-frob speed rtl/a.sv -flag rtl/b.v -knob=3 +odd+1 -last")
    assert [file.name for file in found.sources] == ["a.sv", "b.v"]
    assert found.left_out == ["-frob speed", "-flag", "-knob=3", "+odd+1", "-last"]
    with pytest.raises(HarnessError) as raised:
        listed(folder, "rtl/a.sv -frob rtl/missing.sv")
    assert raised.value.field == "-f.path"


def test_what_makes_another_design_is_applied(folder):
    found = listed(
        folder,
        "+define+A+B=2 -UA -gWidth=4 -Ptb.Depth=5 -defparam dut.Mode=2'b10 -P pli.tab -G Gain=1.5\n"
        '+libdir+lib "rtl/a.sv" -top tb -DNAME=\\"x\\"',
    )
    assert found.defines == {"B": "2", "NAME": '"x"'}
    assert found.parameters == {"Width": 4, "tb.Depth": 5, "dut.Mode": "2'b10", "Gain": "1.5"}
    assert (found.tops, found.ignored) == (["tb"], ["-P pli.tab"])
    assert [own.name for own in found.library_dirs] == ["lib"]


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
    "rtl/secret_later.v": "-f.encrypted",
    "-v rtl/core.vhdl": "-f.vhdl",
    "-sfcu rtl/a.sv": "-f.option",
    "rtl/a.sv -D": "-f.option",
    "-DA=1 -DA=2 rtl/a.sv": "-f.define",
    "-GW=1 -GW=2 rtl/a.sv": "-f.parameter",
    "-GW=fast rtl/a.sv": "-f.parameter",
    "-GW=4'b1x0z rtl/a.sv": "-f.parameter",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_by_name(folder, text):
    (folder / "rtl" / "core.vhd").write_text("entity core is end;")
    (folder / "rtl" / "secret.v").write_text("module s;\n`pragma protect begin_protected\nxyz\nendmodule")
    later = "// `pragma protect begin_protected in words\n" + "// a line\n" * 20000
    (folder / "rtl" / "secret_later.v").write_text(later + "  `protected\nxyz\n`endprotected\n")
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


def test_parameters_are_numbers_and_literals(folder):
    found = listed(folder, '-GWidth=8 -G Depth=16\'h20 -pvalue+Sign=-1 -GName=\\"fast\\" rtl/a.sv')
    assert found.parameters == {"Width": 8, "Depth": "16'h20", "Sign": -1, "Name": '"fast"'}


def test_macros_hold_from_file_to_file_and_nets_may_be_declared_late(tmp_path):
    """As simulators have it: sources are one unit, of which all files count."""
    first, second = tmp_path / "first.v", tmp_path / "second.v"
    first.write_text("`define WIDTH 5\nmodule below (input a); endmodule\n")
    second.write_text(
        "module top (input a, output [`WIDTH-1:0] q);\nassign q = {`WIDTH{late}};\nwire late = a;\n"
        "below u_below (.a);\nendmodule\n"
    )
    design = read_design("small", "top", SlangSources((first, second)), {})
    assert design.files == (first, second)
    assert [int(port.type.bitWidth) for port in design.top.body.portList] == [1, 5]


def test_errors_of_the_front_end_are_told_with_their_places(tmp_path):
    source = tmp_path / "own.sv"
    source.write_text("module own (input a);\nmissing_type x;\nendmodule\n")
    with pytest.raises(HarnessError, match=r"own\.sv:2: .*missing_type"):
        read_design("small", "other", SlangSources((source,)), {})
