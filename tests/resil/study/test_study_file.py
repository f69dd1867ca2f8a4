# SPDX-License-Identifier: Apache-2.0
"""The study file: strict, all that is wrong at once, and what it means."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from resil.campaign.campaign import load_campaign
from resil.campaign.text import campaign_text
from resil.errors import CampaignError
from resil.networks import zoo
from resil.study.folder import definition_of
from resil.study.study_file import load_study, parse_study
from resil.study.study_keys import TABLES
from testkit.errors import about
from tests.resil.studies import CELLS, TEXT, study, write_study

SAFETY = '[safety]\nclaims = ["spfm_transient"]\nasil = "B"\n'


def test_cells_are_campaigns_of_every_pair():
    found = study().cells
    assert [cell.folder for cell in found] == CELLS
    assert {cell.campaign.target for cell in found} == {"ethos-u55-32", "ethos-u55-64"}
    assert {cell.campaign.network.path for cell in found} == {"zoo:digits", "zoo:mnist_lenet"}
    assert all(cell.campaign.faults.injections == 200 for cell in found)
    assert not any(cell.predicted for cell in found)


def test_each_target_may_run_its_own(tmp_path):
    """Networks for one, memory images for another: cells are the named pairs, with unchanged seeds."""
    (tmp_path / "own.hex").write_text("0\n")
    (tmp_path / "chip.toml").write_text("")
    own = (
        '[[workload]]\nname = "pages"\ntargets = ["chip"]\nimages = [{ memory = "in", file = "own.hex" }]\n'
        'output = { memory = "out", offset = 0, shape = [4], dtype = "uint8" }\n[faults]'
    )
    text = TEXT.replace(
        '[[network]]\npath = "zoo:digits"',
        '[[target]]\nfile = "chip.toml"\n[[network]]\npath = "zoo:digits"\ntargets = ["ethos-u55-32"]',
    )
    text = text.replace(
        'path = "zoo:mnist_lenet"', 'path = "zoo:mnist_lenet"\ntargets = ["ethos-u55-32", "ethos-u55-64"]'
    )
    found = load_study(write_study(tmp_path, text.replace("[faults]", own))).cells
    assert [cell.folder for cell in found] == [CELLS[0], CELLS[1], CELLS[3], "chip/pages"]
    before = {cell.folder: cell.campaign.seed for cell in study().cells}
    assert all(cell.campaign.seed == before[cell.folder] for cell in found[:3])


def test_cells_are_independent_samples_that_do_not_change_when_the_study_grows():
    before = {cell.folder: cell.campaign.seed for cell in study().cells}
    assert len(set(before.values())) == 4
    grown = study(TEXT.replace("[faults]", '[[network]]\npath = "zoo:mnist_vgg"\ninputs = [0]\n[faults]'))
    assert {cell.folder: cell.campaign.seed for cell in grown.cells}.items() >= before.items()
    other = study(TEXT.replace("seed = 7", "seed = 8"))
    assert not {cell.campaign.seed for cell in other.cells} & set(before.values())


def test_a_cell_is_a_campaign_file_that_can_be_run_by_itself(tmp_path):
    cell = load_study(write_study(tmp_path)).cells[0]
    file = tmp_path / "campaign.toml"
    file.write_text(campaign_text(cell.campaign))
    assert replace(load_campaign(file), file=cell.campaign.file) == cell.campaign


def test_all_of_the_zoo_is_one_table():
    text = TEXT.replace(
        'path = "zoo:digits"\ninputs = [0, 3]\n[[network]]\npath = "zoo:mnist_lenet"', 'path = "zoo:*"'
    )
    assert [work.name for work in study(text).works] == list(zoo.names())


def test_what_is_estimated_is_predicted_in_a_folder_of_its_own():
    text = TEXT.replace('name = "ethos-u55-64"', 'name = "ethos-u55-64"\nestimate = true')
    found = study(text).cells
    assert [cell.predicted for cell in found] == [False, False, True, True]
    assert [cell.folder for cell in found[2:]] == [f"{folder}.estimate" for folder in CELLS[2:]]


def test_tflite_files_and_target_files_are_relative_to_the_study_file(tmp_path):
    known = zoo.load("digits")
    (tmp_path / "own.tflite").write_bytes(known.path.read_bytes())
    (tmp_path / "x.npy").write_bytes(b"")
    (tmp_path / "chip.toml").write_text("")
    text = TEXT.replace('path = "zoo:digits"\ninputs = [0, 3]', 'path = "own.tflite"\ninputs = "x.npy"')
    text = text.replace('name = "ethos-u55-64"', 'file = "chip.toml"')
    found = load_study(write_study(tmp_path, text))
    assert found.works[0].name == "own"
    assert found.works[0].settings.path == str(tmp_path / "own.tflite")
    assert (found.targets[1].name, found.targets[1].place) == ("chip", tmp_path / "chip.toml")


def test_a_table_of_permanent_faults_gives_each_cell_a_campaign_of_its_own(tmp_path):
    text = TEXT + SAFETY.replace('"spfm_transient"', '"spfm_permanent"') + "[permanent]\ninjections = 30\n"
    cell = study(text).cells[1]
    assert cell.permanent.faults.permanent
    assert (cell.permanent.faults.injections, cell.permanent.sampling.plan) == (30, "proportional")
    assert cell.permanent.safety is None is cell.permanent.budget
    place = cell.campaign_in(tmp_path).safety.permanent
    assert place == tmp_path / "ethos-u55-32" / "mnist_lenet.permanent"
    assert study().cells[0].campaign_in(tmp_path) == study().cells[0].campaign


def test_a_network_may_have_other_inputs_on_other_targets():
    """The figures of one network stand in one row of the matrix, however many inputs a target takes."""
    text = TEXT.replace(DIGITS, f'{DIGITS}\ntargets = ["ethos-u55-32"]')
    other = DIGITS.replace("[0, 3]", "[0, 3, 5]")
    text = text.replace("[faults]", f'[[network]]\n{other}\ntargets = ["ethos-u55-64"]\n[faults]')
    found = {cell.target: cell.campaign.work.inputs for cell in study(text).cells if cell.network == "digits"}
    assert found == {"ethos-u55-32": (0, 3), "ethos-u55-64": (0, 3, 5)}
    labels = {name for name in definition_of(study(text)) if name.startswith("network digits")}
    assert labels == {"network digits on ethos-u55-32", "network digits on ethos-u55-64"}


DIGITS = 'path = "zoo:digits"\ninputs = [0, 3]'
BROKEN = {
    "no study": (('[study]\nname = "small study"\nseed = 7\n', ""), "expected a table [study], found none"),
    "name": (('name = "small study"\n', ""), "[study] name: expected a string, found nothing"),
    "seed": (("seed = 7", "seed = -1"), "[study] seed: expected an integer from 0"),
    "key": (("seed = 7", "seed = 7\nsede = 8"), "[study] sede: expected one of the keys"),
    "table": (("[budget]", "[bugdet]"), "did you mean [budget]?"),
    "required table": (("[faults]", "[fualts]"), "did you mean [faults]?"),
    "one target": (
        ('[[target]]\nname = "ethos-u55-32"\n[[target]]', "[target]"),
        "found a single table; write [[target]]",
    ),
    "no target": (
        ('[[target]]\nname = "ethos-u55-32"\n[[target]]\nname = "ethos-u55-64"\n', ""),
        "target: expected a list of tables, one for each target, found nothing; write [[target]]",
    ),
    "target twice": (
        ('"ethos-u55-64"', '"ethos-u55-32"'),
        '[[target]]: expected each once, found "ethos-u55-32" again',
    ),
    "target key": (('name = "ethos-u55-64"', 'nam = "ethos-u55-64"'), 'did you mean "name"?'),
    "both": (
        ('name = "ethos-u55-64"', 'name = "ethos-u55-64"\nfile = "x.toml"'),
        "either a name or a file, found both",
    ),
    "no file": (
        ('name = "ethos-u55-64"', 'file = "x.toml"'),
        '[target[1]] file: expected a target file, found "x.toml"',
    ),
    "network twice": (
        ("zoo:mnist_lenet", "zoo:digits"),
        '[[network]]: expected each once, found "digits" again',
    ),
    "network twice on a target": (
        (
            DIGITS,
            f'{DIGITS}\ntargets = ["ethos-u55-32"]\n[[network]]\n{DIGITS}\n'
            'targets = ["ethos-u55-64", "ethos-u55-32"]',
        ),
        '[[network]]: expected each once, found "digits" again',
    ),
    "network in all": ((DIGITS, 'path = "zoo:*"\ninputs = [0]'), 'found "mnist_lenet" again'),
    "zoo": (("zoo:digits", "zoo:digit"), 'did you mean "zoo:digits"?'),
    "inputs": ((DIGITS, 'path = "zoo:digits"'), "[network[0]] inputs: expected a list of indices"),
    "estimate": (
        ("inputs = [0, 3]\n[faults]", "inputs = [0, 3]\nestimate = 1\n[faults]"),
        "expected true or false",
    ),
    "name of all": (
        (DIGITS, 'name = "x"\npath = "zoo:*"\ninputs = [0]'),
        "expected no name for all of the zoo",
    ),
    "memory outside": (
        ('kinds = ["ff"]', 'kinds = ["weights"]'),
        "[faults] kinds: expected storage of the NPU",
    ),
    "detection and an estimate": (
        (
            "inputs = [0, 3]\n[faults]",
            'inputs = [0, 3]\nestimate = true\n[execution]\nuntil = "detection"\n[faults]',
        ),
        "[execution]: expected upsets in single inferences where a cell is estimated",
    ),
    "neither": (
        (TEXT[TEXT.index("[[network]]") : TEXT.index("[faults]")], ""),
        "expected tables [[network]], for targets that run compiled networks, or tables [[workload]]",
    ),
    "on a target that is none": (
        (DIGITS, f'{DIGITS}\ntargets = ["ethos-u55-46"]'),
        'targets of digits: expected names of targets (ethos-u55-32, ethos-u55-64), found "ethos-u55-46"',
    ),
    "on no target": (
        (
            'inputs = [0, 3]\n[[network]]\npath = "zoo:mnist_lenet"',
            'inputs = [0, 3]\ntargets = ["ethos-u55-32"]\n[[network]]\npath = "zoo:mnist_lenet"\n'
            'targets = ["ethos-u55-32"]',
        ),
        "[[target]] ethos-u55-64: expected something that runs on it, found nothing",
    ),
    "plan": (
        ('plan = "uniform"', 'plan = "uniform"\nmargin = 0.1'),
        "[sampling] margin: expected the key with",
    ),
    "protection": (
        ("[budget]", "[protection]\nwanted = 3\n[budget]"),
        "[protection] wanted: expected true or false",
    ),
    "model": (
        ("[budget]", '[estimate]\nmodel = "x"\n[budget]'),
        "[estimate] model: expected a sensitivity model",
    ),
    "model key": (("[budget]", '[estimate]\nmodle = "x"\n[budget]'), 'did you mean "model"?'),
    "protection granularity": (
        ("[budget]", '[protection]\ngranularity = "bit"\n[budget]'),
        "[protection] granularity: expected one of block, register, group",
    ),
    "network that chose": (
        ("[budget]", '[protection]\nverify_networks = ["digits"]\n[budget]'),
        '[protection] verify_networks: expected networks that take no part in the choice, found "digits"',
    ),
    "network that is none": (
        ("[budget]", '[protection]\nverify_networks = ["zoo:digit"]\n[budget]'),
        "[protection] verify_networks: expected campaign files, or networks of the zoo (",
    ),
    "file that is none": (
        ("[budget]", '[protection]\nverify_networks = ["absent.toml"]\n[budget]'),
        "[protection] verify_networks: expected a campaign file, whose network is taken, found",
    ),
    "protection target": (
        ("[budget]", "[protection]\nspfm_target = 1.5\n[budget]"),
        "[protection] spfm_target: expected a number above 0 and below 1, found 1.5",
    ),
    "protection by a plan that is not even": (
        ('plan = "uniform"\n', 'plan = "adaptive"\nmargin = 0.5\n[protection]\nfit_share = 0.5\n'),
        "[sampling] plan: expected a plan that spreads injections evenly (proportional, uniform, neyman) "
        "where protection is chosen, found adaptive",
    ),
    "protection by stuck bits": (
        ("[sampling]", 'model = "stuck_at"\n[protection]\nfit_share = 0.5\n[sampling]'),
        "[faults] model: expected upsets where protection is chosen, found stuck_at",
    ),
    "protection by two inferences": (
        ("seed = 7", "seed = 7\ninferences = 2\n[protection]\nfit_share = 0.5"),
        "[study] inferences: expected single inferences where protection is chosen, found 2",
    ),
    "protection by runs that end at an alarm": (
        ("[budget]", '[execution]\nuntil = "detection"\n[protection]\nfit_share = 0.5\n[budget]'),
        "[execution] until: expected injections to their end where protection is chosen, found detection",
    ),
    "a share to be confirmed": (
        ("[budget]", '[protection]\nfit_share = 0.5\nverify_networks = ["mnist_vgg"]\n[budget]'),
        "[protection] fit_share: expected budget_fit or spfm_target where a set is to be confirmed",
    ),
    "protection key": (
        ("[budget]", "[protection]\nbudget = 3\n[budget]"),
        "[protection] budget: expected one of",
    ),
    "permanent without safety": (
        ("[budget]", "[permanent]\ninjections = 3\n[budget]"),
        "[permanent]: expected a table [safety], whose rows permanent faults are for",
    ),
    "permanent key": (
        ("[budget]", f"{SAFETY}[permanent]\ninjection = 3\n[budget]"),
        "[permanent] injection: expected one of the keys plan, kinds, injections",
    ),
    "permanent plan": (
        ("[budget]", f'{SAFETY}[permanent]\ninjections = 3\nplan = "adaptive"\n[budget]'),
        "[permanent] plan: expected one of proportional, uniform",
    ),
    "permanent clusters": (
        ("[budget]", f"{SAFETY}[permanent]\ninjections = 3\nclusters = {{ 1 = 1.0 }}\n[budget]"),
        "[permanent] clusters: expected no such key",
    ),
    "permanent": (
        ("[budget]", f'{SAFETY}permanent = "x"\n[budget]'),
        "[safety] permanent: expected no such key in a study",
    ),
    "estimate with a time-out of operations": (
        ("[budget]", '[execution]\ntimeout = "operation"\n[budget]'),
        None,
    ),
    "estimate of stuck bits": (
        ("injections = 200", 'injections = 200\nmodel = "stuck_at"'),
        None,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_said_with_what_to_do(case, tmp_path):
    (old, new), message = BROKEN[case]
    assert old in TEXT
    text = TEXT.replace(old, new, 1) if case != "network twice" else TEXT.replace(old, new)
    if message is None:
        text = text.replace('name = "ethos-u55-64"', 'name = "ethos-u55-64"\nestimate = true')
        message = "expected upsets in single inferences where a cell is estimated"
    with pytest.raises(CampaignError) as caught:
        load_study(write_study(tmp_path, text))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "study.toml"))
    assert ";" in str(caught.value)


def test_all_that_is_wrong_is_said_at_once_with_its_place(tmp_path):
    text = (
        TEXT.replace("seed = 7", "seed = -1")
        .replace("zoo:digits", "zoo:digit")
        .replace("fit = 0.01", "fit = -1")
    )
    with pytest.raises(CampaignError) as caught:
        load_study(write_study(tmp_path, text))
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("3 things are wrong; correct each:")
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "line 4, column 1",
        "line 10, column 1",
        "line 23, column 1",
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("zoo:*"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "path", "file", "inputs"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(tuple(TABLES)), VALUES))
@example({"engine": None, "protection": {}})
@example({"engine": 1, "study": {"estimate": True}})
def test_no_content_of_a_study_is_a_traceback(tables):
    with suppress(CampaignError):
        parse_study(Path("study.toml"), tomllib.loads(TEXT) | tables)
    with suppress(CampaignError):
        parse_study(Path("study.toml"), tables)


@pytest.mark.parametrize("table", ["study", "faults", "technology"])
def test_a_table_of_another_name_is_said_also_where_cells_are_estimated(table, tmp_path):
    """The fault: what is asked of the table that is not there has no answer."""
    text = TEXT.replace("inputs = [0, 3]", "inputs = [0, 3]\nestimate = true", 1)
    text = text.replace(f"[{table}]", f"[{table}s]")
    with pytest.raises(CampaignError, check=about(f"{table}s")):
        load_study(write_study(tmp_path, text))


def test_targets_of_one_file_name_are_told_apart_by_their_folders(tmp_path):
    """As those that `resil init` writes are: each is called target.toml."""
    for folder in ("fir", "iir"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "target.toml").write_text("")
    text = TEXT.replace('name = "ethos-u55-32"', 'file = "fir/target.toml"')
    text = text.replace('name = "ethos-u55-64"', 'file = "iir/target.toml"')
    file = tmp_path / "study.toml"
    file.write_text(text)
    assert [target.name for target in load_study(file).targets] == ["fir-target", "iir-target"]
