# SPDX-License-Identifier: Apache-2.0
"""One network under two names is one network."""

from __future__ import annotations

import shutil

import numpy as np

from resil.cli import main
from resil.networks import zoo
from testkit import fake
from tests.resil import studies


def test_a_copy_of_a_network_is_no_second_one(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    np.save(tmp_path / "inputs.npy", np.zeros((2, 1, 8, 8, 1), np.int8))
    text = studies.TEXT.replace("inputs = [0, 3]", f'inputs = "{tmp_path}/inputs.npy"')
    for name in ("digits", "mnist_lenet"):
        shutil.copy(zoo.FOLDER / "digits.tflite", tmp_path / f"{name}.tflite")
        text = text.replace(f"zoo:{name}", f"{tmp_path}/{name}.tflite")
    file = studies.write_study(tmp_path, text)
    assert main(["study", str(file), "--out", str(tmp_path / "out")]) == 2
    assert "the same under two names, which would count as two" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
