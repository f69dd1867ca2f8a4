# SPDX-License-Identifier: Apache-2.0
"""The key `dask` of [execution]: workers elsewhere that simulate, and how they come about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import ip_address

from resil.campaign.section import Section

LOCAL = "local"
JOBS = ("slurm", "lsf", "pbs")
# Where jobs leave what they say, in the folder of the run or of the study.
LOGS = "jobs"
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:\d+")
_EXPECTED = 'the address of a dask scheduler, as "tls://HOST:8786", or a table [execution.dask]'
_ENCRYPTED = ("tls", "wss")
# Keys of certificates and key, in the order of `FarmSettings.certificates`.
CERTIFICATES = ("ca", "certificate", "key")
_OF_A_SCHEDULER = ("scheduler", "cluster", "audit", "unprotected", *CERTIFICATES)


@dataclass(frozen=True)
class FarmSettings:
    """Workers that simulate injections, by dask.distributed.

    Attributes:
        scheduler: Address of a scheduler that is there already; "" if this campaign starts its own.
        cluster: What starts workers: "local" processes, or jobs of "slurm", "lsf" or "pbs"; "" with a
            scheduler that is there.
        workers: Worker processes, each of one simulator; 0 with a scheduler that is there.
        memory: Of a job, as "4GB"; "" without jobs.
        walltime: Of a job, as "04:00:00"; "" for the system's own.
        queue: Queue or partition of jobs; "" for the system's own.
        account: That jobs are charged to; "" for none.
        interface: Network interface of scheduler and workers; "" for what is found.
        python: Command that starts Python in a job; "" for the one that runs now.
        prologue: Lines of a job before the worker starts.
        directives: Further options of a job, as the system writes them.
        audit: Part of the injections that another worker simulates once more, to compare.
        unprotected: Connections need no certificate though they leave this machine: whoever reaches scheduler
            or workers runs code there.
        ca: File of the authority that scheduler and workers are known by; "" for dask's own configuration.
        certificate: File of what this process shows; "" as above.
        key: File of its private key; "" as above.
    """

    scheduler: str = ""
    cluster: str = ""
    workers: int = 0
    memory: str = ""
    walltime: str = ""
    queue: str = ""
    account: str = ""
    interface: str = ""
    python: str = ""
    prologue: tuple[str, ...] = ()
    directives: tuple[str, ...] = ()
    audit: float = 0.005
    unprotected: bool = False
    ca: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def certificates(self) -> dict[str, str]:
        """The files of authority, certificate and key by their keys; {} without."""
        return {name: getattr(self, name) for name in CERTIFICATES if self.ca}

    @property
    def encrypted(self) -> bool:
        """Whether the scheduler that is there asks for certificates."""
        return self.scheduler.split(":")[0] in _ENCRYPTED

    @property
    def local(self) -> bool:
        """Whether the scheduler that is there, or the one that is started, is of this machine alone."""
        return self.cluster == LOCAL or (bool(self.scheduler) and _is_loopback(self.scheduler))


def _is_loopback(address: str) -> bool:
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_farm(section: Section) -> FarmSettings | None:
    """Check the key `dask` of the table [execution]; None if it is not there."""
    if not section.has("dask"):
        return None
    if section.is_table("dask"):
        return _read_table(section.table("dask", _EXPECTED))
    address = section.text("dask")
    if section.sound("dask"):
        _check_address(section, "dask", FarmSettings(scheduler=address))
    return FarmSettings(scheduler=address)


def _check_address(section: Section, key: str, farm: FarmSettings) -> None:
    """Note an address that is none, or one that others reach and that lets everybody in."""
    address = farm.scheduler
    if not _ADDRESS.fullmatch(address):
        section.wrong(key, _EXPECTED, f'"{address[:60]}"', "write protocol, host and port")
    elif not (farm.encrypted or farm.local or farm.unprotected):
        section.wrong(
            key,
            "a scheduler that asks for certificates (tls://), or one of this machine",
            f'"{address[:60]}": whoever reaches it can run code here and in its workers',
            "start the scheduler with certificates; or say unprotected = true in [execution.dask] where "
            "nobody else is in the network",
        )


def _read_table(table: Section) -> FarmSettings:
    remedy = "change the value; 1.0 has all simulated twice"
    audit = table.number("audit", remedy=remedy)
    if table.has("scheduler") == table.has("cluster"):
        note, found = (table.wrong, "both") if table.has("cluster") else (table.missing, "neither")
        remedy = "name a scheduler that is there, or say what starts workers"
        note("cluster", "either a scheduler or a cluster", found, remedy)
        table.finish()
        return FarmSettings()
    if table.has("scheduler"):
        files = {key: str(table.path(key, "a file in PEM format")) for key in CERTIFICATES if table.has(key)}
        address, unprotected = table.text("scheduler"), table.flag("unprotected")
        ca, certificate, key = (files.get(name, "") for name in CERTIFICATES)
        farm = FarmSettings(
            address, audit=audit, unprotected=unprotected, ca=ca, certificate=certificate, key=key
        )
        if table.sound("scheduler"):
            _check_address(table, "scheduler", farm)
        _check_certificates(table, farm, files)
        table.finish(only=_OF_A_SCHEDULER)
        return farm
    cluster = table.choice("cluster")
    workers = table.integer("workers")
    if cluster == LOCAL:
        table.finish(only=("scheduler", "cluster", "workers", "audit"))
        return FarmSettings(cluster=cluster, workers=workers, audit=audit)
    memory = table.text("memory")
    if table.sound("memory") and not re.fullmatch(r"[1-9]\d*(\.\d+)? ?[KMGT]i?B", memory):
        table.wrong("memory", 'a number and a unit, as "4GB"', f'"{memory[:60]}"', "change the value")
    settings = FarmSettings(
        cluster=cluster,
        workers=workers,
        memory=memory,
        walltime=table.text("walltime") if table.has("walltime") else "",
        queue=table.text("queue") if table.has("queue") else "",
        account=table.text("account") if table.has("account") else "",
        interface=table.text("interface") if table.has("interface") else "",
        python=table.text("python") if table.has("python") else "",
        prologue=table.texts("prologue"),
        directives=table.texts("directives"),
        audit=audit,
        unprotected=table.flag("unprotected"),
    )
    table.finish(only=tuple(f.name for f in fields(settings) if f.name not in CERTIFICATES))
    return settings


def _check_certificates(table: Section, farm: FarmSettings, files: Mapping[str, str]) -> None:
    """Note certificates that do not belong there, or of which some are missing."""
    for key in files:
        if not farm.encrypted:
            expected, remedy = "the key with a scheduler at tls:// only", "remove it, or correct the address"
            table.wrong(key, expected, "a plain one", remedy)
    if files and (missing := [key for key in CERTIFICATES if key not in files]):
        remedy = "give all three, or none for those that dask itself is configured with"
        table.missing(missing[0], ", ".join(CERTIFICATES), ", ".join(files), remedy)
