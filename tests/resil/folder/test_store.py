# SPDX-License-Identifier: Apache-2.0
"""The run folder: complete files, verified when read, of one campaign only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from resil.bench.identity import Identity
from resil.errors import ConsistencyError, Interrupted, StoreError
from resil.folder.parts import SCHEMA, PartError, _content, read_part, write_part
from resil.folder.store import open_run, recorded_provenance
from resil.record.provenance import RUN, Provenance
from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.faults import NEVER
from testkit.errors import about

IDENTITY = Identity({"seed": "7", "target": "t" * 40})
OTHER = Identity({"seed": "8", "target": "t" * 40})
RECORDED = {
    **{"schema": Provenance.SCHEMA, "kind": RUN, "definition": dict(IDENTITY.definition)},
    **{"resil": "0.1.0", "python": "3.11", "platform": "Linux", "versions": {}, "hashes": {}, "seed": 7},
    **{"command": ["resil"], "started": "2026-01-01T00:00:00+00:00", "finished": None, "workers": 0},
    **{
        "seconds": 0.0,
        "golden_seconds": 0.0,
        "golden": [],
        "audit": None,
        "recalled": 0,
        "failed": None,
        "results": None,
    },
}
PROVENANCE = Provenance.read(json.dumps(RECORDED))
FACTS = {"schema": Provenance.SCHEMA}
NOTHING = {
    "seen": "masked",
    "reported": "nothing",
    "alarm": "",
    "alarm_cycle": NEVER,
    "correction": "",
    "untestable": "",
}


def rows(*numbers, outcome="masked"):
    values = {name: "x" if SCHEMA.field(name).type == pa.string() else 0 for name in SCHEMA.names}
    values |= {**NOTHING, "outcome": outcome, "seen": outcome}
    return pa.Table.from_pylist([values | {"injection": n} for n in numbers], SCHEMA)


def no_check(table):
    return None


@pytest.fixture
def folder(tmp_path):
    with open_run(tmp_path / "run", IDENTITY, PROVENANCE) as folder:
        yield folder


def part(folder, number):
    return folder.path / "injections" / f"part-{number:06d}.parquet"


def test_what_is_appended_is_loaded_in_order(folder):
    folder.append(rows(5, 1))
    folder.append(rows(3))
    stored = folder.load(no_check)
    assert stored.content.injections.tolist() == [1, 3, 5]
    assert stored.content.outcomes.tolist() == [0, 0, 0]
    assert stored.rejected == ()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_part_is_set_aside(folder, share):
    folder.append(rows(1, 2))
    folder.append(rows(3))
    data = part(folder, 0).read_bytes()
    part(folder, 0).write_bytes(data[: int(len(data) * share)])
    stored = folder.load(no_check)
    assert stored.content.injections.tolist() == [3]
    assert len(stored.rejected) == 1
    assert "part-000000.parquet" in stored.rejected[0]
    assert not part(folder, 0).exists()
    assert folder.load(no_check).rejected == ()


def test_every_altered_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "part.parquet"
    write_part(path, rows(*range(20)), IDENTITY.digest)
    original, data = read_part(path, IDENTITY.digest), path.read_bytes()
    noticed = 0
    for position in range(0, len(data), 7):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :])
        try:
            assert read_part(path, IDENTITY.digest).equals(original)
        except PartError:
            noticed += 1
    assert noticed > len(data) / 7 / 2


def test_a_part_of_another_campaign_is_set_aside(folder):
    write_part(folder.path / "part", rows(1), OTHER.digest)
    folder.append(rows(2))
    (folder.path / "part").rename(part(folder, 1))
    stored = folder.load(no_check)
    assert stored.content.injections.tolist() == [2]
    assert "belongs to another campaign" in stored.rejected[0]


def test_a_foreign_parquet_file_is_set_aside(folder):
    folder.append(rows(2))
    pq.write_table(pa.table({"a": [1]}), part(folder, 1))
    assert "columns other than" in folder.load(no_check).rejected[0]


def test_a_part_that_the_plan_contradicts_is_set_aside(folder):
    folder.append(rows(2))
    stored = folder.load(lambda table: "says something else")
    assert stored.content.injections.size == 0
    assert "says something else" in stored.rejected[0]


def test_the_number_of_a_rejected_part_is_not_used_again(folder):
    folder.append(rows(1))
    part(folder, 0).write_bytes(b"")
    folder.load(no_check)
    folder.append(rows(1))
    assert part(folder, 1).exists()


def test_outcomes_come_with_their_injections(folder):
    folder.append(rows(5, outcome="hang"))
    folder.append(rows(1, 2))
    assert folder.load(no_check).content.outcomes.tolist() == [0, 0, 5]


def test_a_part_that_repeats_others_is_set_aside(folder):
    folder.append(rows(1, 2))
    folder.append(rows(4))
    for number in (2, 3):
        shutil.copy(part(folder, 0), part(folder, number))
    stored = folder.load(no_check)
    assert stored.content.injections.tolist() == [1, 2, 4]
    assert len(stored.rejected) == 2
    assert "part-000003.parquet: repeats injections of part-000000.parquet; set aside" in stored.rejected[1]
    assert sorted(p.name for p in part(folder, 0).parent.glob("*.parquet")) == [
        "part-000000.parquet",
        "part-000001.parquet",
    ]


def test_what_only_the_repeating_part_held_is_missing(folder):
    folder.append(rows(1, 2))
    folder.append(rows(2, 3))
    folder.append(rows(3, 4))
    assert folder.load(no_check).content.injections.tolist() == [1, 2, 3, 4]


def test_an_injection_with_two_outcomes_is_a_fault(folder):
    folder.append(rows(3, 1, 2))
    folder.append(rows(2, outcome="hang"))
    with pytest.raises(ConsistencyError, check=about("injections[2]")):
        folder.load(no_check)


@pytest.mark.parametrize(
    ("bad", "message"),
    [(rows(1, 1), "holds an injection twice"), (rows(1, outcome="odd"), "outcomes other than masked, ")],
)
def test_a_part_that_no_run_writes_is_set_aside(folder, bad, message):
    folder.append(bad)
    assert message in folder.load(no_check).rejected[0]
    assert folder.load(no_check).content.injections.size == 0


def test_the_checksum_is_of_values_not_of_their_layout(tmp_path):
    table = pa.concat_tables([rows(1, 2), rows(3, outcome="latent"), rows(4).slice(0, 0)])
    write_part(tmp_path / "part", table, IDENTITY.digest)
    assert read_part(tmp_path / "part", IDENTITY.digest).equals(table)
    whole = table.combine_chunks()
    assert len({_content(t) for t in (table, whole, pa.concat_tables([rows(9), whole]).slice(1))}) == 1
    different = (
        whole.slice(1),
        rows(1, 2, 3),
        whole.select([0]),
        whole.set_column(1, "stratum", [["xy", "", "x"]]),
    )
    assert len({_content(t) for t in (whole, *different)}) == 5


def test_a_part_is_complete_or_absent(folder, monkeypatch):
    monkeypatch.setattr(
        os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(StoreError, check=about("file")):
        folder.append(rows(1))
    assert list((folder.path / "injections").iterdir()) == []


def test_a_folder_of_another_campaign_is_refused_with_what_differs(tmp_path):
    with open_run(tmp_path, IDENTITY, PROVENANCE):
        pass
    with pytest.raises(StoreError, check=about("identity")):
        open_run(tmp_path, OTHER, PROVENANCE).__enter__()


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(StoreError, check=about("--out")):
        open_run(tmp_path, IDENTITY, PROVENANCE).__enter__()


def test_a_folder_that_a_kill_left_half_made_is_taken(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / ".provenance.json.99.tmp").write_text('{"resil"')
    with open_run(tmp_path, IDENTITY, PROVENANCE) as folder:
        folder.append(rows(1))
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "injections", "provenance.json"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, check=about("--out")):
        open_run(tmp_path / "file", IDENTITY, PROVENANCE).__enter__()
    with pytest.raises(StoreError, check=about("--out")):
        open_run(tmp_path / "file" / "below", IDENTITY, PROVENANCE).__enter__()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", *(json.dumps(FACTS | more) for more in ({}, {"kind": "run", "definition": 3}))]
)
def test_a_damaged_provenance_is_refused_with_a_remedy(tmp_path, text):
    (tmp_path / "provenance.json").write_text(text)
    with pytest.raises(StoreError, match=r"provenance.json: damaged.*move the folder away"):
        open_run(tmp_path, IDENTITY, PROVENANCE).__enter__()


@pytest.mark.parametrize("key", ["started", "finished", "workers", "seconds"])
@pytest.mark.parametrize("value", [True, [], -1, "no"])
def test_a_fact_of_a_run_that_is_missing_or_another_is_named(tmp_path, key, value):
    for facts in ({k: v for k, v in RECORDED.items() if k != key}, RECORDED | {key: value}):
        if facts.get(key) == "no" and key in ("started", "finished"):
            continue
        (tmp_path / "provenance.json").write_text(json.dumps(facts))
        with pytest.raises(StoreError, check=about(key)):
            open_run(tmp_path, IDENTITY, PROVENANCE).__enter__()


def test_a_name_that_no_folder_can_have_is_refused(tmp_path):
    with pytest.raises(StoreError, check=about("folder")):
        recorded_provenance(tmp_path / ("x" * 5000))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (3, "audit"),
        ({"parts": "x"}, "audit.parts"),
        ({"kinds": []}, "audit.kinds"),
        ({"kinds": {"guessed": {"tried": 1}}}, "audit.kinds.guessed.answers"),
        ({"workers": {}}, "audit.workers.answers"),
        ({}, "audit.answers"),
    ],
)
def test_an_audit_that_says_nothing_is_refused(tmp_path, change, field):
    whole = {"parts": 1, "answers": 2, "tried": 1, "kinds": {}, "workers": None}
    audit = {"parts": 1} if change == {} else whole | change if isinstance(change, dict) else change
    (tmp_path / "provenance.json").write_text(json.dumps(RECORDED | {"audit": audit}))
    with pytest.raises(StoreError, check=about(field)):
        open_run(tmp_path, IDENTITY, PROVENANCE).__enter__()


def test_one_process_at_a_time(tmp_path):
    code = (
        "import sys, pathlib; from resil.errors import StoreError; from resil.folder.store import open_run\n"
        "from tests.resil.folder.test_store import IDENTITY, PROVENANCE\n"
        "try:\n"
        "    with open_run(pathlib.Path(sys.argv[1]), IDENTITY, PROVENANCE): print('mine')\n"
        "except StoreError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]

    def other():
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with open_run(tmp_path, IDENTITY, PROVENANCE):
        assert "another resil process works in this folder" in other()
    assert other() == "mine\n"


def test_left_over_temporary_files_are_removed(tmp_path):
    with open_run(tmp_path, IDENTITY, PROVENANCE) as folder:
        folder.append(rows(1))
    (tmp_path / "injections" / ".part-000001.parquet.99.tmp").touch()
    (tmp_path / ".summary.json.99.tmp").touch()
    with open_run(tmp_path, IDENTITY, PROVENANCE):
        assert sorted(p.name for p in tmp_path.rglob("*")) == [
            ".lock",
            "injections",
            "part-000000.parquet",
            "provenance.json",
        ]


def test_identity_hashes_every_part():
    assert IDENTITY.digest == Identity(dict(reversed(IDENTITY.definition.items()))).digest
    assert IDENTITY.digest != OTHER.digest
    assert IDENTITY.differences(IDENTITY.definition) == ()
    assert Identity({}).differences({"a": "1"}) == ("a (1 there, nothing here)",)


def refused(path, error, *, stored=False):
    """Begin a run that ends with an error, in a folder that holds what such a run has written by then."""

    def run():
        with open_run(path, IDENTITY, PROVENANCE) as folder:
            (path / "sites.parquet").write_bytes(b"sites")
            (path / "logs").mkdir()
            if stored:
                folder.append(rows(1))
            raise error

    with pytest.raises(type(error)):
        run()


def test_a_refused_run_leaves_no_folder_that_keeps_the_corrected_one_out(tmp_path):
    refused(tmp_path / "run", HarnessError("a latch cannot be stuck", "fault.held"))
    with open_run(tmp_path / "run", OTHER, PROVENANCE):
        assert not (tmp_path / "run" / "sites.parquet").exists()


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        (HarnessError("broken"), True),
        (ConsistencyError("engines disagree"), False),
        (Interrupted("by Ctrl-C"), False),
    ],
)
def test_a_run_that_holds_something_stays(tmp_path, error, stored):
    refused(tmp_path / "run", error, stored=stored)
    assert (tmp_path / "run" / "provenance.json").exists()
    with pytest.raises((StoreError, ConsistencyError)):
        open_run(tmp_path / "run", OTHER, PROVENANCE).__enter__()


def test_a_run_that_was_there_before_stays(tmp_path):
    with open_run(tmp_path / "run", IDENTITY, PROVENANCE):
        pass
    refused(tmp_path / "run", HarnessError("broken"))
    assert (tmp_path / "run" / "provenance.json").exists()
