# SPDX-License-Identifier: Apache-2.0
"""The campaign file: what it may say, and what is said about it when it is wrong."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resil.campaign.campaign import load_campaign, parse_campaign
from resil.campaign.overrides import command_line
from resil.campaign.rules import Budget
from resil.campaign.text import campaign_tables, campaign_text
from resil.errors import CampaignError
from testkit.errors import about

GOOD = """
[campaign]
name = "a"
seed = 7
[network]
path = "zoo:digits"
inputs = [0, 3]
[target]
name = "ethos-u55-32"
[faults]
kinds = ["ff"]
injections = 100
minimum_per_block = 10
[technology]
name = "finfet-16nm"
[budget]
fit = 0.01
rationale = "a share of 10 FIT"
"""


def write(folder, text):
    file = folder / "campaign.toml"
    file.write_text(text)
    return file


def test_a_good_campaign_has_documented_defaults(tmp_path):
    campaign = load_campaign(write(tmp_path, GOOD))
    assert campaign.confidence == 0.95
    assert campaign.network.inputs == (0, 3)
    assert campaign.execution.workers is None
    assert campaign.execution.timeout_factor == 2.0
    assert campaign.execution.timeout == "inference"
    assert campaign.budget == Budget(0.01, "a share of 10 FIT")
    assert campaign.hazardous == ("sdc_critical", "hang")


def test_without_a_budget_there_is_none_and_the_default_outcomes_are_hazardous(tmp_path):
    campaign = load_campaign(write(tmp_path, GOOD.split("[budget]")[0]))
    assert campaign.budget is None
    assert campaign.hazardous == ("sdc_critical", "hang")


WRONG = {
    "unknown key": (
        "seed = 7",
        "seed = 7\nsede = 8",
        r'\[campaign\] sede: .*unknown key; did you mean "seed"',
    ),
    "unknown key, nothing near": ("seed = 7", "seed = 7\nzzz = 8", r"\[campaign\] zzz: .*; remove it"),
    "unknown table": (
        "[faults]",
        "[fualts]",
        r"fualts: expected one of the tables .* did you mean \[faults\]",
    ),
    "missing table": ('[target]\nname = "ethos-u55-32"', "", r"expected a table \[target\], found none"),
    "table is a value": ("[campaign]", "area = 3\n[campaign]", r"expected area to be a table, found 3"),
    "missing key": ("seed = 7", "", r"\[campaign\] seed: expected an integer .*found nothing; add the key"),
    "blank name": ('name = "a"', 'name = " "', r"\[campaign\] name: expected a string that is not blank"),
    "seed is text": ("seed = 7", 'seed = "7"', r'\[campaign\] seed: expected an integer .*found "7"'),
    "seed is a truth value": ("seed = 7", "seed = true", r"\[campaign\] seed: expected an integer"),
    "seed below zero": ("seed = 7", "seed = -1", r"\[campaign\] seed: .*found -1"),
    "confidence of one": (
        "seed = 7",
        "seed = 7\nconfidence = 1.0",
        r"\[campaign\] confidence: .*below 0.99999",
    ),
    "confidence in percent": (
        "seed = 7",
        "seed = 7\nconfidence = 95",
        r"\[campaign\] confidence: .*found 95",
    ),
    "confidence that prints as 100 %": (
        "seed = 7",
        "seed = 7\nconfidence = 0.9999999999999",
        r"\[campaign\] confidence: .*below 0.99999, found 0.9999999999999",
    ),
    "misspelt required key": (
        "seed = 7",
        "sede = 7",
        r'line 4, column 1: .* sede: .*mean "seed"\?$',
    ),
    "misspelt target": ('name = "ethos-u55-32"', 'nmae = "x"', r'\[target\] nmae: .*did you mean "name"\?$'),
    "misspelt table, required": ("[network]", "[netwrok]", r"netwrok: .*; did you mean \[network\]\?$"),
    "nested without end": ("[0, 3]", "[" * 100_000, r"nested deeper than can be read; .*remove them"),
    "a number of 5000 digits": ("seed = 7", f"seed = {'7' * 5000}", r"not valid TOML: .*digits"),
    "a number too large to show": (
        "seed = 7",
        f"seed = 0x{'f' * 9999}",
        r"int too large to be shown",
    ),
    "a rate too large": (
        "[budget]",
        f"flip_flop_fit = 1{'0' * 400}\n[budget]",
        r"flip_flop_fit: expected",
    ),
    "a path that is none": ("zoo:digits", "a\\u0000b", r"\[network\] path: .*which is no path"),
    "a home of nobody": ("zoo:digits", "~nobody-of-that-name/n", r"\[network\] path: .*which is no path"),
    "a path too long": ("zoo:digits", "x" * 5000, r"\[network\] path: .*which is no path"),
    "kinds of tables": ('["ff"]', "[{}]", r"\[faults\] kinds: "),
    "confidence is nan": ("seed = 7", "seed = 7\nconfidence = nan", r"\[campaign\] confidence: .*found nan"),
    "network file missing": (
        "zoo:digits",
        "no.tflite",
        r'\[network\] path: .*"no.tflite", and .* is no file',
    ),
    "inputs empty": ("[0, 3]", "[]", r"\[network\] inputs: .*give one or more different indices"),
    "inputs repeated": ("[0, 3]", "[3, 3]", r"\[network\] inputs: "),
    "inputs not whole": ("[0, 3]", "[0.5]", r"\[network\] inputs: "),
    "inputs a truth value": ("[0, 3]", "[true]", r"\[network\] inputs: "),
    "input file missing": ("[0, 3]", '"x.npy"', r"\[network\] inputs: expected a .npy or .npz file"),
    "target twice": ('name = "ethos-u55-32"', 'name = "x"\nfile = "y"', r"\[target\] name: .*found both"),
    "target nowhere": ('name = "ethos-u55-32"', "", r"\[target\] name: .*found neither"),
    "target file missing": ('name = "ethos-u55-32"', 'file = "t.toml"', r"\[target\] file: .* is no file"),
    "kind unknown": ('["ff"]', '["latch"]', r"\[faults\] kinds: expected .*ff, macro, sram"),
    "kind twice": ('["ff"]', '["ff", "ff"]', r"\[faults\] kinds: expected each value once"),
    "kinds empty": ('["ff"]', "[]", r"\[faults\] kinds: "),
    "no injections": ("injections = 100", "injections = 0", r"\[faults\] injections: .*found 0"),
    "minimum too large": ("block = 10", "block = 101", r"minimum_per_block: expected at most the 100"),
    "minima no table": (
        "block = 10",
        "block = 10\nminimum_in = 3",
        r"minimum_in: expected a table",
    ),
    "minima of what is no kind": (
        "block = 10",
        "block = 10\nminimum_in = { cc = { rom = 3 } }",
        r"minimum_in: expected a table",
    ),
    "minima by kind too large": (
        "block = 10",
        "block = 10\nminimum_in = { cc = { ff = 60, sram = 41 } }",
        r"minimum_in: .* found 101",
    ),
    "minima too large": ("block = 10", "block = 10\nminimum_in = { cc = 101 }", r"minimum_in: .* found 101"),
    "minima with another plan": (
        "block = 10",
        'block = 10\nminimum_in = { cc = 5 }\n[sampling]\nplan = "uniform"',
        r'minimum_in: expected the plan "proportional"',
    ),
    **{
        f"clusters {name}": ("block = 10", f"block = 10\nclusters = {value}", message)
        for name, value, message in (
            ("not a table", "3", r"\[faults\] clusters: expected a table of sizes \(1, 2, 3\)"),
            ("empty", "{}", r"\[faults\] clusters: expected a table of sizes"),
            ("too large", "{1 = 0.9, 4 = 0.1}", r"\[faults\] clusters: expected a table of sizes"),
            ("short of 1", "{1 = 0.9, 2 = 0.05}", r"clusters: expected shares that sum to 1, found 0.95"),
            ("below 0", "{1 = 1.5, 2 = -0.5}", r"\[faults.clusters\] 2: expected a number above 0"),
        )
    },
    "more inferences than any": (
        "seed = 7",
        "seed = 7\ninferences = 1025",
        r"\[campaign\] inferences: .*found 1,?025",
    ),
    "three inferences of a workload": (
        'seed = 7\n[network]\npath = "zoo:digits"\ninputs = [0, 3]',
        """seed = 7
inferences = 3
[workload]
decision = "exact"
[[workload.images]]
memory = "input"
file = "input.bin"
[workload.output]
memory = "output"
shape = [8]""",
        r"\[campaign\] inferences: expected 1 or 2 but for a network with variables, found 3",
    ),
    "between nothing": (
        "seed = 7",
        'seed = 7\nbetween = "reset"',
        r"\[campaign\] between: expected the key with several inferences .* found inferences = 1",
    ),
    "between unknown": (
        "seed = 7",
        'seed = 7\ninferences = 2\nbetween = "pray"',
        r"\[campaign\] between: expected one of rewrite, reset",
    ),
    "fault model unknown": (
        "block = 10",
        'block = 10\nmodel = "glitch"',
        r"\[faults\] model: expected one of upset, stuck_at, open, bridge",
    ),
    "stuck clusters": (
        "block = 10",
        'block = 10\nmodel = "stuck_at"\nclusters = {1 = 0.9, 2 = 0.1}',
        r'\[faults\] clusters: expected the key with model = "upset" only',
    ),
    **{
        f"stuck bits, {plan}": (
            "block = 10",
            f'block = 10\nmodel = "stuck_at"\n[sampling]\nplan = "{plan}"',
            rf'\[faults\] model: expected a plan for faults that are there .* found plan = "{plan}", {why}',
        )
        for plan, why in {
            "stratified": "which goes by the operation",
            "neyman": "which goes by results",
            "adaptive": "which goes by results",
            "predicted": "which goes by results",
        }.items()
    },
    "stuck bits and a safety verdict": (
        "block = 10",
        'block = 10\nmodel = "stuck_at"\n[safety]\nasil = "D"',
        r"\[faults\] model: expected upsets where there is a table \[safety\]",
    ),
    "permanent rate in another unit": (
        "[budget]",
        "permanent_flip_flop_fit = 80.0\n[budget]",
        r"permanent_flip_flop_fit: expected FIT of one flip-flop, from 1e-09 to 0.01, found 80",
    ),
    "permanent rate below zero": (
        "[budget]",
        "permanent_flip_flop_fit = -1.0\n[budget]",
        r"\[technology\] permanent_flip_flop_fit: expected a number above 0",
    ),
    "technology missing": ("[technology]\n", "[execution]\n", r"\[technology\]|\[execution\] name"),
    "engine unknown": (
        "[budget]",
        '[execution]\nengine = "abacus"\n[budget]',
        r"engine: expected one of .*cocotb",
    ),
    "no workers": ("[budget]", "[execution]\nworkers = 0\n[budget]", r"\[execution\] workers: .*found 0"),
    "timeout too short": (
        "[budget]",
        "[execution]\ntimeout_factor = 1\n[budget]",
        r"timeout_factor: .*above 1",
    ),
    "override below zero": (
        "[budget]",
        "flip_flop_fit = -1.0\n[budget]",
        r"\[technology\] flip_flop_fit: expected a number above 0",
    ),
    "budget zero": (
        "fit = 0.01",
        "fit = 0",
        r"\[budget\] fit: expected a number above 0.*found 0; derive the NPU",
    ),
    "budget infinite": ("fit = 0.01", "fit = inf", r"\[budget\] fit: "),
    "budget text": ("fit = 0.01", 'fit = "low"', r'\[budget\] fit: .*found "low"'),
    "budget missing": ("fit = 0.01", "", r"\[budget\] fit: .*found nothing; derive"),
    "rationale missing": (
        'rationale = "a share of 10 FIT"',
        "",
        r"\[budget\] rationale: .*found nothing; derive",
    ),
    "rationale blank": ('"a share of 10 FIT"', '""', r"\[budget\] rationale: .*not blank.*; derive"),
    "masked is no hazard": (
        "[budget]",
        '[budget]\nhazardous = ["masked"]',
        r"\[budget\] hazardous: expected a list of one or more of latent",
    ),
    "liberty missing": (
        "[budget]",
        '[area]\nliberty = "c.lib"\n[budget]',
        r"\[area\] liberty: .* is no file",
    ),
    "not TOML": ("[campaign]", "[campaign", r"not valid TOML: .*line 2"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_campaign_names_file_key_and_remedy(case, tmp_path):
    old, new, message = WRONG[case]
    assert old in GOOD
    file = write(tmp_path, GOOD.replace(old, new))
    with pytest.raises(CampaignError, match=message) as error:
        load_campaign(file)
    assert str(error.value).startswith(str(file))
    assert ";" in str(error.value)


def test_two_inferences_are_kept_in_the_resolved_campaign(tmp_path):
    campaign = load_campaign(
        write(tmp_path, GOOD.replace("seed = 7", 'seed = 7\ninferences = 2\nbetween = "reset"'))
    )
    assert (campaign.inferences, campaign.between) == (2, "reset")
    assert parse_campaign(campaign.file, tomllib.loads(campaign_text(campaign))) == campaign


@pytest.mark.parametrize(("fault", "plan"), [('model = "stuck_at"', "proportional"), ("", "predicted")])
def test_a_second_inference_needs_upsets_and_a_plan_without_predictions(tmp_path, fault, plan):
    text = GOOD.replace("seed = 7", "seed = 7\ninferences = 2").replace("minimum_per_block = 10", fault)
    file = write(tmp_path, f'{text}\n[sampling]\nplan = "{plan}"\n')
    with pytest.raises(CampaignError, check=about("campaign.inferences")):
        load_campaign(file)


UNTIL = '[execution]\nuntil = "detection"\n'


def test_an_end_at_detection_is_kept_in_the_resolved_campaign(tmp_path):
    assert load_campaign(write(tmp_path, GOOD)).execution.until == "end"
    campaign = load_campaign(write(tmp_path, GOOD + UNTIL))
    assert campaign.execution.until == "detection"
    assert parse_campaign(campaign.file, tomllib.loads(campaign_text(campaign))) == campaign


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 7", "seed = 7\ninferences = 2"),
        ("[budget]", '[safety]\nclaims = ["spfm_transient"]\nasil = "D"\nftti_cycles = 900\n[budget]'),
        ("[budget]", '[safety]\nclaims = ["spfm_transient", "sensitivity"]\nasil = "D"\n[budget]'),
        ("minimum_per_block = 10", '[sampling]\nplan = "predicted"'),
    ],
)
def test_an_end_at_detection_needs_a_campaign_that_asks_for_no_more(old, new, tmp_path):
    """The fault: what alarms would have let through is unknown, and counted as harmless."""
    file = write(tmp_path, GOOD.replace(old, new) + UNTIL)
    with pytest.raises(CampaignError, check=about("execution.until")):
        load_campaign(file)


def test_minima_of_blocks_are_kept_in_the_resolved_campaign(tmp_path):
    campaign = load_campaign(
        write(tmp_path, GOOD.replace("block = 10", "block = 10\nminimum_in = { cc = 5, sb = { sram = 7 } }"))
    )
    assert campaign.faults.minimum_in == {"cc": 5, "sb": {"sram": 7}}
    asked = [("cc", "ff"), ("cc", "sram"), ("sb", "sram"), ("sb", "ff"), ("mac", "ff")]
    assert [campaign.faults.minimum(*key) for key in asked] == [5, 5, 7, 10, 10]
    again = parse_campaign(campaign.file, tomllib.loads(campaign_text(campaign)))
    assert again == campaign


def test_a_fault_model_is_kept_in_the_resolved_campaign(tmp_path):
    text = GOOD.replace("block = 10", 'block = 10\nmodel = "stuck_at"')
    text = text.replace('"finfet-16nm"', '"finfet-16nm"\npermanent_sram_fit_per_mbit = 2.5')
    campaign = load_campaign(write(tmp_path, text))
    assert campaign.faults.permanent
    assert campaign.technology.permanent_sram_fit_per_mbit == 2.5
    again = parse_campaign(campaign.file, tomllib.loads(campaign_text(campaign)))
    assert again == campaign


@pytest.mark.parametrize(
    ("text", "shares"),
    [("{1 = 0.9, 2 = 0.08, 3 = 0.02}", (0.9, 0.08, 0.02)), ("{1 = 1}", (1.0,)), ("{3 = 1}", (0.0, 0.0, 1.0))],
)
def test_clusters_are_shares_of_the_sizes(tmp_path, text, shares):
    campaign = load_campaign(write(tmp_path, GOOD.replace("block = 10", f"block = 10\nclusters = {text}")))
    assert campaign.faults.clusters == shares
    again = load_campaign(write(tmp_path, campaign_text(campaign)))
    assert replace(again, file=campaign.file) == campaign


def test_a_file_that_is_missing_or_not_text(tmp_path):
    with pytest.raises(CampaignError, check=about("file")):
        load_campaign(tmp_path / "none.toml")
    with pytest.raises(CampaignError, check=about("file")):
        load_campaign(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CampaignError, check=about("file")):
        load_campaign(tmp_path / "binary.toml")


def test_a_network_file_has_no_held_out_split(tmp_path):
    (tmp_path / "n.tflite").touch()
    with pytest.raises(CampaignError, check=about("network.inputs")):
        load_campaign(write(tmp_path, GOOD.replace("zoo:digits", "n.tflite")))


def test_paths_are_relative_to_the_campaign_file(tmp_path, monkeypatch):
    for name in ("n.tflite", "x.npy", "t.toml", "c.lib"):
        (tmp_path / name).touch()
    text = GOOD.replace("zoo:digits", "n.tflite").replace("[0, 3]", '"x.npy"')
    text = text.replace('name = "ethos-u55-32"', 'file = "t.toml"') + '[area]\nliberty = "c.lib"\n'
    file = write(tmp_path, text)
    monkeypatch.chdir("/")
    campaign = load_campaign(file)
    assert campaign.network.path == str(tmp_path / "n.tflite")
    assert campaign.network.inputs == tmp_path / "x.npy"
    assert campaign.target == tmp_path / "t.toml"
    assert campaign.liberty == tmp_path / "c.lib"
    copy = tmp_path / "copy" / "campaign.toml"
    copy.parent.mkdir()
    copy.write_text(campaign_text(campaign))
    assert replace(load_campaign(copy), file=file) == campaign


def test_the_example_campaign_is_good(repository):
    campaign = load_campaign(repository / "examples" / "digits.toml")
    assert campaign.faults.injections >= 1000
    assert campaign.faults.kinds == ("ff", "macro", "sram")
    assert campaign.budget is not None


def test_options_of_the_command_line_go_first(tmp_path):
    file = write(tmp_path, GOOD)
    campaign = load_campaign(file, command_line(workers=3))
    assert campaign.execution.workers == 3
    assert campaign.options == ("--workers", "3")
    assert load_campaign(file, command_line()) == load_campaign(file)
    with pytest.raises(CampaignError, check=about("execution.engine")):
        load_campaign(file, command_line(engine="abacus"))


@given(
    name=st.text(min_size=1).filter(str.strip),
    rationale=st.text(min_size=1).filter(str.strip),
    fit=st.floats(min_value=1e-300, max_value=1e300),
    seed=st.integers(0, 2**63 - 1),
)
def test_the_resolved_copy_says_the_same(tmp_path_factory, name, rationale, fit, seed):
    tables = tomllib.loads(GOOD)
    tables["campaign"] |= {"name": name, "seed": seed}
    tables["budget"] |= {"rationale": rationale, "fit": fit}
    file = tmp_path_factory.getbasetemp() / "x.toml"
    campaign = parse_campaign(file, tables)
    text = campaign_text(campaign)
    assert tomllib.loads(text) == campaign_tables(campaign)
    assert parse_campaign(file, tomllib.loads(text)) == campaign
