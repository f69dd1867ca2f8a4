# SPDX-License-Identifier: Apache-2.0
"""[execution] dask: what it may say, and that the resolved campaign says the same."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.farm_settings import FarmSettings
from resil.campaign.overrides import command_line
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.farm.cluster import job_options
from testkit.campaigns import TEXT, campaign
from testkit.errors import about

JOBS = (
    'cluster = "slurm"\nworkers = 3\nwalltime = "01:00:00"\nqueue = "debug"\ndirectives = ["--exclusive"]\n'
)


def farm(text):
    return campaign(f"{TEXT}\n{text}")


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ('[execution]\ndask = "tls://head:8786"', FarmSettings("tls://head:8786")),
        ('[execution]\ndask = "tcp://127.0.0.1:8786"', FarmSettings("tcp://127.0.0.1:8786")),
        ('[execution]\ndask = "tcp://[::1]:8786"', FarmSettings("tcp://[::1]:8786")),
        (
            '[execution.dask]\nscheduler = "tcp://head:8786"\nunprotected = true',
            FarmSettings("tcp://head:8786", unprotected=True),
        ),
        ('[execution.dask]\nscheduler = "tls://h:1"\naudit = 1.0', FarmSettings("tls://h:1", audit=1.0)),
        ('[execution.dask]\ncluster = "local"\nworkers = 2', FarmSettings(cluster="local", workers=2)),
        (
            f"[execution.dask]\n{JOBS}",
            FarmSettings("", "slurm", 3, "4GB", "01:00:00", "debug", directives=("--exclusive",)),
        ),
    ],
)
def test_what_is_said_is_read_and_written_again(text, settings):
    read = farm(text)
    assert read.execution.farm == settings
    again = parse_campaign(Path("small.toml"), tomllib.loads(campaign_text(read)))
    assert again.execution == read.execution


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('[execution]\ndask = "head:8786"', "execution.dask"),
        ("[execution]\ndask = 8786", "execution.dask"),
        ('[execution]\ndask = "tcp://head:8786"', "execution.dask"),
        ('[execution]\ndask = "tcp://127.0.0.1.example:8786"', "execution.dask"),
        ('[execution]\ndask = "tcp://0.0.0.0:8786"', "execution.dask"),
        ('[execution.dask]\nscheduler = "ws://head:8786"', "execution.dask.scheduler"),
        ('[execution.dask]\nscheduler = "tcp://h:1"\nunprotected = false', "execution.dask.scheduler"),
        (f'[execution.dask]\n{JOBS}ca = "small.toml"', "execution.dask.ca"),
        ('[execution.dask]\nscheduler = "tls://h:1"\nca = "absent.pem"', "execution.dask.ca"),
        ('[execution]\ndask = "tls://h:1"\nworkers = 2', "execution.workers"),
        ("[execution.dask]\nworkers = 2", "execution.dask.cluster"),
        ('[execution.dask]\ncluster = "local"\nscheduler = "tls://h:1"', "execution.dask.cluster"),
        ('[execution.dask]\ncluster = "slurmy"\nworkers = 2', "execution.dask.cluster"),
        ('[execution.dask]\ncluster = "slurm"', "execution.dask.workers"),
        ('[execution.dask]\ncluster = "slurm"\nworkers = 1\nmemory = "much"', "execution.dask.memory"),
        ('[execution.dask]\ncluster = "local"\nworkers = 1\nqueue = "x"', "execution.dask.queue"),
        ('[execution.dask]\ncluster = "local"\nworkers = 1\naudit = 0', "execution.dask.audit"),
        ('[execution.dask]\ncluster = "local"\nworkers = 1\naudit = 1.5', "execution.dask.audit"),
    ],
)
def test_what_is_wrong_is_said(text, field):
    with pytest.raises(CampaignError, check=about(field)):
        farm(text)


def with_certificates(folder, keys, address="tls://h:1"):
    for key in keys:
        (folder / f"{key}.pem").write_text("")
    named = "".join(f'{key} = "{key}.pem"\n' for key in keys)
    tables = tomllib.loads(f'{TEXT}\n[execution.dask]\nscheduler = "{address}"\n{named}')
    return parse_campaign(folder / "small.toml", tables).execution.farm


def test_certificates_lie_beside_the_campaign(tmp_path):
    found = with_certificates(tmp_path, ("ca", "certificate", "key"))
    assert found.certificates == {key: str(tmp_path / f"{key}.pem") for key in ("ca", "certificate", "key")}


@pytest.mark.parametrize(
    ("keys", "address", "field"),
    [
        (("ca", "certificate"), "tls://h:1", "execution.dask.key"),
        (("key",), "tls://h:1", "execution.dask.ca"),
        (("ca", "certificate", "key"), "tcp://127.0.0.1:1", "execution.dask.ca"),
    ],
)
def test_certificates_are_all_there_and_of_use(tmp_path, keys, address, field):
    with pytest.raises(CampaignError, check=about(field)):
        with_certificates(tmp_path, keys, address)


def test_workers_of_the_command_line_are_not_those_of_a_farm():
    tables = tomllib.loads(TEXT + '[execution]\ndask = "tls://h:1"')
    with pytest.raises(CampaignError, check=about("execution.workers")):
        parse_campaign(Path("small.toml"), tables, overrides=command_line(workers=2))


def test_a_job_is_one_worker_that_ends_with_its_shell():
    options = job_options(farm(f"[execution.dask]\n{JOBS}").execution.farm, Path("run/jobs"))
    assert (options["cores"], options["processes"], options["nanny"]) == (1, 1, False)
    assert options["python"].startswith("exec ")
    assert (options["queue"], options["walltime"]) == ("debug", "01:00:00")
    assert options["job_extra_directives"] == ["--exclusive"]
    assert "account" not in options


def test_an_adaptive_campaign_is_read_back():
    adaptive = farm('[sampling]\nplan = "adaptive"\nmargin = 0.2\nuntil_decided = false')
    again = parse_campaign(Path("small.toml"), tomllib.loads(campaign_text(adaptive)))
    assert replace(again, file=adaptive.file) == adaptive
