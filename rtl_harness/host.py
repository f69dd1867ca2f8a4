# SPDX-License-Identifier: Apache-2.0
"""What operating systems have differently: all that is Linux's alone has its other way here.

resil is developed and tested on Linux. On macOS (arm64) it was not tried: what that system lacks is done by
the other ways of this module, and tests take away what Linux has to run them.
"""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MEMINFO = Path("/proc/meminfo")
_PR_SET_PDEATHSIG = 1
_POLL_SECONDS = 0.5
_LINES = ("model name", "flags", "Features", "CPU part")


def usable_processors() -> int:
    """Return how many processors this process may use; of the machine where the system does not say."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def available_memory() -> int | None:
    """Return how many bytes can still be taken without swapping; None where the system does not say."""
    try:
        lines = MEMINFO.read_text(encoding="utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def end_with(parent: int) -> None:
    """Let this process be killed when its parent ends: by the kernel on Linux, else by a thread that looks.

    Args:
        parent: Its process id, noted before the fork.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def processor_lines() -> list[str]:
    """Return what names this processor and what it can do, sorted: for keys of builds made for it."""
    if CPUINFO.is_file():
        lines = CPUINFO.read_text(encoding="utf-8").splitlines()
        return sorted({line for line in lines if line.startswith(_LINES)})
    return sorted({platform.processor(), *_sysctl("machdep.cpu.brand_string", "hw.optional")})


def processor_flags() -> frozenset[str]:
    """Return the names of what an x86-64 processor can do, as Linux has them; empty where nothing says."""
    lines = CPUINFO.read_text(encoding="utf-8").splitlines() if CPUINFO.is_file() else []
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def shared_library_flags() -> tuple[str, ...]:
    """Return the linker's flags of a library whose calls stay within it, loaded beside others like it.

    On macOS symbols are bound to the library that they were found in without a flag.
    """
    return ("-shared", "-Wl,-Bsymbolic") if sys.platform == "linux" else ("-shared",)


def own_symbols_flags() -> tuple[str, ...]:
    """Return the compiler's flags that keep static data of templates apart in libraries loaded together.

    ELF alone has symbols that are unique in a process, which GNU's compiler makes unless that is forbidden.
    """
    return ("-fno-gnu-unique",) if sys.platform == "linux" else ()


def python_library() -> str:
    """Return the file name of Python's shared library, for messages."""
    suffix = ".so" if sys.platform == "linux" else ".dylib"
    return f"libpython{sys.version_info.major}.{sys.version_info.minor}{suffix}"


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _sysctl(*names: str) -> list[str]:
    """Return lines that `sysctl` prints; none where there is no such program."""
    try:
        done = subprocess.run(["sysctl", *names], capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.splitlines()
