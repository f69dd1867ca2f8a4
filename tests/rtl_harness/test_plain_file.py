# SPDX-License-Identifier: Apache-2.0
"""What is named as a file and is a pipe is refused at once by every command: reading it would never end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from resil.rtl_harness.plain_file import read_plain

COMMANDS = {
    "run": ["PIPE"],
    "study": ["PIPE"],
    "rates": ["PIPE"],
    "sites": ["PIPE"],
    "estimate": ["PIPE"],
    "clip": ["PIPE", "--npu", "ethos-u55-32", "--calibration", "x.npy", "--out", "y.tflite"],
}


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_file_is_read_and_a_pipe_is_none(tmp_path, pipe):
    (tmp_path / "file").write_bytes(b"content")
    assert read_plain(tmp_path / "file") == b"content"
    with pytest.raises(OSError, match="a pipe"):
        read_plain(pipe)
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_waits_for_a_pipe(command, pipe):
    given = [str(pipe) if part == "PIPE" else part for part in COMMANDS[command]]
    done = subprocess.run(
        [sys.executable, "-m", "resil", command, *given],
        capture_output=True, text=True, timeout=60, check=False, cwd=pipe.parent,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "a pipe, socket or device" in done.stderr
