# SPDX-License-Identifier: Apache-2.0
"""All that is wrong with a campaign file is said at once, where it stands, and never as a traceback."""

from __future__ import annotations

import tomllib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resil.campaign.campaign import load_campaign, parse_campaign
from resil.campaign.key_places import key_places, place_of
from resil.campaign.keys import TABLES
from resil.errors import CampaignError
from resil.protection.options import ProtectionError, load_options
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from testkit.errors import about
from tests.resil.campaign.test_campaign import GOOD, write

ODD = """
# a comment with = and [
[campaign]
name = "a = [b]"   # trailing
text = \"\"\"
seed = 1
[faults]
\"\"\"
literal = '''
[x]
'''
"quo.ted" = 'it''s' # '
[a.b]
"c d".e = [
  1,
  "]", # ]
  {x = 1},
]
[[workload.images]]
memory = "m"
[[workload.images]]
memory = { deep = [ { y = 2 } ] }
[workload.images.sub]
z = 1979-05-27T07:32:00Z
"""


def test_places_of_keys():
    text = ODD.replace("'it''s'", "'its'")
    assert tomllib.loads(text)
    places = key_places(text)
    lines = text.splitlines()
    for path, (line, column) in places.items():
        last = [part for part in path if isinstance(part, str)][-1]
        assert last in lines[line - 1][column - 1 :], path
    assert places["campaign", "literal"] == (9, 1)
    assert places["workload", "images", 1, "memory"] == (22, 1)
    assert places["workload", "images", 1, "sub", "z"] == (24, 1)
    assert places["a", "b", "c d", "e"] == (14, 1)
    assert place_of(("workload", "images", 1, "memory", "deep"), places) == (22, 1)
    assert place_of(("nothing",), places) is None


KEYS = st.one_of(st.sampled_from(["a", "b-c", "seed", "1"]), st.text(max_size=4))
SCALARS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text(max_size=8), st.floats(), st.just("")
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=4,
)


def literal(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)} = {literal(item)}' for key, item in value.items())}}}"
    return repr(value)


def quoted(text):
    escaped = (c if c.isalnum() or c in " []={}#'.," else f"\\U{ord(c):08x}" for c in text)
    return f'"{"".join(escaped)}"'


@settings(max_examples=50, deadline=None)
@given(tables=st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=3))
def test_every_key_of_any_file_has_its_place(tables):
    lines = []
    expected = {}
    for name, table in tables.items():
        lines.append(f"[{quoted(name)}]")
        expected[(name,)] = (len(lines), 1)
        for key, value in table.items():
            lines.append(f" {quoted(key)} = {literal(value)}")
            expected[name, key] = (len(lines), 2)
    text = "\n".join(lines)
    tomllib.loads(text)
    assert key_places(text) == expected


def error_of(file):
    with pytest.raises(CampaignError) as caught:
        load_campaign(file)
    return str(caught.value)


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_file(tmp_path):
    text = GOOD.replace("seed = 7", "sede = 7\nconfidence = 2").replace('["ff"]', '["gates"]')
    text = text.replace('name = "finfet-16nm"', "name = 3").replace("[0, 3]", '"none.npy"')
    text = text.replace("fit = 0.01", "fit = 0") + "[execution]\nengine = 'abacus'\nworkers = 0\n[sapmling]\n"
    head, *rest = error_of(write(tmp_path, text)).splitlines()
    assert head == f"{tmp_path / 'campaign.toml'}: 9 things are wrong; correct each:"
    named = [line.split(": ")[1] for line in rest]
    assert named == [
        "[campaign] sede",
        "[campaign] confidence",
        "[network] inputs",
        "[faults] kinds",
        "[technology] name",
        "[budget] fit",
        "[execution] engine",
        "[execution] workers",
        "sapmling",
    ]
    numbers = [int(line.split()[1].rstrip(",")) for line in rest]
    assert numbers == sorted(numbers)
    assert [text.splitlines()[number - 1][:4] for number in numbers[:3]] == ["sede", "conf", "inpu"]


def test_a_consequence_of_what_is_wrong_is_not_said(tmp_path):
    text = GOOD.replace("injections = 100", "injections = 'many'")
    assert "minimum_per_block" not in error_of(write(tmp_path, text))
    text = GOOD.replace('path = "zoo:digits"', "")
    assert "inputs" not in error_of(write(tmp_path, text))
    text = GOOD.replace("[campaign]", "[other]")
    assert "2 things are wrong" in error_of(write(tmp_path, text))


@given(
    tables=st.dictionaries(
        st.sampled_from(tuple(TABLES)),
        st.dictionaries(
            st.sampled_from(
                [
                    *("name", "seed", "confidence", "path", "inputs", "decision", "threshold", "kinds"),
                    *("injections", "minimum_per_block", "clusters", "plan", "margin", "until_decided"),
                    *("model", "engine", "workers", "timeout_factor", "flip_flop_fit", "fit", "rationale"),
                    *("hazardous", "liberty", "images", "output", "operations", "parameters", "file"),
                ]
            ),
            VALUES,
        )
        | VALUES,
    )
)
@settings(max_examples=60, deadline=None)
def test_no_content_of_a_campaign_is_a_traceback(tmp_path_factory, tables):
    base = tomllib.loads(GOOD)
    file = tmp_path_factory.getbasetemp() / "x.toml"
    merged = {name: base.get(name, {}) | own for name, own in tables.items() if isinstance(own, dict)}
    for content in (tables, base | tables, base | merged):
        with suppress(CampaignError):
            parse_campaign(file, content)


READERS = [(load_campaign, CampaignError), (load_target, HarnessError), (load_options, ProtectionError)]
PIECES = ["[[", '"""', "{", "\x00", "\r", "'''", "=", "a.b.c=1\n"]


@given(
    cut=st.integers(0, len(GOOD)),
    length=st.integers(0, 30),
    put=st.text(max_size=12) | st.sampled_from(PIECES),
)
@settings(max_examples=60, deadline=None)
def test_no_text_of_a_file_is_a_traceback(tmp_path_factory, cut, length, put):
    file = tmp_path_factory.getbasetemp() / "fuzzed.toml"
    file.write_text(GOOD[:cut] + put + GOOD[cut + length :], encoding="utf-8", newline="")
    for read, errors in READERS:
        with suppress(errors):
            read(file)


DEEP = {"arrays": "a = " + "[" * 100_000, "tables": "a = " + "{a = " * 100_000}


@pytest.mark.parametrize("case", DEEP)
@pytest.mark.parametrize(("read", "errors"), READERS)
def test_what_is_nested_without_end_is_refused(read, errors, case, tmp_path):
    file = tmp_path / "deep.toml"
    file.write_text(DEEP[case])
    with pytest.raises(errors, check=about("file")):
        read(file)


OWN = """
[[option]]
name = "own"
title = "own"
protects = ["ff"]
raw_factor = 1.0
coverage = 0.5
turns_into = "due"
status = "assumed"
source = "us"
"""


@given(key=st.sampled_from([line.split(" =")[0] for line in OWN.splitlines() if "=" in line]), value=VALUES)
@settings(max_examples=30, deadline=None)
def test_no_content_of_protection_options_is_a_traceback(tmp_path_factory, key, value):
    file = tmp_path_factory.getbasetemp() / "options.toml"
    lines = [line for line in OWN.splitlines() if not line.startswith(f"{key} ")]
    file.write_text("\n".join([*lines, f"{key} = {literal(value)}"]), encoding="utf-8")
    with suppress(ProtectionError):
        load_options(file)


WRONG_OPTIONS = ("option = 3", "cell = [1]", "option = {a = 1}", f"[[option]]\nraw_factor = 1{'0' * 400}")


@pytest.mark.parametrize("text", WRONG_OPTIONS)
def test_options_of_the_wrong_shape(text, tmp_path):
    (tmp_path / "o.toml").write_text(text)
    with pytest.raises(ProtectionError):
        load_options(tmp_path / "o.toml")
