# SPDX-License-Identifier: Apache-2.0
"""Who has no certificate of a farm is let in by none of its processes; pages are for this machine alone."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import distributed
import psutil
import pytest

from resil.campaign.farm_settings import FarmSettings
from resil.farm import cluster
from resil.farm.cluster import Farm
from resil.progress import Progress
from testkit.errors import about
from testkit.processes import SCHEDULER

ALONE = "127.0.0.1"
SBATCH = """#!/bin/bash
# A batch system of one machine: what is submitted runs at once, apart from whoever submits it.
cp "$1" {folder}/job-$$
setsid bash {folder}/job-$$ > {folder}/job-log 2>&1 &
echo $! >> {folder}/jobs
echo Submitted batch job $!
"""
NOTHING = "#!/bin/bash\n"


def simulated(number):
    """What a worker is given to do."""
    return number + 1


def opened(settings, folder):
    farm = Farm(settings, Progress(), folder)
    farm.open()
    return farm


def local_farm(folder):
    return opened(FarmSettings(cluster="local", workers=1), folder)


@pytest.fixture
def batch_system(tmp_path, monkeypatch):
    """Commands of a SLURM that starts what it is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("sbatch", SBATCH.format(folder=tmp_path)), ("scancel", NOTHING)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    yield tmp_path
    jobs = tmp_path / "jobs"
    for pid in jobs.read_text().split() if jobs.exists() else ():
        # Not by the command kill: that of some systems takes -1234 for -1, all processes.
        with suppress(ProcessLookupError):
            os.killpg(int(pid), signal.SIGKILL)


def wait_for_worker(farm):
    farm._client.wait_for_workers(1, timeout=60)
    return next(iter(farm.workers()))


def listens_beyond_this_machine():
    """Addresses on which this process and its children take connections from elsewhere."""
    own = psutil.Process()
    found = [c.laddr for p in (own, *own.children(recursive=True)) for c in p.net_connections("tcp")
             if c.status == psutil.CONN_LISTEN]  # fmt: skip
    return [address for address in found if not address.ip.startswith("127.") and address.ip != "::1"]


def is_let_in(address, security=None):
    """Whether a client without the certificates of a farm can have code run there."""
    try:
        with distributed.Client(address, security=security, timeout=3, set_as_default=False) as client:
            return client.submit(simulated, 1).result(timeout=5) == 2
    except (OSError, TimeoutError, ValueError, RuntimeError):
        return False


def test_a_client_without_the_certificate_is_refused(tmp_path):
    farm = local_farm(tmp_path)
    try:
        address = farm._client.scheduler.address
        assert farm.submit(wait_for_worker(farm), simulated, 4).result(timeout=30) == 5
        assert address.startswith("tls://")
        plain = address.replace("tls://", "tcp://")
        assert not is_let_in(plain)
        for reached in (address, *farm.workers()):
            assert not is_let_in(reached, distributed.Security.temporary())
        assert not listens_beyond_this_machine()
    finally:
        farm.close()


def test_the_same_client_is_let_in_where_nothing_is_asked(tmp_path):
    """The check above can fail."""
    with distributed.LocalCluster(n_workers=1, dashboard_address=f"{ALONE}:0", host=ALONE) as open_cluster:
        assert is_let_in(open_cluster.scheduler_address)


def test_jobs_get_certificates_in_a_folder_for_this_user_alone(batch_system):
    settings = FarmSettings(cluster="slurm", workers=1, memory="1GB", interface="lo")
    farm = opened(settings, batch_system / "run")
    try:
        address = farm._client.scheduler.address
        assert farm.submit(wait_for_worker(farm), simulated, 4).result(timeout=30) == 5
        folder = farm._certificates
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.iterdir())
        assert not is_let_in(address.replace("tls://", "tcp://"))
        assert not is_let_in(address, distributed.Security.temporary())
        pages = farm._client.dashboard_link
        assert pages.startswith(f"http://{ALONE}:")
    finally:
        farm.close()
    assert not folder.exists()


def test_an_open_farm_is_said_to_be_open(batch_system, capsys):
    settings = FarmSettings(cluster="slurm", workers=1, memory="1GB", interface="lo", unprotected=True)
    farm = Farm(settings, Progress(), batch_system / "run")
    farm.open()
    try:
        assert farm._client.scheduler.address.startswith("tcp://")
        wait_for_worker(farm)
    finally:
        farm.close()
    assert "the farm is open" in capsys.readouterr().err


def test_a_scheduler_with_certificates_is_reached_by_those_that_the_campaign_names(tmp_path):
    made = distributed.Security.temporary().get_tls_config_for_role("client")
    files = {}
    for key, part in (("ca", "ca_file"), ("certificate", "cert"), ("key", "key")):
        files[key] = str(tmp_path / f"{key}.pem")
        Path(files[key]).write_text(made[part])
    with socket.socket() as probe:
        probe.bind((ALONE, 0))
        port = probe.getsockname()[1]
    shown = ["--tls-ca-file", files["ca"], "--tls-cert", files["certificate"], "--tls-key", files["key"]]
    command = [*SCHEDULER, "--protocol", "tls", "--host", ALONE, "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        scheduler = subprocess.Popen([*command, *shown], stdout=log, stderr=log)
    try:
        address = f"tls://{ALONE}:{port}"
        farm = Farm(FarmSettings(address, **files), Progress(), tmp_path)
        for attempt in range(3):
            try:
                farm.open()
                break
            except cluster.FarmError:
                assert attempt < 2
        assert farm.there
        farm.close()
        with pytest.raises(cluster.FarmError, check=about("execution.dask.ca")):
            Farm(FarmSettings(address), Progress(), tmp_path).open()
    finally:
        scheduler.kill()
        scheduler.wait()
