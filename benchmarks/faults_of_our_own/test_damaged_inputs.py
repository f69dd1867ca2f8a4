# SPDX-License-Identifier: Apache-2.0
"""Damaged inputs of every kind are refused or read; and what is none of both is found."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

import pytest

from benchmarks.faults_of_our_own import input_kinds, inputs
from benchmarks.faults_of_our_own.input_kinds import KINDS

CASES = 300


def test_some_of_every_kind():
    command = [sys.executable, "-m", "benchmarks.faults_of_our_own.inputs", "--json", "--processes", "1"]
    done = subprocess.run(
        [*command, "--cases", str(CASES), "--seed", "2"], capture_output=True, text=True, check=False
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [own["kind"] for own in found] == list(KINDS)
    assert {own["kind"]: own["findings"] for own in found if own["findings"]} == {}
    assert done.returncode == 0, done.stderr
    assert all(own["refused"] for own in found if own["cases"] > 20)
    assert sum(own["cases"] for own in found) == pytest.approx(CASES, abs=4)


def hang(_words):
    time.sleep(600)


def spin(_words):
    while True:
        pass


def die(_words):
    os._exit(3)


def eat(_words):
    return len(bytearray(3 << 30))


def break_(_words):
    raise ZeroDivisionError


def trace(_words):
    print("Traceback (most recent call last):", file=sys.stderr)
    return 2


def mute(_words):
    return 2


def odd(_words):
    return 77


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        (hang, "no end in time"),
        (spin, "no end in time"),
        (die, "the process died with exit code 3"),
        (eat, "raised MemoryError"),
        (break_, "raised ZeroDivisionError"),
        (trace, "a traceback"),
        (mute, "refused without a word"),
        (odd, "exit code 77"),
    ],
)
def test_what_is_neither_refused_nor_read_is_a_finding(monkeypatch, fault, seen):
    monkeypatch.setattr(input_kinds, "main", fault)
    monkeypatch.setattr(inputs, "_CLOCK", 4.0)
    options = argparse.Namespace(processes=1, seed=1, seconds=0.5)
    found = inputs.carry_out("campaign", options, 2, time.monotonic() + 120)
    assert (found.cases, found.refused, found.read) == (2, 0, 0)
    assert [what.startswith(seen) for what in found.findings] == [True]
    assert list(found.examples.values()) == [0]


def test_findings_are_printed_as_json_too(monkeypatch, capsys):
    monkeypatch.setattr(input_kinds, "main", odd)
    words = ["inputs", "--json", "--cases", "2", "--processes", "1", "--only", "campaign"]
    monkeypatch.setattr("sys.argv", words)
    assert inputs.main() == 1
    found = json.loads(capsys.readouterr().out)
    assert found["findings"] == {"exit code 77": 2}
    assert found["examples"] == {"exit code 77": 0}
