# SPDX-License-Identifier: Apache-2.0
"""The header for testbenches in C++: compiled with a verilated design, it says what resil's engine says."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from resil.cli import main
from resil.lists.rows import read_list
from resil.rtl_harness.bench import CPP_FOLDER
from resil.rtl_harness.cache import cached_folder, content_key
from resil.rtl_harness.tools import make_verilated, verilate

HERE = Path(__file__).parent
DESIGN = HERE.parent / "engine" / "reference"
CAMPAIGN = """
[campaign]
name = "counter"
seed = 1

[target]
file = "target.toml"

[workload]
cocotb = "adds:adds_up"

[faults]
injections = 10

[technology]
name = "finfet-16nm"

[execution]
engine = "cocotb"
"""
TARGET = """
name = "counter"
top = "bench_counter"
sources = ["bench_counter.sv"]
clock = "clk_i"
reset = "rst_ni"

[blocks]
counter = "."

[alarms]
parity = { output = "parity_o", reports = "detected" }
"""
# The testbench in C++, in cocotb: it begins low, so that its first rising edge is not at time 0.
TEST = """
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer


@cocotb.test()
async def adds_up(dut):
    dut.rst_ni.value = 0
    dut.valid_i.value = 0
    dut.data_i.value = 0
    Clock(dut.clk_i, 10, unit="ns").start(start_high=False)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for value in range(1, 7):
        dut.valid_i.value = 1
        dut.data_i.value = value
        await FallingEdge(dut.clk_i)
    dut.valid_i.value = 0
    for _ in range(2):
        await FallingEdge(dut.clk_i)
    assert dut.sum_o.value == 21
"""


@pytest.fixture(scope="module")
def program():
    sources = [DESIGN / "bench_counter.sv", HERE / "fault_bench.cpp"]
    header = CPP_FOLDER / "resil_faults.h"

    def build(folder):
        flags = ["--cc", "--exe", "--vpi", "--public-flat-rw", "--prefix", "Vtop", "-Mdir", str(folder)]
        flags += ["-o", "bench", "-CFLAGS", f"-I{CPP_FOLDER}"]
        verilate([*flags, "-Wno-fatal", *map(str, sources)], folder)
        make_verilated("Vtop.mk", folder, {"OPT_FAST": "-O0"})

    return cached_folder("cpp-bench", content_key(*sources, header), build) / "bench"


@pytest.fixture(scope="module")
def design(tmp_path_factory):
    folder = tmp_path_factory.mktemp("design")
    shutil.copy(DESIGN / "bench_counter.sv", folder)
    for name, text in (("campaign.toml", CAMPAIGN), ("target.toml", TARGET), ("adds.py", TEST)):
        (folder / name).write_text(text)
    return folder


def injected(program, list_file, results):
    return subprocess.run([program, list_file, results], capture_output=True, text=True, check=False)


def statuses(file):
    with file.open() as stream:
        return {(row["site"], row["time"]): row["status"] for row in csv.DictReader(stream)}


def test_a_bench_in_cpp_says_what_the_engine_says(program, design, tmp_path):
    """All bits in six cycles; `resil import` counts the rows that the header has written."""
    widths = {"sum_q": 8, "parity_q": 1, "valid_q": 1, "last_q": 4}
    rows = [
        f"u_dut.{name}[{bit}],SEU,{time},"
        for name, width in widths.items()
        for bit in range(width)
        for time in (0, 1, 3, 5, 6, 7)
    ]
    (tmp_path / "list.csv").write_text("Site, Type ,time,input\n# by hand\n" + "\n".join(rows) + "\n")
    done = injected(program, tmp_path / "list.csv", tmp_path / "theirs.csv")
    assert (done.returncode, done.stderr) == (0, "")
    campaign = str(design / "campaign.toml")
    ours, theirs = tmp_path / "ours", tmp_path / "counted"
    assert main(["run", campaign, "--faults", str(tmp_path / "list.csv"), "--out", str(ours), "--quiet"]) == 0
    asked = [str(tmp_path / "theirs.csv"), "--campaign", campaign, "--out", str(theirs), "--quiet"]
    assert main(["import", *asked]) == 0
    one, other = statuses(ours / "faults.csv"), statuses(theirs / "faults.csv")
    assert len(one) == len(rows)
    # The bench in C++ does not look at the state that is left.
    assert {key: "safe" if status == "latent" else status for key, status in one.items()} == other
    assert {"safe", "detected"} <= set(other.values())
    assert json.loads((theirs / "listed.json").read_text())["origin"] == "imported"


def test_the_header_reads_what_resil_reads(program, tmp_path):
    """A fault a line, names of others for types, and what it wrote is a list again."""
    text = "# one a line\nu_dut.sum_q[0] flip 3 0 safe weight=1.5\n\nu_dut.sum_q[1], seu, 4 bits=1 weight=2\n"
    (tmp_path / "list.txt").write_text(text)
    assert injected(program, tmp_path / "list.txt", tmp_path / "out.csv").returncode == 0
    wanted = [(own.site, own.type, own.time, own.weight) for own in read_list(tmp_path / "list.txt").rows]
    found = read_list(tmp_path / "out.csv", with_status=True).rows
    assert [(own.site, own.type, own.time, own.weight) for own in found] == wanted
    assert all(own.status == "detected" for own in found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("site,type,time\nu_dut.sum_q[0],melt,3\n", "row 1: type: expected upset"),
        ("site,type,time\nu_dut.sum_q[0],upset,\n", "row 1: time: expected the cycle"),
        ("site,type,time\n,upset,3\n", "row 1: expected a site"),
        ("# nothing\n", "expected at least one fault"),
        ("site,type,time,bits\nu_dut.sum_q[0],upset,3,2\n", "row 1: bits: expected upsets of 1 bit"),
        ("u_dut.sum_q[0] upset 3 bits=2\n", "row 1: bits: expected upsets of 1 bit"),
        ("site,type,time\nu_dut.sum_q[0],upset,3,0,1\n", "no more columns"),
        ("site,type,time\nu_dut.nowhere_q[0],upset,3\n", "nowhere_q[0]: expected a bit of the simulation"),
        ("site,type,time\nu_dut.sum_q[8],upset,3\n", "sum_q[8]: expected a bit of the word"),
        ("site,type,time\nu_other.sum_q[0],upset,3\n", "expected a site in u_dut"),
    ],
)
def test_wrong_lists_are_refused(text, says, program, tmp_path):
    (tmp_path / "list").write_text(text)
    done = injected(program, tmp_path / "list", tmp_path / "out.csv")
    assert done.returncode == 1
    assert says in done.stderr


def test_a_list_that_is_not_there_is_named(program, tmp_path):
    done = injected(program, tmp_path / "none.csv", tmp_path / "out.csv")
    assert "none.csv: expected a fault list" in done.stderr


def test_results_that_cannot_be_written_are_an_error(program, tmp_path):
    (tmp_path / "list").write_text("u_dut.sum_q[0] upset 3\n")
    done = injected(program, tmp_path / "list", tmp_path / "no_folder" / "out.csv")
    assert "could not be written" in done.stderr
