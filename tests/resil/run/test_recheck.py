# SPDX-License-Identifier: Apache-2.0
"""Nothing is added to injections that were made on another design, though nothing else says so."""

import json

import pyarrow.compute as pc
import pytest

from resil.cli import main
from resil.folder.parts import read_part, write_part
from resil.folder.store import recorded_definition
from testkit import fake
from testkit.campaigns import TEXT, write_campaign


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A run folder, and the arguments of the run that would add to it."""
    fake.install(monkeypatch)
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), "--quiet"])
    more = write_campaign(tmp_path, TEXT.replace("injections = 200", "injections = 300"))
    return tmp_path / "run", ["run", str(more), "--out", str(tmp_path / "run"), "--resume"]


def injections(run):
    identity = json.loads((run / "provenance.json").read_text())["hashes"]["campaign"]
    return {part: read_part(part, identity) for part in (run / "injections").glob("part-*.parquet")}, identity


def test_a_run_goes_on_where_its_injections_come_again(begun, capsys):
    run, arguments = begun
    main(arguments)
    assert sum(rows.num_rows for rows in injections(run)[0].values()) == 300
    assert "some injections that are kept, again" in capsys.readouterr().err
    assert recorded_definition(run)


def test_injections_that_end_otherwise_here_are_not_added_to(begun, capsys):
    """The fault: after a change of a ROM `--resume` mixed injections into two designs."""
    run, arguments = begun
    parts, identity = injections(run)
    for part, rows in parts.items():
        at = rows.column_names.index("end_cycle")
        write_part(part, rows.set_column(at, "end_cycle", pc.add(rows["end_cycle"], 1)), identity)
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert "was kept with end_cycle" in message
    assert "choose another folder with --out" in message
    assert sum(rows.num_rows for rows in injections(run)[0].values()) == 200


def test_another_run_without_a_fault_is_refused(begun, capsys):
    run, arguments = begun
    facts = json.loads((run / "provenance.json").read_text())
    facts["golden"][0] = "0" * 64
    (run / "provenance.json").write_text(json.dumps(facts))
    assert main(arguments) == 2
    assert "expected the runs without a fault that it was made with, found 1 of" in capsys.readouterr().err


def test_runs_without_a_fault_that_differ_are_not_merged(begun, tmp_path, capsys):
    run, arguments = begun
    arguments[3] = str(tmp_path / "other")
    main(arguments)
    facts = json.loads((tmp_path / "other" / "provenance.json").read_text())
    facts["golden"][0] = "0" * 64
    (tmp_path / "other" / "provenance.json").write_text(json.dumps(facts))
    assert main(["merge", str(tmp_path / "both"), str(run), str(tmp_path / "other")]) == 2
    assert "expected the runs without a fault of" in capsys.readouterr().err
