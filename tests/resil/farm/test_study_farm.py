# SPDX-License-Identifier: Apache-2.0
"""A study on a farm of separate processes is the study of one machine, whoever is lost meanwhile."""

from __future__ import annotations

import json
import sys
import threading
import time

import pytest

from resil.cli import main
from testkit import fake
from testkit.forked import Forked, has_part_files
from testkit.processes import Processes, processes
from testkit.runs import ENDED, same
from testkit.stored_rows import rows
from tests.resil.studies import CELLS, TEXT

WORKER = (sys.executable, "-m", "testkit.fake_worker")
SAFETY = '[safety]\nclaims = ["spfm_permanent"]\nspfm = 0.5\nleft_out = "SRAM is not asked about"\n'
PERMANENT = '[permanent]\nkinds = ["ff"]\ninjections = 300\nplan = "uniform"\n'
ASKED = (
    TEXT.replace("injections = 200", "injections = 800").replace('"uniform"', '"adaptive"\nmargin = 0.3')
    + SAFETY
    + PERMANENT
)
RUNS = [f"{cell}{kind}" for cell in CELLS for kind in ("", ".permanent")]
TIMES = ("seconds", "spent", "started", "finished")


@pytest.fixture
def calm(tmp_path, monkeypatch):
    """The folder of a study text that this machine alone has carried out."""
    fake.install(monkeypatch)

    def carry_out(text):
        file, folder = tmp_path / "study.toml", tmp_path / "calm"
        file.write_text(text)
        assert main(["study", str(file), "--out", str(folder), "--quiet"]) in ENDED
        return folder

    return carry_out


def farm(tmp_path, seconds="0.002", **environment):
    given = {"FAKE_SECONDS": seconds, **environment}
    return processes(Processes(tmp_path / "farm", WORKER, 2, given, forked=True))


def start(tmp_path, address, text):
    """Start a study, or go on with it, on a farm."""
    file = tmp_path / "study.toml"
    file.write_text(f'{text}[execution]\ndask = "{address}"\n')
    command = [sys.executable, "-m", "testkit.fake", "study", str(file), "--out", str(tmp_path / "out")]
    return Forked([*command, "--resume"], tmp_path / f"said-{len(list(tmp_path.glob('said-*')))}")


def finish(process):
    return process.wait(180), process.said()


def record(folder):
    return json.loads((folder / "study.json").read_text())


def same_study(calm, out):
    """Each run of each cell holds the same rows and results, and the study says the same of them."""
    told = [{key: value for key, value in record(own).items() if key not in TIMES} for own in (calm, out)]
    assert json.dumps(told[0]) == json.dumps(told[1])
    assert (out / "study.parquet").read_bytes() == (calm / "study.parquet").read_bytes()
    assert [run for run in RUNS if not same(calm / run, out / run)] == []


def test_all_cells_are_carried_out_by_the_workers(tmp_path, calm):
    with farm(tmp_path) as there:
        code, said = finish(start(tmp_path, there.address, ASKED))
    assert code in ENDED, said
    assert said.count("workers by ") == 1  # one farm for all cells
    for run in RUNS:
        facts = json.loads((tmp_path / "out" / run / "provenance.json").read_text())
        assert facts["audit"]["workers"]["answers"] == rows(tmp_path / "out" / run).num_rows
    same_study(calm(ASKED), tmp_path / "out")


def test_whoever_is_lost_between_and_in_cells_the_same_study_comes(tmp_path, calm):
    with farm(tmp_path) as there:
        study = start(tmp_path, there.address, ASKED)
        for victim in ("worker 0", "scheduler", "coordinator", "worker 1"):
            time.sleep(1.5)
            if victim == "coordinator":
                study.kill()
                finish(study)
                study = start(tmp_path, there.address, ASKED)
            else:
                there.kill(victim)
            there.tend()
        while study.poll() is None:
            there.tend()
            time.sleep(0.2)
        code, said = finish(study)
    assert code in ENDED, said
    same_study(calm(ASKED), tmp_path / "out")


def test_a_wrong_worker_fails_its_cell_by_name(tmp_path):
    with farm(tmp_path, seconds="0", FAKE_WRONG="1") as there:
        given = {"FAKE_SECONDS": "0"}
        right = Processes(tmp_path / "right", WORKER, 1, given, there.port, forked=True)
        right.running["scheduler"] = there.running["scheduler"]
        right.folder.mkdir()
        right.tend()
        code, _ = finish(start(tmp_path, there.address, TEXT))
        right.kill("worker 0")
    assert code == 4
    failed = [cell for cell in record(tmp_path / "out")["cells"] if cell["verdict"] == "failed"]
    assert failed
    assert all("audit of workers: injection" in cell["error"] for cell in failed)


def test_a_farm_that_has_gone_for_good_ends_the_study_and_fails_no_cell(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("resil.farm.cluster.PATIENCE", 1.0)
    fake.install(monkeypatch)
    first = tmp_path / "out" / CELLS[0] / "injections"
    with farm(tmp_path, seconds="0.01") as there:
        file = tmp_path / "study.toml"
        file.write_text(f'{TEXT.replace("= 200", "= 9000")}[execution]\ndask = "{there.address}"\n')
        killing = threading.Thread(target=lambda: (has_part_files(first.parent), there.kill("scheduler")))
        killing.start()
        code = main(["study", str(file), "--out", str(tmp_path / "out")])
        killing.join()
    said = capsys.readouterr().err
    assert code == 2, said
    assert "expected a scheduler that answers, found none" in said
    assert "go on with: resil study" in said
    assert [cell["verdict"] for cell in record(tmp_path / "out")["cells"]] == ["not run"] * 4
