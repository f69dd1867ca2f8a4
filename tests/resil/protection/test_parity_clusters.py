# SPDX-License-Identifier: Apache-2.0
"""Parity where upsets flip neighbours: chosen, built with parity bits in turn, and confirmed by injection."""

from __future__ import annotations

import shutil

import pytest

from resil.trace.run import Run
from tests.resil.protection.built_stepper import PAIRS, TRIPLES, protect_stepper, verified


@pytest.fixture(scope="module", params=[PAIRS, TRIPLES], ids=["pairs", "triples"])
def made(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parity")
    protect_stepper(folder, request.param)
    return folder


@pytest.fixture
def again(made, tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_DATA", str(tmp_path / "data"))
    # As deep as it was made: the build names sources by where they lie from there.
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_clusters_under_parity_in_turn_are_reported(again):
    """The fault: pairs under one parity bit went through, and a set was refused for what was predicted."""
    found = verified(again)
    assert found.reasons == ()
    assert found.confirmed
    (parity,) = found.copies.mechanisms
    assert parity.mechanism == "parity"
    assert parity.beyond == 0
    assert parity.injections >= 1500
    # An upset that makes the design say that it is done is reported along with that, and in the last cycle.
    assert (parity.hazardous, parity.unreported) == (0, 0)
    rows = Run(again / "built" / "confirmation" / "two" / "upsets").injections()
    struck = rows[rows.register.str.contains("u_state_q")]
    assert set(struck[struck.bits > 1].alarm) == {"alert_major"}
    (row,) = found.networks
    assert row.corner
    assert row.corner_fit_hi > row.fit_hi
    assert row.corner_unaided_hi > row.unaided_hi > row.fit_hi


def test_neighbours_under_one_parity_bit_are_found_by_injection(again):
    parity = again / "built" / "rtl" / "resil_flop_parity.sv"
    turns = "unsigned i = number; i < Width; i += Ways) way[i] = 1'b1"
    text = parity.read_text()
    assert turns in text
    # All bits lie under the first parity bit.
    parity.write_text(text.replace(turns, "unsigned i = 0; i < Width; i++) way[i] = number == 0"))
    found = verified(again)
    assert not found.confirmed
    assert any("were hazardous: the mechanism does not protect" in reason for reason in found.reasons)
