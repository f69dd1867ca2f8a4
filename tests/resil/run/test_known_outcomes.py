# SPDX-License-Identifier: Apache-2.0
"""Outcomes kept by content: served to the very same thing, audited, and to nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import resil.folder.outcomes
from resil.cli import main
from resil.folder.parts import read_part, write_part
from testkit.stored_rows import rows

AWKWARD = Path(__file__).parents[3] / "examples" / "awkward"
KNOWN = "are known from earlier campaigns"


@pytest.fixture
def design(tmp_path):
    """A copy of a small design, its images and a campaign."""
    copy = tmp_path / "awkward"
    shutil.copytree(AWKWARD, copy)
    return copy


@pytest.fixture
def run(design, stores, tmp_path, capsys):
    """Carries out the campaign with so many injections; returns its rows, and how many were known."""

    def carry_out(name, injections, *settings, code=(0, 1, 3)):
        out = tmp_path / name
        wanted = [
            "execution.recall=true",
            "execution.workers=1",
            "faults.minimum_per_block=4",
            f"faults.injections={injections}",
            *settings,
        ]
        options = [word for own in wanted for word in ("--set", own)]
        capsys.readouterr()
        assert main(["run", str(design / "campaign.toml"), "--out", str(out), *options]) in code
        said = [line for line in capsys.readouterr().err.splitlines() if KNOWN in line]
        known = int(said[0].split()[1].replace(",", "")) if said else 0
        return rows(out) if code != (4,) else [], known

    return carry_out


def test_a_larger_campaign_in_another_folder_makes_what_is_new(run):
    first, known = run("first", 150)
    assert known == 0
    again, known = run("again", 150, "budget.fit=7", 'budget.rationale="another"')
    assert (again, known) == (first, 150)
    larger, known = run("larger", 240)
    assert known == 150
    plain, known = run("plain", 240, "execution.recall=false")
    assert known == 0
    assert larger == plain


def test_nothing_is_served_to_another_design_image_time_out_or_version(run, design, monkeypatch):
    run("first", 60)
    assert run("slower", 60, "execution.timeout_factor=3.0")[1] == 0
    with monkeypatch.context() as patch:
        patch.setattr(resil.folder.outcomes, "source_digest", lambda: "0" * 64)
        assert run("version", 60)[1] == 0
    image = design / "source0.hex"
    kept = image.read_text().rstrip()
    image.write_text(kept[:-1] + ("1" if kept[-1] != "1" else "2") + "\n")
    assert run("image", 60)[1] == 0
    image.write_text(kept + "\n")
    rtl = next(iter(sorted((design / "rtl").glob("*.sv"))))
    rtl.write_text(rtl.read_text() + "\n// edited\n")
    assert run("rtl", 60)[1] == 0


def test_a_store_that_is_wrong_fails_the_campaign_and_is_forgotten(run, stores):
    """As if another simulator had filled it: its parts are whole, and the audit refutes them."""
    run("first", 60)
    (folder, *_) = [folder for folder in stores.iterdir() if list(folder.glob("*.parquet"))]
    for file in folder.glob("*.parquet"):
        table = read_part(file, folder.name)
        wrong = pa.array([cycle + 1 for cycle in table["end_cycle"].to_pylist()])
        place = table.column_names.index("end_cycle")
        write_part(file, table.set_column(place, "end_cycle", wrong), folder.name)
    run("second", 60, code=(4,))
    assert not folder.exists()
    assert run("third", 60)[0]


def test_a_damaged_store_serves_nothing(run, stores):
    first, _ = run("first", 60)
    for file in stores.glob("*/*.parquet"):
        file.write_bytes(file.read_bytes()[:-50])
    assert run("second", 60) == (first, 0)


def test_stores_that_were_not_used_for_longest_go_first(run, stores, monkeypatch):
    run("first", 60)
    old = stores / ("0" * 32)
    shutil.copytree(next(stores.iterdir()), old)
    os.utime(old, (1, 1))
    size = sum(file.stat().st_size for file in stores.glob("*/*.parquet"))
    monkeypatch.setattr(resil.folder.outcomes, "MOST_BYTES", size - 1)
    run("more", 70)
    assert not old.exists()
    assert list(stores.glob("*/*.parquet"))
