# SPDX-License-Identifier: Apache-2.0
"""What a target is made of: every file that the front ends read counts, under whatever name it is read."""

import shutil
from dataclasses import replace

import pytest

from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.elaboration.yosys import rtl_key
from resil.rtl_harness.design.snapshot import (
    frozen,
    require_read,
    rtl_digest,
    snapshot_of,
    verilate_copies,
)
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.build import variables_at
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.engine.workload import OutputSpec, Workload
from resil.rtl_harness.errors import HarnessError, SimulationError
from testkit.errors import about

TARGET = """
name = "rom"
top = "bench"
sources = ["rtl/core.sv", "rtl/bench.sv"]
include_dirs = ["include"]
clock = "clk_i"
reset = "rst_i"
reset_active_low = false
dut = "u_core"
done = "done_o"
[blocks]
core = ["u_core"]
[memories.out]
path = "out_q"
word_bytes = 1
plusarg = "out"
"""
CORE = """
`include "opt.inc"
`include "../common/more.vi"
module core(input logic clk_i, rst_i, output logic [7:0] sum_o, output logic [3:0] at_o);
  logic [7:0] rom [8];
  initial $readmemh("rom.hex", rom);
`ifdef FPGA
  initial $readmemh("there_is_none.hex", rom);
`endif
  always_ff @(posedge clk_i)
    if (rst_i) begin sum_o <= '0; at_o <= '0; end
    else begin sum_o <= `STEP(sum_o, rom[at_o[2:0]]) + `MORE; at_o <= at_o + 1; end
endmodule
"""
BENCH = """
module bench(input logic clk_i, rst_i, output logic done_o);
  logic [7:0] out_q [1];
  logic [7:0] sum;
  logic [3:0] at;
  string file;
  initial if ($value$plusargs("out=%s", file)) $readmemh(file, out_q);
  core u_core(.clk_i, .rst_i, .sum_o(sum), .at_o(at));
  always_ff @(posedge clk_i) if (!rst_i) out_q[0] <= sum;
  assign done_o = at == 9;
endmodule
"""
COMPUTED = """string name;
  initial begin name = "rom"; $readmemh({name, "3.hex"}, rom); end"""
FILES = {
    "target.toml": TARGET,
    "rtl/core.sv": CORE,
    "rtl/bench.sv": BENCH,
    "include/opt.inc": '`include "deep.sv"\n',
    "rtl/deep.sv": "`define STEP(a, b) ((a) + (b))\n",
    "include/deep.sv": "`define STEP(a, b) ((a) + (b) + 1)\n",
    "common/more.vi": "`define MORE 3\n",
    "rom.hex": "01 02 03 04 05 06 07 08\n",
}


@pytest.fixture
def place(tmp_path):
    for name, text in FILES.items():
        (tmp_path / "design" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "design" / name).write_text(text)
    return tmp_path / "design"


def target_of(place, **changes):
    return replace(load_target(place / "target.toml"), **changes)


def run(target):
    workload = Workload("run", {}, OutputSpec("out", 0, (1,), "uint8"))
    return Runner(target, {}, variables_at(["out_q"])).run(workload, 100).output[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("include/opt.inc", '`include "deep.sv"\n// other\n'),
        ("include/deep.sv", "`define STEP(a, b) ((a) - (b))\n"),
        ("common/more.vi", "`define MORE 4\n"),
        ("rom.hex", "01 02 03 04 05 06 07 09\n"),
    ],
)
def test_an_edit_of_any_file_that_is_read_changes_every_key(place, name, text):
    target = target_of(place)
    before = rtl_digest(target), rtl_key(target, {})
    (place / name).write_text(text)
    after = rtl_digest(target), rtl_key(target, {})
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_file_that_comes_before_another_of_its_name_changes_the_key(place):
    before = rtl_digest(target_of(place))
    (place / "rtl/rom.hex").write_text("ff\n")
    with_data = rtl_digest(target_of(place))
    (place / "include/rom.hex").write_text("ff\n")
    assert len({before, with_data, rtl_digest(target_of(place))}) == 3


def test_a_file_that_nothing_names_changes_nothing(place):
    before = rtl_digest(target_of(place))
    (place / "include/notes.svh").write_text("`define UNUSED 1\n")
    assert rtl_digest(target_of(place)) == before


def test_a_moved_checkout_has_the_same_digest(place, tmp_path):
    before = rtl_digest(target_of(place))
    shutil.copytree(place, tmp_path / "other" / "place")
    assert rtl_digest(target_of(tmp_path / "other" / "place")) == before


def test_a_target_of_copies_stays_what_it_is_whatever_becomes_of_the_files(place):
    target = frozen(target_of(place))
    assert frozen(target) is target
    (place / "rtl/core.sv").unlink()
    assert snapshot_of(target) is target.snapshot
    assert elaborate(target).sites.size == 12


def test_other_sources_are_no_copies(place):
    target = frozen(target_of(place))
    (place / "rtl/more.sv").write_text("module more; endmodule\n")
    more = replace(target, sources=(*target.sources, place / "rtl/more.sv"))
    assert frozen(more).snapshot.digest != target.snapshot.digest


def test_the_simulator_follows_what_it_reads(place, monkeypatch, tmp_path):
    """The fault: a simulator of before an edit answered for the design after it."""
    target = target_of(place)
    monkeypatch.chdir(tmp_path)
    first = run(target)
    (place / "include/deep.sv").write_text("`define STEP(a, b) ((a) + (b) + 2)\n")
    second = run(target)
    (place / "rom.hex").write_text("01 02 03 04 05 06 07 09\n")
    assert second == (first + 8) % 256
    assert run(target) == second + 1


def test_both_engines_read_the_same_rom_and_headers(place, monkeypatch, tmp_path):
    """The fault: slang took what lies beside who includes, Verilator the include folder; a ROM was zeros."""
    monkeypatch.chdir(tmp_path)
    target = target_of(place)
    workload = Workload("run", {}, OutputSpec("out", 0, (1,), "uint8"))
    with CocotbEngine(target, workload, elaborate(target)) as slow:
        assert slow.golden().end.output[0] == run(target) == sum(range(1, 9)) + 8 * 4


def test_a_missing_rom_is_named_before_anything_is_simulated(place):
    (place / "rom.hex").unlink()
    with pytest.raises(
        HarnessError, match=r"the RTL reads 'rom.hex': expected the file in a folder of data_d"
    ):
        elaborate(target_of(place))


def computed(place):
    text = CORE.replace('initial $readmemh("rom.hex", rom)', COMPUTED)
    (place / "rtl/core.sv").write_text(text)
    (place / "rom.hex").rename(place / "rom3.hex")
    return target_of(place)


def test_a_name_that_the_rtl_computes_is_refused_by_both_engines(place, monkeypatch):
    monkeypatch.chdir(place)
    target = computed(place)
    with pytest.raises(
        SimulationError, match=r"the RTL reads 'rom3\.hex', which is none of the target's files"
    ):
        run(target)
    workload = Workload("run", {}, OutputSpec("out", 0, (1,), "uint8"))
    with (
        pytest.raises(SimulationError, check=about("data_files")),
        CocotbEngine(target, workload, elaborate(target)) as slow,
    ):
        slow.golden()


def test_a_file_of_a_computed_name_is_read_if_the_target_lists_it(place):
    expected = run(target_of(place))
    computed(place)
    (place / "target.toml").write_text('data_files = ["rom*.hex"]\n' + TARGET)
    target = target_of(place)
    before = rtl_digest(target)
    assert run(target) == expected
    (place / "rom3.hex").write_text("00\n")
    assert rtl_digest(target) != before


def test_a_rom_that_means_two_files_is_refused(place):
    (place / "rom.hex").rename(place / "rtl" / "rom.hex")
    (place / "other").mkdir()
    (place / "other/rom.hex").write_text("00\n")
    (place / "other/two.sv").write_text(
        'module two; logic [7:0] r [8]; initial $readmemh("rom.hex", r); endmodule\n'
    )
    two = target_of(place, sources=(*target_of(place).sources, place / "other/two.sv"))
    with pytest.raises(HarnessError, check=about("data_dirs")):
        rtl_digest(two)


def test_what_a_tool_reads_beside_the_copies_is_an_error(tmp_path):
    (tmp_path / "known").mkdir()
    require_read([tmp_path / "known" / "a.sv"], [tmp_path / "known"], "slang")
    with pytest.raises(HarnessError, check=about("include_dirs")):
        require_read([tmp_path / "known" / ".." / "b.sv"], [tmp_path / "known"], "slang")


def test_an_include_by_an_absolute_path_is_an_error(place, tmp_path):
    (tmp_path / "abs.svh").write_text("`define MORE 3\n")
    (place / "rtl/core.sv").write_text(CORE.replace("../common/more.vi", str(tmp_path / "abs.svh")))
    with pytest.raises(HarnessError, check=about("include_dirs")):
        elaborate(target_of(place))


def test_an_error_names_the_file_and_not_its_copy(place, tmp_path):
    (place / "include/deep.sv").write_text("`define STEP(a, b) ((a) +)\n")
    with pytest.raises(HarnessError) as of_slang:
        elaborate(target_of(place))
    with pytest.raises(SimulationError) as of_verilator:
        verilated(frozen(target_of(place)), tmp_path / "build")
    for error in (of_slang, of_verilator):
        assert str(place) in str(error.value)
        assert "/sources/" not in str(error.value)


def verilated(target, folder):
    """Run Verilator as the engines do, with a control file."""
    folder.mkdir()
    (folder / "own.vlt").write_text("`verilator_config\n")
    verilate_copies(target, {}, ["--cc", "-Mdir", "obj", "-Wno-fatal"], folder, "own.vlt")


def test_what_verilator_reads_beside_the_copies_is_an_error(place, tmp_path):
    verilated(frozen(target_of(place)), tmp_path / "known")
    (tmp_path / "abs.svh").write_text("`define MORE 3\n")
    (place / "rtl/core.sv").write_text(CORE.replace("../common/more.vi", str(tmp_path / "abs.svh")))
    with pytest.raises(HarnessError, check=about("include_dirs")):
        verilated(frozen(target_of(place)), tmp_path / "other")


MACROS = ("verilator", "VERILATOR", "verilator3", "SYSTEMVERILOG", "SYNTHESIS", "YOSYS")


def asking(place, macro, text, otherwise=""):
    """Put text into the core that stands where a macro is defined, and another where it is not."""
    more = f"`ifdef {macro}\n{text}\n`else\n{otherwise}\n`endif\nendmodule"
    (place / "rtl/core.sv").write_text(CORE.replace("endmodule", more))


@pytest.mark.parametrize("macro", MACROS)
def test_no_tool_defines_a_macro_that_another_one_does_not(place, tmp_path, macro):
    asking(place, macro, '  $error("is defined");')
    target = frozen(target_of(place))
    elaborate(target)
    (tmp_path / "c.vlt").write_text("`verilator_config\n")
    verilate_copies(target, {}, ("--lint-only", "-Wno-lint"), tmp_path, "c.vlt")
    given = replace(target_of(place), defines={macro: "1"})
    with pytest.raises(HarnessError, match="is defined"):
        elaborate(given)
    with pytest.raises(SimulationError, match="is defined"):
        verilate_copies(frozen(given), {}, ("--lint-only", "-Wno-lint"), tmp_path, "c.vlt")


def test_what_the_front_end_of_synthesis_defines_all_tools_do(place, tmp_path):
    asking(place, "__slang__", "", "  $error();")
    target = frozen(target_of(place))
    elaborate(target)
    (tmp_path / "c.vlt").write_text("`verilator_config\n")
    verilate_copies(target, {}, ("--lint-only", "-Wno-lint"), tmp_path, "c.vlt")


def test_a_storage_for_a_simulator_alone_is_no_site_and_not_simulated(place):
    before = run(target_of(place))
    more = "  logic [7:0] more_q;\n  always_ff @(posedge clk_i) more_q <= sum_o;"
    asking(place, "VERILATOR", more)
    assert run(target_of(place)) == before
    assert not [own.path for own in elaborate(target_of(place)).sites.elements if "more_q" in own.path]
    given = replace(target_of(place), defines={"VERILATOR": "1"})
    assert [own.path for own in elaborate(given).sites.elements if "more_q" in own.path]


def test_rtl_that_verilator_cannot_read_without_its_macro_says_so(place, tmp_path):
    asking(place, "VERILATOR", "", "  $error();")
    (tmp_path / "c.vlt").write_text("`verilator_config\n")
    with pytest.raises(SimulationError, match=r'defines = \{ VERILATOR = "1" \}'):
        verilate_copies(frozen(target_of(place)), {}, ("--lint-only",), tmp_path, "c.vlt")
