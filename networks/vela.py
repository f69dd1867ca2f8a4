# SPDX-License-Identifier: Apache-2.0
"""Running Arm's compiler Vela as a program, and keeping what it wrote."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from resil.networks.errors import LeftToCpuError, NetworkError
from resil.networks.files import write_atomically

ACCELERATORS = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")
_U65 = (
    "its streams set PARALLEL_MODE, memory has addresses of 40 bits, its copies need no multiple of 16 bytes"
)
NOT_BUILT = {
    "ethos-u65-256": f"{_U65}; else it is ethos-u55-256, which is built",
    "ethos-u65-512": (
        f"{_U65}; it is two cores of 256 MACs, and each computes every second channel of a block: a second "
        "weight decoder, MAC array, output unit and shared buffer, weights and scales of that core from "
        "WEIGHT1_BASE and SCALE1_BASE, one OFM that both write. The registers are public (in Vela), the "
        "second core is not there"
    ),
}
"""Accelerators that Vela compiles for and the NPU is not, and what each would take."""
SYSTEM_CONFIG = "Ethos_U55_High_End_Embedded"
MEMORY_MODE = "Shared_Sram"
FLAGS = (
    "--output-format",
    "raw",
    "--config",
    "Arm/vela.ini",
    "--system-config",
    SYSTEM_CONFIG,
    "--memory-mode",
    MEMORY_MODE,
    "--verbose-performance",
    "--enable-debug-db",
)
ARCHIVE_FORMAT = 1
TIME_LIMIT_SECONDS = 1800
_STEM = "network"
ARTEFACTS = {
    "vela.npz": f"{_STEM}_vela.npz",
    "layers.csv": f"{_STEM}_per-layer.csv",
    "summary.csv": f"{_STEM}_summary_{SYSTEM_CONFIG}.csv",
    "debug.xml": f"{_STEM}_debug.xml",
}
_UNSUPPORTED = re.compile(
    r"^Warning \(supported operators\) operator: (\S+), ofm: '(.*)'\nReason: (.*)$", re.MULTILINE
)


def not_built(accelerator: str) -> str:
    """Return what an accelerator that Vela knows would take, to be added to a message; "" if it is none."""
    reason = NOT_BUILT.get(accelerator)
    return "" if reason is None else f"; {accelerator} is not built: {reason}"


def vela_version() -> str:
    """Return the version of the installed Vela.

    Raises:
        NetworkError: It is not installed.
    """
    try:
        return importlib.metadata.version("ethos-u-vela")
    except importlib.metadata.PackageNotFoundError as error:
        raise NetworkError(
            f"Vela, the compiler for Ethos-U, is not installed for {sys.executable}; "
            "run `pip install ethos-u-vela==5.2.0`",
            "vela",
        ) from error


def cache_folder(cache_dir: Path | None = None) -> Path:
    """Return the folder of compiled networks, below `cache_dir`, $RESIL_CACHE or the user's cache folder."""
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "resil"
    return (cache_dir or Path(os.environ.get("RESIL_CACHE") or user)) / "vela"


def cache_key(network: bytes, accelerator: str) -> str:
    """Return a name that stands for everything that decides what Vela writes."""
    parts = (str(ARCHIVE_FORMAT), vela_version(), accelerator, *FLAGS, hashlib.sha256(network).hexdigest())
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def artefacts(
    network: bytes, accelerator: str, where: str, cache_dir: Path | None = None
) -> dict[str, bytes]:
    """Return the files that Vela writes, by the names of `ARTEFACTS`; from the cache if they are there.

    Args:
        network: Bytes of a .tflite file.
        accelerator: One of `ACCELERATORS`.
        where: Names the network in messages.
        cache_dir: See `cache_folder`.

    Raises:
        LeftToCpuError: Vela leaves operators to the CPU.
        NetworkError: Vela is missing or refuses the network; or the cache cannot be written.
    """
    archive = cache_folder(cache_dir) / f"{cache_key(network, accelerator)}.zip"
    cached = _load(archive)
    if cached is not None:
        return cached
    files = run_vela(network, accelerator, where)
    try:
        write_atomically(archive, _pack(files))
    except OSError as error:
        raise NetworkError(
            f"{archive.parent}: the cache of compiled networks cannot be written "
            f"({error.strerror or error}); make it writable or set RESIL_CACHE to another folder",
            "cache",
        ) from error
    return files


def run_vela(network: bytes, accelerator: str, where: str) -> dict[str, bytes]:
    """Run Vela without the cache; arguments, result and errors as `artefacts`."""
    vela_version()
    with tempfile.TemporaryDirectory(prefix="resil-vela-") as folder:
        source, output = Path(folder) / f"{_STEM}.tflite", Path(folder) / "output"
        source.write_bytes(network)
        command = [sys.executable, "-m", "ethosu.vela", source.name, "--accelerator-config", accelerator]
        try:
            done = subprocess.run(
                [*command, *FLAGS, "--output-dir", output.name],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=TIME_LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise NetworkError(
                f"{where}: Vela did not end within {TIME_LIMIT_SECONDS} s", "vela.time"
            ) from error
        files = {name: output / file for name, file in ARTEFACTS.items()}
        missing = [path.name for path in files.values() if not path.is_file()]
        if done.returncode or missing:
            raise _failure(done.stdout, done.returncode, missing, accelerator, where)
        return {name: path.read_bytes() for name, path in files.items()}


def _failure(log: str, code: int, missing: list[str], accelerator: str, where: str) -> NetworkError:
    found = _UNSUPPORTED.findall(log)
    if found:
        reasons = tuple(f"{kind} (output {name!r}): {reason}" for kind, name, reason in found)
        message = (
            f"{where}: {accelerator} cannot run {len(found)} operator(s) of this network, "
            f"Vela would leave them to a CPU: {'; '.join(reasons)}; remove or replace them"
        )
        return LeftToCpuError(message, tuple(name for _, name, _ in found), reasons)
    lines = [line for line in log.splitlines() if line.strip()]
    said = lines[-1].strip() if lines else "nothing"
    wrote = f" and did not write {', '.join(missing)}" if missing else ""
    message = f"{where}: Vela ended with exit code {code}{wrote} for {accelerator}; it said: {said}"
    return NetworkError(message, "vela")


def _pack(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _load(path: Path) -> dict[str, bytes] | None:
    """Return the files of an archive; None if there is none or it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in ARTEFACTS}
    except (OSError, KeyError, zipfile.BadZipFile, EOFError, ValueError):
        return None
