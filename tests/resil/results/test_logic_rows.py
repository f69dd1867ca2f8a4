# SPDX-License-Identifier: Apache-2.0
"""Rows that take storage and logic: what is added, which corner decides, and what is said to be missing."""

from __future__ import annotations

import pytest

from resil.campaign.safety import SafetyMechanism, SafetySettings
from resil.record.safety import SafetyRow
from resil.reports.safety import logic_table
from resil.results.grounds import Grounds
from resil.results.logic_share import logic_shares
from resil.results.named_run import NO_LOGIC, NO_PERMANENT_LOGIC, NamedRun
from resil.results.safety_grounds import _with, _with_rates
from resil.results.safety_rows import safety_verdict
from resil.stats.evidence import Evidence, PooledGroup
from resil.stats.safety import dual_point

DETECTED = "due:sdc_critical:error"
# 10 FIT of upsets, a tenth of it hazardous; 30 FIT of pulses, a hundredth of it.
STORAGE = Evidence((PooledGroup("mac", "ff", 10.0, {"masked": 900, "hang": 100}),))
PULSES = Evidence((PooledGroup("mac", "logic", 30.0, {"masked": 990, "sdc_critical": 10}),))
STUCK = Evidence((PooledGroup("mac", "ff", 4.0, {"masked": 50, "hang": 50}),))
PINS = Evidence((PooledGroup("mac", "logic", 6.0, {"masked": 70, "hang": 30}),))
RATES = {"logic lowest": {"logic": 0.001}, "logic highest": {"logic": 10.0}}
LOGIC = NamedRun(PULSES, None, "pulses", rates=RATES, derating=0.02)


def grounds(logic: NamedRun | str = "", permanent: NamedRun | str = "none", **settings) -> Grounds:
    asked = SafetySettings(
        ("spfm_transient",), spfm=0.9, lfm=0.5, pmhf_fit=5.0, due_fit=1.0, pmhf_rationale="r", **settings
    )
    corners = {"raw rates of flip-flops lowest": {"ff": 0.5}, "raw rates of flip-flops highest": {"ff": 2.0}}
    own = _with(STORAGE, logic)
    hazardous = frozenset({"sdc_critical", "hang"})
    return Grounds(
        asked, hazardous, own, own, "upsets", "", permanent, _with_rates(corners, logic), logic=logic
    )


def rows(found: Grounds) -> dict[str, SafetyRow]:
    return {row.name: row for row in safety_verdict(found).rows}


def test_transient_rows_sum_storage_and_logic_each_with_its_rate():
    found = rows(grounds(LOGIC, pmhf_covers="transient"))
    assert found["spfm_transient"].value == pytest.approx(1 - (1.0 + 0.3) / 40)
    assert found["pmhf_share"].value == pytest.approx(1.3)
    assert "90 % of storage (20 FIT) and 99 % of logic (0.03 FIT)" in found["spfm_transient"].reason
    assert NO_LOGIC not in found["spfm_transient"].reason + found["pmhf_share"].reason


def test_logic_that_is_hardly_struck_does_not_lift_the_spfm():
    """Three quarters of the rate is logic of 99 %: at its lowest rate what is left is storage, of 90 %."""
    found = rows(grounds(LOGIC))["spfm_transient"]
    assert found.centre_state == "met"
    assert found.state == "missed" or found.state == "inconclusive"
    assert found.corner == "raw rates of flip-flops highest and logic lowest"
    alone = rows(grounds())["spfm_transient"]
    assert found.corner_limit == pytest.approx(alone.lo, abs=2e-3)


def test_the_highest_rate_of_pulses_decides_a_rate():
    found = rows(grounds(LOGIC, pmhf_covers="transient"))["pmhf_share"]
    assert found.centre_state == "met"
    assert found.corner == "raw rates of flip-flops highest and logic highest"
    assert found.corner_limit is not None
    assert found.corner_limit > 2 * 1.0 + 10 * 0.3


def test_what_was_not_assessed_is_said_and_nothing_else():
    found = rows(grounds())
    for name in ("spfm_transient", "spfm_in_use", "due_rate", "single_point_transient", "safe_transient"):
        assert f"Without {NO_LOGIC}." in found[name].reason
    both = NamedRun(STUCK, None, "stuck").joined(NamedRun(PINS, None, "pins"))
    alone = NamedRun(STUCK, None, "stuck", without=NO_PERMANENT_LOGIC)
    for logic, permanent, told in (
        ("", alone, f"Without {NO_LOGIC} and {NO_PERMANENT_LOGIC}."),
        (LOGIC, alone, f"Without {NO_PERMANENT_LOGIC}."),
        ("", both, f"Without {NO_LOGIC}."),
    ):
        reason = rows(grounds(logic, permanent))["pmhf_share"].reason
        assert reason[reason.index("Without") :].startswith(f"{told} That is at")
    whole = rows(grounds(LOGIC, both))
    assert not [name for name, row in whole.items() if "Without transients" in row.reason]
    assert not [name for name, row in whole.items() if "permanent faults of logic" in row.reason]
    assert rows(grounds("", alone))["spfm_permanent"].reason.endswith(f"Without {NO_PERMANENT_LOGIC}.")


def test_a_run_of_pulses_that_is_refused_leaves_no_transient_row_assessed():
    """The fault: the rows would stand for storage alone, as if nothing had been asked of logic."""
    told = "[safety] logic cannot be used: p: expected a finished run."
    found = rows(grounds(told, NamedRun(STUCK, None, "stuck")))
    for name in ("spfm_transient", "spfm_in_use", "pmhf_share", "due_rate", "safe_transient"):
        assert (found[name].state, found[name].value) == ("not assessed", None)
        assert told in found[name].reason
    assert found["spfm_permanent"].value == pytest.approx(0.5)


def test_permanent_rows_sum_stuck_bits_and_stuck_pins():
    guard = NamedRun(
        STUCK, Evidence((PooledGroup("mac", "ff", 1.0, {"masked": 10}),)), "stuck", without=NO_PERMANENT_LOGIC
    )
    pins = NamedRun(PINS, Evidence((PooledGroup("mac", "logic", 3.0, {"masked": 30}),)), "pins")
    asked = {"mechanisms": (SafetyMechanism("error", 0.5, storage=("u",)),), "lifetime_hours": 1e5}
    found = rows(grounds(LOGIC, guard.joined(pins), **asked))
    assert found["spfm_permanent"].value == pytest.approx(1 - (2.0 + 1.8) / 10)
    assert found["lfm_permanent"].value == pytest.approx(1 - 4.0 / (10 - 3.8))
    assert "40 of 200 stuck bits and pins lay in mechanisms, 40 %" in found["lfm_permanent"].reason
    assert found["pmhf_share"].value == pytest.approx(1.3 + 3.8)
    assert found["pmhf_share"].hi is not None
    assert found["pmhf_share"].hi > 1.3 + 3.8 + dual_point(4.0, 10.0, 1e5)
    alone = rows(grounds(LOGIC, guard, **asked))["lfm_permanent"]
    assert "faults in their logic are not in it" in alone.reason


def test_coverage_of_permanent_faults_is_a_row_of_its_own_over_storage_and_logic():
    """The fault: coverage was that of transients alone, whatever runs of permanent faults were named."""
    bits = Evidence(
        (
            PooledGroup("mac", "ff", 4.0, {"masked": 50, "hang": 40, DETECTED: 10}),
            PooledGroup("sb", "ff", 4.0, {"masked": 50, "hang": 50}),
        )
    )
    pins = Evidence((PooledGroup("mac", "logic", 8.0, {"masked": 70, "hang": 10, DETECTED: 20}),))
    stuck = NamedRun(bits, None, "stuck", without=NO_PERMANENT_LOGIC)
    both = stuck.joined(NamedRun(pins, None, "pins"))
    every, one = SafetyMechanism("error", 0.5), SafetyMechanism("error", 0.5, blocks=("mac",))
    name = "coverage_permanent of error"
    alone = rows(grounds("", stuck, mechanisms=(one,)))[name]
    assert alone.value == pytest.approx(0.2)
    assert alone.reason.endswith(f"Without {NO_PERMANENT_LOGIC}.")
    found = rows(grounds("", both, mechanisms=(one,)))[name]
    # 0.4 + 1.6 FIT detected of 2 + 2.4 in the block that it guards.
    assert found.value == pytest.approx(2.0 / 4.4)
    assert (found.origin, found.target) == ("stuck; pins", 0.5)
    assert "Without" not in found.reason
    assert rows(grounds("", both, mechanisms=(every,)))[name].value == pytest.approx(2.0 / 6.4)
    assert rows(grounds("", both, mechanisms=(every,)))["coverage of error"].value != pytest.approx(2.0 / 6.4)
    missing = rows(grounds("", "none was given", mechanisms=(one,)))[name]
    assert (missing.state, missing.reason, missing.value) == ("not assessed", "none was given", None)
    assert found.title == "coverage of error, permanent faults"


def test_base_rates_of_both_are_varied_against_each_other():
    title = "base rates of permanent faults"
    one = NamedRun(
        STUCK, None, "stuck", rates={f"{title} lowest": {"ff": 0.1}, f"{title} highest": {"ff": 3.0}}
    )
    two = NamedRun(PINS, None, "pins", rates={f"{title} of logic lowest": {"logic": 0.2}})
    assert one.joined(two).rates == {
        f"{title} lowest and of logic lowest": {"ff": 0.1, "logic": 0.2},
        f"{title} highest and of logic lowest": {"ff": 3.0, "logic": 0.2},
    }


def test_derated_pulses_stand_in_the_sensitivity():
    def again(found: Grounds, title: str) -> dict[str, SafetyRow]:
        return {r.name: r for v in safety_verdict(found).sensitivity if v.title == title for r in v.rows}

    exact = again(grounds(LOGIC, pmhf_covers="transient"), "pulses derated by timing and attenuation")
    assert exact["pmhf_share"].value == pytest.approx(1.0 + 0.02 * 0.3)
    derated = again(grounds(LOGIC, pmhf_covers="transient", derated=True), "pulses not derated")
    assert derated["pmhf_share"].value == pytest.approx(1.0 + 50 * 0.3)


def test_logic_outside_all_blocks_is_in_the_rows_of_blocks():
    """The fault: its rate is in the total alone, so what is summed over blocks has lost it."""
    glue = Evidence((*PULSES.groups, PooledGroup("(no block)", "logic", 5.0, {"masked": 5, "hang": 5})))
    found = logic_shares(grounds(NamedRun(glue, None, "pulses")), ("mac",))
    assert [own.block for own in found] == ["mac", "(no block)", "total"]
    assert sum(own.logic_fit for own in found[:-1]) == pytest.approx(found[-1].logic_fit) == 0.3 + 2.5


def test_the_share_of_logic_is_stated_by_block():
    both = NamedRun(STUCK, None, "stuck").joined(NamedRun(PINS, None, "pins"))
    found = logic_shares(grounds(LOGIC, both), ("cc", "mac"))
    assert [(own.faults, own.block) for own in found] == [
        *(("transient", "mac"), ("transient", "total")),
        *(("permanent", "mac"), ("permanent", "total")),
    ]
    transient, permanent = found[0], found[2]
    assert transient.share == pytest.approx(0.3 / 1.3)
    assert transient.other_share == pytest.approx(0.006 / 1.006)
    assert transient.share_lo is not None
    assert transient.share_hi is not None
    assert transient.share_lo < 0.3 / 1.3 < transient.share_hi
    assert permanent.share == pytest.approx(1.8 / 3.8)
    assert permanent.other_share is None
    assert "23.1 %" in logic_table(found).text()
    alone = NamedRun(STUCK, None, "stuck", without=NO_PERMANENT_LOGIC)
    assert logic_shares(grounds("", alone), ("mac",)) == ()
