# SPDX-License-Identifier: Apache-2.0
"""`Run`: what a finished run is for Python."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import resil
from resil.cli import main
from resil.errors import StoreError
from resil.stats.intervals import clopper_pearson
from tests.resil import fake
from tests.resil.campaigns import TEXT, write_campaign

OUTCOMES = ["masked", "latent", "sdc_tolerable", "sdc_critical", "due", "hang"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
        resil.run_campaign(resil.load_campaign(str(write_campaign(folder, text))), str(folder / "run"))
    return resil.Run(folder / "run")


def test_the_public_names_come_when_they_are_asked_for():
    code = "import resil, sys; a = set(sys.modules); resil.Run, resil.load_campaign, resil.run_campaign; "
    code += "print('pyarrow' in a, sorted(dir(resil)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False ['Run', '__version__', 'load_campaign', 'run_campaign']"
    with pytest.raises(AttributeError, match="no attribute 'runs'"):
        _ = resil.runs


def test_each_injection_has_the_register_that_it_hit(run):
    frame = run.injections()
    assert len(frame) == 600
    assert frame["injection"].is_monotonic_increasing
    for row in frame.itertuples():
        site = fake.SITES[row.site]
        assert (row.register, row.register_class) == (site.element.path, site.element.register_class)
        assert row.name == site.name
        assert row.block == (site.element.block or "(no block)")


def test_registers_add_up_and_are_ranked(run):
    frame = run.registers()
    assert frame["bits"].sum() == fake.SITES.size
    assert frame["injections"].sum() == 600
    assert (frame[OUTCOMES].sum(axis=1) == frame["injections"]).all()
    assert frame["fit_raw"].sum() == pytest.approx(run.summary["total"]["fit_raw"])
    rates = frame["fit"].dropna().to_numpy()
    assert (np.diff(rates) <= 0).all()
    for row in frame.itertuples():
        interval = clopper_pearson(row.hazardous, row.injections)
        assert row.fit_lo == pytest.approx(row.fit_raw * interval.lo)
        assert row.fit_hi == pytest.approx(row.fit_raw * interval.hi)
        assert row.hazardous == row.sdc_critical + row.hang
    for row in run.summary["blocks"]:
        own = frame[frame["block"] == row["block"]]
        assert own["injections"].sum() == row["injections"]
        assert own["hazardous"].sum() == row["sdc_critical"] + row["hang"]
        assert own["fit_raw"].sum() == pytest.approx(row["fit_raw"] or 0.0)


def test_alarms_beyond_the_fault_tolerant_time_are_no_detections_in_frames_either(
    tmp_path, monkeypatch, capsys
):
    fake.install(monkeypatch)
    text = TEXT.replace('["ff"]', '["ff", "sram"]').replace("injections = 200", "injections = 600")
    text += '[safety]\nspfm = 0.5\nclaims = ["spfm_transient"]\nftti_cycles = 60\n'
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    run = resil.Run(tmp_path / "run")
    frame = run.injections()
    late = (frame["alarm_cycle"] >= 0) & (frame["outcome"] != "due")
    assert late.any()
    assert (frame.loc[late, "outcome"] == frame.loc[late, "seen"]).all()
    counts = frame["outcome"].value_counts()
    registers = run.registers()
    for outcome in OUTCOMES:
        assert counts.get(outcome, 0) == registers[outcome].sum() == run.summary["total"][outcome]


def test_classes_are_counted_from_even_injections(run):
    found, registers = run.classes(), run.registers()
    own = registers.groupby("register_class")
    assert found["register_class"].tolist() == sorted(own.groups)
    for row in found.itertuples():
        members = own.get_group(row.register_class)
        assert (row.bits, row.injections) == (members["bits"].sum(), members["injections"].sum())
        assert 0.0 <= row.avf_lo <= row.avf <= row.avf_hi <= 1.0
        shown = ["sdc_tolerable", "sdc_critical", "due", "hang"]
        rates = members.groupby(["block", "kind"])[["bits", "injections", *shown]].sum()
        seen = rates[shown].sum(axis=1) / rates["injections"]
        assert row.avf == pytest.approx((seen * rates["bits"]).sum() / rates["bits"].sum())


def test_a_register_without_injections_is_not_known(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = TEXT.replace("injections = 200\nminimum_per_block = 10", "injections = 5")
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    frame = resil.Run(tmp_path / "run").registers()
    assert frame["bits"].sum() == 72
    none = frame[frame["injections"] == 0]
    assert none["fit"].isna().all()
    assert len(none)
    assert (none["fit_lo"] == 0).all()
    assert (none["fit_hi"] == none["fit_raw"]).all()


def test_blocks_are_those_of_the_summary(run):
    frame = run.blocks()
    assert list(frame["block"]) == [*(row["block"] for row in run.summary["blocks"]), "total"]
    assert list(frame["fit"])[-1] == run.summary["total"]["fit"]
    assert repr(run).endswith(f"600 injections, verdict {run.summary['verdict']['result']})")


def test_a_broken_folder_is_refused(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")])
    next((tmp_path / "run" / "injections").glob("*.parquet")).unlink()
    with pytest.raises(StoreError, match="resume"):
        resil.Run(tmp_path / "run")
    with pytest.raises(StoreError):
        resil.Run(tmp_path)


def test_a_plan_that_favours_some_faults_says_nothing_of_registers(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = TEXT + '[sampling]\nplan = "stratified"\n'
    main(["run", str(write_campaign(tmp_path, text)), "--out", str(tmp_path / "run")])
    found = resil.Run(tmp_path / "run")
    assert len(found.injections()) == 200
    for ask in (found.registers, found.classes):
        with pytest.raises(StoreError, match='found plan = "stratified"'):
            ask()
