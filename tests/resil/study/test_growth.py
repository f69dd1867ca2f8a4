# SPDX-License-Identifier: Apache-2.0
"""Trends over sizes: from injected cells alone, with intervals."""

from __future__ import annotations

import pytest

from resil.study.growth import growth


def cell(macs, network, fit, width=0.1, **others):
    block = {
        "ff_bits": 100 * macs,
        "macro_bits": 0,
        "sram_bits": 7,
        "area": 2.0 * macs,
        "fit_raw": float(macs),
    }
    block |= {"fit": fit, "fit_lo": fit * (1 - width), "fit_hi": fit * (1 + width)}
    return {
        "target": f"npu-{macs}",
        "network": network,
        "verdict": "met",
        "predicted": False,
        "confidence": 0.95,
        "parameters": {"Macs": macs, "Same": 1},
        "blocks": [block | {"block": "mac"}, block | {"block": "total"}],
    } | others


def row(found, what, block="mac"):
    (own,) = (own for own in found["rows"] if (own["what"], own["block"]) == (what, block))
    return own


def test_what_doubles_with_the_array_grows_and_what_stays_does_not():
    cells = [cell(macs, name, macs / 32) for macs in (32, 64, 128) for name in ("a", "b")]
    found = growth(cells)
    assert (found["parameter"], found["sizes"], found["networks"]) == ("Macs", [32, 64, 128], ["a", "b"])
    assert row(found, "fit")["values"] == [1.0, 2.0, 4.0]
    assert row(found, "fit")["per_doubling"] == pytest.approx(1.5)
    assert row(found, "fit")["trend"] == "grows"
    assert row(found, "area")["per_doubling_lo"] == row(found, "area")["per_doubling_hi"] == 96.0
    flat = growth([cell(macs, "a", 1.0) for macs in (32, 64, 128)])
    assert row(flat, "fit")["trend"] == "not shown"
    assert row(growth([cell(macs, "a", 32 / macs) for macs in (32, 64, 128)]), "fit")["trend"] == "shrinks"


def test_what_is_the_same_but_for_rounding_shows_no_trend():
    cells = [cell(macs, "a", macs / 32) for macs in (32, 64, 128, 256)]
    for own, area in zip(cells, (196.1, 65.3 + 130.8, 196.1, 130.8 + 65.3), strict=True):
        own["blocks"][0]["area"] = area
    found = row(growth(cells), "area")
    assert len(set(found["values"])) == 2
    assert (found["per_doubling"], found["trend"]) == (0.0, "constant")


def test_a_wide_interval_shows_no_trend():
    assert row(growth([cell(m, "a", m / 32, width=0.9) for m in (32, 64)]), "fit")["trend"] == "not shown"


def test_only_networks_that_were_injected_on_all_targets_count():
    cells = [cell(32, "a", 1.0), cell(32, "b", 5.0), cell(64, "a", 2.0), cell(64, "b", 9.0, predicted=True)]
    found = growth(cells)
    assert found["networks"] == ["a"]
    assert row(found, "fit")["values"] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([], "do not differ"),
        ([cell(32, "a", 1.0)], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, predicted=True)], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, verdict="failed")], "do not differ"),
        ([cell(32, "a", 1.0), cell(64, "b", 1.0)], "no network was injected into on all targets"),
        ([cell(32, "a", 1.0), cell(64, "a", 1.0, parameters={})], "do not differ"),
    ],
)
def test_where_nothing_can_be_said_it_is_said_why(cells, reason):
    found = growth(cells)
    assert found["rows"] == []
    assert reason in found["reason"]
