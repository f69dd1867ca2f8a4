# SPDX-License-Identifier: Apache-2.0
"""Clipping is credited only by injections into the clipped network."""

from __future__ import annotations

import json

import numpy as np
import pytest

from resil.cli import main
from resil.networks import zoo
from resil.protection.options import load_options
from testkit.campaigns import TEXT, write_campaign

DIGITS = zoo.load("digits")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A clipped network, and a campaign file with it beside one without."""
    folder = tmp_path_factory.mktemp("credit")
    np.save(folder / "calibration.npy", DIGITS.shipped.inputs[:20])
    np.save(folder / "x.npy", DIGITS.shipped.inputs[100:101])
    (folder / "plain.tflite").write_bytes(DIGITS.path.read_bytes())
    asked = ["--calibration", str(folder / "calibration.npy"), "--out", str(folder / "clipped.tflite")]
    assert main(["clip", str(folder / "plain.tflite"), *asked]) == 0
    return folder


def text(name: str) -> str:
    faults = 'kinds = ["weights"]\ninjections = 40'
    changed = TEXT.replace('kinds = ["ff"]\ninjections = 200\nminimum_per_block = 10', faults)
    return changed.replace('"zoo:digits"', f'"{name}.tflite"').replace("[0, 3]", '"x.npy"')


def test_a_clipped_network_is_another_one_whose_run_does_not_join_the_others(folder, capsys):
    for name in ("plain", "clipped"):
        write_campaign(folder, text(name))
        assert main(["run", str(folder / "small.toml"), "--out", str(folder / name)]) in (0, 1, 3)
    plain, clipped = (
        json.loads((folder / name / "summary.json").read_text())["network"] for name in ("plain", "clipped")
    )
    assert plain["sha256"] != clipped["sha256"]
    assert any("activations are clamped" in remark for remark in clipped["remarks"])
    assert not plain["remarks"]
    capsys.readouterr()
    assert main(["run", str(folder / "small.toml"), "--out", str(folder / "plain"), "--resume"]) == 2
    assert "made by another campaign; these differ: " in capsys.readouterr().err
    runs = [str(folder / name) for name in ("plain", "clipped")]
    assert main(["merge", *runs, "--out", str(folder / "both")]) == 2
    assert not (folder / "both").exists()


def test_no_option_of_the_choice_promises_clipping():
    assert not [name for name in load_options().options if "clip" in name or "clamp" in name]
