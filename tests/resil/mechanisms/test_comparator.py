# SPDX-License-Identifier: Apache-2.0
"""A mechanism that stores nothing: a checker of gates alone, in verdicts and where its gates are held."""

from __future__ import annotations

import json

import pytest

from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.errors import CampaignError
from resil.mechanisms.measure import MechanismSizes, measure_mechanisms
from tests.resil.mechanisms.guarded_ram import combinational_campaign

SIZES = MechanismSizes(20, 40, 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Runs of stuck bits, and of stuck pins, beside a campaign of upsets whose checker has no storage."""
    folder = tmp_path_factory.mktemp("comparator")
    text = combinational_campaign(folder).read_text()
    head = text[: text.index("[safety]")]
    for name, kinds in (("bits", '["ff", "sram"]'), ("pins", '["logic"]')):
        own = head.replace('kinds = ["ff", "sram"]', f'kinds = {kinds}\nmodel = "stuck_at"')
        (folder / f"{name}.toml").write_text(own)
        assert main(["run", str(folder / f"{name}.toml"), "--out", str(folder / name), "--quiet"]) in (
            0,
            1,
            3,
        )
    return folder


def judged(folder, named, old="", new=""):
    text = (folder / "campaign.toml").read_text().replace("[safety]", f"[safety]\n{named}").replace(old, new)
    (folder / "judged.toml").write_text(text)
    code = main(["run", str(folder / "judged.toml"), "--out", str(folder / "upsets"), "--quiet"])
    if code == 2:
        return None
    rows = json.loads((folder / "upsets" / "summary.json").read_text())["safety"]["rows"]
    return {row["name"]: row for row in rows}


def test_no_fault_of_a_checker_without_storage_is_no_latent_fault_metric_of_100_percent(folder):
    """The fault: with its path accepted nothing of it was counted, so nothing was latent."""
    rows = judged(folder, 'permanent = "bits"')
    for name in ("lfm_permanent", "latent_permanent", "safe_permanent"):
        assert (rows[name]["state"], rows[name]["value"]) == ("not assessed", None)
        assert "No fault at or below u_dut.u_check is in the runs" in rows[name]["reason"]
        assert "Name a run of stuck pins" in rows[name]["reason"]
    assert rows["spfm_permanent"]["value"] is not None


def test_beside_storage_that_is_counted_it_is_no_less_unknown(folder):
    """The fault: one path with counted storage answered for another one without."""
    both = '["u_dut.u_count.count_q", "u_dut.u_check"]'
    rows = judged(folder, 'permanent = "bits"', '["u_dut.u_check"]', both)
    assert rows["lfm_permanent"]["value"] is None
    assert "at or below u_dut.u_check is in" in rows["lfm_permanent"]["reason"]
    assert "u_dut.u_check" in rows["pmhf_share"]["reason"]
    rows = judged(folder, 'permanent = "bits"', '["u_dut.u_check"]', '["u_dut.u_count.count_q"]')
    assert rows["lfm_permanent"]["value"] is not None


def test_its_gates_are_the_latent_faults_of_a_run_of_stuck_pins(folder):
    rows = judged(folder, 'permanent = "bits"\npermanent_logic = "pins"')
    summary = json.loads((folder / "pins" / "summary.json").read_text())
    (checker,) = (own for own in summary["strata"] if own["block"] == "check")
    assert 0.0 < rows["latent_permanent"]["value"] <= checker["fit_raw"]
    assert rows["lfm_permanent"]["value"] < 1.0
    assert "no gate lies" not in rows["lfm_permanent"]["reason"]


def test_what_verdicts_accept_the_measurement_of_mechanisms_accepts_and_the_other_way_round(folder, capsys):
    """The fault: one refused a checker of gates alone, the other one took it."""
    campaign = load_campaign(folder / "campaign.toml")
    assert measure_mechanisms(campaign, folder / "faults", SIZES).latent
    text = (folder / "campaign.toml").read_text()
    for path, accepted in (
        ("u_dut.u_ram.mem_q", True),
        ("u_dut.u_chec", False),
        ("u_dut.u_check.u_x", False),
    ):
        file = folder / "other.toml"
        file.write_text(text.replace('["u_dut.u_check"]', f'["u_dut.u_check", "{path}"]'))
        capsys.readouterr()
        refused = judged(folder, "", '["u_dut.u_check"]', f'["u_dut.u_check", "{path}"]') is None
        said = capsys.readouterr().err
        assert refused != accepted
        if accepted:
            measure_mechanisms(load_campaign(file), folder / "faults", SIZES)
            continue
        assert f"found none below {path}" in said
        with pytest.raises(CampaignError, match=f"found none below {path}"):
            measure_mechanisms(load_campaign(file), folder / "faults", SIZES)
