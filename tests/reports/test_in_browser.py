# SPDX-License-Identifier: Apache-2.0
"""The pages in a real browser: filter, walk, front, dark, phone, print; no error, nothing serious to axe.

Debian's Chromium, driven by Playwright. Without either, or with RESIL_NO_BROWSER set, the tests are skipped.
RESIL_SCREENSHOTS names a folder where each test leaves what it saw.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from resil.record.comparison import ComparedRun, Comparison, Difference, PartDifference
from resil.record.interim import Interim, InterimBlock
from resil.record.interval import Ordered, RecordedInterval
from resil.record.outcomes import OUTCOMES
from resil.reports import live_html, render, render_study
from resil.reports.comparison import compare_html
from testkit.detail_example import example_detail
from tests.reports.example import SEVEN, example_protection, protection_of, summary_of
from tests.reports.test_safety import document
from tests.reports.test_study import document as study_document
from tests.reports.test_study import parsed

BLOCKS = tuple(row[0] for row in SEVEN)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
MISSING = [
    name
    for name, there in (
        ("chromium (apt-get install chromium)", BROWSER),
        ("playwright (pip install playwright)", find_spec("playwright")),
        ("axe-core-python (pip install axe-core-python)", find_spec("axe_core_python")),
        ("a wish for it (RESIL_NO_BROWSER is set)", not os.environ.get("RESIL_NO_BROWSER")),
    )
    if not there
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING), reason=f"no browser test without {', '.join(MISSING)}"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@cache
def report(injections=4000, registers=60, bins=32):
    made = document()
    detail = example_detail(BLOCKS, registers=registers, injections=injections, bins=bins)
    return render(summary_of(made), protection_of(example_protection(made)), detail)["report.html"]


@cache
def study():
    return render_study(parsed(study_document()))["report.html"]


@cache
def comparison():
    def run(name, fit):
        shares = {block: RecordedInterval(fit / 7, fit / 14, fit / 5) for block in BLOCKS}
        return ComparedRun(
            path=f"runs/{name}",
            name=name,
            predicted=False,
            network="digits",
            target="ethos-u55-32",
            injections=4000,
            outcomes={outcome.key: 600 for outcome in OUTCOMES},
            fit=RecordedInterval(fit, 0.8 * fit, 1.3 * fit),
            area=120_000.0,
            area_unit="GE",
            budget_fit=0.1,
            verdict="met",
            safety=None,
            blocks=shares,
        )

    def part(name, mark):
        there = Ordered(0.006, 0.004, 0.009)
        known = None if mark in ("new", "gone") else RecordedInterval(-0.002, -0.003, -0.001)
        return PartDifference(
            name=name,
            block=BLOCKS[0],
            first=None if mark == "new" else there,
            other=None if mark == "gone" else there,
            difference=known,
            mark=mark,
        )

    marks = ("new", "gone", "lower", "not shown")
    own = Difference(
        of="after",
        fit=RecordedInterval(-0.02, -0.03, -0.01),
        ratio=0.6,
        blocks=tuple(part(block, "lower") for block in BLOCKS),
        registers=tuple(part(f"u_npu.u_cc.{mark.replace(' ', '_')}_q", mark) for mark in marks),
    )
    return compare_html(
        Comparison(
            confidence=0.95,
            runs=(run("before", 0.05), run("after", 0.03)),
            differences=(own,),
            warnings=("the targets differ",),
        ),
        "0",
    )


@cache
def live():
    limits = RecordedInterval(None, 0.01, 0.09)
    blocks = tuple(
        InterimBlock(block=block, planned=600, ended=200, hazardous=9, limits=limits) for block in BLOCKS
    )
    return live_html(
        Interim(
            name="digits",
            state="injecting",
            note="",
            planned=4200,
            ended=1400,
            rate=55.0,
            seconds_left=51.0,
            pilot=False,
            confidence=0.95,
            budget_fit=0.1,
            outcomes=(1000, 200, 100, 60, 30, 10),
            total=limits,
            blocks=blocks,
        ),
        "0",
    )


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def show(browser, tmp_path):
    """Open a page from disk; whatever it complains of fails the test."""

    @contextmanager
    def opened(text, width=1400, **context):
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        said, asked = [], []
        own = browser.new_context(viewport={"width": width, "height": 900}, **context)
        page = own.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        if context.get("java_script_enabled", True) and "page-data" in text:
            page.wait_for_selector("html.alive", state="attached")
        yield page
        if folder := os.environ.get("RESIL_SCREENSHOTS"):
            name = re.sub(r"\W+", "-", os.environ.get("PYTEST_CURRENT_TEST", "page").split("::")[-1])
            page.screenshot(path=Path(folder) / f"{name}{width}.png", full_page=True)
        assert said == []
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
        own.close()

    return opened


def visible_rows(page):
    return page.locator("#register-rows tr").count()


def test_registers_are_filtered_sorted_and_counted(show):
    detail = example_detail(BLOCKS, registers=60)
    with show(report()) as page:
        assert visible_rows(page) == 50
        page.get_by_role("button", name="Show more").click()
        assert visible_rows(page) == 60
        page.locator("select[name=block]").select_option("dma")
        expected = [row for row in detail.registers if row.block == "dma"]
        assert visible_rows(page) == len(expected)
        assert page.locator("#register-status").inner_text().startswith(f"{len(expected)} of 60 registers")
        page.locator("select[name=outcome]").select_option("hang")
        assert visible_rows(page) == sum(row.hang > 0 for row in expected)
        page.get_by_role("button", name="Reset").click()
        page.locator("input[name=q]").fill("value_17_q")
        assert page.locator("#register-rows th").inner_text().endswith("value_17_q")
        page.locator("input[name=q]").fill("nothing like that")
        assert visible_rows(page) == 0
        page.get_by_role("button", name="Reset").click()
        page.locator("#register-table th[data-sort=bits] button").click()
        largest = max(detail.registers, key=lambda row: row.bits)
        assert page.locator("#register-rows th").first.inner_text() == largest.path
        page.locator("#register-table th[data-sort=bits] button").click()
        assert page.locator("#register-table th[aria-sort=ascending]").count() == 1


def test_the_hierarchy_is_walked_with_mouse_and_keyboard(show):
    with show(report()) as page:
        status = page.locator("#treemap [role=status]")
        assert status.inner_text().startswith("u_npu:")
        page.locator("#treemap [role=button]").first.focus()
        page.keyboard.press("Enter")
        inner = status.inner_text()
        assert inner.startswith("u_npu.u_")
        block = re.match(r"u_npu\.u_(\w+)", inner).group(1)
        own = [row for row in example_detail(BLOCKS, registers=60).registers if row.block == block]
        assert f"{sum(row.bits for row in own):,} bits" in inner
        assert f"{sum(row.hazardous for row in own):,} of {sum(row.injections for row in own):,}" in inner
        page.locator("#treemap nav button").first.click()
        assert status.inner_text().startswith("u_npu:")
        page.locator("select[name=size]").select_option("area")
        assert page.locator("#treemap svg").count() == 1


def test_limits_in_the_script_are_the_exact_ones(show):
    """A tile of one register has the interval that Python computed for it."""
    detail = example_detail(("mac",), registers=3)
    made = document()
    text = render(summary_of(made), None, detail)["report.html"]
    with show(text) as page:
        labels = page.locator("#treemap .tile-cell").evaluate_all(
            "all => all.map(e => e.getAttribute('aria-label'))"
        )
        cells = page.locator("#timeline rect title").evaluate_all("all => all.map(e => e.textContent)")
    from resil.record import numbers
    from resil.stats.intervals import clopper_pearson

    checked = 0
    for label in labels:
        for row in detail.registers:
            if row.path.split(".")[2] in label.split(":")[0] and "open" not in label:
                shown = numbers.pretty(numbers.fit_range(row.fit_interval))
                checked += shown in label
    for cell in cells:
        if found := re.search(r": (\d+) of (\d+) injections hazardous, .* \[([\d.]+) %, ([\d.]+) %\]", cell):
            k, n, lo, hi = int(found[1]), int(found[2]), float(found[3]), float(found[4])
            exact = clopper_pearson(k, n)
            assert lo == pytest.approx(100 * exact.lo, rel=6e-3, abs=1e-6)
            assert hi == pytest.approx(100 * exact.hi, rel=6e-3)
            checked += 1
    assert checked > 20


def test_times_and_memories_are_shown_by_other_rows(show):
    with show(report()) as page:
        page.locator("select[name=rows]").select_option("path")
        assert page.locator("#timeline text").count() > 30
        page.locator("select[name=rows]").select_option("register_class")
        assert page.locator("#memories svg rect").count() == 3 * 16


def test_a_point_moves_along_the_front(show):
    with show(report()) as page:
        panel = page.locator("#front-panel")
        assert panel.is_visible()
        assert "✓ FIT budget" in panel.inner_text()
        slider = page.locator("#front-point")
        slider.focus()
        page.keyboard.press("Home")
        assert "✕ FIT budget" in panel.inner_text()
        assert panel.inner_text().replace("\u00a0", " ").count("+0 %") == 1
        before = page.locator("svg.wide .moved").first.get_attribute("cx")
        page.keyboard.press("End")
        assert page.locator("svg.wide .moved").first.get_attribute("cx") != before
        assert "✓ FIT budget" in panel.inner_text()


def test_each_point_has_its_blocks_before_and_after(show):
    from resil.record import numbers

    made = example_protection(document())
    points = made["pareto"]
    with show(report()) as page:
        slider = page.locator("#front-point")
        slider.focus()
        for key, point in (("Home", points[0]), ("End", points[-1])):
            page.keyboard.press(key)
            rows = page.locator("#front-blocks tr").all()
            assert [row.locator("th").inner_text() for row in rows] == list(point["blocks"])
            for row, left in zip(rows, point["blocks"].values(), strict=True):
                before, after = (cell.inner_text() for cell in row.locator("td").all()[:2])
                for said, when in ((before, "before"), (after, "after")):
                    fit, bound = left[f"fit_{when}"], left[f"fit_hi_{when}"]
                    expected = f"{numbers.fit(fit)}, at most {numbers.fit(bound)}"
                    assert said.strip() == numbers.pretty(expected)
                long, short = (bar.bounding_box()["width"] for bar in row.locator("rect").all())
                assert long >= short
        assert page.locator("#front-measured").is_hidden()


PAGES = (report, study, comparison, live)


@pytest.mark.parametrize("width", [320, 400, 768, 1400])
def test_nothing_is_wider_than_the_screen(show, width):
    for text in (made() for made in PAGES):
        with show(text, width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") == width
            if width in (400, 1400):
                wide = (
                    "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)"
                )
                assert page.evaluate(f"{wide}.map(e => e.getAttribute('aria-label'))") == []


@pytest.mark.parametrize("media", ["screen", "print"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(show, scheme, media):
    import axe_core_python

    axe = next(Path(axe_core_python.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")
    for text in (made() for made in PAGES):
        with show(text, color_scheme=scheme, bypass_csp=True) as page:
            page.emulate_media(media=media, color_scheme=scheme)
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            bad = [
                (own["id"], own["nodes"][0]["target"])
                for own in found
                if own["impact"] in ("serious", "critical")
            ]
            assert bad == []


def test_dark_is_dark(show):
    grounds = []
    for scheme in ("light", "dark"):
        with show(report(), color_scheme=scheme) as page:
            grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(244, 246, 248)", "rgb(18, 22, 27)"]


def test_print_shows_what_is_closed_on_the_screen(show):
    with show(report()) as page:
        points = page.locator("ol.points li").first
        assert not points.is_visible()
        page.emulate_media(media="print")
        assert points.is_visible()
        assert not page.locator("#register-filter").is_visible()
        assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_without_script_the_tables_are_there(show):
    with show(report(), java_script_enabled=False) as page:
        assert visible_rows(page) == 50
        assert not page.locator("#register-filter").is_visible()
        assert not page.locator("#front-panel").is_visible()
        assert page.locator("#treemap svg.wide").is_visible()


def test_a_page_of_a_million_injections_opens_within_a_second_or_few(show):
    """On an idle core it takes well below a second; the bound leaves room for a busy machine."""
    with show(report(1_000_000, 1500, 40)) as page:
        taken = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        assert taken < 5000
        assert page.locator("#register-status").inner_text().startswith("1,500 registers")


def test_a_fault_in_the_script_is_seen(show):
    """What the checks above rest on: an error in the page reaches them."""
    broken = re.sub(r"<meta http-equiv[^>]*>", "", report())
    broken = broken.replace("const rows = detail.registers;", "const rows = detail.nothing.at;")
    with pytest.raises(AssertionError, match="registers"), show(broken) as page:
        assert page.locator("#treemap [role=status]").inner_text().startswith("u_npu:")
