# SPDX-License-Identifier: Apache-2.0
"""What would be submitted to SLURM, LSF and PBS: the job scripts, line by line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from resil.campaign.farm_settings import FarmSettings
from resil.farm.cluster import JOB_CLUSTERS, job_options, job_queues
from testkit.campaigns import write_campaign

SETTINGS = {
    "workers": 3,
    "memory": "4GB",
    "walltime": "04:00:30",
    "queue": "night",
    "account": "safety",
    "interface": "lo",
    "prologue": ("module load python", "ulimit -c 0"),
}


def script(tmp_path, system, **others):
    """What a cluster submits for a worker; made without a scheduler."""
    settings = FarmSettings(cluster=system, **(SETTINGS | others))
    options = job_options(settings, tmp_path / "jobs")
    job = getattr(job_queues(), JOB_CLUSTERS[system]).job_cls("ADDRESS", name="dummy-name", **options)
    return [line for line in job.job_script().splitlines() if line.strip()]


WORKER = (
    f"exec {sys.executable} -m distributed.cli.dask_worker ADDRESS --name dummy-name --nthreads 1 "
    "--memory-limit 3.73GiB --no-nanny --death-timeout 60 --no-dashboard --dashboard-address 127.0.0.1:0 "
    "--interface lo"
)
SCRIPTS = {
    "slurm": [
        "#SBATCH -J dask-worker",
        "#SBATCH -e LOGS/dask-worker-%J.err",
        "#SBATCH -o LOGS/dask-worker-%J.out",
        "#SBATCH -p night",
        "#SBATCH -A safety",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=1",
        "#SBATCH --mem=4G",
        "#SBATCH -t 04:00:30",
    ],
    "lsf": [
        "#BSUB -J dask-worker",
        "#BSUB -e LOGS/dummy-name-%J.err",
        "#BSUB -o LOGS/dummy-name-%J.out",
        "#BSUB -q night",
        '#BSUB -P "safety"',
        "#BSUB -n 1",
        "#BSUB -M 4000000",
        "#BSUB -W 04:01",
    ],
    "pbs": [
        "#PBS -N dask-worker",
        "#PBS -q night",
        "#PBS -A safety",
        "#PBS -l select=1:ncpus=1:mem=3815MB",
        "#PBS -l walltime=04:00:30",
        "#PBS -e LOGS/",
        "#PBS -o LOGS/",
    ],
}


@pytest.mark.parametrize("system", SCRIPTS)
def test_a_job_is_one_worker_and_writes_into_the_folder_of_the_run(tmp_path, system):
    logs = str(tmp_path / "jobs")
    expected = [line.replace("LOGS", logs) for line in SCRIPTS[system]]
    prologue = ["module load python", "ulimit -c 0"]
    assert script(tmp_path, system) == ["#!/usr/bin/env bash", *expected, *prologue, WORKER]
    assert (tmp_path / "jobs").is_dir()


@pytest.mark.parametrize(("given", "taken"), [("01:59:01", "02:00"), ("10:05:00", "10:05"), ("30", "30")])
def test_lsf_takes_hours_and_minutes(tmp_path, given, taken):
    assert f"#BSUB -W {taken}" in script(tmp_path, "lsf", walltime=given)


def test_directives_stand_as_they_are_written(tmp_path):
    assert "#SBATCH --exclusive" in script(tmp_path, "slurm", directives=("--exclusive",))


INTERRUPTED = """
import signal, sys
from resil.cli import main
from resil.farm.cluster import job_queues

def campaign(*_arguments, **_options):
    job_queues()
    signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
import resil.run.campaign
resil.run.campaign.run_campaign = campaign
sys.exit(main(["run", sys.argv[1]]))
"""


def test_an_interrupt_is_no_success_once_jobs_can_be_submitted(tmp_path):
    """The library that submits them has it end the process with exit code 0."""
    command = [sys.executable, "-c", INTERRUPTED, str(write_campaign(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "resil: interrupted\n")
