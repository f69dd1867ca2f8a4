# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import pytest

from resil.reports import ReportError, render_figures
from resil.reports.figures import catalogue, figure_files
from resil.reports.svg import escape, shorten, text_width, two_lines
from tests.reports.example import (
    SEVEN,
    example_protection,
    example_summary,
    many_blocks,
    protection_of,
    summary_of,
)

SVG = "{http://www.w3.org/2000/svg}"


@cache
def documents(blocks, budget, events, operations):
    document = example_summary(blocks=blocks, events=events, operations=operations)
    return summary_of(document), protection_of(example_protection(document, budget))


@cache
def drawn(blocks, width, budget=0.01, events=True, operations=4):
    return catalogue(*documents(blocks, budget, events, operations), width, "t")


CASES = [
    pytest.param(blocks, width, budget, events, id=f"{len(blocks)} blocks, {width}, {budget}, {events}")
    for blocks in (SEVEN[:1], SEVEN, many_blocks(20))
    for width in (350.0, 540.0, 640.0)
    for budget in (0.3, 0.01, 1e-5)
    for events in (True, False)
]


HORIZONTAL = ("x", "x1", "x2", "cx")
VERTICAL = ("y", "y1", "y2", "cy")


def label_box(element):
    """Left, top, right and baseline of a text, by the same measure that laid it out."""
    css = element.attrib.get("class", "").split()
    size = 11.0 if "small" in css else 12.0
    span = text_width(element.text, size, bold="strong" in css)
    anchor = {"middle": 0.5, "end": 1.0}.get(element.attrib.get("text-anchor"), 0.0)
    left, base = float(element.attrib["x"]) - anchor * span, float(element.attrib["y"])
    return left, base - 0.7 * size, left + span, base


def level_labels(drawing):
    texts = ElementTree.fromstring(drawing.inline()).iter(SVG + "text")
    return [(label_box(text), text.text) for text in texts if "transform" not in text.attrib]


@pytest.mark.parametrize(("blocks", "width", "budget", "events"), CASES)
def test_nothing_reaches_beyond_the_picture(blocks, width, budget, events):
    for name, drawing in drawn(blocks, width, budget, events=events, operations=30).items():
        for element in ElementTree.fromstring(drawing.inline()).iter():
            for keys, limit in ((HORIZONTAL, drawing.width), (VERTICAL, drawing.height)):
                for key in keys:
                    place = float(element.attrib.get(key, 0.0))
                    assert -0.05 <= place <= limit + 0.05, (name, element.attrib)
            if element.tag == SVG + "rect":
                right = float(element.attrib["x"]) + float(element.attrib["width"])
                assert right <= drawing.width + 0.05, (name, element.attrib)
        for (left, _, right, _), text in level_labels(drawing):
            assert left >= -3.0, (name, text)
            assert right <= drawing.width + 3.0, (name, text)


@pytest.mark.parametrize(("blocks", "width", "budget", "events"), CASES)
def test_labels_of_a_picture_do_not_overlap(blocks, width, budget, events):
    for name, drawing in drawn(blocks, width, budget, events=events, operations=30).items():
        for (one, text), (other, beside) in combinations(level_labels(drawing), 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (name, text, beside)


def test_the_fit_bar_is_as_long_as_the_share():
    drawing = drawn(SEVEN, 540.0)["fit_area"]
    root = ElementTree.fromstring(drawing.inline())
    bars = [e for e in root.iter(SVG + "rect") if e.attrib.get("class") == "bar-fit" and list(e)]
    lengths = {e[0].text.split(":")[0]: float(e.attrib["width"]) for e in bars}
    rows = {row["block"]: row["fit"] for row in example_summary()["blocks"]}
    longest = max(rows, key=rows.get)
    for block, fit in rows.items():
        assert lengths[block] / lengths[longest] == pytest.approx(fit / rows[longest], abs=2e-3)


def test_the_front_marks_choice_budget_and_lockstep():
    drawing = drawn(SEVEN, 540.0)["front"]
    texts = [e.text for e in ElementTree.fromstring(drawing.inline()).iter(SVG + "text")]
    assert "budget 0.01 FIT" in texts
    assert "lockstep of everything: +104 %" in texts
    assert "unprotected" in texts
    assert any(text.startswith("chosen: +11.4 %") for text in texts)


def test_without_events_upper_limits_are_drawn():
    drawing = drawn(SEVEN, 540.0, events=False)["fit_intervals"]
    root = ElementTree.fromstring(drawing.inline())
    assert not [e for e in root.iter(SVG + "circle")]
    assert len([e for e in root.iter(SVG + "polygon")]) == 8
    assert sum((e.text or "").startswith("≤ ") for e in root.iter(SVG + "text")) == 8


def test_files_stand_alone(summary, protection):
    files = figure_files(summary, protection)
    assert set(files) == {
        "verdict.svg", "fit-area.svg", "fit-intervals.svg", "outcomes.svg", "operations.svg",
        "front.svg", "effect.svg", "overview.svg",
    }  # fmt: skip
    for text in files.values():
        root = ElementTree.fromstring(text)
        assert root.tag == SVG + "svg"
        assert root.attrib["width"]
        assert "--ink" in root.find(SVG + "style").text
    assert set(figure_files(summary)) == set(files) - {"front.svg", "effect.svg"}


def test_figures_are_had_by_name(summary_document, protection_document):
    documents = (summary_of(summary_document), protection_of(protection_document))
    assert set(render_figures(*documents, frozenset({"overview.svg"}))) == {"overview.svg"}
    assert len(render_figures(*documents)) == 8
    with pytest.raises(ReportError, match=r"expected figures among .*overview\.svg.*found moon\.svg"):
        render_figures(*documents, frozenset({"moon.svg"}))


def test_text_is_measured_cut_and_broken():
    assert shorten("short", 100.0) == "short"
    cut = shorten("a rather long label", 60.0)
    assert cut.endswith("…")
    assert text_width(cut) <= 60.0
    assert two_lines("one two three", 60.0) == ["one two", "three"]
    assert two_lines("one", 60.0) == ["one"]
    assert escape("a<b>&\x01") == "a&lt;b&gt;&amp;\ufffd"
