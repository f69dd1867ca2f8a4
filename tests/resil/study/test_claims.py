# SPDX-License-Identifier: Apache-2.0
"""What a study's two claims rest on: nothing that was not injected, or not confirmed, supports them."""

from types import SimpleNamespace

import pytest

from resil.study.claims import claims
from resil.study.protection import chosen, settled, unassessed
from resil.study.study import ProtectionWanted
from testkit.study_cells import typed, view

HIGH = "high end of the flip-flop rate"


def cell(target, verdict, network="a", unaided=None, **others):
    figures = {"fit": 0.2, "fit_lo": 0.1, "fit_hi": 0.3, "budget_fit": 0.01}
    fit = {"fit": [0.2, 0.1, 0.3], "corner": HIGH, "corner_fit": [0.4, 0.2, 0.6]}
    spfm = {"spfm": [0.98, 0.97, 0.99], "spfm_corner": HIGH, "spfm_corner_lo": 0.965}
    bare = {"spfm": [0.96, 0.95, 0.97], "spfm_corner": HIGH, "spfm_corner_lo": 0.945}
    views = {
        "aided": view(verdict, **fit, **spfm),
        "unaided": view(unaided or verdict, **fit, **bare),
    }
    return typed(target, network, verdict, **(figures | views | others))


def judged(network, centre, corner):
    """What is left on a network: limits of FIT and SPFM at the centre and at a corner."""
    return SimpleNamespace(
        network=network,
        fit_hi=centre[0],
        spfm_lo=centre[1],
        corner=HIGH,
        corner_fit_hi=corner[0],
        corner_unaided_hi=2 * corner[0],
        corner_spfm_lo=corner[1],
    )


def state(*, confirmed=None, area_overhead=0.06, **others):
    """A protection of a target as it stands."""
    networks = [
        judged("a", (8e-4, 0.996), (1e-3, 0.995)),
        judged("b", (7e-3, 0.993), (9e-3, 0.991)),
    ]
    known = {"result": "optimal", "granularity": "register", "name": "by-register", "reason": "none fits"}
    known |= {"waived": ()}
    plan = known | {"area_overhead_lockstep": 1.03, "networks": networks} | others
    found = None if confirmed is None else SimpleNamespace(confirmed=confirmed, reasons=())
    return SimpleNamespace(
        plan=SimpleNamespace(**plan),
        area_overhead=area_overhead,
        area_measured=False,
        confirmed=confirmed,
        confirmation=found,
    )


def results(cells, protection):
    return [own.result for own in claims(cells, protection)]


@pytest.mark.parametrize(
    ("cells", "result"),
    [
        ([("32", "missed"), ("64", "missed")], "supported"),
        ([("32", "missed"), ("64", "met")], "refuted"),
        ([("32", "missed"), ("64", "inconclusive")], "open"),
        ([("32", "missed"), ("64", "failed")], "open"),
        ([("32", "missed"), ("64", "none")], "open"),
        ([], "open"),
    ],
)
def test_a_configuration_falls_short_if_a_network_misses(cells, result):
    assert results([cell(*own) for own in cells], [])[0] == result


def test_without_a_reaction_a_configuration_may_fall_short_that_meets_all_with_one():
    (short, _) = claims([cell("32", "met", unaided="missed")], [])
    assert short.result == "supported"
    assert short.evidence[0].startswith("32: 1 of 1 networks miss unaided, 0 with the error flag")
    assert results([cell("32", "met", unaided="inconclusive")], [])[0] == "open"


def test_what_is_predicted_or_missing_neither_meets_nor_misses():
    met = [cell("32", "met"), cell("32", "inconclusive", "b", predicted=True)]
    assert results(met, [])[0] == "open"
    (short, _) = claims([cell("32", "missed"), cell("32", "not run", "b")], [])
    assert short.result == "supported"
    assert short.evidence == (
        "32: 1 of 2 networks miss unaided, 1 with the error flag and a reaction, 1 not injected; "
        f"highest unaided 0.4 [0.2, 0.6] FIT at the {HIGH} on a (centre 0.2 [0.1, 0.3]), budget 0.01; "
        f"highest with the error flag and a reaction 0.4 [0.2, 0.6] FIT at the {HIGH} on a "
        "(centre 0.2 [0.1, 0.3]), budget 0.01; "
        f"lowest SPFM unaided 96.00% [95.00%, 97.00%], at least 94.50% at the {HIGH} on a; "
        "lowest SPFM with the error flag and a reaction 98.00% [97.00%, 99.00%], at least 96.50% at the "
        f"{HIGH} on a",
    )


@pytest.mark.parametrize(
    ("facts", "result", "told"),
    [
        (
            {"confirmed": True},
            "supported",
            "+103%, with the error flag and a reaction at most 0.009 FIT at",
        ),
        ({"confirmed": False}, "open", "not confirmed by injection"),
        ({}, "open", "; not injected into"),
        ({"confirmed": True, "area_overhead": 1.1}, "refuted", "+110.00% area"),
        ({"confirmed": True, "area_overhead_lockstep": None}, "open", "+6.00% area, with the error flag"),
        ({"result": "infeasible", "area_overhead": None}, "open", "not reached: none fits"),
        ({"result": "not_needed", "area_overhead": 0.0, "confirmed": True}, "open", "none is needed"),
    ],
)
def test_protection_suffices_only_if_it_is_confirmed(facts, result, told):
    (_, selective) = claims([cell("32", "missed")], [chosen("32", state(**facts))])
    assert selective.result == result
    assert told in selective.evidence[0]


def test_a_set_that_leaves_more_than_the_budget_does_not_suffice():
    (_, selective) = claims([cell("32", "missed", budget_fit=0.005)], [chosen("32", state(confirmed=True))])
    assert selective.result == "open"
    assert "more than the budget of 0.005" in selective.evidence[0]


def test_what_a_set_leaves_if_nobody_reacts_is_said():
    for most, more in ((0.2, True), (0.05, False)):
        row = chosen("32", state(confirmed=True)).changed(unaided_hi=most)
        (_, selective) = claims([cell("32", "missed", budget_fit=0.1)], [row])
        assert selective.result == "supported"
        assert f"unaided at most {most:g} FIT" in selective.evidence[0]
        assert ("which is more than the budget" in selective.evidence[0]) == more


def test_a_set_without_the_spfm_that_is_claimed_does_not_suffice():
    for asked, lower, result in ((0.99, 0.991, "supported"), (0.99, 0.989, "open"), (0.99, None, "open")):
        networks = [judged("a", (1e-3, 0.999), (1e-3, lower))]
        row = chosen("32", state(confirmed=True, networks=networks))
        (_, selective) = claims([cell("32", "missed", spfm_asked=asked)], [row])
        assert selective.result == result
        assert ("SPFM not shown to be the 99.00% that is claimed" in selective.evidence[0]) == (
            result == "open"
        )


def test_a_set_that_keeps_its_limits_at_the_centre_of_the_raw_rates_alone_does_not_suffice():
    kept = judged("a", (1e-3, 0.995), (1e-3, 0.995))
    row = chosen("32", state(confirmed=True, networks=[kept, judged("b", (9e-3, 0.991), (9e-3, 0.989))]))
    (_, selective) = claims([cell("32", "missed", spfm_asked=0.99)], [row])
    assert selective.result == "open"
    assert "SPFM at least 98.90% at every corner" in selective.evidence[0]
    row = chosen("32", state(confirmed=True, networks=[kept, judged("b", (9e-3, 0.991), (11e-3, 0.991))]))
    (_, selective) = claims([cell("32", "missed", budget_fit=0.01)], [row])
    assert selective.result == "open"
    assert f"at most 0.011 FIT at the {HIGH}" in selective.evidence[0]


def test_a_set_for_which_a_limit_was_waived_does_not_suffice():
    said = "the campaign's SPFM of at least 0.99 is waived"
    row = chosen("32", state(confirmed=True, waived=(said,)))
    assert row.waived == (said,)
    (_, selective) = claims([cell("32", "missed")], [row])
    assert selective.result == "open"
    assert f"WAIVED: {said}" in selective.evidence[0]


def test_what_is_not_known_of_one_network_is_not_known_of_all():
    known, unknown = judged("a", (1e-3, 0.995), (1e-3, 0.995)), judged("b", (1e-3, None), (1e-3, None))
    unknown.corner_unaided_hi = None
    row = chosen("32", state(networks=[known, unknown]))
    assert (row.unaided_hi, row.spfm_lo) == (None, None)
    assert chosen("32", state(networks=[known])).unaided_hi == 2e-3


def test_one_configuration_that_is_open_leaves_the_claim_open():
    cells = [cell("32", "missed"), cell("64", "missed")]
    good = chosen("32", state(confirmed=True))
    assert results(cells, [good, unassessed("64", "no results")])[1] == "open"
    assert results(cells, [good])[1] == "open"


def test_the_worst_network_counts():
    row = chosen("32", state())
    assert (row.fit_hi, row.spfm_lo, row.networks) == (9e-3, 0.991, ("a", "b"))


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (cell("32", "failed", "b"), "no results of b"),
        (cell("32", "not run", "b"), "no results of b"),
        (cell("32", "inconclusive", "b", predicted=True), "only predicted: b"),
    ],
)
def test_nothing_is_chosen_where_a_network_is_missing(other, reason):
    row = settled(ProtectionWanted(), "32", [cell("32", "missed"), other])
    assert (row.result, row.overhead, row.reason) == ("not assessed", None, reason)
