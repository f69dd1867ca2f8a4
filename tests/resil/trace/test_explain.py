# SPDX-License-Identifier: Apache-2.0
"""Groups of faults: they add up, follow from traces, and allow for what was not traced."""

from __future__ import annotations

import json
import shutil

import pytest

import resil.trace.explain
from resil.cli import main
from resil.errors import ResilError
from resil.record.errors import ReportError
from resil.record.explanation import Explanation
from resil.record.fields import json_schema
from resil.results.traced import traced_faults
from resil.trace.explain import explain_run, group_key, telling_path
from resil.trace.explain_text import explanation_text
from resil.trace.fault import trace_injection
from resil.trace.run import Run
from testkit.errors import about


@pytest.fixture(scope="module")
def detected(run):
    return explain_run(run, ("due", "hang"))


def test_all_of_a_class_are_traced_and_add_up(run, rows, detected):
    wanted = rows[rows["outcome"].isin(("due", "hang"))]
    assert detected.traced == detected.injections == len(wanted)
    assert detected.stopped == "all"
    numbers = [number for group in detected.groups for number in group.injections]
    assert sorted(numbers) == sorted(wanted["injection"])
    assert sum(group.fit.estimate for group in detected.groups) == pytest.approx(detected.fit.estimate)
    assert detected.fit.estimate == pytest.approx(wanted["weight"].sum())
    assert sum(group.share for group in detected.groups) == pytest.approx(1.0)
    for group in detected.groups:
        own = wanted[wanted["injection"].isin(group.injections)]
        assert group.fit.estimate == pytest.approx(own["weight"].sum())
        assert set(own["block"]) == {group.block}
        assert set(own["register_class"]) == {group.register_class}
        assert sum(register.traced for register in group.registers) == group.traced


def test_groups_follow_from_traces(run, rows, detected):
    outcomes = dict(zip(rows["injection"], rows["outcome"], strict=True))
    for group, example in zip(detected.groups, detected.traces, strict=False):
        alone = trace_injection(run, group.example)
        assert alone == example
        key = group_key(alone, outcomes[group.example])
        assert (key.block, key.route, key.to) == (group.block, group.route, group.to)
        path = telling_path(alone, outcomes[group.example])
        assert path is not None
        assert path.moves == group.fewest_moves
    assert {group.to for group in detected.groups} == {"done", "alarm error"}


def test_paths_that_are_missing_for_one_reason_are_one_group(detected):
    """The cycle at which the gates fall silent is no part of what faults have in common."""
    trace = next(one for one in detected.traces if one.path_to("done") is not None)
    path = trace.path_to("done")

    def without(cycle):
        problem = f"before cycle {cycle} the gates do not say where the difference came from"
        lost = path.changed(steps=(), moves=0, shortest=False, problem=problem)
        return trace.changed(paths=(lost,))

    assert group_key(without(5), "hang") == group_key(without(900), "hang")
    assert group_key(without(5), "hang") != group_key(trace, "hang")


def test_what_was_left_out_is_said_and_allowed_for(run, detected):
    some = explain_run(run, ("due", "hang"), limit=5, seed=3)
    assert (some.traced, some.injections, some.stopped) == (5, detected.injections, "limit")
    assert str(some.injections - 5) in explanation_text(some)
    whole = {(group.block, group.register_class, group.route, group.to): group for group in detected.groups}
    for group in some.groups:
        true = whole[group.block, group.register_class, group.route, group.to]
        assert group.fit.lo <= true.fit.estimate <= group.fit.hi
        assert group.fit.hi >= true.fit.hi
    again = explain_run(run, ("due", "hang"), limit=5, seed=3)
    assert again.groups == some.groups
    assert explain_run(run, ("due", "hang"), limit=5, seed=4).groups != some.groups


def test_time_that_is_over_stops_after_a_trace(run):
    found = explain_run(run, ("hang",), seconds=0.0)
    assert (found.traced, found.stopped) == (1, "time")


def test_the_answer_is_kept_and_reports_go_on(run, capsys):
    assert main(["explain", str(run), "--outcome", "hang", "--json", "--quiet"]) == 0
    text = (run / "explanation.json").read_text()
    assert json.loads(capsys.readouterr().out) == json.loads(text)
    assert Explanation.read(text).text() == text
    assert json_schema(Explanation)["required"] == list(json.loads(text))
    assert main(["report", str(run), "--quiet"]) in (0, 1, 3)
    assert main(["explain", str(run), "--outcome", "hang", "--limit", "2", "--quiet"]) == 0
    assert "done" in capsys.readouterr().out


def test_the_page_leads_to_the_stories_of_these_injections_alone(run, tmp_path):
    kept = tmp_path / "run"
    shutil.copytree(run, kept)
    found = explain_run(kept, ("hang",), limit=3)
    links = traced_faults(kept)
    assert [link.injection for link in links] == [trace.injection for trace in found.traces]
    assert f"of 3 traced, of {found.injections:,} there are" in links[0].story
    story = (kept / links[0].href).read_text()
    assert story.startswith(f"injection {links[0].injection}: {links[0].path}")
    main(["report", str(kept), "--quiet"])
    assert f'href="{links[0].href}"' in (kept / "report.html").read_text()
    other = json.loads((kept / "explanation.json").read_text()) | {"content": "0" * 64}
    (kept / "explanation.json").write_text(json.dumps(other))
    assert traced_faults(kept) == ()  # of other injections
    (kept / "explanation.json").write_text(found.text())
    (kept / links[0].href).unlink()
    assert [link.injection for link in traced_faults(kept)] == [link.injection for link in links[1:]]


def test_a_class_that_is_none_or_empty_is_refused(run, rows, monkeypatch):
    with pytest.raises(ResilError, check=about("--outcome")):
        explain_run(run, ("nothing",))
    empty = next((one for one in ("sdc_tolerable",) if one not in set(rows["outcome"])), None)
    assert empty is not None
    with pytest.raises(ResilError, check=about("--outcome")):
        explain_run(run, (empty,))


def test_groups_that_do_not_add_up_are_refused(detected):
    plain = detected.plain()
    plain["groups"] = plain["groups"][1:]
    with pytest.raises(ReportError, check=about("groups")):
        Explanation.read(json.dumps(plain))
    plain = detected.plain() | {"stopped": "limit"}
    with pytest.raises(ReportError, check=about("stopped")):
        Explanation.read(json.dumps(plain))


def test_the_fit_of_some_injections_is_that_of_a_column_that_tells_them(run, rows):
    whole = Run(run)
    for block, own in rows.groupby("block"):
        hit = own[own["outcome"] == "sdc_critical"]["injection"]
        table = whole.fit(by=["block"], outcomes=["sdc_critical"])
        row = table[table["block"] == block].iloc[0]
        found = whole.fit_of(hit.tolist())
        assert found.estimate == pytest.approx(row["fit"])
        assert found.hi >= row["fit"] >= found.lo
    assert whole.fit_of([]).estimate == 0.0


def test_a_wrong_weight_is_noticed(run, detected, monkeypatch):
    """Seeded: were weights left out, the groups' FIT would not be the sum of their injections' weights."""
    monkeypatch.setattr(
        resil.trace.explain.FinishedRun, "counted", lambda self: self.injections().assign(weight=1.0)
    )
    found = explain_run(run, ("due", "hang"))
    pairs = {(g.block, g.register_class, g.route, g.to): g.share for g in found.groups}
    right = {(g.block, g.register_class, g.route, g.to): g.share for g in detected.groups}
    assert pairs != pytest.approx(right)
