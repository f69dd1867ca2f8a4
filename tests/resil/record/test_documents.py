# SPDX-License-Identifier: Apache-2.0
"""Each damage to the documents is refused, and the message names file, field and remedy."""

from __future__ import annotations

import copy
import json
import math

import pytest

from resil.record.protection import Protection
from resil.record.summary import Summary
from resil.reports import ReportError
from testkit.errors import about
from tests.reports.example import (
    FIGURES,
    SEVEN,
    example_protection,
    example_summary,
    many_blocks,
    summary_of,
)


def paths(value, path=()):
    """All fields of a document, as key paths; of lists the first element only."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from paths(value[0], (*path, 0))


def parent(document, path):
    for step in path[:-1]:
        document = document[step]
    return document


NESTED = ("campaign", "network", "operations", "target", "verdict", "blocks", "total", "provenance")
FREE_KEYS = ("versions", "hashes", "choices", "definition")
SUMMARY_PATHS = [p for p in paths(example_summary()) if not any(step in FREE_KEYS for step in p[:-1])]
PROTECTION = example_protection(example_summary())


def protection_of(document):
    return Protection.read(json.dumps(document))


PROTECTION_PATHS = [
    p
    for p in paths(PROTECTION)
    if not {"choices", "fit_after_by_kind", "due_after_by_kind"} & {*p[1:-1]} and p[-2:-1] != ("blocks",)
]


@pytest.mark.parametrize("path", SUMMARY_PATHS, ids=str)
def test_every_field_of_a_summary_is_asked_for(path):
    document = example_summary()
    del parent(document, path)[path[-1]]
    with pytest.raises(ReportError, match=r"summary\.json: .*missing.*resil run") as caught:
        summary_of(document)
    assert str(path[-1]) in str(caught.value)


@pytest.mark.parametrize("path", SUMMARY_PATHS, ids=str)
def test_every_field_of_a_summary_is_typed(path):
    document = example_summary()
    parent(document, path)[path[-1]] = {"what": ["is", "this"]}
    match = r"summary\.json: (.*expected .*found |.*missing).*resil run"
    with pytest.raises(ReportError, match=match) as caught:
        summary_of(document)
    assert str(path[-1]) in str(caught.value)


def inside(path, found):
    """Return the beginning of the name of a field of what was found at a path, or of the first in a list."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    return "" if not path else f"{steps}[0]." if isinstance(found, list) else f"{steps}."


@pytest.mark.parametrize("path", [(), *(p for p in SUMMARY_PATHS if p[-1] in NESTED)], ids=str)
def test_a_field_that_no_version_knows_is_refused(path):
    document = example_summary()
    inner = document
    for step in path:
        inner = inner[step]
    (inner[0] if isinstance(inner, list) else inner)["told"] = 1
    with pytest.raises(ReportError, check=about(f"{inside(path, inner)}told")):
        summary_of(document)


@pytest.mark.parametrize("path", PROTECTION_PATHS, ids=str)
def test_every_field_of_a_protection_is_asked_for(path):
    document = copy.deepcopy(PROTECTION)
    del parent(document, path)[path[-1]]
    with pytest.raises(ReportError, match=r"protection\.json: .*missing.*resil protect") as caught:
        protection_of(document)
    assert str(path[-1]) in str(caught.value)


@pytest.mark.parametrize("path", PROTECTION_PATHS, ids=str)
def test_every_field_of_a_protection_is_typed(path):
    document = copy.deepcopy(PROTECTION)
    parent(document, path)[path[-1]] = {"what": ["is", "this"]}
    match = r"protection\.json: (.*expected .*found |.*missing).*resil protect"
    with pytest.raises(ReportError, match=match):
        protection_of(document)


@pytest.mark.parametrize("path", [(), ("basis",), ("choices",), ("pareto",)], ids=str)
def test_a_field_of_a_protection_that_no_version_knows_is_refused(path):
    document = copy.deepcopy(PROTECTION)
    inner = document
    for step in path:
        inner = inner[step]
    (inner[0] if isinstance(inner, list) else inner)["confirmed"] = True
    with pytest.raises(ReportError, check=about(f"{inside(path, inner)}confirmed")):
        protection_of(document)


@pytest.mark.parametrize("key", ["area_added", "area_overhead", "fit", "fit_hi"])
def test_a_set_that_was_found_has_its_figures(key):
    with pytest.raises(ReportError, check=about(key)):
        protection_of({**PROTECTION, key: None})


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("schema",), Summary.SCHEMA - 1, "schema"),
        (("schema",), Summary.SCHEMA + 1, "schema"),
        (("provenance", "schema"), 11, "provenance.schema"),
        (("blocks",), [], "blocks"),
        (("blocks", 2, "fit_lo"), 1.0, "blocks[2].fit with fit_lo and fit_hi"),
        (("blocks", 2, "fit_hi"), math.nan, "blocks[2].fit_hi"),
        (("blocks", 2, "fit_raw"), -1.0, "blocks[2].fit_raw"),
        (("blocks", 2, "avf_hi"), 1.2, "blocks[2].avf_hi"),
        (("blocks", 2, "injections"), 151, "blocks[2].injections"),
        (("blocks", 2, "ff_bits"), True, "blocks[2].ff_bits"),
        (("blocks", 2, "ff_bits"), 1487, "total.ff_bits"),
        (("blocks", 2, "block"), "cc", "blocks"),
        (("blocks", 2, "rates"), {}, "blocks[2].rates.masked"),
        (("campaign", "hazardous"), ["doom"], "campaign.hazardous[0]"),
        (("verdict", "result"), "perfect", "verdict.result"),
        (("metrics", "spfm"), [0.9, 0.8], "metrics.spfm[2]"),
        (("metrics", "spfm"), [0.9, 0.95, 0.99], "metrics.spfm"),
        (("metrics", "spfm"), [0.9, 0.8, 1.2], "metrics.spfm"),
        (("technology", "entries", 0, "status"), "rumoured", "technology.entries[0].status"),
    ],
)
def test_a_wrong_value_is_refused_by_its_field(path, value, field):
    document = example_summary()
    parent(document, path)[path[-1]] = value
    with pytest.raises(ReportError, check=about(field)):
        summary_of(document)


def test_documents_that_are_no_objects_are_refused():
    with pytest.raises(ReportError, match="the document: expected an object"):
        summary_of([])


@pytest.mark.parametrize("blocks", [SEVEN, SEVEN[:1], many_blocks(20)])
def test_documents_survive_json(blocks):
    document = example_summary(blocks=blocks)
    through = json.loads(json.dumps(document, allow_nan=False))
    summary = summary_of(through)
    assert summary == summary_of(document) == Summary.read(summary.text())


def test_blocks_that_were_not_injected_are_known_as_such():
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 0, 800.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    assert [block.sampled for block in summary_of(document).blocks] == [True, True, False]


@pytest.mark.parametrize("key", [key for key in FIGURES if key != "rates"])
def test_a_block_without_rates_has_no_other_figure(key):
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 0, 800.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    document["blocks"][2][key] = 0.0
    with pytest.raises(ReportError, check=about(f"blocks[2].{key}")):
        summary_of(document)


def test_a_protection_without_any_target_is_refused():
    with pytest.raises(ReportError, check=about("budget_fit")):
        protection_of({**PROTECTION, "budget_fit": None})
