# SPDX-License-Identifier: Apache-2.0
"""From arguments to an exit code, whatever happens in between."""

from __future__ import annotations

import errno
import io
import os
import signal
import stat
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from resil.cli.app import app
from resil.errors import ConsistencyError, ExitCode, Interrupted, NothingMeasuredError, ResilError
from resil.output import complain, output_error
from resil.progress import Loudness, loudness, set_loudness
from resil.user_errors import USER_ERRORS
from resil.version import __version__

_FULL = (errno.ENOSPC, errno.EDQUOT)

# Linux's devices that can be read without end: zero, full, random, urandom.
_MEMORY_DEVICES, _ENDLESS = 1, (5, 7, 8, 9)

# Characters of a name in a message.
_SHOWN = 60


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; never raises for an error of the user or of resil."""
    set_loudness(Loudness.NORMAL)
    _fill_missing_streams()
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _refuse_odd_names(words)
        with _termination_as_interrupt():
            return _run(words)
    except Interrupted as interrupt:
        complain(f"interrupted; {interrupt.advice}" if interrupt.advice else "interrupted")
        return int(ExitCode.INTERRUPTED)
    except USER_ERRORS as error:
        if loudness() is Loudness.VERBOSE:
            complain(traceback.format_exc().rstrip())
        complain(f"error: {error}")
        empty = isinstance(error, NothingMeasuredError)
        return int(ExitCode.INCONCLUSIVE if empty else ExitCode.USAGE)
    except ConsistencyError as error:
        complain(f"failed audit: {error} (details in {_keep_traceback()})")
        return int(ExitCode.INTERNAL)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:
            place = "" if error.filename is None else f"{error.filename}: "
            complain(f"error: {place}cannot be written ({error.strerror}); free the space")
            return int(ExitCode.USAGE)
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            name = str(error.filename)
            shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
            complain(f"error: {shown}: expected a name that a file can have, found one too long; shorten it")
            return int(ExitCode.USAGE)
        cause = f"{type(error).__name__}: {error}"
        complain(f"internal error: {cause} (details in {_keep_traceback()}; please report it)")
        return int(ExitCode.INTERNAL)


def _run(words: list[str]) -> int:
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="backslashreplace")
    try:
        app(args=words, prog_name="resil")
        code = int(ExitCode.MET)
    except SystemExit as end:
        code = int(end.code or 0)
    if sys.stdout is not stdout:  # what typer leaves behind when its own text met a closed pipe
        sys.stdout = stdout
        raise output_error(BrokenPipeError(32, os.strerror(32)))
    try:
        stdout.flush()
    except OSError as error:
        raise output_error(error) from error
    if code == ExitCode.INTERRUPTED:
        complain("interrupted")
    return code


def _fill_missing_streams() -> None:
    """Open what the caller has closed, so that no file of ours becomes the stdout of a tool."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _refuse_odd_names(words: Sequence[str]) -> None:
    """Raise ResilError for names that the files of a run cannot hold, and for files without end."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise ResilError("the current folder no longer exists; change to another") from None
    for what, name in (("the current folder", here), *(("the argument", word) for word in words)):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ResilError(
                f"{what} {name.encode(errors='backslashreplace').decode()}: expected a name in UTF-8, found "
                "other bytes; files of a run hold names as text: rename it, or reach it by a link"
            ) from None
    for word in words:
        if _is_endless(word):
            raise ResilError(f"{word}: expected a file, found a device that has no end; give a file")


def _is_endless(name: str) -> bool:
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return False
    if stat.S_ISBLK(found.st_mode):
        return True
    device = os.major(found.st_rdev), os.minor(found.st_rdev)
    return stat.S_ISCHR(found.st_mode) and device[0] == _MEMORY_DEVICES and device[1] in _ENDLESS


def _keep_traceback() -> str:
    """Write the traceback to a file of its own; return where it is."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    text = f"resil {__version__}\n{' '.join(sys.argv)}\n\n{traceback.format_exc()}"
    try:
        with tempfile.NamedTemporaryFile(
            "wb", prefix=f"resil-error-{stamp}-", suffix=".txt", delete=False
        ) as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError as error:
        return f"no file: {error.strerror}"
    return file.name


@contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does, so that what was simulated is kept."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread: signals are somebody else's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
