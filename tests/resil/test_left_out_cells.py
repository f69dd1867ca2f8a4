# SPDX-License-Identifier: Apache-2.0
"""Campaigns on a design some of whose cells have no sites: fault lists name them, and are read again."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from resil.cli import main

TARGET = """
name = "falling"
top = "falling"
dut = "u_core"
sources = ["falling.sv"]
clock = "clk_i"
reset = "rst_ni"
done = "done_o"
[blocks]
core = "u_core"
[memories.input]
path = "in_q"
word_bytes = 1
plusarg = "input"
observed = false
[memories.output]
path = "out_q"
word_bytes = 1
plusarg = "output"
"""
CAMPAIGN = """
[campaign]
name = "falling"
seed = 3
[target]
file = "target.toml"
[workload]
name = "sixteen bytes"
decision = "exact"
[[workload.images]]
memory = "input"
file = "input.hex"
[workload.output]
memory = "output"
offset = 0
shape = [16]
dtype = "uint8"
[faults]
kinds = ["logic"]
model = "{model}"
injections = 60
minimum_per_block = 10
[technology]
name = "finfet-16nm"
"""
# Of a left-out flip-flop, by what the faults of a model strike.
PINS = {"stuck_at": {"C", "D", "Q", "R"}, "open": {"D"}, "set": set()}


def rows_of(file):
    return [*csv.DictReader(file.read_text().splitlines())]


@pytest.mark.parametrize("model", ["stuck_at", "open", "set"])
def test_pins_without_sites_are_listed_as_not_attempted_and_read_again(model, repository, tmp_path, capsys):
    shutil.copy(repository / "tests" / "rtl_harness" / "logic" / "falling.sv", tmp_path)
    (tmp_path / "target.toml").write_text(TARGET)
    (tmp_path / "input.hex").write_text("\n".join(f"{7 * i % 256:02x}" for i in range(16)))
    campaign = tmp_path / "campaign.toml"
    campaign.write_text(CAMPAIGN.format(model=model))
    assert main(["run", str(campaign), "--out", str(tmp_path / "run"), "--quiet"]) in (0, 1, 3)
    capsys.readouterr()
    file = tmp_path / "list.txt"
    assert main(["report", str(tmp_path / "run"), "--fault-list", str(tmp_path / "list.csv")]) == 0
    assert main(["report", str(tmp_path / "run"), "--fault-list", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out.partition("\n{")[2].join(("{", "")))
    listed = rows_of(tmp_path / "list.csv")
    left = [row for row in listed if row["status"] == "not_attempted"]
    assert said["statuses"]["not_attempted"] == len(left) > 0
    # Not among what the run's figures are about, and of no weight in them.
    assert {(row["injection"], row["fit"], row["hazardous"]) for row in left} == {("-1", "0.0", "no")}
    assert sum(int(row["injection"]) >= 0 for row in listed) == 60
    assert {row["reason"] for row in left} <= {"within_cycle", "falling_edge"}
    assert {row["block"] for row in left} == {"core"}
    names = [row["site"] for row in left]
    assert {name.rpartition("/")[2] for name in names if "half_q[0]/" in name} == PINS[model]
    values = 1 if model == "set" else 2
    assert all(names.count(name) == values for name in names)
    again = tmp_path / "again"
    assert main(["run", str(campaign), "--faults", str(file), "--out", str(again), "--quiet"]) == 0
    columns = ("site", "type", "input", "status", "block")
    first, second = (
        [tuple(row[name] for name in columns) for row in own]
        for own in (listed, rows_of(again / "faults.csv"))
    )
    assert [own if own[2] != "-1" else (*own[:2], "0", *own[3:]) for own in first] == second
    results = json.loads((again / "listed.json").read_text())
    assert results["blocks"][-1]["statuses"]["not_attempted"] == len(left)
    assert f"{len(left):,} were not attempted" in " ".join(results["remarks"])
