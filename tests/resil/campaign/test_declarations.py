# SPDX-License-Identifier: Apache-2.0
"""Declared keys and read keys are the same: one that nobody reads would be documented, and refused."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from resil.campaign.campaign import parse_campaign
from resil.campaign.declaration import ABSENT, REQUIRED, Key, KeyTable
from resil.campaign.keys import TABLES
from resil.campaign.problems import Problems
from resil.campaign.section import Section
from resil.errors import CampaignError
from resil.study import study_keys
from resil.study.study_file import parse_study

IMAGES = {"images": [{"memory": "m", "file": "a.bin"}]}
OUTPUT = {"output": {"shape": [1], "memory": "m", "dtype": "int8"}}
RECORDED = {"waves": "a.vcd", "instance": "tb.u_dut"}
TESTED = {"cocotb": "test_it:runs"}
WRONG = datetime.date(2000, 1, 1)  # a value that no key takes
# What else a table has to hold for a key of it to be read.
BESIDE = {
    "network.threshold": {"path": "zoo:digits", "inputs": [0], "decision": "reconstruction"},
    "network.output": {"path": "zoo:digits", "inputs": [0]},
    "network.inputs": {"path": "zoo:digits"},
    "network.detection": {"decision": "detection"},
    "network.detection.scales": {"anchors": "a.csv"},
    "faults.minimum_in": {"injections": 100},
    "permanent.minimum_in": {"injections": 100},
    "faults.reach_um": {"placement": "a.csv"},
    "sampling.until_decided": {"plan": "neyman"},
    "sampling.margin": {"plan": "neyman"},
    "sampling.model": {"plan": "predicted"},
    "workload.output": IMAGES,
    **{f"workload.{key}": IMAGES | OUTPUT for key in ("decision", "operations", "parameters")},
    "technology.flip_flop_range": {"name": "finfet16", "flip_flop_fit": 1e-4},
    "technology.sram_range": {"name": "finfet16", "sram_fit_per_mbit": 10.0},
    "technology.logic_range": {"name": "finfet16", "logic_fit": 1e-5},
    **{
        f"execution.dask.{key}": {"cluster": "slurm", "workers": 2}
        for key in ("workers", "memory", "walltime", "queue", "account", "interface", "python")
    },
    **{f"execution.dask.{key}": {"cluster": "slurm", "workers": 2} for key in ("prologue", "directives")},
    **{f"execution.dask.{key}": {"scheduler": "tls://h:1"} for key in ("ca", "certificate", "key")},
    "execution.dask.unprotected": {"scheduler": "tls://h:1"},
    **{
        f"workload.{key}": TESTED for key in ("record", "python_path", "plusargs", "env", "files", "failures")
    },
    **{
        f"workload.{key}": RECORDED
        for key in ("instance", "from", "to", "sampled", "at_edge", "clocks", "strobes", "closed")
    },
}


def declared(tables):
    """Name, table with its place, and key of all that is declared."""

    def inside(table: KeyTable, place: tuple[str, ...]):
        for key in table.keys:
            if not key.refused:
                yield ".".join((*place, key.name)), place, key
            if key.table is not None:
                yield from inside(key.table, (*place, key.name))

    return [found for name, table in tables.items() for found in inside(table, (name,))]


def file_with(name: str, place: tuple[str, ...], key: Key, repeated: tuple[str, ...] = ()):
    """Tables of a file in which one key has the wrong value."""
    inner: object = BESIDE.get(name, {}) | {key.name: WRONG}
    for part in reversed(place[1:]):
        inner = {part: [inner] if part in ("images", "mechanism", "strobes", "closed") else inner}
    if {"strobes", "closed"} & {*place}:
        inner = RECORDED | inner
    if "detection" in place:
        inner = BESIDE["network.detection"] | inner
    return {place[0]: [inner] if place[0] in repeated else inner}


CAMPAIGN, STUDY = declared(TABLES), declared(study_keys.TABLES)


@pytest.mark.parametrize(("name", "place", "key"), CAMPAIGN, ids=[name for name, _, _ in CAMPAIGN])
def test_every_declared_key_of_a_campaign_is_read(tmp_path, name, place, key):
    for file in ("a.bin", "a.vcd", "a.csv"):
        (tmp_path / file).write_bytes(b"")
    with pytest.raises(CampaignError) as refused:
        parse_campaign(tmp_path / "campaign.toml", file_with(name, place, key))
    assert_read(str(refused.value), key)


@pytest.mark.parametrize(("name", "place", "key"), STUDY, ids=[name for name, _, _ in STUDY])
def test_every_declared_key_of_a_study_is_read(tmp_path, name, place, key):
    for file in ("a.bin", "a.vcd", "a.csv"):
        (tmp_path / file).write_bytes(b"")
    repeated = ("target", "network", "workload")
    with pytest.raises(CampaignError) as refused:
        parse_study(tmp_path / "study.toml", file_with(name, place, key, repeated))
    assert_read(str(refused.value), key)


def assert_read(message: str, key: Key):
    (line,) = [line for line in message.splitlines() if f"] {key.name}: expected " in line]
    assert "an unknown key" not in line
    assert "2000" in line


def test_an_undeclared_key_cannot_be_read():
    section = Section(Problems(Path("f.toml")), ("t",), {"a": 1}, KeyTable("t", "Nothing.", ()))
    with pytest.raises(KeyError, match="declares no key a"):
        section.text("a")


@pytest.mark.parametrize(("name", "place", "key"), CAMPAIGN + STUDY)
def test_every_default_is_within_its_range(name, place, key):
    for value in key.default if isinstance(key.default, tuple) else (key.default,):
        if value is REQUIRED or value is ABSENT:
            continue
        assert not key.choices or value in key.choices
        assert key.type not in ("integer", "number") or key.low <= value <= key.high
    assert key.meaning.endswith(".")
