# SPDX-License-Identifier: Apache-2.0
"""Streams that are full or closed, names that are not UTF-8, how much is said."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys

import pytest

from resil.cli import main
from resil.progress import Loudness, Progress, set_loudness
from testkit import fake
from testkit.campaigns import write_campaign

RESIL = [sys.executable, "-m", "resil"]
ODD = os.fsdecode(b"name-\xff")


@pytest.fixture(autouse=True)
def _as_loud_as_ever():
    yield
    set_loudness(Loudness.NORMAL)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_a_full_stdout_is_an_error_that_says_so(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*RESIL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("resil: error: ")
    assert "No space left" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_a_reader_that_leaves_early_is_no_missed_target(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*RESIL, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 2
    assert done.stderr.startswith("resil: error: stdout was closed by its reader")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_a_command_found_out_meets_a_full_stdout(options, monkeypatch, capsys):
    monkeypatch.setattr("resil.installation.examine", tuple)
    monkeypatch.setattr("resil.installation.text", lambda found: "x" * 100_000)
    with open("/dev/full", "w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert main(["doctor", *options]) == 2
        monkeypatch.undo()
    assert "stdout cannot be written (No space left on device)" in capsys.readouterr().err


def test_closed_streams_become_nothing_and_no_file_takes_their_place(tmp_path):
    code = "import sys, resil.cli; code = resil.cli.main(['--version']); open(sys.argv[1], 'w'); "
    code += "sys.exit(code * 10 + sum(stream.fileno() < 3 for stream in (sys.stdout, sys.stderr)))"
    script = 'exec "$0" -c "$1" "$2" >&- 2>&-'
    done = subprocess.run(["sh", "-c", script, sys.executable, code, str(tmp_path / "x")], check=False)
    assert done.returncode == 2


def test_a_result_survives_a_reader_that_leaves(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)

    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    monkeypatch.setattr("sys.stdout", Closed())
    assert main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")]) == 2
    assert "files are complete" in capsys.readouterr().err
    assert (tmp_path / "run" / "report.html").exists()


def test_progress_that_nobody_reads_is_no_error(monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    progress = Progress(Closed())
    progress.stage("elaborating")
    progress.begin(1, 0)
    progress.advance()
    progress.finish()


@pytest.mark.parametrize("command", ["run", "sites", "estimate", "report", "protect"])
def test_a_name_that_is_not_utf8_is_refused_before_anything_is_done(command, tmp_path, capsys):
    campaign = tmp_path / f"{ODD}.toml"
    campaign.write_text("[campaign]\n")
    before = sorted(os.listdir(os.fsencode(tmp_path)))
    assert main([command, str(campaign)]) == 2
    err = capsys.readouterr().err
    assert "expected a name in UTF-8" in err
    assert "\\udcff" in err
    assert sorted(os.listdir(os.fsencode(tmp_path))) == before


def test_an_output_name_that_is_not_utf8(tmp_path, capsys):
    assert main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / ODD)]) == 2
    assert "expected a name in UTF-8" in capsys.readouterr().err


def test_a_current_folder_that_is_not_utf8_or_gone(tmp_path, monkeypatch, capsys):
    odd = tmp_path / ODD
    odd.mkdir()
    monkeypatch.chdir(odd)
    assert main(["run", "x.toml"]) == 2
    assert "the current folder" in capsys.readouterr().err
    odd.rmdir()
    assert main(["run", "x.toml"]) == 2
    assert "no longer exists" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)


def test_an_error_of_ours_with_odd_arguments_still_ends_well(tmp_path, monkeypatch, capsys):
    def prepare(campaign, progress, simulates=False):
        raise KeyError(ODD)

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    monkeypatch.setattr("sys.argv", ["resil", ODD])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    arguments = ["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")]
    assert main(arguments) == 4
    assert "internal error: KeyError" in capsys.readouterr().err
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert main(arguments) == 4
    assert "no file: No such file" in capsys.readouterr().err


def test_a_full_disk_is_named(tmp_path, monkeypatch, capsys):
    def prepare(campaign, progress, simulates=False):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/cache/x")

    monkeypatch.setattr("resil.run.campaign.prepare", prepare)
    assert main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")]) == 2
    assert "/cache/x: cannot be written (No space left" in capsys.readouterr().err


def run(tmp_path, monkeypatch, *options):
    fake.install(monkeypatch)
    return main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), *options])


def test_quiet_says_nothing_but_warnings(tmp_path, monkeypatch, capsys):
    run(tmp_path, monkeypatch, "--quiet")
    assert capsys.readouterr().err == "resil: note: of the fake\n"
    part = next((tmp_path / "run" / "injections").glob("*.parquet"))
    part.write_bytes(b"damaged")
    run(tmp_path, monkeypatch, "--quiet", "--resume")
    assert part.name in capsys.readouterr().err
    run(tmp_path, monkeypatch)
    assert "running without a fault" in capsys.readouterr().err


def test_verbose_gives_times_and_the_traceback_of_an_error(tmp_path, monkeypatch, capsys):
    run(tmp_path, monkeypatch, "--verbose")
    assert "s] building the simulator" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "none.toml"), "--verbose"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell):
    words = {"COMP_WORDS": "resil re", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "resil re"}
    words["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    environment = os.environ | words | {"_RESIL_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(RESIL, env=environment, capture_output=True, text=True, check=True)
    assert {"replay", "report"} <= set(done.stdout.replace('"', " ").replace(":", " ").split())
