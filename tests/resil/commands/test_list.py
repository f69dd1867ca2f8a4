# SPDX-License-Identifier: Apache-2.0
"""`resil list`, and what help and shells know of names."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from resil.campaign.engines import engines
from resil.cli import main
from resil.cli.app import COMMANDS
from resil.cli.examples import EXAMPLES
from resil.networks import zoo
from resil.protection.options import load_options
from resil.rtl_harness.npu.model.config import CONFIGS

NAMES = {
    "networks": ("path", {f"zoo:{name}" for name in zoo.names()}),
    "targets": ("name", set(CONFIGS)),
    "options": ("name", set(load_options().options)),
    "engines": ("name", {engine.name for engine in engines()}),
}


@pytest.mark.parametrize("what", NAMES)
def test_every_name_is_listed(what, capsys):
    key, names = NAMES[what]
    assert main(["list", what, "--json"]) == 0
    assert {row[key] for row in json.loads(capsys.readouterr().out)[what]} >= names
    assert main(["list", what]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in names)


def test_what_is_not_listed_is_refused_with_what_is(capsys):
    assert main(["list", "abaci"]) == 2
    err = capsys.readouterr().err
    assert all(what in err for what in NAMES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_command_has_examples_in_its_help(name, capsys):
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {line}\n" in out for line in EXAMPLES[name])
    assert EXAMPLES.keys() == {command.__name__.rstrip("_") for command in COMMANDS}


def completed(words):
    """What bash offers for the last word."""
    place = len(words.split()) - (not words.endswith(" "))
    shell = {"_RESIL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
    code = "import sys; from resil.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | shell, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("run", "--engine"), {engine.name for engine in engines()}),
        (("replay", "--engine"), {engine.name for engine in engines()}),
        (("infer", "--npu"), set(CONFIGS)),
        (("clip", "--npu"), set(CONFIGS)),
        (("infer", "--engine"), {"rtl", "functional"}),
        (("protect", "--granularity"), {"block", "register", "group"}),
    ],
)
def test_choices_are_shown_completed_and_checked(arguments, names, capsys):
    assert main([arguments[0], "--help"]) == 0
    help_text = capsys.readouterr().out
    assert all(name in help_text for name in names)
    assert completed(f"resil {' '.join(arguments)} ") == names
    assert main([*arguments, "abacus", "x", "1"]) == 2
    assert "'abacus'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "some", "none"),
    [
        ("run --set ", {"faults.injections=", "execution.engine=", "sampling.plan="}, {"study.seed="}),
        ("run --set faults.inj", {"faults.injections="}, {"faults.kinds="}),
        ("run --set sampling.plan=unif", {"sampling.plan=uniform"}, {"sampling.plan=neyman"}),
        ("study --set ", {"study.seed=", "protection.granularity="}, {"campaign.seed=", "safety.permanent="}),
    ],
)
def test_keys_that_are_set_are_completed(words, some, none):
    found = completed(f"resil {words}")
    assert some <= found
    assert not none & found
