# SPDX-License-Identifier: Apache-2.0
"""What Linux alone has, taken away: the other way serves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from resil.rtl_harness import host

ROOT = Path(__file__).parents[2]
# Names that only Linux has, or that only its tools understand.
LINUX_ALONE = r"sched_getaffinity|sched_setaffinity|prctl|/proc/|-Bsymbolic|-fno-gnu-unique|PDEATHSIG"


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A system without what Linux alone has."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(host, "CPUINFO", tmp_path / "none")


def test_processors_are_counted_without_affinity(elsewhere):
    assert host.usable_processors() == os.cpu_count()


def test_processors_are_those_that_this_process_may_use():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    code += "from resil.rtl_harness.host import usable_processors; print(usable_processors())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_the_processor_is_named_without_proc(elsewhere, monkeypatch):
    monkeypatch.setattr(
        host.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, "a: 1\nb: 2\n")
    )
    assert {"a: 1", "b: 2"} <= set(host.processor_lines())
    assert host.processor_flags() == frozenset()


def test_the_processor_has_a_key_where_no_program_says_more(elsewhere, monkeypatch):
    def missing(*_, **__):
        raise FileNotFoundError("sysctl")

    monkeypatch.setattr(host.subprocess, "run", missing)
    assert isinstance(host.processor_lines(), list)


def test_no_flag_that_other_linkers_and_compilers_refuse(elsewhere):
    assert host.shared_library_flags() == ("-shared",)
    assert host.own_symbols_flags() == ()
    assert host.python_library().endswith(".dylib")


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_worker_ends_with_its_parent(system, tmp_path):
    """The parent is killed while its child sleeps; the child must not stay."""
    note = tmp_path / "child"
    code = f"""
import os, sys, time
from resil.rtl_harness import host
parent = os.getpid()
if os.fork() == 0:
    sys.platform = {system!r}
    host._POLL_SECONDS = 0.02
    host.end_with(parent)
    open({str(note)!r} + ".new", "w").write(str(os.getpid()))
    os.rename({str(note)!r} + ".new", {str(note)!r})
    time.sleep(60)
    os._exit(0)
time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    _until(note.exists)
    child = int(note.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    _until(lambda: not _runs(child))


def test_what_only_linux_has_stands_in_one_module():
    parts = ("resil", "rtl_harness", "networks", "stats", "reports")
    files = [file for part in parts for file in (ROOT / part).rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if re.search(LINUX_ALONE, file.read_text())}
    assert found == {"rtl_harness/host.py"}


def _until(holds):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def _runs(process):
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
