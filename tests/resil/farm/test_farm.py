# SPDX-License-Identifier: Apache-2.0
"""A campaign on a farm of separate processes is the campaign of one machine, whoever is lost meanwhile."""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from resil.cli import main
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.disturbed import DAMAGES, damage
from testkit.forked import Forked, has_part_files
from testkit.processes import Processes, processes
from testkit.runs import same
from testkit.stored_rows import rows

WORKER = (sys.executable, "-m", "testkit.fake_worker")
LONGER = TEXT.replace("injections = 200", "injections = 3000")


@pytest.fixture
def calm(tmp_path, monkeypatch):
    """The run of one machine, of a campaign text."""
    fake.install(monkeypatch)
    monkeypatch.setenv("FAKE_SECONDS", "0")

    def carry_out(text):
        folder = tmp_path / "calm"
        main(["run", str(write_campaign(tmp_path, text)), "--out", str(folder), "--quiet"])
        return folder

    return carry_out


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A farm of two workers for all that do it no harm; while its gate is there they make a portion each."""
    folder = tmp_path_factory.mktemp("shared")
    with farm(folder, FAKE_SECONDS="0.004", FAKE_GATE=str(folder / "gate")) as there:
        yield there


def farm(tmp_path, workers=2, **environment):
    return processes(Processes(tmp_path / "farm", WORKER, workers, environment, forked=True))


def start(tmp_path, there, text, *, audit=0.005, **environment):
    """Start `resil run` of a campaign on a farm."""
    file = tmp_path / "farmed.toml"
    table = f'[execution.dask]\nscheduler = "{there.address}"\naudit = {audit}\n'
    file.write_text(f"{text}\n{table}")
    command = [sys.executable, "-m", "testkit.fake", "run", str(file), "--out", str(tmp_path / "run")]
    log = tmp_path / f"said-{len(list(tmp_path.glob('said-*')))}"
    return Forked([*command, "--resume"], log, environment)


def finish(process):
    return process.wait(300), process.said()


@pytest.mark.parametrize("text", [LONGER, LONGER + '[sampling]\nplan = "adaptive"\nmargin = 0.2\n'])
def test_two_workers_give_what_one_machine_gives(tmp_path, calm, shared, text):
    code, said = finish(start(tmp_path, shared, text))
    assert code in (0, 1, 3), said
    assert f"workers by {shared.address}, dashboard http" in said
    assert "rows simulated again by another worker: none differs" in said
    assert same(calm(text), tmp_path / "run")
    facts = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert facts["workers"] in (1, 2)
    assert facts["audit"]["workers"]["answers"] == rows(tmp_path / "run").num_rows
    assert facts["audit"]["workers"]["tried"] >= 20


def test_a_farm_simulates_what_no_campaign_has_before(tmp_path, calm, shared):
    """Kept outcomes are looked up by who leads the farm: what is known is sent to no worker."""
    text = LONGER + "[execution]\nrecall = true\n"
    file = write_campaign(tmp_path, text.replace("= 3000", "= 2000"))
    environment = {"RESIL_CACHE": str(tmp_path / "cache")}
    first = Forked(
        [sys.executable, "-m", "testkit.fake", "run", str(file), "--out", str(tmp_path / "first")],
        tmp_path / "first.log",
        environment,
    )
    assert finish(first)[0] in (0, 1, 3)
    code, said = finish(start(tmp_path, shared, text, **environment))
    assert code in (0, 1, 3), said
    assert rows(tmp_path / "run") == rows(calm(LONGER))
    facts = json.loads((tmp_path / "run" / "provenance.json").read_text())
    assert (facts["recalled"], facts["audit"]["workers"]["answers"]) == (2000, 1000)


def test_a_worker_of_another_version_is_refused_by_name(tmp_path, calm, shared):
    old = Processes(tmp_path, WORKER, 1, {"FAKE_VERSION": "0.0.9"}, shared.port, forked=True)
    old.running["scheduler"] = shared.running["scheduler"]
    old.tend()
    code, said = finish(start(tmp_path, shared, LONGER.replace("= 3000", "= 9000")))
    old.kill("worker 0")
    assert code in (0, 1, 3), said
    assert "is refused: expected resil" in said
    assert "found resil 0.0.9; install this version there" in said
    assert same(calm(LONGER.replace("= 3000", "= 9000")), tmp_path / "run")


def test_a_farm_of_none_but_other_versions_is_refused(tmp_path, monkeypatch):
    with farm(tmp_path, FAKE_VERSION="0.0.9") as there:
        code, said = finish(start(tmp_path, there, TEXT))
    assert code == 2
    assert "every worker of the farm was refused" in said


def test_whatever_is_killed_the_same_rows_come(tmp_path, calm):
    """Workers, scheduler and coordinator, at random moments; what has ended is started again."""
    chance = random.Random(3)
    with farm(tmp_path, FAKE_SECONDS="0.004") as there:
        run = start(tmp_path, there, LONGER)
        for victim in ("worker 0", "scheduler", "worker 1", "coordinator"):
            time.sleep(1.0 + chance.random())
            if victim == "coordinator":
                run.send_signal(signal.SIGKILL)
                finish(run)
                run = start(tmp_path, there, LONGER)
            else:
                there.kill(victim)
            there.tend()
        while run.poll() is None:
            there.tend()
            time.sleep(0.2)
        code, said = finish(run)
    assert code in (0, 1, 3), said
    assert same(calm(LONGER), tmp_path / "run")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_simulates_wrongly_fails_the_run(tmp_path, workers):
    """One wrong worker beside a right one; alone, this process audits it."""
    with farm(tmp_path, workers=1, FAKE_WRONG="0.3") as there:
        if workers == 2:
            right = Processes(tmp_path / "right", WORKER, 1, None, there.port, forked=True)
            right.running["scheduler"] = there.running["scheduler"]
            right.folder.mkdir()
            right.tend()
        code, said = finish(start(tmp_path, there, LONGER))
        if workers == 2:
            right.kill("worker 0")
    assert code == 4
    assert "audit of workers: injection" in said
    assert main(["report", str(tmp_path / "run")]) == 4


def test_ctrl_c_leaves_what_resume_continues(tmp_path, calm, shared):
    """The workers stop at a gate: however late the interrupt comes, there is something left."""
    gate = Path(shared.environment["FAKE_GATE"])
    gate.touch()
    run = start(tmp_path, shared, LONGER)
    assert has_part_files(tmp_path / "run", run), run.said()
    run.send_signal(signal.SIGINT)
    code, said = finish(run)
    gate.unlink()
    assert code == 130, said
    assert "go on with: resil run" in said
    assert 0 < rows(tmp_path / "run").num_rows <= 2 * fake.THROUGH_GATE
    assert finish(start(tmp_path, shared, LONGER))[0] in (0, 1, 3)
    assert same(calm(LONGER), tmp_path / "run")


def test_a_full_disk_leaves_what_resume_continues(tmp_path, calm, shared):
    code, said = finish(start(tmp_path, shared, LONGER, FAKE_FULL="2"))
    assert code == 2
    assert "cannot be written (No space left on device); free the space" in said
    assert rows(tmp_path / "run").num_rows > 0
    assert finish(start(tmp_path, shared, LONGER))[0] in (0, 1, 3)
    assert same(calm(LONGER), tmp_path / "run")


def test_damaged_parts_are_made_again_by_a_farm(tmp_path, calm, shared):
    """Each kind once: refused by who reads, made good by the next run."""
    finish(start(tmp_path, shared, LONGER))
    chance = random.Random(2)
    for kind in DAMAGES:
        damage(tmp_path / "run" / "injections", chance, kind)
        assert main(["report", str(tmp_path / "run")]) == 2 or kind == "altered"
        assert finish(start(tmp_path, shared, LONGER))[0] in (0, 1, 3)
    assert same(calm(LONGER), tmp_path / "run")


def test_no_scheduler_is_said(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    monkeypatch.setattr("resil.farm.cluster.ATTEMPT", 1.0)
    file = write_campaign(tmp_path, TEXT + '[execution]\ndask = "tcp://127.0.0.1:9"\n')
    assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 2
    assert "tcp://127.0.0.1:9: expected a scheduler that answers, found none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("package", "table"),
    [("distributed", 'dask = "tcp://127.0.0.1:9"'), ("dask_jobqueue", 'dask = {cluster="slurm",workers=1}')],
)
def test_a_missing_package_is_said_with_what_installs_it(tmp_path, monkeypatch, capsys, package, table):
    fake.install(monkeypatch)
    monkeypatch.setitem(sys.modules, package, None)
    file = write_campaign(tmp_path, f"{TEXT}[execution]\n{table}\n")
    assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 2
    assert 'pip install "resil[farm]"' in capsys.readouterr().err


def test_a_machine_that_cannot_submit_jobs_is_said_at_once(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    file = write_campaign(tmp_path, f'{TEXT}[execution]\ndask = {{cluster="slurm",workers=1}}\n')
    assert main(["run", str(file), "--out", str(tmp_path / "run")]) == 2
    assert "cluster slurm: expected its command sbatch, found none on the PATH" in capsys.readouterr().err


def test_a_forked_command_is_a_process_like_any_other(tmp_path):
    """What kills are tried on: it ends with an exit code or by a signal, and has a log."""
    log = tmp_path / "said.log"
    assert Forked([sys.executable, "-m", "resil", "report", str(tmp_path / "none")], log).wait() == 2
    assert "none/provenance.json: expected a file, found none" in log.read_text()
    endless = Forked([sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"], log)
    assert endless.poll() is None
    endless.kill()
    assert endless.wait() == -signal.SIGKILL
