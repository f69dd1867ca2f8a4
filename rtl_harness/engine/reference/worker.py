# SPDX-License-Identifier: Apache-2.0
"""One simulator process of the cocotb engine, and the list of those that must not outlive it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.snapshot import DATA, data_folder
from resil.rtl_harness.errors import SimulationError, ToolMissingError, UnmappedSiteError
from resil.rtl_harness.host import python_library
from resil.rtl_harness.tools import tail

# Where `resil` is found: what the simulator's Python has is this, whatever it was installed from.
_PACKAGE_ROOT = Path(str(files("resil"))).resolve().parent
_NAMES_SHOWN = 20
# What Verilator says of a file that $readmemh does not find; it goes on with zeros.
_NOT_FOUND = re.compile(r"%Warning: (.*?):0: \$readmem file not found")


class Worker:
    """A running simulator that answers requests, one at a time.

    The process leads a process group of its own, so that it and everything it forked can be ended at
    once, and so that Ctrl-C reaches only the engine.

    Args:
        simulator: The executable.
        top: Top module.
        config: What the simulator's side must know, ready for JSON.
        arguments: Its command line: plusargs, waveform options.
        data: Folder with what the RTL reads under relative names; it runs in a copy.
        environment: Variables that a test has beside, or in place of, those that are always there.
        python_path: Folders in which it looks for modules first.
        files: What it finds besides in the folder that it runs in, by the path there.

    Raises:
        ToolMissingError: If Python has no shared library, which the simulator needs.
        UnmappedSiteError: If a storage element is not in the simulator.
        SimulationError: If the simulator does not start.
    """

    def __init__(
        self,
        simulator: Path,
        top: str,
        config: Mapping[str, Any],
        arguments: Sequence[str],
        data: Path,
        *,
        environment: Mapping[str, str] | None = None,
        python_path: Sequence[str] = (),
        files: Mapping[str, Path] | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="resil-cocotb-"))
        shutil.copytree(data, self.folder / DATA)
        for name, source in (files or {}).items():
            place = data_folder(self.folder) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)
        self._log = self.folder / "simulator.log"
        file = self.folder / "config.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        self.connection, theirs = socket.socketpair()
        with theirs, self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(simulator), *arguments],
                cwd=data_folder(self.folder),
                env=_environment(top, file, theirs.fileno(), self.folder, python_path)
                | {**(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self._reader = self.connection.makefile("r", encoding="utf-8")
        try:
            problems = self.answer("the start of the simulator")["problems"]
            self._require_data()
            if problems:
                shown = "\n  ".join(problems[:_NAMES_SHOWN])
                more = f"\n  and {len(problems) - _NAMES_SHOWN} more" if len(problems) > _NAMES_SHOWN else ""
                raise UnmappedSiteError(
                    f"expected every storage element in the simulator, {len(problems)} are not there as "
                    f"elaborated:\n  {shown}{more}\nsimplify the types or names of these variables in "
                    "the RTL",
                    "sites",
                )
        except BaseException:
            self.kill()
            raise

    def _require_data(self) -> None:
        """Raise SimulationError if the design has looked for a file that is not there."""
        if missing := _NOT_FOUND.search(self._log.read_text(encoding="utf-8", errors="replace")):
            raise SimulationError(
                f"the RTL reads {missing[1]!r}, which is none of the target's files; name it in data_files "
                "of the target",
                "data_files",
            )

    def fileno(self) -> int:
        """Return the connection's file descriptor, for selectors."""
        return self.connection.fileno()

    def send(self, **request: object) -> None:
        """Send a request; the answer comes later."""
        with contextlib.suppress(BrokenPipeError):
            self.connection.sendall(json.dumps(request).encode() + b"\n")

    def answer(self, what: str) -> dict[str, Any]:
        """Wait for the answer to the request that was sent last.

        Raises:
            SimulationError: If the simulator has ended, crashed or reports an error; `what` names the
                request in the message.
        """
        try:
            line = self._reader.readline()
        except ConnectionError:
            line = ""
        if not line:
            code = self._process.wait(timeout=10)
            raise SimulationError(
                f"{what}: the simulator ended with exit code {code}; its last lines:\n{self.log()}", "worker"
            )
        answer: dict[str, Any] = json.loads(line)
        if "crash" in answer:
            raise SimulationError(f"{what}: {answer['crash']}; its last lines:\n{self.log()}", "worker")
        if "error" in answer:
            raise SimulationError(f"{what}: {answer['error']}", "flip")
        return answer

    def log(self) -> str:
        """Return the end of what the simulator printed."""
        return tail(self._log.read_text(encoding="utf-8", errors="replace"), 15)

    def finish(self) -> None:
        """Close the connection, let the simulator end by itself, and clean up."""
        self.connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=60)
        self.kill()

    def kill(self) -> None:
        """End the simulator and all its forks, and remove its files; may be called twice."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.close()
        self.connection.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _environment(
    top: str, config: Path, descriptor: int, folder: Path, python_path: Sequence[str]
) -> dict[str, str]:
    import find_libpython
    from cocotb_tools.config import pygpi_entry_point

    from resil.rtl_harness.engine.reference.side import CONFIG_VARIABLE, SERVER, SOCKET_VARIABLE

    library = find_libpython.find_libpython()
    if library is None:
        raise ToolMissingError(
            f"expected Python's shared library ({python_library()}), found none; use a Python built with it "
            f"(Debian: apt-get install {python_library().rpartition('.')[0]})",
            "libpython",
        )
    return {
        **os.environ,
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": SERVER,
        "COCOTB_RESULTS_FILE": str(folder / "results.xml"),
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_LOG_LEVEL": "WARNING",
        "GPI_LOG_LEVEL": "WARNING",
        "GPI_USERS": f"{library};{pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYTHONPATH": os.pathsep.join([*python_path, str(_PACKAGE_ROOT), *(p for p in sys.path if p)]),
        "TOPLEVEL_LANG": "verilog",
        CONFIG_VARIABLE: str(config),
        SOCKET_VARIABLE: str(descriptor),
    }
