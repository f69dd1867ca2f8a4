# SPDX-License-Identifier: Apache-2.0
"""The kit for assessors never looks better than the run: each reservation stands on its first page."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from resil.assessor import dependent
from resil.assessor.evidence import evidence_for
from resil.assessor.kit import make_kit, write_kit
from resil.assessor.reservations import reservations_of
from resil.assessor.uses import tool_uses
from resil.campaign.campaign import load_campaign
from resil.cli import main
from resil.folder.finished import finished_results
from resil.folder.provenance import PACKAGES, versions
from resil.layout import source_digest
from resil.record.assessor import AssessorKit, level_of
from resil.record.fields import json_schema
from resil.record.golden import GoldenComparison
from resil.record.protection_state import ProtectionState
from resil.record.safety import Safety, SafetyRow
from resil.record.stored_audit import Compared, StoredAudit
from resil.record.summary import NotHazardous
from resil.record.validation import CHECKS, Validation, ValidationCheck
from resil.reports import FIRST_PAGE
from resil.rtl_harness.faults import Outcome
from resil.version import __version__
from testkit import fake
from testkit.campaigns import write_campaign
from testkit.once import made_once
from tests.resil.protection import plans


def _make(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        main(["run", str(write_campaign(folder)), "--out", str(folder / "run"), "--quiet"])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_once(tmp_path_factory, "assessor", _make) / "run"


@pytest.fixture
def run(made, tmp_path):
    """A finished run that may be altered."""
    return shutil.copytree(made, tmp_path / "run")


@pytest.fixture
def whole(tmp_path):
    """Folder with evidence of this installation, whole and passed."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    keep(folder, evidence())
    return folder


def keep(folder, found):
    (folder / Validation.FILE).write_text(found.text())


def evidence(**changes):
    rows = tuple(
        ValidationCheck(name=n, state="passed", tried=9, wrong=0, text="ok.", details={}, seconds=1.0)
        for n in CHECKS
    )
    return Validation(
        **{
            "schema": 1, "quick": False, "passed": True, "checks": rows, "resil": __version__,
            "package": source_digest(), "design": "d", "versions": versions(PACKAGES), "compiler": "c",
            "python": ".".join(map(str, sys.version_info[:3])), "platform": "x", "seed": 1,
            "seconds": 1.0, "made": "now",
        } | changes
    )  # fmt: skip


def audit_of(found, **changes):
    sealed = found.provenance.results
    return StoredAudit(
        **{
            "schema": 1, "content": sealed.content, "engine": "verilator", "judge": "plain", "seed": 1,
            "drawn": Compared(stored=200, tried=200, differ=0), "confidence": 0.95, "at_most": 0.003,
            "outcomes": {}, "disagreements": (), "versions": {}, "made": "now",
        } | changes
    )  # fmt: skip


def topics(found, campaign_file="", protection=None, audit="this run's", campaign=None):
    audit = audit_of(found) if audit == "this run's" else audit
    asked = campaign or load_campaign(found.path / "campaign.toml")
    return {own.topic: own.text for own in reservations_of(found, asked, campaign_file, protection, audit)}


def changed(found, **parts):
    return replace(found, summary=found.summary.changed(**parts))


def altered(**fields):
    """Return a function that changes fields of a part of the summary."""

    def change(found, part, **own):
        return changed(found, **{part: getattr(found.summary, part).changed(**own)})

    part = fields.pop("part")
    return lambda found: change(found, part, **fields)


def safety():
    row = SafetyRow(
        name="spfm_transient", state="not assessed", unit="share", at_least=True, origin="", reason="r",
        centre_state="not assessed", corner="", unaided=None,
        **dict.fromkeys(("value", "lo", "hi", "target", "confidence", "corner_limit")),
    )  # fmt: skip
    return Safety(
        result="missed", reason="r", claims=(), rows=(row,), sensitivity=(),
        **dict.fromkeys(("confidence", "joint_confidence", "asil")),
    )  # fmt: skip


# What is done to a run, and the topic that its first page has because of it.
CASES = {
    "FIT budget missed": altered(part="verdict", result="missed"),
    "FIT budget inconclusive": altered(part="verdict", result="inconclusive"),
    "FIT budget not assessed": altered(part="verdict", result="not assessed"),
    "no budget": altered(part="verdict", result="none", budget_fit=None),
    "confidence": altered(part="campaign", confidence=0.9),
    "outcomes that do not count": altered(part="campaign", hazardous=(Outcome.HANG.value,)),
    "one input alone": altered(part="campaign", inputs=(3,)),
    "ended at the alarm": altered(part="campaign", until="detection"),
    "fault model": altered(part="campaign", fault_model="stuck_at"),
    "storage without fault sites": altered(part="target", unmapped_sites=4),
    "rests on the raw rates": altered(part="verdict", centre="missed"),
    "accepted golden difference": lambda found: changed(
        found,
        golden=found.summary.golden.changed(
            comparison=GoldenComparison(
                state="differs", reference="r", inputs=1, elements=9, differing=2, text="t"
            )
        ),
    ),
    "golden output not compared": lambda found: changed(
        found, golden=found.summary.golden.changed(comparison=GoldenComparison.none("no reference"))
    ),
    "rests on a reaction of the host": lambda found: changed(
        found,
        verdict=found.summary.verdict.changed(
            unaided=found.summary.verdict.unaided.changed(result="inconclusive")
        ),
    ),
    "other version": lambda found: replace(found, provenance=found.provenance.changed(resil="0.0.1")),
    "nothing measured": lambda found: changed(
        found,
        sanity=found.summary.sanity.changed(
            failed=True,
            checks=(found.summary.sanity.checks[0].changed(state="failed", text="never written"),),
        ),
    ),
    "check of the output": lambda found: changed(
        found,
        sanity=found.summary.sanity.changed(
            failed=False, checks=(found.summary.sanity.checks[0].changed(state="not tested"),)
        ),
    ),
    "inputs were searched for": lambda found: changed(
        found,
        sampling=found.summary.sampling.changed(
            over_inputs=found.summary.sampling.over_inputs.changed(searched=True)
        ),
    ),
    "failures that do not count": lambda found: changed(
        found,
        verdict=found.summary.verdict.changed(
            left_out=(NotHazardous(outcome="hang", injections=1, fit=1.0, fit_lo=0.5, fit_hi=2.0),)
        ),
    ),
    "safety verdict missed": lambda found: changed(found, safety=safety()),
    "rows that are not assessed": lambda found: changed(found, safety=safety()),
    "blocks without injections": lambda found: replace(
        found,
        summary=found.summary.model_copy(
            update={"blocks": tuple(own.model_copy(update={"rates": None}) for own in found.summary.blocks)}
        ),
    ),
    "raw rates without a range": lambda found: changed(
        found,
        technology=found.summary.technology.changed(
            entries=tuple(own.changed(low=None, high=None) for own in found.summary.technology.entries)
        ),
    ),
    "raw rates that were not measured": lambda found: changed(
        found,
        technology=found.summary.technology.changed(
            entries=tuple(own.changed(status="assumed") for own in found.summary.technology.entries)
        ),
    ),
}


@pytest.mark.parametrize("topic", CASES)
def test_a_run_that_is_less_carries_it(made, topic):
    found = finished_results(made)
    sure = changed(
        found,
        technology=found.summary.technology.changed(
            entries=tuple(
                own.changed(status="measured", low=0.0, high=1.0) for own in found.summary.technology.entries
            )
        ),
        verdict=found.summary.verdict.changed(
            unaided=found.summary.verdict.unaided.changed(result=found.summary.verdict.result),
            centre=found.summary.verdict.result,
        ),
        golden=found.summary.golden.changed(
            comparison=GoldenComparison(
                state="equal", reference="r", inputs=2, elements=9, differing=0, text=""
            )
        ),
    )
    if topic != "check of the output":
        sure = changed(
            sure,
            sanity=found.summary.sanity.changed(
                checks=tuple(own.changed(state="passed") for own in found.summary.sanity.checks)
            ),
        )
    assert topic not in topics(sure)
    assert topic in topics(CASES[topic](sure))


def test_what_the_example_itself_leaves_open(made):
    found = finished_results(made)
    own = topics(found, audit=None)
    # Two inputs by hand, flip-flops alone, single bits, a table [budget] and none of [safety].
    for topic in (
        "these inputs alone", "inputs were not drawn", "storage left out", "single-bit upsets alone",
        "no safety verdict", "not simulated again",
    ):  # fmt: skip
        assert topic in own
    assert "SRAM bits" in own["storage left out"]


def test_keys_of_the_command_line_are_named(tmp_path, monkeypatch, whole):
    fake.install(monkeypatch)
    file, out = write_campaign(tmp_path), tmp_path / "own"
    main(["run", str(file), "--out", str(out), "--set", "budget.fit=5", "--quiet"])
    kit = make_kit(out, tmp_path / "kit", whole)
    (said,) = [own.text for own in kit.reservations if own.topic == "overridden keys"]
    assert "--set budget.fit=5" in said
    # Judged again with the file as it is, nothing is overridden any more.
    main(["run", str(file), "--out", str(out), "--quiet"])
    assert "overridden keys" not in {own.topic for own in make_kit(out, tmp_path / "kit", whole).reservations}


def test_a_second_simulation_counts_only_if_it_is_of_this_run_and_large(made):
    found = finished_results(made)
    assert not {own for own in topics(found) if "audit" in own or "simulated" in own}
    assert "audit of other injections" in topics(found, audit=audit_of(found, content="x"))
    assert "audit by the same engine" in topics(found, audit=audit_of(found, judge="verilator"))
    small = Compared(stored=200, tried=10, differ=0)
    assert "small audit" in topics(found, audit=audit_of(found, drawn=small, at_most=0.26))


def test_protection_that_is_not_confirmed_or_waived_is_named(made):
    found = finished_results(made)
    plan = plans.plan_of()
    assert "protection not confirmed" in topics(found, protection=ProtectionState(plan))
    assert "waived limits" in topics(found, protection=ProtectionState(plan.changed(waived=("a budget",))))
    nothing = plan.changed(result="infeasible", reason="none reaches it")
    assert "protection infeasible" in topics(found, protection=ProtectionState(nothing))
    foretold = plan.changed(from_estimate=True)
    assert "protection from predictions" in topics(found, protection=ProtectionState(foretold))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"resil": "0.0.1"}, "It is of resil 0.0.1"),
        ({"package": "0" * 64}, "other files of the package"),
        ({"versions": {**versions(PACKAGES), "verilator": "4.0"}}, "verilator 4.0 and not"),
        ({"python": "3.9.1"}, "the evidence is of 3.9.1"),
    ],
)
def test_evidence_of_another_installation_is_stale(made, tmp_path, changes, said):
    keep(tmp_path, evidence(**changes))
    own = evidence_for(tmp_path / Validation.FILE, finished_results(made).provenance)
    assert own.state == "stale"
    assert any(said in left.text for left in own.reservations)
    assert not own.passed("truth")


def test_a_run_of_another_version_than_the_evidence_makes_it_stale(made, tmp_path):
    keep(tmp_path, evidence())
    facts = finished_results(made).provenance
    assert evidence_for(tmp_path / Validation.FILE, facts).state == "current"
    older = facts.changed(versions={**facts.versions, "verilator": "5.0"})
    assert evidence_for(tmp_path / Validation.FILE, older).state == "stale"
    assert evidence_for(tmp_path / Validation.FILE, facts.changed(resil="0.0.2")).state == "stale"


@pytest.mark.parametrize("damage", ["missing", "damaged", "short", "failed"])
def test_evidence_that_is_missing_short_or_failed_is_on_the_first_page(run, tmp_path, damage):
    folder = tmp_path / "evidence"
    folder.mkdir()
    failed = tuple(
        check.changed(state="failed") if check.name == "coverage" else check for check in evidence().checks
    )
    found = {
        "short": evidence(quick=True),
        "failed": evidence(passed=False, checks=failed),
    }.get(damage)
    if found is not None:
        keep(folder, found)
    if damage == "damaged":
        (folder / Validation.FILE).write_text("{")
    kit = make_kit(run, tmp_path / "kit", folder)
    write_kit(kit, tmp_path / "kit")
    page = (tmp_path / "kit" / FIRST_PAGE).read_text()
    assert "**validation evidence**" in page
    assert kit.evidence == ("current" if damage in ("short", "failed") else "missing")
    levels = {use.name: use.level for use in kit.uses}
    assert levels["estimate FIT, metrics and their limits"] == {"short": "TCL2"}.get(damage, "TCL3")


def test_the_level_rises_only_with_evidence(made, whole):
    found = finished_results(made)
    facts = evidence_for(whole / Validation.FILE, found.provenance)
    simulate = "simulate faults and classify their outcomes"

    def level(evidence, audit):
        return {use.name: use.level for use in tool_uses(found, evidence, audit, None)}[simulate]

    nothing = evidence_for(whole / "none", found.provenance)
    assert level(facts, audit_of(found)) == "TCL1"
    assert level(facts, None) == "TCL2"
    assert level(nothing, audit_of(found)) == "TCL2"
    assert level(nothing, None) == "TCL3"
    assert level(nothing, audit_of(found, judge="verilator")) == "TCL3"
    assert level(nothing, audit_of(found, content="of another run")) == "TCL3"


def fail(folder):
    text = json.loads((folder / "provenance.json").read_text())
    (folder / "provenance.json").write_text(json.dumps(text | {"failed": "two engines disagree"}))


def unfinished(folder):
    text = json.loads((folder / "provenance.json").read_text())
    (folder / "provenance.json").write_text(json.dumps(text | {"finished": None}))


def cut(folder):
    next((folder / "injections").glob("part-*.parquet")).unlink()


def edit(folder):
    file = folder / "summary.json"
    file.write_text(file.read_text().replace('"result":"missed"', '"result":"met"') + " ")


def another_schema(folder):
    text = json.loads((folder / "provenance.json").read_text())
    (folder / "provenance.json").write_text(json.dumps(text | {"schema": 3}))


def emptied(folder):
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize("damage", [fail, unfinished, cut, edit, another_schema, emptied])
def test_of_a_folder_that_may_not_be_used_nothing_is_said_but_that(run, tmp_path, whole, damage, capsys):
    """And a kit that was made before it was damaged does not stay behind."""
    out = tmp_path / "kit"
    assert main(["report", str(run), "--assessor", str(out), "--validation", str(whole), "--quiet"]) == 0
    assert "## Answers" in (out / FIRST_PAGE).read_text()
    damage(run)
    assert main(["report", str(run), "--assessor", str(out), "--validation", str(whole), "--quiet"]) == 4
    kit = AssessorKit.read((out / AssessorKit.FILE).read_bytes())
    assert not kit.usable
    assert kit.reservations[0].topic == "no usable results"
    page = (out / FIRST_PAGE).read_text()
    assert "may not be used" in page
    assert "## Answers" not in page
    assert "FIT" not in page.replace("FIT budget", "")
    assert not kit.uses
    assert not kit.failure_modes
    assert kit.changes[-1].what.startswith("Kit without results")
    capsys.readouterr()


def test_an_estimate_is_said_to_be_one(tmp_path, whole):
    example = Path(__file__).parents[3] / "examples" / "estimate.toml"
    main(["estimate", str(example), "--out", str(tmp_path / "own"), "--quiet"])
    kit = make_kit(tmp_path / "own", tmp_path / "kit", whole)
    assert kit.reservations[0].topic == "estimate"
    assert {use.level for use in kit.uses} == {"TCL3"}
    assert kit.answers["FIT budget"].startswith("predicted: ")
    assert all(own.answer == "not injected" for own in kit.dependent)


def test_the_pages_and_the_document_are_the_same_kit(run, tmp_path, whole):
    out = tmp_path / "kit"
    kit = make_kit(run, out, whole)
    files = {file.name for file in write_kit(kit, out)}
    assert files == {
        "README.md", "safety-manual.md", "tool-confidence.md", "validation-evidence.md",
        "dependent-failures.md", "change-history.md", "kit.json",
    }  # fmt: skip
    text = (out / AssessorKit.FILE).read_text()
    assert AssessorKit.read(text).text() == text
    assert json_schema(AssessorKit)["required"] == list(json.loads(text))
    page = (out / FIRST_PAGE).read_text()
    places = [page.index(f"**{own.topic}**") for own in kit.reservations]
    assert places == sorted(places)
    assert places[-1] < page.index("## Answers")
    for name in files - {"kit.json", "README.md", "change-history.md"}:
        assert f"{len(kit.reservations)} reservations" in (out / name).read_text()
    manual = (out / "safety-manual.md").read_text()
    for assumption in finished_results(run).summary.assumptions:
        assert f"**{assumption.topic}**" in manual
    assert "What is not modelled" in manual


def test_the_fmeda_for_programs_is_that_of_the_workbook(run, tmp_path, whole):
    kit = make_kit(run, tmp_path / "kit", whole)
    total = finished_results(run).summary.total
    rows = [row for row in kit.failure_modes if row.residual is not None]
    assert sum(row.residual.estimate for row in rows) == pytest.approx(total.fit)
    assert sum(row.rate.estimate for row in rows) == pytest.approx(total.fit_raw)
    unknown = [row for row in kit.failure_modes if row.part == "cpm"]
    assert unknown
    assert {row.base_rate for row in unknown} == {None}
    assert "could not be read" in kit.exchange


def test_what_parts_share_is_injected_only_where_rows_say_so(run, tmp_path, whole):
    kit = make_kit(run, tmp_path / "kit", whole)
    answers = {own.initiator: own for own in kit.dependent}
    assert {own.answer for own in answers.values()} == {"not injected"}
    assert answers["shared clock"].injected == "Nothing."
    assert "clock tree" in answers["shared clock"].left


def test_the_history_goes_on(run, tmp_path, whole):
    out = tmp_path / "kit"
    write_kit(make_kit(run, out, whole), out)
    first = AssessorKit.read((out / AssessorKit.FILE).read_bytes()).changes
    write_kit(make_kit(run, out, whole), out)
    second = AssessorKit.read((out / AssessorKit.FILE).read_bytes()).changes
    assert second[: len(first)] == first
    assert len(second) == len(first) + 1
    (out / AssessorKit.FILE).write_text("{")
    lost = make_kit(run, out, whole).changes
    assert "could not be read" in lost[0].what


def test_text_of_documents_is_no_markup(run, tmp_path, whole, monkeypatch):
    kit = make_kit(run, tmp_path / "kit", whole).changed(title="a | b\n# <script>")
    write_kit(kit, tmp_path / "kit")
    assert (tmp_path / "kit" / FIRST_PAGE).read_text().startswith("# a \\| b \\# \\<script\\>\n")


def test_levels_are_those_of_the_standard():
    assert [level_of("TI2", d) for d in ("TD1", "TD2", "TD3")] == ["TCL1", "TCL2", "TCL3"]
    assert {level_of("TI1", d) for d in ("TD1", "TD2", "TD3")} == {"TCL1"}


def test_a_kit_without_a_word_about_missing_evidence_is_refused(run, tmp_path, whole):
    kit = make_kit(run, tmp_path / "kit", tmp_path / "nowhere")
    silent = tuple(own for own in kit.reservations if own.topic != "validation evidence")
    with pytest.raises(ValueError, match="validation evidence"):
        kit.changed(reservations=silent)


def test_alarm_registers_that_were_struck_are_counted(run, tmp_path, whole, monkeypatch):
    struck = {"u_a.error_q": 7, "u_a.sum_q": 9, "u_error.sum_q": 3}
    monkeypatch.setattr(dependent, "_injected", lambda folder: (struck, 0))
    answers = {own.initiator: own for own in make_kit(run, tmp_path / "kit", whole).dependent}
    found = answers["alarm and error register"]
    assert (found.answer, found.injections) == ("injected in part", 7)
    assert "(u_a.error_q)" in found.injected
    assert answers["shared clock"].answer == "not injected"


def test_clusters_count_only_where_they_were_injected(made):
    shared = dependent.dependent_failures(made, True, False, None)
    (found,) = [own for own in shared if own.initiator == "neighbouring bits"]
    assert (found.answer, found.injections) == ("not injected", 0)
