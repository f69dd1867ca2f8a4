# SPDX-License-Identifier: Apache-2.0
"""How large a report is, and how soon it opens, at a thousand injections and at a million.

The summary is that of a run. Registers, times, operations and memories are made, as many as so many
injections leave at the most. A page is opened from disk in Chromium, each time in a new context; figures are
medians.

    python -m benchmarks.reports.page RUN_DIR [--injections 1000 1000000] [--times 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from resil.record.summary import Summary
from resil.reports import render
from resil.reports.page_data import packed
from testkit.detail_example import example_detail

ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
REGISTERS = {1_000: 40, 1_000_000: 1500}
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def opened(page: Path, times: int) -> dict[str, float]:
    """Return the seconds until something is painted, and until the page answers."""
    from playwright.sync_api import sync_playwright

    painted, answers = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(ARGUMENTS))
        for _ in range(times):
            context = browser.new_context(viewport={"width": 1400, "height": 900})
            own = context.new_page()
            began = time.monotonic()
            own.goto(page.as_uri())
            own.wait_for_selector("html.alive", state="attached")
            answers.append(time.monotonic() - began)
            painted.append((own.evaluate(_PAINT) or 0.0) / 1000.0)
            context.close()
        browser.close()
    return {"painted_s": statistics.median(painted), "answers_s": statistics.median(answers)}


def main(arguments: list[str] | None = None) -> int:
    """Print a row for each number of injections."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--injections", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    summary = Summary.read((asked.run / "summary.json").read_bytes())
    blocks = tuple(block.name for block in summary.blocks)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for number in asked.injections:
            registers = REGISTERS.get(number, 1500)
            detail = example_detail(blocks, registers=registers, injections=number, bins=40)
            text = str(render(summary, None, detail)["report.html"])
            page = Path(folder) / f"{number}.html"
            page.write_text(text, encoding="utf-8")
            sizes = {"page_mb": len(text.encode()) / 1e6, "data_mb": len(packed(summary, None, detail)) / 1e6}
            rows.append({"injections": number, "registers": registers, **sizes, **opened(page, asked.times)})
    if asked.json:
        print(json.dumps(rows, indent=1))
        return 0
    print(
        f"{'injections':>10} {'registers':>9} {'page MB':>8} {'data MB':>8} {'painted s':>9} {'answers s':>9}"
    )
    for row in rows:
        print(
            f"{row['injections']:>10,} {row['registers']:>9,} {row['page_mb']:>8.2f} {row['data_mb']:>8.2f} "
            f"{row['painted_s']:>9.2f} {row['answers_s']:>9.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
