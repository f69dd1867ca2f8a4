# SPDX-License-Identifier: Apache-2.0
"""Campaigns of open inputs and of bridges, from file to results, and their fault lists."""

from __future__ import annotations

import csv
import json
import shutil

import pytest

from resil.cli import main
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.hardware import with_hardware
from resil.rtl_harness.logic.bridges import read_pairs
from resil.rtl_harness.logic.synthesis import logic_netlist
from resil.stats.permanent import load_permanent
from testkit.awkward import awkward_target, awkward_workload
from testkit.awkward_campaigns import awkward_campaign, run
from testkit.held import drawn_pairs

OPEN = 'kinds = ["logic"]\nmodel = "open"\ninjections = 400\nminimum_per_block = 20'
BRIDGE = 'kinds = ["logic"]\nmodel = "bridge"\nbridges = "pairs.csv"\ninjections = {}\nminimum_per_block = 8'


def folder_of(tmp_path_factory, faults):
    return awkward_campaign(tmp_path_factory.mktemp("permanent") / "awkward", faults)


def read(path):
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    made = folder_of(tmp_path_factory, OPEN)
    assert run(made) in (0, 1, 3)
    return made


@pytest.fixture(scope="module")
def pairs(elaborated):
    kinds = {2: "wired_and", 3: "wired_or"}
    rows = [
        (p.first, p.second, kinds.get(p.ways[0], "dominant"), (1, 2, 0.5)[i % 3])
        for i, p in enumerate(drawn_pairs(elaborated, 60, 7))
    ]
    return "first,second,type,weight\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture(scope="module")
def elaborated():
    target = awkward_target()
    elaboration = with_hardware(target, elaborate(target, awkward_workload().parameters))
    return logic_netlist(target, elaboration)


@pytest.fixture(scope="module")
def bridged(tmp_path_factory, pairs):
    made = folder_of(tmp_path_factory, BRIDGE.format(100))
    (made / "pairs.csv").write_text(pairs)
    assert run(made) in (0, 1, 3)
    return made


def test_a_run_of_open_inputs_says_so(opened):
    summary = read(opened / "out" / "summary.json")
    assert summary["campaign"]["fault_model"] == "open"
    assert summary["verdict"]["scope"].startswith("permanent faults alone; pins of cells only")
    assert any("open at 0 or at 1 (stuck-open)" in note for note in summary["notes"])
    rate = load_permanent("finfet-16nm").fit_per_bit("logic")
    assert summary["total"]["fit_raw"] == pytest.approx(summary["total"]["logic_bits"] * rate)
    audits = read(opened / "out" / "provenance.json")["audit"]["kinds"]
    assert {way.partition(",")[0] for way in audits} == {"open input"}
    assert all(own["tried"] for own in audits.values())


def test_rows_of_open_inputs_have_their_names_and_come_again(opened, capsys):
    from resil import Run

    rows = Run(opened / "out").injections()
    assert set(rows.fault) == {"open_0", "open_1"}
    assert main(["replay", str(opened / "out"), "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["equal"]


@pytest.mark.parametrize("which", ["opened", "bridged"])
def test_a_fault_list_is_read_again_with_the_same_results(which, request, tmp_path):
    folder = request.getfixturevalue(which)
    assert main(["report", str(folder / "out"), "--fault-list", str(tmp_path / "list.txt")]) == 0
    assert main(["report", str(folder / "out"), "--fault-list", str(tmp_path / "list.csv")]) == 0
    asked = ["--faults", str(tmp_path / "list.txt"), "--out", str(tmp_path / "again"), "--quiet"]
    assert main(["run", str(folder / "campaign.toml"), *asked]) in (0, 1, 3)
    columns = ("site", "type", "input", "status")
    first, second = (
        [tuple(row[name] for name in columns) for row in csv.DictReader(file.read_text().splitlines())]
        for file in (tmp_path / "list.csv", tmp_path / "again" / "faults.csv")
    )
    # What has no site is of no input.
    assert [(*own[:2], own[2].replace("-1", "0"), own[3]) for own in first] == second
    assert (which == "bridged") == ("not_attempted" in {status for *_, status in first})
    assert {kind for _, kind, *_ in first} <= {"open_0", "open_1", "bridge"}
    assert "functionally_untestable" in {status for *_, status in first}


def test_faults_of_another_model_are_refused_in_a_list(opened, tmp_path, capsys):
    """The same pin held would be another fault."""
    from resil import Run

    name = Run(opened / "out").injections().name[0]
    (tmp_path / "list.csv").write_text(f"site,type\n{name},stuck_at_0\n")
    asked = ["--faults", str(tmp_path / "list.csv"), "--out", str(tmp_path / "again"), "--quiet"]
    assert main(["run", str(opened / "campaign.toml"), *asked]) == 2
    assert 'model = "open" in logic, found stuck_at_0' in capsys.readouterr().err


def test_rates_of_bridges_are_those_of_the_list(bridged):
    from resil import Run

    found = Run(bridged / "out")
    rows, summary = found.injections(), found.summary
    assert set(rows.fault) == {"bridge"}
    weights = {
        f"{pair.first}~{pair.second}[{way.value}]": pair.weight / len(pair.ways)
        for pair in read_pairs(bridged / "pairs.csv")
        for way in pair.ways
    }
    sites = found._storage(["name"], "sites").name
    rate = 6.8e-06
    assert summary.total.fit_raw == pytest.approx(rate * sum(weights[name] for name in sites))
    hazardous = rows[rows.outcome.isin(summary.campaign.hazardous)]
    assert hazardous.weight.sum() == pytest.approx(summary.total.fit)
    assert rows.weight.sum() == pytest.approx(summary.total.fit_raw)
    assert "bridges between nets only" in summary.verdict.scope
    with pytest.raises(Exception, match="rates of their own"):
        found.registers()


def test_all_bridges_of_a_list_can_be_injected(bridged, tmp_path_factory, pairs):
    """Then the rate is the sum over the list, whatever the weights are."""
    from resil import Run

    before = Run(bridged / "out")
    number = len(before._storage(["name"], "sites")) * len(before.summary.campaign.inputs)
    other = folder_of(tmp_path_factory, BRIDGE.format(number))
    (other / "pairs.csv").write_text(pairs)
    assert run(other) in (0, 1, 3)
    found = Run(other / "out")
    rows = found.injections()
    assert len(rows) == number
    of = {
        f"{pair.first}~{pair.second}[{way.value}]": pair.weight / len(pair.ways)
        for pair in read_pairs(other / "pairs.csv")
        for way in pair.ways
    }
    hazardous = rows[rows.outcome.isin(found.summary.campaign.hazardous)]
    inputs = len(found.summary.campaign.inputs)
    assert found.summary.total.fit == pytest.approx(6.8e-06 * sum(of[n] for n in hazardous.name) / inputs)


def test_stuck_pins_by_the_area_of_their_cells_keep_the_mean_rate(tmp_path_factory):
    """Cells are sampled type by type, and each type has its own rate."""
    from resil import Run

    held = OPEN.replace('"open"', '"stuck_at"').replace("minimum_per_block = 20", "minimum_per_block = 0")
    made = folder_of(tmp_path_factory, held)
    text = (made / "campaign.toml").read_text()
    text = text.replace('name = "finfet-16nm"', 'name = "finfet-16nm"\nlogic_by = "area"')
    (made / "campaign.toml").write_text(text)
    assert run(made) in (0, 1, 3)
    found = Run(made / "out")
    summary, rows = found.summary, found.injections()
    assert summary.total.fit_raw == pytest.approx(6.8e-06 * summary.total.logic_bits)
    assert any("come by their area (assumed)" in note for note in summary.notes)
    hazardous = rows[rows.outcome.isin(summary.campaign.hazardous)]
    assert hazardous.weight.sum() == pytest.approx(summary.total.fit)
    rates = found.drawn.strata.weights / found.drawn.strata.sizes
    by_type = {}
    for (_, _, name), rate in zip(found.drawn.strata.labels, rates.tolist(), strict=True):
        by_type.setdefault(name, set()).add(round(rate / rates.max(), 9))
    assert all(len(own) == 1 for own in by_type.values())
    # The pins of an inverter, 0.667 GE, and of a NAND of two inputs, 1 GE.
    (inverter,), (nand,) = by_type["INV"], by_type["NAND2"]
    assert inverter / nand == pytest.approx((0.667 / 2) / (1 / 3), rel=1e-6)


def test_another_list_is_another_campaign(bridged, pairs, tmp_path):
    other = tmp_path / "awkward"
    shutil.copytree(bridged, other)
    (other / "pairs.csv").write_text("\n".join(pairs.splitlines()[:-1]) + "\n")
    assert run(other, "--resume") == 2


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        (OPEN.replace('"logic"', '"ff"'), "an open input is one of a cell"),
        (OPEN.replace('"logic"', '"ff", "logic"'), "logic by itself"),
        (BRIDGE.format(100).replace('bridges = "pairs.csv"\n', ""), "a list of pairs of nets with bridges"),
        (OPEN + '\nbridges = "pairs.csv"', "bridge.* only"),
        (BRIDGE.format(100) + '\n[sampling]\nplan = "uniform"', "bridges of several weights"),
    ],
)
def test_what_does_not_go_together_is_refused(faults, why, tmp_path_factory, pairs, capsys):
    import re

    made = folder_of(tmp_path_factory, faults)
    (made / "pairs.csv").write_text(pairs)
    assert run(made) == 2
    assert re.search(why, capsys.readouterr().err)
