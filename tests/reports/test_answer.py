# SPDX-License-Identifier: Apache-2.0
"""The first screen: what to do next in each state, and what new injections said beside what was predicted."""

from __future__ import annotations

import pytest

from resil.record.golden import GoldenComparison
from resil.record.protection_confirmation import ConfirmingNetwork
from resil.record.protection_state import ProtectionState
from resil.reports import render
from resil.reports.answer import answer, next_step, worst_block
from resil.reports.confirmed import confirmed_table
from tests.reports.example import example_protection, example_summary, protection_of, summary_of
from tests.reports.test_safety import document as safety_document
from tests.resil.protection.plans import build, confirmation

MEASURED = ConfirmingNetwork(
    **{"fit": 0.004, "fit_lo": 0.002, "fit_hi": 0.007, "spfm": 0.995, "spfm_lo": 0.991, "injections": 900},
    **{"network": "held_out", "population": "these inputs", "inputs": 1, "copies": 10, "hazardous": 3},
    **{"fit_raw": 0.8, "due_fit_hi": 0.1, "confidence": 0.95, "unaided_hi": 0.1, "corner": ""},
    **{"corner_fit_hi": 0.008, "corner_due_fit_hi": 0.1, "corner_unaided_hi": 0.1, "corner_spfm_lo": 0.99},
    fit_share_hi=None,
    missed_unprotected=("fit",),
    golden=GoldenComparison(state="equal", reference="x", inputs=1, elements=1, differing=0, text=""),
    safety=None,
    logic_fit=None,
    logic_fit_hi=None,
    permanent_fit_hi=None,
    permanent_spfm_lo=None,
    hangs=None,
    hangs_reported=None,
)


def nothing_measured():
    made = example_summary()
    made["sanity"]["failed"] = True
    made["sanity"]["checks"][0]["state"] = "failed"
    made["verdict"].update(result="not assessed")
    return made


def state(*, built=False, confirmed=None, budget=0.01):
    plan = protection_of(example_protection(example_summary(), budget)).plan
    found = None
    if confirmed is not None:
        found = confirmation(plan, confirmed).changed(networks=(MEASURED,))
    return ProtectionState(plan, build(plan) if built else None, found)


STEPS = {
    "missed": (example_summary, None, "resil protect RUN_DIR"),
    "met": (lambda: example_summary(budget=0.08), None, ""),
    "inconclusive": (
        lambda: example_summary(budget=0.06),
        None,
        "resil run CAMPAIGN.toml --set faults.injections=",
    ),
    "no budget": (lambda: example_summary(budget=None), None, ""),
    "nothing measured": (nothing_measured, None, "resil run CAMPAIGN.toml"),
    "chosen": (example_summary, state(), "resil protect RUN_DIR --build DIR --verify"),
    "built": (example_summary, state(built=True), "resil protect RUN_DIR --build DIR --verify"),
    "refuted": (example_summary, state(built=True, confirmed=False), "resil protect RUN_DIR"),
    "confirmed": (example_summary, state(built=True, confirmed=True), ""),
    "infeasible": (example_summary, state(budget=1e-12), ""),
}


@pytest.mark.parametrize("case", STEPS)
def test_what_to_do_next_fits_the_state(case):
    make, protection, command = STEPS[case]
    said, found = next_step(summary_of(make()), protection)
    assert said
    assert found == command or (command.endswith("=") and found.startswith(command))
    if case not in ("met", "confirmed"):
        assert "file fmeda" not in said


def test_the_forecast_of_injections_is_more_than_were_made():
    summary = summary_of(example_summary(budget=0.06))
    _, command = next_step(summary, None)
    assert int(command.split("faults.injections=")[1].split(" ")[0]) > summary.total.injections


def test_a_met_budget_beside_a_missed_claim_is_no_good_news():
    made = safety_document()
    made["verdict"].update(result="met")
    found = answer(summary_of(made), None)
    assert found.tone == "missed"
    assert "fmeda" not in found.next[0]


def test_the_worst_block_has_its_interval_and_none_stands_out_without_events():
    summary = summary_of(example_summary())
    worst = max(summary.blocks, key=lambda block: block.fit or 0.0)
    assert worst_block(summary).startswith(f"{worst.name}: ")
    assert "[" in worst_block(summary)
    assert "no block stands out" in worst_block(summary_of(example_summary(events=False)))


@pytest.mark.parametrize("confirmed", [True, False])
def test_predicted_stands_beside_measured(confirmed):
    protection = state(built=True, confirmed=confirmed)
    table = confirmed_table(protection.confirmation)
    assert [row[0] for row in table.rows] == ["predicted", "measured"]
    assert table.rows[1][3] == "0.00400 [0.00200, 0.00700]"
    text = render(summary_of(example_summary()), protection)["report.html"]
    assert "Predicted against measured" in text
    assert 'id="confirmed-wide-title"' in text
    assert ("confirmed by injection" in text) is confirmed
    assert "Predicted against measured" not in render(summary_of(example_summary()), state())["report.html"]
