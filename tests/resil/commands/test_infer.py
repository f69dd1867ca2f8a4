# SPDX-License-Identifier: Apache-2.0
"""`resil infer` on networks as people have them: equal to TensorFlow Lite Micro on the whole file."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from resil.cli import main
from resil.networks import oracle, zoo
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from tests.networks.dressed import with_computed_shapes, with_ends, with_float_ends
from tests.networks.test_adapt import random_values, two_inputs, two_outputs

DIGITS = read_network(zoo.FOLDER / "digits.tflite")


def infer(capsys, *arguments, code=0):
    """Run the command; return what it prints as JSON, and what it says on stderr."""
    assert main(["infer", *map(str, arguments), "--json"]) == code
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return (json.loads(out) if code == 0 else None), err


def saved(folder, values):
    files = []
    for number, array in enumerate(values):
        files += ["--input", folder / f"x{number}.npy"]
        np.save(files[-1], array[:, 0])
    return files


@pytest.mark.parametrize("engine", ["functional", "rtl"])
def test_a_network_with_float_ends_and_computed_shapes(tmp_path, capsys, engine):
    graph = with_computed_shapes(with_float_ends(DIGITS))
    path, out = tmp_path / "n.tflite", tmp_path / "y.npy"
    write_network(graph, path)
    values = random_values(graph, 4, 5)
    said, err = infer(capsys, path, *saved(tmp_path, values), "--output", out, "--engine", engine)
    np.testing.assert_array_equal(np.load(out), oracle.run_all(path, values)[0][:, 0], strict=True)
    assert said["outputs"] == [{"name": "logits_float32", "dtype": "float32", "shape": [1, 10]}]
    assert len(said["adapted"]) == 3
    assert all(f"resil: {line}" in err for line in said["adapted"])


def test_int8_levels_go_in_past_the_float_ends(tmp_path, capsys):
    path, out = tmp_path / "n.tflite", tmp_path / "y.npy"
    write_network(with_float_ends(DIGITS), path)
    levels = zoo.load("digits").shipped.inputs[:6]
    infer(capsys, path, *saved(tmp_path, [levels[:, None]]), "--output", out, "--engine", "functional")
    plain = oracle.run(zoo.FOLDER / "digits.tflite", levels)
    np.testing.assert_array_equal(np.argmax(np.load(out), axis=1), np.argmax(plain, axis=1))
    assert np.load(out).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int8"])
@pytest.mark.parametrize("make", [two_inputs, lambda: two_outputs(DIGITS)], ids=["inputs", "outputs"])
def test_several_inputs_and_outputs(tmp_path, capsys, make, dtype):
    graph = make() if dtype == "int8" else with_ends(make(), dtype)
    path, out = tmp_path / "n.tflite", tmp_path / "y.npz"
    write_network(graph, path)
    values = random_values(graph, 5, 6)
    expected = oracle.run_all(path, values)
    names = [graph.tensors[i].name for i in graph.inputs]
    np.savez(
        tmp_path / "x.npz", **{n: v[:, 0] for n, v in zip(reversed(names), reversed(values), strict=True)}
    )
    for given in (saved(tmp_path, values), ["--input", tmp_path / "x.npz"]):
        infer(capsys, path, *given, "--output", out, "--engine", "functional")
        with np.load(out) as found:
            assert found.files == [graph.tensors[i].name for i in graph.outputs]
            for name, one in zip(found.files, expected, strict=True):
                np.testing.assert_array_equal(found[name], one[:, 0], strict=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x0.npy"], r"expected values for 2 inputs \('right', 'left'\), found 1"),
        (["x0.npy", "x0.npy", "x0.npy"], "found 3"),
        (
            ["wrong.npz"],
            r"expected an array for each input \(right, left\), found right; save them by these names",
        ),
        (["text.npz"], "expected a .npz file of arrays"),
        (["none.npz"], "No such file"),
        (
            ["flat.npy", "flat.npy"],
            r"flat.npy: input 'right': expected .* shape \(N, 4, 4, 8\), found float64 \(2, 128\)",
        ),
        (["empty.npy", "empty.npy"], "expected at least one input"),
    ],
)
def test_inputs_that_do_not_fit_are_exit_code_2(tmp_path, capsys, arguments, message):
    write_network(two_inputs(), tmp_path / "n.tflite")
    np.save(tmp_path / "x0.npy", np.zeros((2, 4, 4, 8)))
    np.save(tmp_path / "flat.npy", np.zeros((2, 128)))
    np.save(tmp_path / "empty.npy", np.zeros((0, 4, 4, 8)))
    np.savez(tmp_path / "wrong.npz", right=np.zeros((2, 4, 4, 8)))
    (tmp_path / "text.npz").write_text("text")
    given = [part for name in arguments for part in ("--input", tmp_path / name)]
    _, err = infer(capsys, tmp_path / "n.tflite", *given, code=2)
    assert [*err.splitlines()][-1].startswith("resil: error: ")
    assert re.search(message, err)


def test_several_outputs_need_a_file_that_holds_several(tmp_path, capsys):
    write_network(two_outputs(DIGITS), tmp_path / "n.tflite")
    values = saved(tmp_path, random_values(DIGITS, 1, 0))
    _, err = infer(capsys, tmp_path / "n.tflite", *values, "--output", tmp_path / "y.npy", code=2)
    assert "expected a .npz file for 2 outputs (conv2, logits)" in err


@pytest.mark.parametrize("name", zoo.names())
def test_every_zoo_network_runs_on_images_that_ship(name, capsys):
    said, _ = infer(capsys, f"zoo:{name}", "--limit", 5, "--engine", "functional")
    assert said["inputs"] == 5
    assert said["accuracy"] is None or said["accuracy"] >= 0.8
