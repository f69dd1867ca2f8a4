# SPDX-License-Identifier: Apache-2.0
"""Engines are what they declare: settings, checks and the resolved campaign come from it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from resil.campaign import engines as module
from resil.campaign.campaign import parse_campaign
from resil.campaign.engines import able, engine_named, engines, register
from resil.campaign.text import campaign_text
from resil.errors import CampaignError, ResilError
from resil.rtl_harness.engine.cxxrtl.engine import CxxrtlEngine
from resil.rtl_harness.engine.declaration import Ability, EngineDeclaration, EngineOption
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.plain.engine import PlainEngine
from resil.rtl_harness.engine.reference.engine import CocotbEngine
from resil.rtl_harness.npu.memory_engine import MemoryEngine
from testkit.campaigns import TEXT
from testkit.errors import about

OPTIONS = (
    EngineOption("depth", "integer", 4, "How deep.", 1, 9),
    EngineOption("share", "number", 0.5, "How much.", 0.0, 1.0),
    EngineOption("fast", "boolean", False, "Whether fast."),
    EngineOption("way", "string", "left", "Which way.", choices=("left", "right")),
)
TOY = EngineDeclaration("toy", "A toy.", frozenset({Ability.STORAGE}), lambda *_: None, OPTIONS)


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(module, "_registered", [])
    register(TOY)


def campaign(more: str = "", **changes: str):
    text = TEXT
    for old, new in changes.items():
        text = text.replace(old, new)
    return parse_campaign(Path("c.toml"), tomllib.loads(text + more))


def test_what_is_declared_bears_the_name_of_what_is_made():
    kinds = (VerilatorEngine, CocotbEngine, PlainEngine, CxxrtlEngine, MemoryEngine)
    made = {engine.name for engine in kinds}
    assert {engine.name for engine in engines()} == made


def test_every_default_is_a_value_of_its_option():
    for option in (option for engine in engines() for option in engine.options):
        assert option.default in option.choices if option.choices else option.low <= option.default


def test_a_campaign_takes_the_first_engine_that_can_do_what_it_asks():
    assert campaign().execution.engine == engines()[0].name
    assert campaign(ff="weights").execution.engine == "model"
    assert [engine.name for engine in able([Ability.MEMORY_OUTSIDE])] == ["model"]


@pytest.mark.parametrize("table", ['timeout = "operation"', 'until = "detection"', 'dask = "tls://h:1"'])
def test_what_an_engine_does_not_declare_is_refused(table, toy):
    with pytest.raises(CampaignError, check=about("execution.engine")):
        campaign(f'[execution]\nengine = "toy"\n{table}\n')
    assert campaign(f"[execution]\n{table}\n").execution.engine == engines()[0].name


def test_clusters_stuck_bits_and_a_second_inference_are_asked_of_the_engine_too(toy):
    execution = '[execution]\nengine = "toy"\n'
    for changes in (
        {"injections = 200": "injections = 200\nclusters = { 1 = 0.5, 2 = 0.5 }"},
        {"injections = 200": 'injections = 200\nmodel = "stuck_at"'},
        {"seed = 7": "seed = 7\ninferences = 2"},
    ):
        with pytest.raises(CampaignError, check=about("execution.engine")):
            campaign(execution, **changes)


def test_options_are_read_as_they_are_declared_and_kept(toy):
    text = '[execution]\nengine = "toy"\n[engine.toy]\ndepth = 7\nway = "right"\n'
    found = campaign(text)
    assert found.execution.options == {"depth": 7, "share": 0.5, "fast": False, "way": "right"}
    assert parse_campaign(found.file, tomllib.loads(campaign_text(found))) == found


def test_options_of_other_engines_are_checked_and_do_not_count(toy):
    assert campaign("[engine.toy]\ndepth = 7\n").execution.options == engines()[0].values({})
    with pytest.raises(CampaignError, check=about("engine.toy.depth")):
        campaign("[engine.toy]\ndepth = 70\n")


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ("[engine.toy]\nshare = 2.0\n", "engine.toy.share"),
        ("[engine.toy]\nfast = 1\n", "engine.toy.fast"),
        ('[engine.toy]\nway = "up"\n', "engine.toy.way"),
        ("[engine.toy]\ndeph = 1\n", "engine.toy.deph"),
        ("[engine.tyo]\ndepth = 1\n", "engine.tyo"),
        ("[engine]\ntoy = 1\n", "engine.toy"),
    ],
)
def test_what_is_wrong_with_options_is_said(table, field, toy):
    with pytest.raises(CampaignError, check=about(field)):
        campaign(table)


def test_two_engines_of_one_name_are_refused(toy):
    with pytest.raises(ResilError, check=about("name")):
        register(TOY)
    with pytest.raises(ResilError, check=about("execution.engine")):
        engine_named("abacus")
