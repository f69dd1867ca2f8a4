# SPDX-License-Identifier: Apache-2.0
"""Files and options that are wrong in ways that only show when they are used."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

from resil.cli import main
from resil.errors import CampaignError, ResilError
from resil.sensitivity.model import load_model
from resil.work.image_files import read_array, read_image
from testkit import fake
from testkit.campaigns import write_campaign
from testkit.errors import about


def claiming(shape):
    """A .npy file whose header claims more than is there."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "|i1", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(64)


@pytest.mark.parametrize("shape", [(2**46,), (2**62, 2**62), (2**63,), (65,)])
def test_an_array_that_claims_more_than_its_file_holds(shape, tmp_path):
    (tmp_path / "x.npy").write_bytes(claiming(shape))
    with pytest.raises(CampaignError, check=about("content")):
        read_array(tmp_path / "x.npy")


def test_an_array_whose_header_ends_too_early(tmp_path):
    """Python's tokenizer, with which NumPy mends headers of Python 2, has an exception of its own."""
    header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (2L, ".ljust(117) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(CampaignError, check=about("content")):
        read_array(tmp_path / "x.npy")


def test_an_array_is_read_in_full(tmp_path):
    (tmp_path / "x.npy").write_bytes(claiming((8, 8)))
    array = read_array(tmp_path / "x.npy")
    (tmp_path / "x.npy").unlink()
    assert array.shape == (8, 8)
    assert not isinstance(array, np.memmap)


def test_a_memory_image_with_an_address_that_nothing_has(tmp_path):
    (tmp_path / "x.hex").write_text("@ffffffff 0\n")
    with pytest.raises(CampaignError, check=about("address")):
        read_image(tmp_path / "x.hex", 8)


@pytest.mark.parametrize(
    ("waves", "options", "message"),
    [
        ("x.txt", (), "expected a waveform file that ends in .vcd or .fst"),
        ("x", (), "expected a waveform file that ends in .vcd or .fst"),
        ("x.fst", ("--engine", "verilator"), "the verilator engine writes no waveforms; add --engine cocotb"),
        ("none/x.fst", (), "its folder does not exist"),
        ("folder.vcd", (), "it is a folder"),
    ],
)
def test_a_waveform_that_cannot_be_written_is_refused_before_anything_is_elaborated(
    waves, options, message, tmp_path, monkeypatch, capsys
):
    fake.install(monkeypatch)
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    (tmp_path / "folder.vcd").mkdir()

    def prepare(campaign, progress, simulates=False):
        raise AssertionError

    monkeypatch.setattr("resil.run.recorded_bench.prepare", prepare)
    assert main(["replay", str(tmp_path / "run"), "4", "--waves", str(tmp_path / waves), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": ' + "[" * 50_000 + "]" * 50_000 + "}"])
def test_json_that_is_nested_without_end_is_damaged(text, tmp_path, capsys):
    (tmp_path / "provenance.json").write_text(text)
    assert main(["report", str(tmp_path)]) == 2
    assert "provenance.json: damaged, expected JSON" in capsys.readouterr().err


def test_a_model_file_whose_stream_is_damaged(tmp_path):
    data = bytearray(gzip.compress(bytes(range(256)) * 50))
    data[12:40] = b"\xff" * 28
    (tmp_path / "m.json.gz").write_bytes(data)
    with pytest.raises(ResilError, check=about("model")):
        load_model(tmp_path / "m.json.gz")
    (tmp_path / "m.json.gz").write_bytes(gzip.compress(b"[" * 100_000))
    with pytest.raises(ResilError, check=about("model")):
        load_model(tmp_path / "m.json.gz")
