# SPDX-License-Identifier: Apache-2.0
"""Sentences of a Markdown page, as a reader meets them."""

from __future__ import annotations

import re

LONG = 35  # words
FENCE = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
# A point, a question or an exclamation that ends a sentence, not an abbreviation or a figure.
_END = re.compile(r"(?<=[.!?])[*_)\"'`]*\s+(?=[*_(\"'`\[]*[A-Z0-9`])")
_NO_END = re.compile(r"\b(?:[A-Z]|al|vs|cf|e\.g|i\.e|ed|Ann|Am|Soc|Stat|Assoc|Math)\.$")


def paragraphs(page: str) -> list[str]:
    """Paragraphs and items of lists; headings, tables and code are none."""
    found: list[str] = []
    open_ = False
    for line in FENCE.sub("", page).splitlines():
        text = line.strip()
        skipped = (
            not text or text.startswith(("#", "|", "<", "![")) or (line.startswith("    ") and not open_)
        )
        if skipped:
            open_ = False
        elif open_ and not _ITEM.match(line):
            found[-1] += " " + text
        else:
            found.append(_ITEM.sub("", text))
            open_ = True
    return found


def sentences(page: str) -> list[str]:
    """Sentences; what leads to a list ends with its colon, and so does an item."""
    found = []
    for paragraph in paragraphs(page):
        parts = _END.split(paragraph)
        joined: list[str] = []
        for part in parts:
            if joined and _NO_END.search(joined[-1]):
                joined[-1] += " " + part
            else:
                joined.append(part)
        found += [part for part in joined if re.search(r"[A-Za-z]", part)]
    return found


def words(sentence: str) -> int:
    """Words; a link counts by its text, code as one word a name."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
    return sum(bool(re.search(r"\w", word)) for word in plain.split())


def share_of_long(page: str) -> float:
    """Part of the sentences that have more than `LONG` words."""
    counts = [words(sentence) for sentence in sentences(page)]
    return sum(count > LONG for count in counts) / len(counts) if counts else 0.0
