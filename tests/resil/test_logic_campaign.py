# SPDX-License-Identifier: Apache-2.0
"""Campaigns that strike logic with pulses, from file to verdict: nothing else is said to be assessed."""

from __future__ import annotations

import csv
import json

import pytest

from resil.campaign.text import campaign_text
from resil.cli import main
from resil.stats.logic_rates import load_logic
from resil.stats.technology import load_technology
from testkit.awkward_campaigns import BUDGET, awkward_campaign, run
from testkit.campaigns import TEXT, campaign

LOGIC = 'kinds = ["logic"]\nmodel = "set"\ninjections = 300\nminimum_per_block = 20'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = awkward_campaign(tmp_path_factory.mktemp("logic") / "awkward", LOGIC, BUDGET)
    assert run(made) in (0, 1, 3)
    return made


def read(path):
    return json.loads(path.read_text())


def test_a_run_says_that_it_is_about_transients_in_logic_alone(folder):
    summary = read(folder / "out" / "summary.json")
    assert summary["campaign"]["fault_model"] == "set"
    assert summary["verdict"]["scope"].startswith("transients in logic alone; pins of cells only")
    assert "337 flip-flops and 1,152 SRAM bits not injected" in summary["verdict"]["scope"]
    scope = next(own["text"] for own in summary["assumptions"] if own["topic"] == "scope")
    assert "Pulses of one cycle at 2,807 outputs of cells" in scope
    assert "Not assessed: upsets of storage" in scope
    assert any("logical masking is simulated exactly" in note for note in summary["notes"])
    assert summary["safety"] is None
    assert summary["total"]["injections"] == 300
    assert summary["total"]["logic_bits"] == sum(row["logic_bits"] for row in summary["blocks"]) == 2807
    rates = load_logic(load_technology("finfet-16nm"))
    assert summary["total"]["fit_raw"] == pytest.approx(2807 * rates.fit_per_bit("logic"))
    quantities = {entry["quantity"]: entry["status"] for entry in summary["technology"]["entries"]}
    assert quantities == dict.fromkeys(
        ("logic_set", "pulse_ps", "window_ps", "survival", "clock_mhz"), "assumed"
    )
    assert "Pulses of one cycle" in (folder / "out" / "report.html").read_text()


def test_rows_name_cells_and_pulses(folder):
    from resil import Run

    rows = Run(folder / "out").injections()
    assert set(rows.kind) == {"logic"}
    assert set(rows.fault) == {"set"}
    assert rows.register.str.startswith("u_dut.").all()
    assert set(rows.block) == {"control", "lanes", "even", "history", "(no block)"}


def test_the_same_pulses_come_again_one_by_one(folder, capsys):
    for number in ("3", "8"):
        assert main(["replay", str(folder / "out"), number, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["equal"]


def test_a_fault_list_of_pulses_is_read_again_with_the_same_results(folder, tmp_path):
    """The fault: types were written that the reader refused."""
    assert main(["report", str(folder / "out"), "--fault-list", str(tmp_path / "list.txt")]) == 0
    assert main(["report", str(folder / "out"), "--fault-list", str(tmp_path / "list.csv")]) == 0
    asked = ["--faults", str(tmp_path / "list.txt"), "--out", str(tmp_path / "again"), "--quiet"]
    assert main(["run", str(folder / "campaign.toml"), *asked]) == 0
    columns = ("site", "type", "time", "input", "status")
    first, second = (
        [tuple(row[name] for name in columns) for row in csv.DictReader(file.read_text().splitlines())]
        for file in (tmp_path / "list.csv", tmp_path / "again" / "faults.csv")
    )
    assert first == second
    assert {kind for _, kind, *_ in first} == {"set"}
    assert len({time for _, _, time, *_ in first}) > 100
    assert {"safe", "observed"} <= {status for *_, status in first}


def test_an_upset_of_a_pin_is_refused(folder, tmp_path, capsys):
    from resil import Run

    (tmp_path / "list.csv").write_text(f"site,time\n{Run(folder / 'out').injections().name[0]},7\n")
    asked = ["--faults", str(tmp_path / "list.csv"), "--out", str(tmp_path / "again"), "--quiet"]
    assert main(["run", str(folder / "campaign.toml"), *asked]) == 2
    said = capsys.readouterr().err
    assert "a pin stores nothing that could be inverted" in said
    assert 'a pulse at the output of a cell is "set"' in said


def test_a_larger_campaign_holds_the_smaller(folder):
    file = folder / "campaign.toml"
    before = read(folder / "out" / "summary.json")
    assert main(["run", str(file), "--out", str(folder / "out"), "--resume", "--quiet"]) in (0, 1, 3)
    assert read(folder / "out" / "summary.json")["total"] == before["total"]


def test_nothing_takes_it_for_upsets(folder, capsys):
    assert main(["protect", str(folder / "out"), "--budget-fit", "1"]) == 2
    assert 'model = "set"' in capsys.readouterr().err
    assert main(["trace", str(folder / "out"), "3"]) == 2
    assert "cannot be traced" in capsys.readouterr().err


def test_a_check_compares_with_runs_to_the_end(folder, capsys):
    assert main(["check", str(folder / "campaign.toml")]) == 0
    assert "equal on verilator and runs to the end" in capsys.readouterr().out


FAULTS = 'kinds = ["ff"]\ninjections = 200\nminimum_per_block = 10'
PULSES = 'kinds = ["logic"]\nmodel = "set"\ninjections = 200\nminimum_per_block = 10'


def logic(text: str = "", faults: str = PULSES):
    return TEXT.replace(FAULTS, faults) + text


def test_settings_are_kept_in_the_resolved_campaign():
    technology = "clock_mhz = 800.0\nsurvival = 0.25\nlogic_fit = 1e-6\nlogic_range = [1e-7, 1e-5]\n"
    own = logic().replace('name = "finfet-16nm"\n', f'name = "finfet-16nm"\n{technology}')
    again = campaign_text(campaign(own))
    for line in (
        'kinds = ["logic"]',
        'model = "set"',
        "clock_mhz = 800.0",
        "survival = 0.25",
        "logic_fit = 1e-6",
    ):
        assert line.replace("1e-6", "") in again.replace("1e-06", "")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (logic(faults=PULSES.replace('"logic"', '"logic", "ff"')), "kinds"),
        (logic(faults=PULSES.replace('"set"', '"upset"')), "model"),
        (logic("[safety]\n", PULSES.replace('"set"', '"stuck_at"')), "model"),
        (logic('[sampling]\nplan = "adaptive"\n', PULSES.replace('"set"', '"stuck_at"')), "model"),
        (logic('[execution]\nengine = "plain"\n', PULSES.replace('"set"', '"stuck_at"')), "engine"),
        (logic(faults=FAULTS + '\nmodel = "set"'), "model"),
        (logic(faults=PULSES + "\nclusters = { 1 = 0.9, 2 = 0.1 }"), "clusters"),
        (logic('[sampling]\nplan = "adaptive"\n'), "kinds"),
        (logic("[safety]\n"), "kinds"),
        (logic('[execution]\nengine = "cocotb"\n'), "engine"),
        (logic().replace("seed = 7", "seed = 7\ninferences = 2"), "inferences"),
    ],
)
def test_what_does_not_go_with_logic_is_refused(text, field):
    from resil.errors import CampaignError

    with pytest.raises(CampaignError) as found:
        campaign(text)
    assert field in str(found.value)


def test_rates_are_derated_by_timing_and_attenuation():
    rates = load_logic(load_technology("finfet-16nm"))
    assert rates.derating == pytest.approx(0.5 * (50 + 30) * 500e6 * 1e-12)
    slower = rates.with_overrides(factors={"clock_mhz": 50.0, "survival": 1.0})
    assert slower.fit_per_bit("logic") == pytest.approx(rates.raw * 80e-12 * 50e6)
    # However fast the clock is, a register takes no more pulses than there are.
    assert rates.with_overrides(factors={"clock_mhz": 1e6, "survival": 1.0}).derating == 1.0
    own = rates.with_overrides(logic_fit=2e-6, logic_range=(1e-6, 4e-6))
    low, high = own.range_of("logic")
    assert own.fit_per_bit("logic") == pytest.approx(2e-6 * own.derating)
    assert low < own.fit_per_bit("logic") < high
    assert own.status_of("logic") == "assumed"


@pytest.mark.parametrize(
    "given", [{"factors": {"survival": 1.5}}, {"factors": {"pulse_ps": 0.0}}, {"logic_fit": float("nan")}]
)
def test_rates_that_are_none_are_refused(given):
    from resil.stats.errors import StatsError

    with pytest.raises(StatsError):
        load_logic(load_technology("finfet-16nm")).with_overrides(**given)


def test_logic_rates_are_of_logic_alone():
    from resil.stats.errors import StatsError

    with pytest.raises(StatsError, match="of kind logic"):
        load_logic(load_technology("finfet-16nm")).fit_per_bit("ff")
