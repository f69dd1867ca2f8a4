# SPDX-License-Identifier: Apache-2.0
"""Functions in C and primitives: left out where they are no hardware, else refused with file and line."""

from pathlib import Path

import pytest

from resil.rtl_harness.design.elaboration.yosys import read_commands, run_yosys
from resil.rtl_harness.design.snapshot import frozen, verilate_copies
from resil.rtl_harness.design.target import Target
from resil.rtl_harness.errors import HarnessError

INT = 'import "DPI-C" function int next_of(input int x);'
LOG = 'import "DPI-C" context c_log = function void log_it(input int x);'
TASK = 'import "DPI-C" task wait_for(input int x);'
OUT = 'import "DPI-C" function void split(input int x, output int y);'
INVERTER = "primitive inverter (o, a);\noutput o; input a;\ntable\n0 : 1; 1 : 0;\nendtable\nendprimitive\n"


def target_of(tmp_path, items, before="", parameters=None):
    file = tmp_path / "top.sv"
    file.write_text(
        f"{before}module top #(parameter Kind = 0) (input logic clk, input int d, output int q);\n{items}\n"
        "always_ff @(posedge clk) q <= d;\nendmodule\n"
    )
    return Target("t", "top", (file,), "clk", "", "", "", {}, {}, parameters=parameters or {})


def read_by_both(target, folder):
    """Return how many registers synthesis finds, and require that Verilator counts on no C."""
    copies = frozen(target)
    for name in ("yosys", "verilator"):
        (folder / name).mkdir()
    (folder / "verilator" / "top.vlt").write_text("`verilator_config\n")
    verilate_copies(
        copies, target.parameters, ["--cc", "-Wno-fatal", "--Mdir", "o"], folder / "verilator", "top.vlt"
    )
    assert not [*(folder / "verilator").rglob("*__Dpi.h")]
    log = run_yosys(
        [*read_commands(copies, target.parameters, [], folder / "yosys"), "stat"], folder / "yosys", "reading"
    )
    return log.count("$dff")


NO_HARDWARE = {
    "only declared": INT,
    "in a package": "",
    "a task": f"{TASK}\ninitial wait_for(3);",
    "called in final": f"{INT}\nfinal $display(next_of(q));",
    "called in an assertion": f"{INT}\nassert property (@(posedge clk) next_of(q) == 1);",
    "called where it prints": f'{INT}\ninitial begin int x; x = next_of(1); if (x == 2) $write("two"); end',
    "logs in a process": f"{LOG}\nalways @(posedge clk) log_it(q);",
    "its value is not taken": f"{INT}\nalways @(posedge clk) void'(next_of(q));",
    "between comments": f"// synthesis translate_off\n{LOG}\nalways @(posedge clk) log_it(q);\n"
    "// synthesis translate_on",
    "behind a macro": f"`ifndef SYNTHESIS\n{LOG}\nalways @(posedge clk) log_it(q);\n`endif",
    "exported": 'export "DPI-C" function twice;\nfunction automatic int twice(int x); return x; endfunction',
    "in what is not built": f"{INT}\nif (Kind == 1) begin : gen_c\nint r; assign r = next_of(d);\nend",
}


@pytest.mark.parametrize("where", NO_HARDWARE)
def test_c_that_is_no_hardware_is_left_out(where, tmp_path):
    before = f"package c_pkg;\n{INT}\nendpackage\n" if where == "in a package" else ""
    assert read_by_both(target_of(tmp_path, NO_HARDWARE[where], before), tmp_path) == 1


HARDWARE = {
    "an assignment": (f"{INT}\nint r;\nassign r = next_of(d);", 4),
    "a register": (f"{INT}\nint r;\nalways_ff @(posedge clk) r <= next_of(d);", 4),
    "an output": (f"{OUT}\nint r;\nalways_comb split(d, r);", 4),
    "an initial value": (f"{INT}\nint r;\ninitial r = next_of(1);", 4),
    "an initial value, declared": (f"{INT}\nint r = next_of(1);", 3),
    "an initial block that loops": (f"{INT}\ninitial while (next_of(1) == 0) ;", 3),
    "an initial block that ends": (f"{INT}\ninitial if (next_of(1) == 0) $finish;", 3),
    "through a function": (
        f"{INT}\nint r;\nfunction automatic int f(int x); return next_of(x); endfunction\nassign r = f(d);",
        4,
    ),
    "an argument": (f"{INT}\n{LOG}\nalways @(posedge clk) log_it(next_of(q));", 4),
}


@pytest.mark.parametrize("where", HARDWARE)
def test_c_that_decides_something_is_refused_with_its_line(where, tmp_path):
    items, line = HARDWARE[where]
    with pytest.raises(HarnessError, match=rf"top\.sv:{line}: .* in C \(.*top\.sv:2, import") as raised:
        frozen(target_of(tmp_path, items))
    assert raised.value.field == "sources.dpi"


def test_parameters_of_a_workload_may_bring_c_in(tmp_path):
    target = target_of(tmp_path, NO_HARDWARE["in what is not built"])
    copies = frozen(target)
    (tmp_path / "top.vlt").write_text("`verilator_config\n")
    with pytest.raises(HarnessError, match=r"top\.sv:4: .* in C") as raised:
        verilate_copies(copies, {"Kind": 1}, ["--cc", "-Wno-fatal", "--Mdir", "o"], tmp_path, "top.vlt")
    assert raised.value.field == "sources.dpi"


def test_an_import_that_a_macro_makes_cannot_be_left_out(tmp_path):
    """Nothing is linked for it: the simulator could not be loaded."""
    copies = frozen(
        target_of(tmp_path, "`IMPORTED(int)", f"`define IMPORTED(t) {INT.replace('int', 't', 1)}\n")
    )
    (tmp_path / "top.vlt").write_text("`verilator_config\n")
    with pytest.raises(HarnessError, match=r"top\.sv:\d+: .* a macro makes") as raised:
        verilate_copies(copies, {}, ["--cc", "-Wno-fatal", "--Mdir", "o"], tmp_path, "top.vlt")
    assert raised.value.field == "sources.dpi"


def test_a_primitive_that_is_used_is_refused_with_its_line(tmp_path):
    items = "logic r;\ninverter u_inverter (r, d[0]);"
    with pytest.raises(HarnessError, match=r"top\.sv:9: .* inverter.*top\.sv:1, primitive") as raised:
        frozen(target_of(tmp_path, items, INVERTER))
    assert raised.value.field == "sources.primitive"


def test_a_primitive_that_is_not_used_does_no_harm(tmp_path):
    assert read_by_both(target_of(tmp_path, "wire r; not u_not (r, d[0]);", INVERTER), tmp_path) == 1


def test_lines_keep_their_numbers(tmp_path):
    text = INT.replace(" function", "\n  function").replace("(", "(\n")
    target = target_of(tmp_path, f"{text}\nfinal $display(next_of(q));")
    copy = next(iter(frozen(target).sources)).read_text()
    assert copy.count("\n") == Path(target.sources[0]).read_text().count("\n")
    assert "DPI" not in copy
