# SPDX-License-Identifier: Apache-2.0
"""A campaign on a netlist says of its registers what the RTL called them, and one on RTL says nothing."""

from __future__ import annotations

import csv

import pyarrow.parquet as pq
import pytest

import resil
from resil.cli import main
from tests.rtl_harness.redundancy.stepping import stepper_campaign, stepper_netlist


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    found = {}
    for name in ("rtl", "netlist"):
        folder = tmp_path_factory.mktemp(name)
        file = stepper_campaign(folder, "words", 1, injections=400)
        if name == "netlist":
            stepper_netlist(folder)
            file.write_text(file.read_text().replace('"stepper.toml"', '"netlist.toml"'))
        assert main(["run", str(file), "--out", str(folder / "run"), "--quiet"]) == 0
        found[name] = folder
    return found


def test_sites_and_tables_have_the_names_of_the_rtl(runs):
    folder = runs["netlist"]
    sites = pq.read_table(folder / "run" / "sites.parquet").to_pylist()
    named = {row["path"]: row["rtl_register"] for row in sites}
    assert named["u_dut.sum_q_reg_7_.IQ"] == "u_dut.sum_q[7]"
    assert named["u_dut.round_q_reg_2_.IQ"] == "u_dut.round_q[2]"
    assert all(named.values())
    run = resil.Run(folder / "run")
    registers = run.registers()
    assert dict(zip(registers["register"], registers["rtl_register"], strict=True)) == named
    assert set(registers["bits"]) == {1}
    assert "rtl_register" in run.injections()
    page = (folder / "run" / "report.html").read_text()
    assert 'data-sort="rtl_register"' in page
    assert "u_dut.sum_q[7]" in page
    assert main(["sites", str(folder / "words.toml"), "--csv", str(folder / "sites.csv")]) == 0
    with (folder / "sites.csv").open() as file:
        assert {row["path"]: row["rtl_register"] for row in csv.DictReader(file)} == named


def test_of_rtl_there_is_no_such_column(runs):
    folder = runs["rtl"]
    assert "rtl_register" not in pq.read_table(folder / "run" / "sites.parquet").column_names
    page = (folder / "run" / "report.html").read_text()
    assert 'data-sort="rtl_register"' not in page
    assert "u_dut.sum_q" in page
