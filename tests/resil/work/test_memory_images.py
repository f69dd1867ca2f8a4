# SPDX-License-Identifier: Apache-2.0
"""A target of the user's own, with memory images in place of a network."""

from __future__ import annotations

import json
import tomllib

import numpy as np
import pyarrow.parquet as pq
import pytest

from resil.campaign.campaign import load_campaign, parse_campaign
from resil.campaign.text import campaign_text
from resil.cli import main
from resil.errors import CampaignError
from resil.rtl_harness.design.target import Target, TargetMemory
from resil.work.image_files import read_image
from resil.work.memory_images import own_work
from testkit.errors import about

TEXT = """
[campaign]
name = "own"
seed = 7
[workload]
name = "two"
decision = "top1"
operations = ["first", "second"]
parameters = { Words = 8 }
[[workload.images]]
memory = "in"
file = "weights.bin"
[[workload.images]]
memory = "in"
offset = 6
inputs = "x.npy"
[[workload.images]]
memory = "boot"
files = ["a.hex", "b.hex"]
[workload.output]
memory = "out"
offset = 4
shape = [2, 2]
dtype = "int16"
expected = "y.npy"
[target]
file = "target.toml"
[faults]
injections = 20
[technology]
name = "finfet-16nm"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "target.toml").write_text("")
    (tmp_path / "weights.bin").write_bytes(bytes(range(1, 6)))
    (tmp_path / "a.hex").write_text("// two words\n@1 0000_00ff /* and */ 1\n")
    (tmp_path / "b.hex").write_text("2")
    np.save(tmp_path / "x.npy", np.array([[1, -2], [3, 4]], ">i2"))
    np.save(tmp_path / "y.npy", np.arange(8, dtype=np.int16).reshape(2, 2, 2))
    return tmp_path


def campaign(folder, *changes):
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return parse_campaign(folder / "own.toml", tomllib.loads(text))


def target():
    words = {name: TargetMemory(f"u_{name}.mem_q", size, name) for name, size in (("in", 1), ("boot", 4))}
    memories = {**words, "out": TargetMemory("u_out.mem_q", 8, "out")}
    return Target("t", "top", (), "clk", "rst", "u_dut", "done", {}, memories)


def work(folder, *changes):
    made = campaign(folder, *changes)
    return own_work(made, made.work, target())


def test_images_are_put_together_for_each_input(folder):
    made = work(folder)
    assert made.labels == (0, 1)
    first, second = (run.images for (run,) in made.workloads)
    assert first["in"] == bytes([1, 2, 3, 4, 5, 0, 1, 0, 0xFE, 0xFF])
    assert second["in"] == bytes([1, 2, 3, 4, 5, 0, 3, 0, 4, 0])
    assert first["boot"] == bytes([0, 0, 0, 0, 0xFF, 0, 0, 0, 1, 0, 0, 0])
    assert second["boot"] == bytes([2, 0, 0, 0])
    output = made.workloads[0][0].output
    assert (output.memory, output.offset, output.shape, output.dtype) == ("out", 4, (2, 2), "int16")
    assert made.expected == (np.arange(4, dtype="<i2").tobytes(), np.arange(4, 8, dtype="<i2").tobytes())
    assert [o.name for o in made.facts.operations] == ["first", "second"]
    assert made.workloads[0][0].parameters == {"Words": 8}


def test_the_decision_is_top1_or_the_exact_output(folder):
    close, same = np.array([[1, 5], [2, 3]]), np.array([[0, 7], [2, 3]])
    assert work(folder).workloads[0][0].decide(close) == work(folder).workloads[0][0].decide(same) == 1
    exact = work(folder, ('"top1"', '"exact"')).workloads[0][0].decide
    assert exact(close) != exact(same)
    assert exact(close) == exact(close.copy())


def test_what_defines_the_work_is_in_its_hash(folder):
    before = work(folder).hashes
    assert work(folder).hashes == before
    assert work(folder, ("offset = 4", "offset = 0")).hashes != before
    (folder / "b.hex").write_text("3")
    assert work(folder).hashes != before


def test_the_resolved_copy_is_the_same_campaign(folder):
    first = campaign(folder)
    again = parse_campaign(folder / "own.toml", tomllib.loads(campaign_text(first)))
    assert again == first


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("[workload]", '[network]\npath = "zoo:digits"\ninputs = [0]\n[workload]', "network"),
        ('decision = "top1"', 'decision = "best"', "workload.decision"),
        ('file = "weights.bin"', 'file = "absent.bin"', "workload.images[0].file"),
        ('file = "weights.bin"', 'file = "target.toml"', "workload.images[0].file"),
        ('file = "weights.bin"', 'fil = "weights.bin"', "workload.images[0].file"),
        ('inputs = "x.npy"', 'inputs = "a.hex"', "workload.images[1].inputs"),
        ('inputs = "x.npy"', 'inputs = "x.npy"\nfile = "a.hex"', "workload.images[1].file"),
        ("shape = [2, 2]", "shape = [2, 0]", "workload.output.shape"),
        ('dtype = "int16"', 'dtype = "int4"', "workload.output.dtype"),
        ('dtype = "int16"', 'dtype = "int16"\nsize = 4', "workload.output.size"),
        ("{ Words = 8 }", "{ Words = 8.0 }", "workload.parameters"),
        ('["first", "second"]', '["first", "first"]', "workload.operations"),
        ('name = "two"', "", None),
    ],
)
def test_mistakes_in_the_table_are_named(folder, old, new, field):
    if field is None:
        assert campaign(folder, (old, new)).work.name == "own"
        return
    with pytest.raises(CampaignError, check=about(field)):
        campaign(folder, (old, new))


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('memory = "out"', 'memory = "oot"', "workload.output.memory"),
        ("offset = 6", "offset = 3", "workload.images"),
        (
            'files = ["a.hex", "b.hex"]',
            'files = ["a.hex"]',
            "workload",
        ),
        ("shape = [2, 2]", "shape = [4]", "workload.output.expected"),
    ],
)
def test_what_does_not_fit_together_is_named(folder, old, new, field):
    with pytest.raises(CampaignError, check=about(field)):
        work(folder, (old, new))


@pytest.mark.parametrize(
    ("text", "field"),
    [("00x0", "digits"), ("123456789", "word"), ("@100000000 1", "address")],
)
def test_wrong_hexadecimal_text(tmp_path, text, field):
    file = tmp_path / "w.hex"
    file.write_text(text)
    with pytest.raises(CampaignError, check=about(field)):
        read_image(file, 4)


def test_arrays_must_be_numbers(tmp_path):
    np.save(tmp_path / "s.npy", np.array(["a"]))
    with pytest.raises(CampaignError, check=about("numbers")):
        read_image(tmp_path / "s.npy", 4)
    with pytest.raises(CampaignError, check=about("file")):
        read_image(tmp_path / "absent.bin", 4)


@pytest.fixture(scope="module")
def finished(repository, tmp_path_factory):
    """The example, small, on both engines."""
    folder = tmp_path_factory.mktemp("awkward")
    example = repository / "examples" / "awkward"
    text = (example / "campaign.toml").read_text()
    for name in ("target.toml", "source0.hex", "source1.hex"):
        text = text.replace(f'"{name}"', f'"{example / name}"')
    text = text.replace("injections = 400", "injections = 60").replace("block = 40", "block = 10")
    file = folder / "campaign.toml"
    file.write_text(text)
    for engine in ("verilator", "cocotb"):
        assert main(["run", str(file), "--out", str(folder / engine), "--engine", engine]) == 0
    return folder


def rows(run):
    tables = [pq.read_table(path).to_pylist() for path in sorted((run / "injections").glob("part-*.parquet"))]
    return sorted((row for table in tables for row in table), key=lambda row: row["injection"])


def test_the_example_runs_alike_on_both_engines(finished):
    fast, slow = rows(finished / "verilator"), rows(finished / "cocotb")
    assert len(fast) == 60
    assert fast == slow
    assert {row["block"] for row in fast} == {"control", "lanes", "even", "history"}
    assert {row["kind"] for row in fast} == {"ff", "sram"}
    assert {row["input"] for row in fast} == {0, 1}
    assert len({row["outcome"] for row in fast}) >= 3


def test_other_commands_work_on_its_run_folder(finished, capsys):
    run = finished / "verilator"
    summary = json.loads((run / "summary.json").read_text())
    assert summary["network"]["name"] == "two pages of words"
    assert summary["target"]["unmapped_sites"] == 0
    assert set(summary["provenance"]["hashes"]) == {"workload", "target", "campaign", "rtl"}
    assert main(["replay", str(run), "3", "--engine", "cocotb"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("equal")
    assert main(["report", str(run)]) == 0
    fit = str(summary["total"]["fit"] / 4)
    assert main(["protect", str(run), "--budget-fit", fit, "--json"]) in {0, 1}
    assert main(["sites", str(run / "campaign.toml"), "--json"]) == 0
    assert load_campaign(run / "campaign.toml").work == load_campaign(finished / "campaign.toml").work


def test_an_output_that_is_not_the_expected_one_ends_the_run(finished, repository, capsys):
    expected = np.zeros((2, 12, 4), np.uint64)
    np.save(finished / "y.npy", expected)
    text = (finished / "campaign.toml").read_text()
    file = finished / "wrong.toml"
    file.write_text(text.replace('dtype = "uint64"', 'dtype = "uint64"\nexpected = "y.npy"'))
    assert main(["run", str(file), "--out", str(finished / "wrong")]) == 2
    assert "of 384 bytes different, the first at byte 0 (0x00 expected" in capsys.readouterr().err
