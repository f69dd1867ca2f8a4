# SPDX-License-Identifier: Apache-2.0
"""What is said of a plan is read where it was built, and is of just this plan and this RTL."""

from __future__ import annotations

import shutil

import pytest

from resil.errors import StoreError
from resil.files import write_text
from resil.folder.kept_plans import PLANS, keep_in_build, kept_plan, note_build, state_of
from resil.record.protection_confirmation import LookNumber
from resil.record.protection_state import confirmation_line
from testkit.errors import about
from tests.resil.protection.plans import build, confirmation, judged, keep_looked_at, plan_of


@pytest.fixture
def run(tmp_path):
    """A run whose plan was built into `first` and confirmed."""
    run, first = tmp_path / "run", tmp_path / "first"
    for folder in (run / PLANS, first):
        folder.mkdir(parents=True)
    for file in (run / PLANS / "made.json", run / "protection.json"):
        write_text(file, plan_of().text())
    keep_in_build(first, build(plan_of()))
    keep_looked_at(first, confirmation(plan_of()))
    note_build(run, "made", first)
    return run


def state(run):
    return state_of(run, kept_plan(run, "made"))


def test_a_plan_is_confirmed_by_the_build_that_it_names(run):
    found = state(run)
    assert (found.confirmed, found.area_overhead, found.area_measured) == (True, 0.25, True)
    assert confirmation_line(found).startswith("CONFIRMED by injection")


def test_a_plan_that_is_built_again_is_not_confirmed(run, tmp_path):
    """The fault: what injections had measured in the build before, and why it failed, stayed in the plan."""
    (tmp_path / "second").mkdir()
    keep_in_build(tmp_path / "second", build(plan_of()))
    note_build(run, "made", tmp_path / "second")
    found = state(run)
    assert (found.confirmed, found.confirmation, found.build) == (None, None, build(plan_of()))
    assert confirmation_line(found) == "Built; NOT CONFIRMED by injection: --verify injects into it."
    note_build(run, "made", tmp_path / "first")
    assert state(run).confirmed


def test_run_and_build_may_be_moved_together(run, tmp_path):
    shutil.copytree(tmp_path, tmp_path.parent / "moved")
    shutil.rmtree(tmp_path / "first")
    assert state(tmp_path.parent / "moved" / "run").confirmed
    gone = state(run)
    assert (gone.confirmed, gone.build) == (None, None)
    assert confirmation_line(gone) == (
        "Built, and no build of this plan is in ../first now; NOT CONFIRMED by injection."
    )


@pytest.mark.parametrize("change", [{"budget_fit": 0.5}, {"networks": (judged(0.5),)}])
def test_a_build_of_another_choice_is_nothing_of_this_plan(run, change):
    other = kept_plan(run, "made").changed(**change)
    assert state_of(run, other).build is None
    assert state_of(run, other).confirmed is None


def test_what_was_injected_into_other_rtl_confirms_nothing(run, tmp_path):
    keep_in_build(tmp_path / "first", confirmation(plan_of(), rtl_digest="other"))
    assert state(run).confirmed is None
    keep_in_build(tmp_path / "first", confirmation(plan_of(), confirmed=False, rtl_digest="other"))
    assert state(run).confirmed is False


@pytest.mark.parametrize(
    ("later", "why"),
    [((False,), "did not confirm it"), ((None,), "was not ended"), ((True, False), "look 3 at this RTL")],
)
def test_a_later_look_that_did_not_confirm_is_not_hidden_by_the_one_before(run, tmp_path, later, why):
    """The fault: `confirmation.json` of an earlier look was believed whatever became of the next one."""
    keep_looked_at(tmp_path / "first", confirmation(plan_of()), *later)
    found = state(run)
    assert found.confirmed is False
    assert why in confirmation_line(found)


@pytest.mark.parametrize(
    ("later", "why"),
    [((False,), "look 2 at this RTL, with seed 9, in made, did not confirm it"), ((None,), "was not ended")],
)
def test_a_later_look_in_another_folder_is_known_from_the_user_s_ledger(
    run, tmp_path, monkeypatch, later, why
):
    """The fault: a second look at this RTL, in a copy of the build, failed, and reports said CONFIRMED."""
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    keep_looked_at(tmp_path / "data", confirmation(plan_of()))
    assert state(run).confirmed is True
    keep_looked_at(tmp_path / "data", confirmation(plan_of()), *later)
    found = state(run)
    assert found.confirmed is False
    assert why in confirmation_line(found)


def test_a_second_look_is_said_with_its_part_of_the_error(run, tmp_path):
    """The fault: which look it was stood in the file alone."""
    second = confirmation(plan_of(), look=LookNumber(number=2, confidence=0.975))
    keep_looked_at(tmp_path / "first", second)
    said = confirmation_line(state(run))
    assert said.startswith(
        "CONFIRMED by injection, look 2 at this RTL, with 2.50% of the error left to it, seed 8"
    )


def test_a_confirmation_that_was_edited_is_not_believed(run, tmp_path):
    """The fault: `confirmed` was believed, whatever the reasons or the ledger beside it said."""
    keep_looked_at(tmp_path / "first", confirmation(plan_of(), confirmed=False))
    file = tmp_path / "first" / "confirmation.json"
    write_text(file, file.read_text().replace('"confirmed": false', '"confirmed": true'))
    with pytest.raises(StoreError, check=about("confirmed")):
        state(run)
    keep_in_build(tmp_path / "first", confirmation(plan_of()))
    assert state(run).confirmed is False
    assert "edited" in confirmation_line(state(run))
    keep_looked_at(tmp_path / "first", confirmation(plan_of()))
    assert state(run).confirmed is True
    keep_in_build(tmp_path / "first", confirmation(plan_of(), seed=9))
    assert state(run).confirmed is False


def test_a_damaged_confirmation_is_refused(run, tmp_path):
    write_text(tmp_path / "first" / "confirmation.json", '{"confirmed": true}')
    with pytest.raises(StoreError, check=about("reasons")):
        state(run)
