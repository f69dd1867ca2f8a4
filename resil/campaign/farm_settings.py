# SPDX-License-Identifier: Apache-2.0
"""The key `dask` of [execution]: workers elsewhere that simulate, and how they come about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from resil.campaign.section import Section

LOCAL = "local"
JOBS = ("slurm", "lsf", "pbs")
# Where jobs leave what they say, in the folder of the run or of the study.
LOGS = "jobs"
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:\d+")
_EXPECTED = 'the address of a dask scheduler, as "tcp://HOST:8786", or a table [execution.dask]'


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


def read_farm(section: Section) -> FarmSettings | None:
    """Check the key `dask` of the table [execution]; None if it is not there."""
    if not section.has("dask"):
        return None
    if section.is_table("dask"):
        return _read_table(section.table("dask", _EXPECTED))
    address = section.text("dask")
    if section.sound("dask"):
        _check_address(section, "dask", address)
    return FarmSettings(scheduler=address)


def _check_address(section: Section, key: str, address: str) -> None:
    if not _ADDRESS.fullmatch(address):
        section.wrong(key, _EXPECTED, f'"{address[:60]}"', "write protocol, host and port")


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
        address = table.text("scheduler")
        if table.sound("scheduler"):
            _check_address(table, "scheduler", address)
        table.finish(only=("scheduler", "cluster", "audit"))
        return FarmSettings(scheduler=address, audit=audit)
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
    )
    table.finish()
    return settings
