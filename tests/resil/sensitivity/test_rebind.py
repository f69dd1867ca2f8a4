# SPDX-License-Identifier: Apache-2.0
"""A model gets the present digest of its RTL only where what is made of the RTL is the same bytes."""

import json
import lzma
import shutil
from dataclasses import asdict
from hashlib import sha256

import pytest

from resil.errors import ResilError
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.shipped.results import FILES, INDEX, SCHEMA, ShippedResult
from resil.sensitivity import rebind
from resil.sensitivity.model import SHIPPED, load_model
from testkit.errors import about


@pytest.fixture
def former(tmp_path):
    """A folder with tables of the earlier RTL, whose content is their kind, and a copy of the model."""
    shutil.copy(SHIPPED, tmp_path / "model.json.gz")
    index = []
    for name in load_model(SHIPPED).accelerators:
        for kind in FILES:
            file = tmp_path / f"{name}.{kind}.xz"
            file.write_bytes(lzma.compress(kind.encode()))
            digest = sha256(kind.encode()).hexdigest()
            index.append(asdict(ShippedResult(file.name, kind, f"{name} {kind} before", digest)))
    (tmp_path / INDEX).write_text(json.dumps({"schema": SCHEMA, "results": index}))
    return tmp_path


def made(monkeypatch, key="now", **changes):
    def results_of(target):
        return {(kind, f"{target.name} {kind} {key}"): changes.get(kind, kind).encode() for kind in FILES}

    monkeypatch.setattr(rebind, "results_of", results_of)


def test_equal_results_bind_the_model_to_the_present_rtl(former, monkeypatch):
    made(monkeypatch)
    rebind.rebind(former / "model.json.gz", former, lambda line: None)
    before, after = load_model(SHIPPED), load_model(former / "model.json.gz")
    for name, own in after.accelerators.items():
        assert own.rtl == rtl_digest(load_target(name))
        assert own.bits == before.accelerators[name].bits
    assert after.counts == before.counts


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gates": "other"}, "gates"),
        ({"key": "before"}, "tables"),
    ],
)
def test_what_is_not_shown_to_be_equal_leaves_the_model_as_it_is(changes, field, former, monkeypatch):
    monkeypatch.setattr(rebind, "rtl_digest", lambda target: "0" * 32)
    made(monkeypatch, **changes)
    content = (former / "model.json.gz").read_bytes()
    with pytest.raises(ResilError, check=about(field)):
        rebind.rebind(former / "model.json.gz", former, lambda line: None)
    assert (former / "model.json.gz").read_bytes() == content
