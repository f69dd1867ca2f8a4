# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

import pytest

from resil.reports import render
from resil.reports.html import report_html
from resil.reports.page_data import script
from tests.reports.example import (
    SEVEN,
    example_protection,
    example_summary,
    many_blocks,
    protection_of,
    renamed,
    summary_of,
)


def without_injections():
    document = example_summary(blocks=(*SEVEN[:2], ("cpm", 0, 0, 0.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0))))
    return document


def bare():
    document = example_summary(operations=0, budget=None)
    document["golden"].update(cycles=[], vela_cycles=None, output_hash=[])
    document["metrics"].update(spfm=None, pmhf_share=None, notes=[])
    document["notes"] = []
    document["technology"]["entries"] = []
    return document


def nothing_at_all():
    document = example_summary(blocks=(("u", 0, 0, 0.0, 0, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)),), budget=None)
    document["total"].update(fit=0.0, fit_lo=0.0, fit_hi=0.0, avf=None, avf_lo=0.0, avf_hi=1.0)
    document["total"].update(latent_share=None, latent_lo=0.0, latent_hi=1.0)
    document["metrics"]["spfm"] = None
    return document


SUMMARIES = {
    "seven": example_summary,
    "met": lambda: example_summary(budget=0.08),
    "inconclusive": lambda: example_summary(budget=0.06),
    "none": lambda: example_summary(budget=None),
    "zero budget": lambda: example_summary(budget=0.0),
    "one": lambda: example_summary(blocks=SEVEN[:1]),
    "twenty": lambda: example_summary(blocks=many_blocks(20), operations=30),
    "zero events": lambda: example_summary(events=False),
    "one block, zero events": lambda: example_summary(blocks=SEVEN[-1:], events=False),
    "without injections": without_injections,
    "bare": bare,
}
OWN_SCRIPTS = [{"type": "text/plain", "id": "page-data"}, {}]
BUDGETS = {"no protection": None, "optimal": 0.01, "infeasible": 1e-12, "not needed": 50.0}
PAGES = [(name, budget) for name in SUMMARIES for budget in BUDGETS]


@cache
def page(name, budget):
    document = SUMMARIES[name]()
    plan = None if BUDGETS[budget] is None else protection_of(example_protection(document, BUDGETS[budget]))
    return render(summary_of(document), plan)["report.html"]


def tree(text):
    assert text.startswith("<!doctype html>\n")
    return ElementTree.fromstring(text.removeprefix("<!doctype html>\n"))


def words(element):
    return re.sub(r"\s+", " ", " ".join(element.itertext()))


@pytest.mark.parametrize(("name", "budget"), PAGES)
def test_every_page_is_well_formed_small_and_loads_nothing(name, budget):
    text = page(name, budget)
    root = tree(text)
    assert len(text.encode()) < 1_000_000
    for element in root.iter():
        tag = element.tag.rsplit("}", 1)[-1]
        assert tag != "script" or element.attrib in OWN_SCRIPTS
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert key not in ("src", "srcset", "style")
            if key.endswith("href"):
                assert value.startswith("#")
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert not re.search(r"\b(nan|inf|None|Undefined)\b", words(root.find("body")))


@pytest.mark.parametrize(("name", "budget"), PAGES)
def test_identifiers_are_unique_and_references_lead_somewhere(name, budget):
    root = tree(page(name, budget))
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    for element in root.iter():
        named = element.attrib.get("aria-labelledby", "").split()
        named += re.findall(r"url\(#([\w-]+)\)", element.attrib.get("fill", ""))
        named += [element.attrib["href"][1:]] if "href" in element.attrib else []
        assert set(named) <= set(ids)


def test_figures_have_title_and_description():
    root = tree(page("seven", "optimal"))
    pictures = [e for e in root.iter() if e.tag.endswith("}svg") and e.attrib.get("role") == "img"]
    assert len(pictures) == 2 * 7
    for picture in pictures:
        texts = {child.tag.rsplit("}", 1)[-1]: child.text for child in picture if child.text}
        assert len(texts["title"]) > 5
        assert len(texts["desc"]) > 20


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "\"'&<b>", "a\x00\x08b", "]]>", "{{ 7 * 7 }}"]
)
def test_text_from_outside_is_escaped_everywhere(hostile):
    document = example_summary()
    document["campaign"].update(name=hostile, engine=hostile)
    document["network"].update(name=hostile, path=hostile, sha256=hostile)
    document["network"]["operations"][0].update(name=hostile, kind=hostile)
    document["target"].update(name=hostile, top=hostile)
    document["technology"].update(name=hostile, node=hostile)
    document["technology"]["entries"][0].update(quantity=hostile, unit=hostile, source=hostile)
    document["verdict"].update(reason=hostile, rationale=hostile)
    renamed(document, hostile)
    document["metrics"]["notes"] = document["notes"] = [hostile]
    document["provenance"].update(resil=hostile, platform=hostile, command=[hostile])
    document["provenance"]["versions"] = document["provenance"]["hashes"] = {hostile: hostile}
    plan = example_protection(document)
    plan["choices"][0].update(option_title=hostile, source=hostile)
    plan["assumptions"] = [hostile]
    root = tree(render(summary_of(document), protection_of(plan))["report.html"])
    scripts = [element for element in root.iter() if element.tag == "script"]
    assert [element.attrib for element in scripts] == OWN_SCRIPTS
    assert scripts[1].text.strip("/\n") == script().removeprefix("//<![CDATA[").removesuffix("]]>").strip(
        "/\n"
    )
    shown = hostile.replace("\x00", "\ufffd").replace("\x08", "\ufffd")
    assert words(root).count(shown) > 15


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("seven", "FIT budget missed"),
        ("met", "FIT budget met"),
        ("inconclusive", "FIT budget not decided yet"),
        ("none", "No budget given"),
    ],
)
def test_the_verdict_is_on_top(name, heading):
    root = tree(page(name, "no protection"))
    first = root.find("body/main/section")
    assert first.attrib["id"] == "answer"
    assert heading in words(first.find(".//h2"))
    assert "0.0634" in words(first)


def test_figures_of_the_document_are_on_the_page():
    text = words(tree(page("seven", "optimal")))
    for shown in (
        "0.0152",
        "[0.00960, 0.0226]",
        "28.4 %",
        "5.79 %",
        "flip-flops only; 131,072 SRAM bits not injected",
        "11,693",
        "0.00922",
        "1.32x",
        "AMD UG116 v10.9",
        "9f2d0c7a",
    ):
        assert shown in text


def test_a_page_without_protection_says_how_to_get_it():
    assert "resil protect RUN_DIR" in page("seven", "no protection")
    told = "No protection has been planned"
    assert told in page("seven", "no protection")
    assert told not in page("seven", "optimal")


def test_an_infeasible_budget_is_told():
    text = words(tree(page("seven", "infeasible")))
    assert "No set of the known options" in text
    assert "Not reachable" in text


def test_a_target_for_spfm_alone_makes_a_page():
    document = example_summary(budget=None)
    plan = example_protection(document)
    plan.update(budget_fit=None, spfm_target=0.99)
    text = words(tree(render(summary_of(document), protection_of(plan))["report.html"]))
    assert "which meets SPFM of at least 99.0 %" in text
    assert "budget of" not in text


def test_a_plan_for_another_budget_says_so():
    document = example_summary(budget=0.02)
    text = words(
        tree(render(summary_of(document), protection_of(example_protection(document, 0.01)))["report.html"])
    )
    assert "planned for a budget of 0.01 FIT, not for the campaign's budget of 0.02 FIT" in text


def test_unmapped_sites_are_not_hidden():
    document = example_summary()
    document["target"]["unmapped_sites"] = 12
    assert "12 fault sites belong to no block" in words(tree(render(summary_of(document))["report.html"]))


def test_the_targets_parameters_are_listed():
    document = example_summary()
    assert "RegionCheck" not in words(tree(render(summary_of(document))["report.html"]))
    document["target"]["parameters"] = {"Macs": 32, "RegionCheck": 0}
    assert "Macs = 32, RegionCheck = 0" in words(tree(render(summary_of(document))["report.html"]))


def test_an_empty_design_still_has_a_page():
    assert "not injected" in words(tree(report_html(summary_of(nothing_at_all()))))


def test_rendering_is_deterministic():
    document = example_summary()
    plan = protection_of(example_protection(document))
    assert render(summary_of(document), plan) == render(summary_of(document), plan)
