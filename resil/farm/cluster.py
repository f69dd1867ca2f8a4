# SPDX-License-Identifier: Apache-2.0
"""A scheduler to give work to: one that is there, or one that is started here with workers of its own."""

from __future__ import annotations

import logging
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from resil.campaign.farm_settings import JOBS, LOCAL, LOGS, FarmSettings
from resil.farm.ledger import FarmError
from resil.progress import Progress

# Seconds that a scheduler which has gone may take to come back, and that one attempt takes.
PATIENCE, ATTEMPT = 60.0, 10.0
_PAGES = "127.0.0.1:0"
_INSTALL = 'install it with: pip install "resil[farm]"'
JOB_CLUSTERS = dict(zip(JOBS, ("SLURMCluster", "LSFCluster", "PBSCluster"), strict=True))
_SUBMIT = dict(zip(JOBS, ("sbatch", "bsub", "qsub"), strict=True))

# What calls of a client raise when its scheduler has gone.
_GONE = (OSError, TimeoutError, RuntimeError)


class SchedulerGoneError(Exception):
    """The scheduler does not answer."""


class Future(Protocol):
    """What comes of a call that a worker makes; see `distributed.Future`."""

    status: str

    def result(self, timeout: float) -> object:
        """Return what the call returned, or raise what it raised."""
        ...

    def exception(self, timeout: float) -> BaseException:
        """Return what the call raised."""
        ...

    def cancel(self, *, force: bool = False) -> None:
        """Let the call not be made, if it has not begun."""
        ...

    def add_done_callback(self, call: Callable[[object], None]) -> None:
        """Have something called when the call has ended in whatever way."""
        ...


class Farm:
    """Workers that can be given calls, and a scheduler that may go and come back.

    Args:
        settings: Which scheduler, or what to start.
        progress: Shows what a person should know.
        folder: Of the run or the study; jobs write what they say below it.
    """

    def __init__(self, settings: FarmSettings, progress: Progress, folder: Path) -> None:
        self.settings = settings
        self._logs = folder.absolute() / LOGS
        self._progress = progress
        self._distributed = _distributed()
        self._cluster: Any = None
        self._client: Any = None
        self._certificates: Path | None = None

    def open(self) -> None:
        """Connect, and start what is to be started.

        Raises:
            FarmError: a package is missing, or there is no such scheduler.
        """
        settings = self.settings
        _silence()
        try:
            if settings.cluster:
                self._progress.stage(f"starting {settings.workers} workers ({settings.cluster})")
                self._cluster = self._start()
            where = self._cluster or settings.scheduler
            shown = None if self._cluster else self._given()
            self._client = self._distributed.Client(
                where, timeout=ATTEMPT, set_as_default=False, security=shown
            )
        except (*_GONE, ValueError) as error:
            self.close()
            place = settings.scheduler or f"cluster {settings.cluster}"
            raise FarmError(
                f"[execution] dask: {place}: expected a scheduler that answers, found none ({_text(error)}); "
                "start one with: dask scheduler, or correct the table",
                "execution.dask",
            ) from None
        link = self._client.dashboard_link
        self._progress.stage(f"workers by {self._client.scheduler.address}, dashboard {link}")
        if settings.unprotected and not (settings.local or settings.encrypted):
            self._progress.warn(
                "the farm is open ([execution.dask] unprotected): whoever reaches scheduler or workers can "
                "run code there and here"
            )

    def renew(self) -> None:
        """Connect anew after the scheduler has gone; what was given out before is forgotten.

        Raises:
            FarmError: it does not come back.
        """
        self._progress.warn("the scheduler has gone; waiting for it")
        began = time.monotonic()
        while True:
            self.close()
            try:
                return self.open()
            except FarmError:
                if time.monotonic() - began > PATIENCE:
                    raise
                time.sleep(1.0)

    @property
    def there(self) -> bool:
        """Whether the scheduler is connected, as far as is known."""
        return self._client is not None and self._client.status == "running"

    def workers(self) -> set[str]:
        """Return the addresses of all workers; SchedulerGoneError if the scheduler does not answer."""
        if not self.there:
            raise SchedulerGoneError
        try:
            return set(self._client.nthreads())
        except _GONE as error:
            raise SchedulerGoneError from error

    def submit(self, address: str, call: Callable[..., object], *arguments: object) -> Future:
        """Return the future of a call that this worker is to make, and no other.

        Raises:
            SchedulerGoneError: the scheduler does not answer.
        """
        where = {"workers": [address], "allow_other_workers": False}
        try:
            future: Future = self._client.submit(call, *arguments, **where, pure=False, retries=0)
        except _GONE as error:
            raise SchedulerGoneError from error
        return future

    def close(self) -> None:
        """Leave the scheduler, and end what was started here."""
        for thing in (self._client, self._cluster):
            if thing is not None:
                with suppress(*_GONE):
                    thing.close(timeout=5)
        self._client = self._cluster = None
        if self._certificates is not None:
            shutil.rmtree(self._certificates, ignore_errors=True)
            self._certificates = None

    def _given(self) -> Any:  # noqa: ANN401
        """Return the certificates that the campaign names; None for those that dask is configured with.

        Raises:
            FarmError: the scheduler asks for certificates, and there are none.
        """
        if not (files := self.settings.certificates):
            if self.settings.encrypted and not self._distributed.Security().tls_client_cert:
                raise FarmError(
                    f"[execution] dask: {self.settings.scheduler}: expected certificates for it, found none; "
                    "name ca, certificate and key in [execution.dask], or configure dask with them",
                    "execution.dask.ca",
                )
            return None
        return self._distributed.Security(
            tls_ca_file=files["ca"],
            tls_client_cert=files["certificate"],
            tls_client_key=files["key"],
            require_encryption=True,
        )

    def _own(self) -> Any:  # noqa: ANN401
        """Return certificates of this farm alone, which scheduler, workers and this process show each other.

        Raises:
            FarmError: the package that makes them is missing.
        """
        try:
            return self._distributed.Security.temporary()
        except ImportError as error:
            raise _missing("cryptography", error) from None

    def _kept(self, made: Any, folder: Path) -> Any:  # noqa: ANN401
        """Return the same certificates as files in a folder, for workers that find them by their paths."""
        files = {}
        for part, content in made.get_tls_config_for_role("worker").items():
            if content is not None and part in ("ca_file", "cert", "key"):
                files[part] = folder / f"{part}.pem"
                files[part].write_text(content)
        roles = {
            f"tls_{role}_{part}": str(files[part])
            for role in ("client", "scheduler", "worker")
            for part in ("cert", "key")
        }
        return self._distributed.Security(tls_ca_file=str(files["ca_file"]), **roles, require_encryption=True)

    def _start(self) -> object:
        settings = self.settings
        if settings.cluster == LOCAL:
            return self._distributed.LocalCluster(
                n_workers=settings.workers, threads_per_worker=1, processes=True, memory_limit=0,
                dashboard_address=_PAGES, host="127.0.0.1", silence_logs=logging.CRITICAL,
                preload=["resil.farm.preload"], security=self._own(), protocol="tls://",
            )  # fmt: skip
        kind = getattr(job_queues(), JOB_CLUSTERS[settings.cluster])
        if shutil.which(command := _SUBMIT[settings.cluster]) is None:
            raise FarmError(
                f"[execution] dask: cluster {settings.cluster}: expected its command {command}, found none "
                "on the PATH; give the command where jobs can be submitted",
                "execution.dask",
            )
        options = job_options(settings, self._logs)
        if not settings.unprotected:
            self._logs.mkdir(parents=True, exist_ok=True)
            # Jobs find theirs there; the folder is for this user alone.
            self._certificates = Path(tempfile.mkdtemp(prefix=".certificates-", dir=self._logs))
            options["security"] = self._kept(self._own(), self._certificates)
        cluster = kind(**options, scheduler_options={"dashboard_address": _PAGES})
        # Jobs that the system ends are asked for again.
        cluster.adapt(minimum=settings.workers, maximum=settings.workers)
        return cluster


def job_options(settings: FarmSettings, logs: Path) -> dict[str, Any]:
    """Return the arguments of a cluster of dask-jobqueue: a job is one worker with one simulator."""
    options: dict[str, Any] = {
        "cores": 1,
        "processes": 1,
        "memory": settings.memory,
        "nanny": False,
        "python": settings.python or f"exec {sys.executable}",
        "job_script_prologue": list(settings.prologue),
        "job_extra_directives": list(settings.directives),
        "log_directory": str(logs),
        # Pages that show what runs are for this machine alone.
        "worker_extra_args": ["--no-dashboard", "--dashboard-address", _PAGES],
    }
    lsf = settings.cluster == "lsf"
    asked = {
        "walltime": _hours_and_minutes(settings.walltime) if lsf else settings.walltime,
        "queue": settings.queue,
        "project" if lsf else "account": settings.account,
        "interface": settings.interface,
    }
    return options | {name: value for name, value in asked.items() if value}


def _hours_and_minutes(walltime: str) -> str:
    """Return a time as LSF takes it, without seconds; begun minutes are whole ones."""
    if (found := re.fullmatch(r"(\d+):(\d\d):(\d\d)", walltime)) is None:
        return walltime
    hours, minutes, seconds = map(int, found.groups())
    minutes += 60 * hours + (seconds > 0)
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


_open: dict[FarmSettings, Farm] = {}


@contextmanager
def open_farm(settings: FarmSettings | None, progress: Progress, folder: Path) -> Iterator[Farm | None]:
    """Open a farm, or use the one that is open already with these settings; None without settings.

    Args:
        settings: Of the campaign or the study.
        progress: Shows what a person should know.
        folder: Of the run or the study.

    Raises:
        FarmError: as `Farm.open`.
    """
    if settings is None or settings in _open:
        yield None if settings is None else _open[settings]
        return
    farm = Farm(settings, progress, folder)
    farm.open()
    _open[settings] = farm
    try:
        yield farm
    finally:
        del _open[settings]
        farm.close()


def _silence() -> None:
    """Let the library log nothing here: what matters is said by resil, without tracebacks."""
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _distributed() -> Any:  # noqa: ANN401
    try:
        import distributed
    except ImportError as error:
        raise _missing("distributed", error) from None
    return distributed


def job_queues() -> Any:  # noqa: ANN401
    """Return the library that submits jobs, imported without its handler for Ctrl-C.

    `dask_jobqueue.runner` has an interrupt end the process with exit code 0 from its import on: an
    interrupted campaign would look like one that met its target.

    Raises:
        FarmError: it is not installed.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        import dask_jobqueue
    except ImportError as error:
        raise _missing("dask-jobqueue", error) from None
    finally:
        if before is not None and signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)
    return dask_jobqueue


def _missing(package: str, error: ImportError) -> FarmError:
    return FarmError(
        f"[execution] dask: needs the package {package}, which is not installed ({error}); {_INSTALL}"
    )


def _text(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
