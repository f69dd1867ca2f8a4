# SPDX-License-Identifier: Apache-2.0
"""Nothing that was not injected, failed or is missing counts as met."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from resil.errors import ExitCode
from resil.record.study_cell import DECIDED, VERDICTS
from resil.study.answers import Precision, verdict_of
from resil.study.verdict import study_code, study_verdict
from testkit.study_cells import typed


def cell(verdict, predicted=False, internal=False):
    return typed("npu", "a", verdict, predicted=predicted).changed(internal=internal)


def code(cells, protection=(), confirmed=None):
    rows = [SimpleNamespace(result=own, confirmed=confirmed) for own in protection]
    return study_code(SimpleNamespace(cells=cells, verdict=study_verdict(cells), protection=rows))


@pytest.mark.parametrize("words", list(product(VERDICTS, VERDICTS, (False, True))))
def test_only_cells_that_are_all_met_by_injections_are_met(words):
    one, other, predicted = words
    if predicted and other in DECIDED:
        with pytest.raises(ValidationError, match="no decision"):
            cell(other, predicted)
        return
    cells = [cell(one), cell(other, predicted)]
    result = study_verdict(cells).result
    assert (result == "met") == ((one, other, predicted) == ("met", "met", False))
    assert (result == "missed") == ("missed" in (one, other))
    assert (code(cells) is ExitCode.MET) == (result == "met" or {one, other} == {"none"})


def test_only_what_was_predicted_is_called_so():
    reason = study_verdict([cell("met"), cell("inconclusive", True), cell("not run", True)]).reason
    assert "1 predicted without an injection" in reason


def test_an_empty_study_is_not_met():
    assert study_verdict([]).result == "inconclusive"


def test_exit_codes_by_what_is_worst():
    assert code([cell("missed"), cell("failed", internal=True)]) is ExitCode.INTERNAL
    assert code([cell("missed"), cell("failed")]) is ExitCode.MISSED
    assert code([cell("met"), cell("failed")]) is ExitCode.USAGE
    assert code([cell("met"), cell("inconclusive")]) is ExitCode.INCONCLUSIVE
    assert code([cell("met")], ["not assessed"]) is ExitCode.INCONCLUSIVE
    assert code([cell("met")], ["reached"], confirmed=False) is ExitCode.MISSED
    assert code([cell("met")], ["reached"], confirmed=True) is ExitCode.MET
    assert code([cell("none")], ["not assessed"]) is ExitCode.INCONCLUSIVE
    assert code([cell("met")], ["not needed"]) is ExitCode.MET


def summary(budget, safety=None):
    claims = None if safety is None else SimpleNamespace(result=safety)
    return SimpleNamespace(verdict=SimpleNamespace(result=budget), safety=claims)


@pytest.mark.parametrize(
    ("budget", "safety", "claimed", "predicted", "expected"),
    [
        ("met", None, False, False, "met"),
        ("met", "met", True, False, "met"),
        ("met", "missed", True, False, "missed"),
        ("missed", "met", True, False, "missed"),
        ("met", "inconclusive", True, False, "inconclusive"),
        ("met", "not assessed", True, False, "not assessed"),
        ("met", None, True, False, "not assessed"),
        ("none", "met", True, False, "met"),
        ("none", None, False, False, "none"),
        ("met", None, False, True, "inconclusive"),
        ("missed", None, False, True, "inconclusive"),
        ("none", None, False, True, "none"),
        ("none", "met", True, True, "not assessed"),
    ],
)
def test_budget_and_claims_of_a_cell(budget, safety, claimed, predicted, expected):
    assert verdict_of(summary(budget, safety), predicted=predicted, claimed=claimed) == expected


@pytest.mark.parametrize(
    ("margin", "fit", "half", "reason", "reached", "width"),
    [
        (None, 0.5, 0.1, "maximum", None, 0.2),
        (0.1, 0.5, 0.04, "margin", True, 0.08),
        (0.1, 0.5, 0.0, "exhausted", True, 0.0),
        (0.1, 0.5, 0.06, "maximum", False, 0.12),
        (0.1, 0.5, 0.06, "budget", False, 0.12),
        (0.1, 0.5, 0.06, "margin", False, 0.12),
        (0.1, 0.0, 0.0, "maximum", False, None),
    ],
)
def test_a_margin_is_reached_by_the_interval_that_is_given(margin, fit, half, reason, reached, width):
    """Whatever the sampling says that it stopped for."""
    total = SimpleNamespace(fit=fit, fit_lo=fit - half, fit_hi=fit + half)
    found = SimpleNamespace(sampling=SimpleNamespace(margin=margin, reason=reason), total=total)
    precision = Precision.of(found, predicted=False)
    assert (precision.margin, precision.reached) == (margin, reached)
    assert precision.half_width == (None if width is None else pytest.approx(width))
    assert Precision.of(found, predicted=True) == Precision(None, None, None)
