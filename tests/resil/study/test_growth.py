# SPDX-License-Identifier: Apache-2.0
"""Trends over sizes: from injected cells alone, with intervals."""

from __future__ import annotations

import pytest

from resil.study.growth import growth
from testkit.study_cells import typed


def block(macs, fit, width, name, area=None):
    bits = {"ff_bits": 100 * macs, "macro_bits": 0, "sram_bits": 7, "fit_raw": float(macs)}
    rate = {"fit": fit, "fit_lo": fit * (1 - width), "fit_hi": fit * (1 + width)}
    return {"block": name, "area": 2.0 * macs if area is None else area} | bits | rate


def cell(macs, network, fit, width=0.1, *, verdict="met", area=None, **others):
    blocks = [block(macs, fit, width, name, area) for name in ("mac", "total")]
    given = {"parameters": {"Macs": macs, "Same": 1}, "blocks": blocks} | others
    return typed(f"npu-{macs}", network, verdict, **given)


def row(found, what, block="mac"):
    (own,) = (own for own in found.trends if (own.what, own.block) == (what, block))
    return own


def estimates(found, what):
    return [own.estimate for own in row(found, what).values]


def test_what_doubles_with_the_array_grows_and_what_stays_does_not():
    cells = [cell(macs, name, macs / 32) for macs in (32, 64, 128) for name in ("a", "b")]
    found = growth(cells)
    assert (found.parameter, found.sizes, found.networks) == ("Macs", (32, 64, 128), ("a", "b"))
    assert estimates(found, "fit") == [1.0, 2.0, 4.0]
    assert row(found, "fit").per_doubling.estimate == pytest.approx(1.5)
    assert row(found, "fit").trend == "grows"
    assert row(found, "area").per_doubling[1:] == (96.0, 96.0)
    flat = growth([cell(macs, "a", 1.0) for macs in (32, 64, 128)])
    assert row(flat, "fit").trend == "not shown"
    assert row(growth([cell(macs, "a", 32 / macs) for macs in (32, 64, 128)]), "fit").trend == "shrinks"


def test_what_is_the_same_but_for_rounding_shows_no_trend():
    areas = {32: 196.1, 64: 65.3 + 130.8, 128: 196.1, 256: 130.8 + 65.3}
    found = growth([cell(macs, "a", macs / 32, area=area) for macs, area in areas.items()])
    assert len(set(estimates(found, "area"))) == 2
    assert (row(found, "area").per_doubling.estimate, row(found, "area").trend) == (0.0, "constant")


def test_a_wide_interval_shows_no_trend():
    assert row(growth([cell(m, "a", m / 32, width=0.9) for m in (32, 64)]), "fit").trend == "not shown"


def test_only_networks_that_were_injected_on_all_targets_count():
    cells = [
        cell(32, "a", 1.0),
        cell(32, "b", 5.0),
        cell(64, "a", 2.0),
        cell(64, "b", 9.0, verdict="inconclusive", predicted=True),
    ]
    found = growth(cells)
    assert found.networks == ("a",)
    assert estimates(found, "fit") == [1.0, 2.0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([], "do not differ"),
        ([cell(32, "a", 1.0)], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, verdict="inconclusive", predicted=True)], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, verdict="failed")], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "b", 1.0)], "no network was injected into on all targets"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, parameters={})], "do not differ"),
    ],
)
def test_where_nothing_can_be_said_it_is_said_why(cells, reason):
    found = growth(cells)
    assert found.trends == ()
    assert reason in found.reason
