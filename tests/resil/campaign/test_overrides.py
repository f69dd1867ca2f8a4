# SPDX-License-Identifier: Apache-2.0
"""Keys that the command line gives: checked as the file is, and in the resolved campaign."""

from __future__ import annotations

import tomllib

import pytest

from resil.campaign.campaign import load_campaign
from resil.campaign.overrides import command_line, overridden, parse_override
from resil.cli import main
from resil.errors import CampaignError
from resil.study.study_file import load_study
from testkit import fake
from testkit.campaigns import TEXT, write_campaign
from testkit.errors import about


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("faults.injections=5000", ("faults", "injections"), 5000),
        ("execution.engine=cocotb", ("execution", "engine"), "cocotb"),
        ('execution.engine="cocotb"', ("execution", "engine"), "cocotb"),
        ("network.inputs=[1, 2]", ("network", "inputs"), [1, 2]),
        ("faults.clusters={ 1 = 0.5, 2 = 0.5 }", ("faults", "clusters"), {"1": 0.5, "2": 0.5}),
        ("campaign.name=two words", ("campaign", "name"), "two words"),
        ("budget.rationale=a = b", ("budget", "rationale"), "a = b"),
        ("network.1.path=zoo:digits", ("network", 1, "path"), "zoo:digits"),
    ],
)
def test_a_value_has_the_type_that_toml_gives_it(text, path, value):
    found = parse_override(text)
    assert (found.path, found.value) == (path, value)


@pytest.mark.parametrize("text", ["", "=", "faults=3", "faults.injections", "faults.injections=", ".x=1"])
def test_what_is_no_key_and_value_is_refused(text):
    with pytest.raises(CampaignError, check=about("--set")):
        parse_override(text)


@pytest.mark.parametrize(
    ("text", "field"),
    [("a.b.c=1", "a.b.c"), ("list.2.x=1", "list[2].x"), ("list.x=1", "list.x"), ("a.0=1", "a[0]")],
)
def test_a_key_in_something_else_than_a_table_is_refused(text, field):
    tables = {"a": {"b": 3}, "list": [{"x": 0}, {"x": 1}]}
    with pytest.raises(CampaignError, check=about(field)):
        overridden(tables, command_line([text]))


def test_a_file_is_not_changed_and_a_table_is_made():
    tables = {"list": [{"x": 0}, {"x": 1}]}
    found = overridden(tables, command_line(["list.1.x=7", "new.key=1"]))
    assert found == {"list": [{"x": 0}, {"x": 7}], "new": {"key": 1}}
    assert tables == {"list": [{"x": 0}, {"x": 1}]}


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("faults.injections=0", "faults.injections"),
        ("faults.injectoins=9", "faults.injectoins"),
        ("fualts.injections=9", "fualts"),
    ],
)
def test_what_is_set_is_checked_as_the_file_is(text, field, tmp_path):
    with pytest.raises(CampaignError, check=about(field)):
        load_campaign(write_campaign(tmp_path), command_line([text]))


def test_what_is_set_lands_in_the_resolved_campaign(tmp_path, monkeypatch, capsys):
    fake.install(monkeypatch)
    arguments = ["--set", "faults.injections=220", "--set", "execution.timeout_factor=3"]
    main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), *arguments])
    resolved = tomllib.loads((tmp_path / "run" / "campaign.toml").read_text())
    assert resolved["faults"]["injections"] == 220
    assert resolved["execution"]["timeout_factor"] == 3.0
    assert load_campaign(tmp_path / "run" / "campaign.toml").faults.injections == 220


def test_what_is_set_has_to_be_said_again_to_go_on(tmp_path, monkeypatch, capsys):
    def interrupted(self, faults, workers=1):
        raise KeyboardInterrupt

    fake.install(monkeypatch)
    monkeypatch.setattr("testkit.fake.FakeEngine.run", interrupted)
    arguments = ["--set", "campaign.name=two words", "--workers", "2"]
    assert main(["run", str(write_campaign(tmp_path)), "--out", str(tmp_path / "run"), *arguments]) == 130
    assert capsys.readouterr().err.rstrip().endswith("--resume --set 'campaign.name=two words' --workers 2")


def test_a_study_takes_keys_too(tmp_path):
    text = TEXT.replace("[campaign]", "[study]").replace("[network]", "[[network]]")
    (tmp_path / "study.toml").write_text(text.replace("[target]", "[[target]]"))
    words = ["faults.injections=300", "network.0.inputs=[5]"]
    study = load_study(tmp_path / "study.toml", command_line(words))
    (cell,) = study.cells
    assert (cell.campaign.faults.injections, cell.campaign.network.inputs) == (300, (5,))
