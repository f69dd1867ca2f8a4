# SPDX-License-Identifier: Apache-2.0
"""Fault lists of runs, in every form: statuses, weights, and what has none."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from resil.cli import main
from resil.lists import inject
from resil.lists.of_run import listed
from resil.lists.rows import read_list
from resil.results.run import FinishedRun
from testkit.campaigns import TEXT
from testkit.fake import fake_bench, install


@pytest.fixture
def run(tmp_path: Path, monkeypatch) -> Path:
    install(monkeypatch)
    (tmp_path / "small.toml").write_text(TEXT)
    assert main(["run", str(tmp_path / "small.toml"), "--out", str(tmp_path / "run")]) in (0, 1, 3)
    return tmp_path / "run"


def write(run: Path, file: Path) -> None:
    assert main(["report", str(run), "--fault-list", str(file)]) == 0


def test_every_injection_has_its_status_and_weights_add_up(run, tmp_path, capsys):
    capsys.readouterr()
    file = tmp_path / "faults.csv"
    assert main(["report", str(run), "--fault-list", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    total = json.loads((run / "summary.json").read_text())["total"]
    with file.open() as text:
        rows = [*csv.DictReader(text)]
    injected = [row for row in rows if int(row["injection"]) >= 0]
    expected = {
        "detected": total["due"],
        "observed": total["sdc_tolerable"] + total["sdc_critical"] + total["hang"],
        "latent": total["latent"],
        "safe": total["masked"],
        "untestable": 0,
        "functionally_untestable": 0,
        "not_attempted": 0,
    }
    assert said["statuses"] == expected
    assert len(injected) == total["injections"]
    assert sum(float(row["fit"]) for row in injected if row["hazardous"] == "yes") == pytest.approx(
        total["fit"]
    )
    drawn = FinishedRun(run).drawn
    faults = drawn.strata.sizes[drawn.injections > 0].sum()
    assert sum(float(row["weight"]) for row in injected) == pytest.approx(faults) == said["stand_for"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "txt"])
def test_such_lists_are_read_as_those_of_others(run, tmp_path, suffix):
    file = tmp_path / f"faults.{suffix}"
    write(run, file)
    columns = listed(FinishedRun(run))
    found = read_list(file, with_status=True).rows
    assert [own.site for own in found] == columns["site"]
    assert [own.type for own in found] == columns["type"]
    assert [own.time for own in found] == columns["time"]
    assert [own.input for own in found] == columns["input"]
    assert [own.status for own in found] == columns["status"]
    assert [own.bits for own in found] == columns["bits"]
    assert [own.weight for own in found] == pytest.approx(columns["weight"])


def test_the_list_of_a_run_with_clusters_is_injected_with_the_same_results(tmp_path, monkeypatch):
    """The fault: upsets of two bits were injected as upsets of one, and counted as detected."""
    install(monkeypatch)
    monkeypatch.setattr(inject, "prepare", fake_bench)
    file = tmp_path / "small.toml"
    file.write_text(TEXT.replace("[technology]", "[faults.clusters]\n1 = 0.5\n2 = 0.5\n[technology]"))
    assert main(["run", str(file), "--out", str(tmp_path / "run"), "--quiet"]) in (0, 1, 3)
    write(tmp_path / "run", tmp_path / "faults.csv")
    asked = ["--faults", str(tmp_path / "faults.csv"), "--out", str(tmp_path / "again"), "--quiet"]
    assert main(["run", str(file), *asked]) == 0
    names = ("site", "type", "time", "input", "bits", "status")
    first, second = (
        [tuple(row[name] for name in names) for row in csv.DictReader(text.read_text().splitlines())]
        for text in (tmp_path / "faults.csv", tmp_path / "again" / "faults.csv")
    )
    assert first == second
    assert {bits for *_, bits, _ in first} == {"1", "2"}
    # What `run` has written is what `import` counts.
    asked = ["import", str(tmp_path / "again" / "faults.csv"), "--campaign", str(file), "--quiet"]
    assert main([*asked, "--out", str(tmp_path / "counted")]) == 0
    one, other = (json.loads((tmp_path / own / "listed.json").read_text()) for own in ("again", "counted"))
    assert (one["blocks"], one["coverage"]) == (other["blocks"], other["coverage"])


def test_a_line_of_text_has_the_rest_by_name(run, tmp_path):
    write(run, tmp_path / "faults")
    words = (tmp_path / "faults").read_text().splitlines()[0].split()
    assert words[1] == "upset"
    assert [word.partition("=")[0] for word in words[5:]] == [
        *("reason", "hazardous", "weight", "fit", "block", "bits", "injection")
    ]


def test_bits_that_are_no_hardware_are_untestable_with_their_reason(run, monkeypatch):
    finished = FinishedRun(run)
    sites = pq.read_table(run / "sites.parquet")
    hardware = sites["hardware"].to_pylist()
    for at, (what, _) in enumerate(REASONS):
        hardware[at] = what
    place = sites.schema.get_field_index("hardware")
    monkeypatch.setattr(
        "resil.lists.of_run.read_parquet", lambda path: sites.set_column(place, "hardware", [hardware])
    )
    columns = listed(finished)
    found = [
        (site, type_, reason)
        for site, type_, status, reason in zip(
            *(columns[name] for name in ("site", "type", "status", "reason")), strict=True
        )
        if status == "untestable"
    ]
    names = sites["path"].to_pylist(), sites["bit"].to_pylist()
    expected = [f"{path}[{bit}]" for path, bit in zip(*names, strict=True)][: len(REASONS)]
    assert found == [(name, "upset", reason) for name, (_, reason) in zip(expected, REASONS, strict=True)]


REASONS = (
    ("constant", "constant"),
    ("unused", "no_path"),
    ("duplicate", "merged"),
    ("inferred latch", "no_hardware"),
)


def test_a_folder_whose_results_may_not_be_used_has_no_list(run, tmp_path, capsys):
    provenance = json.loads((run / "provenance.json").read_text())
    provenance["failed"] = "an audit failed"
    (run / "provenance.json").write_text(json.dumps(provenance))
    assert main(["report", str(run), "--fault-list", str(tmp_path / "f.csv")]) == 4
    assert not (tmp_path / "f.csv").exists()
