# SPDX-License-Identifier: Apache-2.0
"""No command is more reassuring than the folder it reads: every command against every state of a folder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from resil import Run, load_campaign, run_campaign
from resil.cli import main
from resil.errors import ConsistencyError, StoreError
from resil.files import json_text
from resil.folder.earlier_results import require_as_good
from resil.folder.finished import finished_run, seal
from resil.folder.parts import SCHEMA, _content, read_part, write_part
from resil.record.provenance import ESTIMATE, RUN, Provenance
from resil.results.report import write_run_figures
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.errors import about

EXAMPLE = Path(__file__).parents[3] / "examples" / "estimate.toml"
BUDGET = TEXT.replace("fit = 0.01", "fit = 1000.0")


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    """A finished run that meets its budget, in several parts."""
    folder = tmp_path_factory.mktemp("refusals")
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        patch.setattr("resil.folder.execute.PART_ROWS", 60)
        assert main(["run", str(write_campaign(folder, BUDGET)), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.fixture
def folder(pristine, tmp_path, monkeypatch):
    """A copy of it, with the fake bench in place and the tracebacks of audits beside it."""
    fake.install(monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shutil.copytree(pristine, tmp_path / "run")
    return tmp_path / "run"


def edit(file: Path, change: Callable[[dict], object]) -> None:
    value = json.loads(file.read_text())
    change(value)
    file.write_text(json_text(value))


def in_provenance(**facts: object) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "provenance.json", lambda value: value.update(facts))


def first_part(folder: Path) -> Path:
    return min((folder / "injections").glob("part-*.parquet"))


def truncated(folder: Path) -> None:
    first_part(folder).write_bytes(first_part(folder).read_bytes()[:-100])


def forged(folder: Path) -> None:
    """Hangs turned into masked outcomes, with a checksum that fits."""
    part = first_part(folder)
    identity = str(json.loads((folder / "provenance.json").read_text())["hashes"]["campaign"])
    rows = read_part(part, identity)
    for name in ("outcome", "seen"):
        safe = pc.if_else(pc.equal(rows[name], "hang"), "masked", rows[name])
        place = SCHEMA.names.index(name)
        rows = rows.set_column(place, SCHEMA.field(place), safe)
    write_part(part, rows, identity)
    assert read_part(part, identity)["outcome"].to_pylist().count("hang") == 0


def of_other_columns(folder: Path) -> None:
    part = first_part(folder)
    table = pq.read_table(part)
    rows = table.replace_schema_metadata(None).drop_columns("corruption")
    metadata = table.schema.metadata | {b"resil.content": _content(rows)}
    pq.write_table(rows.replace_schema_metadata(metadata), part)


def repeated(folder: Path) -> None:
    shutil.copy(first_part(folder), folder / "injections" / "part-000099.parquet")


def contradicted(folder: Path) -> None:
    shutil.copy(first_part(folder), folder / "injections" / "part-000099.parquet")
    forged(folder)


def summary_by_hand(folder: Path) -> None:
    edit(folder / "summary.json", lambda value: value["verdict"].update(fit_hi=1e-9, result="met"))


def summary_beyond_injections(folder: Path) -> None:
    """More masked outcomes than there are injections, sealed as if a run had written them."""

    def inflate(value):
        for row in (value["total"], value["blocks"][0], value["storage"][0]):
            row["masked"] += 1000
            row["injections"] += 1000

    edit(folder / "summary.json", inflate)
    reseal(folder)


def reseal(folder: Path) -> None:
    def change(value):
        value["results"]["files"] = dict(seal(folder, RUN).files)

    edit(folder / "provenance.json", change)


def of_another_campaign(folder: Path) -> None:
    edit(folder / "summary.json", lambda value: value["provenance"]["hashes"].update(campaign="f" * 64))
    reseal(folder)


def redefined(folder: Path) -> None:
    edit(folder / "provenance.json", lambda value: value["definition"].update(seed="99"))


SOURCE = {"resil": "made", "made": "2026", "injections": 0, "runs": [], "versions": {}}
PREDICTED = {"model": SOURCE, "known_network": False, "held": {}, "rests_on": {}, "correction": None}


def an_estimate(folder: Path) -> None:
    edit(folder / "summary.json", lambda value: value.update(estimate=PREDICTED))
    shutil.rmtree(folder / "injections")
    facts = {"kind": ESTIMATE, "definition": {}, "results": seal(folder, ESTIMATE).plain()}
    edit(folder / "provenance.json", lambda value: value.update(facts))


def posing_as_a_run(folder: Path) -> None:
    edit(folder / "summary.json", lambda value: value.update(estimate=PREDICTED))
    reseal(folder)


STATES: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "failed its audit": (in_provenance(failed="the audit found a difference"), 4, "has failed and stays so"),
    "no provenance": (lambda f: (f / "provenance.json").unlink(), 2, "has lost its provenance.json"),
    "damaged provenance": (lambda f: (f / "provenance.json").write_text('{"resil"'), 2, "expected JSON"),
    "no definition": (in_provenance(definition={}), 2, "no definition of the campaign"),
    "another definition": (redefined, 2, "provenance.json: of another campaign"),
    "an older version": (
        lambda f: edit(f / "provenance.json", lambda value: value.pop("schema")),
        2,
        "expected a folder of schema",
    ),
    "a newer version": (in_provenance(schema=999), 2, "found one of schema 999"),
    "unfinished": (in_provenance(finished=None), 2, "found an unfinished one"),
    "never sealed": (
        lambda f: edit(f / "provenance.json", lambda v: v.update(results=None)),
        2,
        "unfinished",
    ),
    "no summary": (lambda f: (f / "summary.json").unlink(), 2, "summary.json: expected a file"),
    "summary by hand": (summary_by_hand, 2, "summary.json: altered since the run ended"),
    "summary beyond injections": (summary_beyond_injections, 2, "injections with the outcome masked"),
    "summary of another campaign": (of_another_campaign, 2, "summary.json: of another campaign"),
    "summary of an estimate": (posing_as_a_run, 2, "expected that of a run, found that of an estimate"),
    "no campaign": (lambda f: (f / "campaign.toml").unlink(), 2, "campaign.toml: expected a file"),
    "another list of sites": (lambda f: (f / "sites.parquet").write_bytes(b""), 2, "sites.parquet: altered"),
    "a truncated part": (truncated, 2, "cannot be read as Parquet"),
    "a part of other columns": (of_other_columns, 2, "columns other than those"),
    "a forged part": (forged, 2, "injections that the run ended with, found 200 others"),
    "a repeated part": (repeated, 2, "repeats injections of part-000000.parquet"),
    "a contradicted part": (contradicted, 4, "is stored twice with different outcomes"),
    "a lost part": (lambda f: first_part(f).unlink(), 2, "expected the 200 injections"),
    "no injections": (lambda f: shutil.rmtree(f / "injections"), 2, "expected the 200 injections"),
    "an estimate": (an_estimate, 2, "expected a run, found an estimate"),
    "no folder": (shutil.rmtree, 2, "expected a file, found none; give a run folder"),
}
COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "report": lambda folder: ["report", str(folder)],
    "protect": lambda folder: ["protect", str(folder)],
    "compare": lambda folder: ["compare", str(folder), str(folder)],
    "learn": lambda folder: ["learn", str(folder), str(folder), "-o", str(folder.parent / "model")],
    "correct": lambda folder: [
        *("estimate", str(EXAMPLE), "--correct", str(folder)),
        *("--out", str(folder.parent / "estimate")),
    ],
}
READ_ESTIMATES = {"report", "protect", "compare"}


@pytest.mark.parametrize(
    ("command", "state"),
    [(c, s) for c in COMMANDS for s in STATES if s != "an estimate" or c not in READ_ESTIMATES],
)
def test_no_command_reassures_where_the_folder_does_not(command, state, folder, capsys):
    make, code, message = STATES[state]
    make(folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert main(COMMANDS[command](folder)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_replay_says_that_an_estimate_has_no_injections(folder, capsys):
    """The fault: "damaged, it has no definition of the campaign; move the folder away"."""
    an_estimate(folder)
    assert main(["replay", str(folder), "3"]) == 2
    err = capsys.readouterr().err
    assert "expected a run, found an estimate" in err
    assert "damaged" not in err


@pytest.mark.parametrize("command", ["protect", "learn", "correct"])
def test_what_is_about_upsets_refuses_permanent_faults(command, folder, capsys):
    stuck = lambda value: value["campaign"].update(fault_model="stuck_at")  # noqa: E731
    edit(folder / "summary.json", stuck)
    reseal(folder)
    assert main(COMMANDS[command](folder)) == 2
    assert 'expected a run with upsets, found one with [faults] model = "stuck_at"' in capsys.readouterr().err


@pytest.mark.parametrize("command", ["learn", "correct"])
def test_what_is_about_one_inference_refuses_two(command, folder, capsys):
    counts = {"latent_after_first": 1, "dormant": 0, "vanished": 0, "latent": 1}
    two = {"number": 2, "between": "reset", "after_first": {"latent": {"latent": 1}}, **counts}
    edit(folder / "summary.json", lambda value: value.update(inferences=two))
    reseal(folder)
    assert main(COMMANDS[command](folder)) == 2
    assert "expected a run of single inferences" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["learn", "correct"])
def test_what_is_about_one_time_out_refuses_two(command, folder, capsys):
    edit(folder / "summary.json", lambda value: value["campaign"].update(timeout="operation"))
    reseal(folder)
    assert main(COMMANDS[command](folder)) == 2
    reported = 'expected a run with [execution] timeout = "inference", found "operation"'
    assert reported in capsys.readouterr().err


@pytest.mark.parametrize("state", sorted(STATES.keys() - {"an estimate"}))
def test_no_picture_is_drawn_and_no_frame_is_read_either(state, folder, tmp_path):
    make, _, message = STATES[state]
    make(folder)
    with pytest.raises((StoreError, ConsistencyError), match=re.escape(message)):
        Run(folder)
    with pytest.raises((StoreError, ConsistencyError), match=re.escape(message)):
        write_run_figures(folder, tmp_path / "img")
    assert not (tmp_path / "img").exists()


@pytest.mark.parametrize(("command", "answer"), [("report", "MET"), ("protect", "NEEDED")])
def test_a_folder_as_the_run_left_it_is_read(command, answer, folder, capsys):
    assert main(COMMANDS[command](folder)) == 0
    assert answer in capsys.readouterr().out
    overview = write_run_figures(folder, folder.parent / "img", frozenset({"overview.svg"}))
    assert overview == [folder.parent / "img" / "overview.svg"]


@pytest.mark.parametrize("state", ["summary by hand", "unfinished", "no summary", "a newer version"])
@pytest.mark.parametrize("command", sorted(READ_ESTIMATES))
def test_an_estimate_is_asked_the_same_questions(command, state, folder, capsys):
    an_estimate(folder)
    STATES[state][0](folder)
    assert main(COMMANDS[command](folder)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "resil estimate CAMPAIGN.toml" in err or "schema 999" in err


REPAIRED = {
    *("never sealed", "summary by hand", "summary of another campaign"),
    *("summary of an estimate", "no campaign", "another list of sites", "a truncated part"),
    *(
        "a part of other columns",
        "a repeated part",
        "a lost part",
        "no injections",
        "unfinished",
        "no summary",
    ),
}


@pytest.mark.parametrize("state", sorted(REPAIRED))
def test_what_the_message_proposes_helps(state, folder, tmp_path, pristine, capsys):
    STATES[state][0](folder)
    assert main(["run", str(write_campaign(tmp_path, BUDGET)), "--out", str(folder), "--resume"]) == 0
    capsys.readouterr()
    assert main(["report", str(folder)]) == 0
    assert finished_run(folder).summary.blocks == finished_run(pristine).summary.blocks


def replay_of(folder: Path) -> list[str]:
    parts = sorted((folder / "injections").glob("part-*.parquet"))
    return ["replay", str(folder), str(pq.read_table(parts[-1])["injection"][0].as_py())]


UNREPLAYABLE = {
    *("no provenance", "damaged provenance", "no definition", "another definition", "an older version"),
    *("a newer version", "no campaign", "no injections", "an estimate", "no folder"),
}


@pytest.mark.parametrize("state", sorted(STATES.keys() - UNREPLAYABLE))
def test_replay_says_that_the_run_is_refused(state, folder, capsys):
    arguments = replay_of(folder)
    make, _, message = STATES[state]
    make(folder)
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert f"REFUSED: the results of this run are not to be used: {folder}" in out
    assert message in out
    assert message in err
    assert main([*arguments, "--json"]) == 0
    assert message in json.loads(capsys.readouterr().out)["run_refused"]


@pytest.mark.parametrize("state", sorted(UNREPLAYABLE))
def test_replay_refuses_what_does_not_say_what_it_is(state, folder, capsys):
    arguments = replay_of(folder)
    STATES[state][0](folder)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("resil: error: ")


def test_replay_of_a_run_as_it_was_left_says_nothing(folder, capsys):
    assert main(replay_of(folder)) == 0
    out, err = capsys.readouterr()
    assert "REFUSED" not in out
    assert "not to be used" not in err


@pytest.mark.parametrize("state", ["an older version", "a newer version", "an estimate", "failed its audit"])
def test_no_run_goes_on_in_such_a_folder(state, folder, tmp_path, capsys):
    make, code, _ = STATES[state]
    make(folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    campaign = write_campaign(tmp_path, BUDGET)
    assert main(["run", str(campaign), "--out", str(folder), "--resume"]) == code
    assert capsys.readouterr().out == ""
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_an_audit_that_fails_takes_earlier_results_with_it(folder, tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch, withdraws=5)
    larger = write_campaign(tmp_path, BUDGET.replace("injections = 200", "injections = 300"))
    assert main(["run", str(larger), "--out", str(folder)]) == 4
    assert not {"summary.json", "report.html", "fmeda.xlsx", "blocks.csv"} & {
        p.name for p in folder.iterdir()
    }
    for command in COMMANDS.values():
        assert main(command(folder)) == 4
    assert "MET" not in capsys.readouterr().out


def test_an_enlargement_that_breaks_off_leaves_the_results_and_says_unfinished(
    folder, tmp_path, monkeypatch, capsys
):
    results = {name: (folder / name).read_bytes() for name in ("summary.json", "report.html", "fmeda.xlsx")}
    larger = write_campaign(tmp_path, BUDGET.replace("injections = 200", "injections = 300"))
    fake.install(monkeypatch, breaks=5)
    assert main(["run", str(larger), "--out", str(folder)]) == 2
    assert {name: (folder / name).read_bytes() for name in results} == results
    assert main(["report", str(folder)]) == 2
    assert "found an unfinished one" in capsys.readouterr().err
    fake.install(monkeypatch)
    assert main(["run", str(larger), "--out", str(folder), "--resume"]) == 0
    assert finished_run(folder).summary.total.injections == 300


def test_fewer_injections_never_replace_more(folder, tmp_path, capsys):
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    smaller = write_campaign(tmp_path, BUDGET.replace("injections = 200", "injections = 100"))
    assert main(["run", str(smaller), "--out", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "holds the results of 200 injections, which this campaign would replace by those of 100" in err
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_plan_that_stops_earlier_does_not_replace_one_that_went_on(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    text = BUDGET.replace("injections = 200", "injections = 4000") + '[sampling]\nplan = "adaptive"\n'
    text += "until_decided = false\n"
    out = tmp_path / "run"
    assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(out)]) == 0
    before = (out / "summary.json").read_bytes()
    assert main(["run", str(write_campaign(tmp_path, text + "margin = 0.4\n")), "--out", str(out)]) == 2
    assert "would replace by those of" in capsys.readouterr().err
    assert (out / "summary.json").read_bytes() == before
    assert main(["report", str(out)]) == 0


@pytest.mark.parametrize(
    ("margin", "reason", "half", "taken"),
    [
        (0.15, "margin", 0.9, True),  # a tighter margin, kept with fewer injections
        (0.2, "margin", 0.9, False),
        (None, "margin", 0.9, False),
        (0.15, "maximum", 0.9, False),  # asked for, but not reached
        (0.15, "margin", 1.1, False),
    ],
)
def test_fewer_injections_replace_more_only_if_they_keep_a_tighter_margin(
    tmp_path, monkeypatch, margin, reason, half, taken
):
    fake.install(monkeypatch)
    text = (
        BUDGET.replace("injections = 200", "injections = 4000")
        + '[sampling]\nplan = "neyman"\nmargin = 0.2\n'
    )
    out = tmp_path / "run"
    assert main(["run", str(write_campaign(tmp_path, text)), "--out", str(out)]) in (0, 1, 3)
    found = finished_run(out).summary
    total = found.total
    fewer = {"injections": total.injections - 100}
    fewer |= {"fit_lo": total.fit + half * (total.fit_lo - total.fit)}
    fewer |= {"fit_hi": total.fit + half * (total.fit_hi - total.fit)}
    sampling = found.sampling.changed(margin=margin, reason=reason)
    other = found.model_copy(update={"total": total.model_copy(update=fewer), "sampling": sampling})
    if taken:
        require_as_good(out, other)
    else:
        with pytest.raises(StoreError, check=about("faults.injections")):
            require_as_good(out, other)
    more = total.model_copy(update={"injections": total.injections + 200})
    require_as_good(out, found.model_copy(update={"total": more}))


def test_the_columns_of_parts_and_the_number_of_the_folder_change_together():
    """Whoever changes what a part file holds raises `SCHEMA`, so that older folders are refused by name."""
    expected = (
        "injection stratum site path word bit bits fault block kind input cycle outcome seen reported alarm "
        "alarm_cycle correction correction_cycle first second end_cycle status output_hash untestable "
        "operation corruption"
    )
    assert (Provenance.SCHEMA, " ".join(SCHEMA.names)) == (16, expected)


def test_a_run_without_area_says_so_and_nothing_is_chosen_by_it(tmp_path, monkeypatch, capsys):
    """The fault: protection that costs nothing, because the area of no block is known."""
    fake.install(monkeypatch)
    campaign = load_campaign(write_campaign(tmp_path, TEXT))
    results = run_campaign(campaign, tmp_path / "run", with_area=False)
    assert "The area of the blocks was not measured." in results.summary.notes
    for words in ([], ["--granularity", "register"]):
        assert main(["protect", str(tmp_path / "run"), "--budget-fit", "1", *words]) == 2
        assert "expected a run that knows the area of its blocks" in capsys.readouterr().err
    assert main(["learn", str(tmp_path / "run"), "--output", str(tmp_path / "model.json.gz")]) == 2
    assert "expected a run that knows the area of its blocks" in capsys.readouterr().err


@pytest.mark.parametrize("value", [3, 0.5, True, ["x"], {}])
def test_a_definition_that_is_no_text_is_refused_by_name(folder, value, capsys):
    """The fault: a message about a damaged file breaks on what the file holds."""
    edit(folder / "provenance.json", lambda record: record["definition"].update(seed=value))
    campaign = write_campaign(folder.parent, BUDGET)
    assert main(["run", str(campaign), "--out", str(folder), "--resume"]) == 2
    said = f"provenance.json: damaged: definition.seed: expected a string, found {value!r}"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["s3:run", "tcp:/run", "file:run"])
def test_a_folder_named_like_an_address_is_a_folder(name, tmp_path, monkeypatch, capsys):
    """The fault: Arrow takes a path that begins with a scheme for one of another machine."""
    fake.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    campaign = write_campaign(tmp_path, BUDGET)
    assert main(["run", str(campaign), "--out", name]) == 0
    assert main(["report", name]) == 0
    assert main(["merge", "joined", name, "--quiet"]) == 2  # one run is none to join
    assert main(["sites", str(campaign), "--parquet", f"{name}.parquet", "--quiet"]) == 0
    assert len(Run(name).injections()) == 200
