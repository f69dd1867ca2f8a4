# SPDX-License-Identifier: Apache-2.0
"""A table as text that fits a width: names wrap, columns stack, numbers stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.text import Text

_GAP = "  "
_NARROW_NAME = 12
_LEAST_NAME = 6
_STYLES = {"title": "bold", "head": "bold", "rule": "dim", "row": "", "total": "bold", "": ""}
_PART = re.compile(r"[^/_]+[/_]*|[/_]+")
_ATOM = re.compile(r"\d(?:[\d.,]|e[+-]?\d)*|.")

Widths = dict[int, int]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, and whether its cells are numbers (set to the right)."""

    head: str
    numeric: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, for any kind of output.

    Attributes:
        title: Above the table.
        columns: One for each cell of a row.
        rows: Cells.
        totals: How many of the last rows are sums, set off by a rule.
        keys: How many of the first columns name a row; where columns are stacked they are said again.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    totals: int = 0
    keys: int = 1

    def text(self, width: int | None = None) -> str:
        """Return the table as plain text in aligned columns, ending in a newline.

        Args:
            width: Characters of a line. Columns that do not fit beside each other are set below each other,
                and names wrap; a number is never broken, even where the width has no room for it. None for
                all columns beside each other, however wide.
        """
        return "".join(f"{line}\n" for _, line in self._lines(width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Set the table for a `rich` console; no cell is taken as markup."""
        for kind, line in self._lines(options.max_width):
            yield Text(line, style=_STYLES[kind], no_wrap=True, overflow="ignore")

    def _lines(self, width: int | None) -> Iterator[tuple[str, str]]:
        """All lines, each with what it is."""
        for line in [self.title] if width is None else wrapped(self.title, width):
            yield "title", line
        for widths in self._groups(width):
            yield "", ""
            yield from self._group(widths)

    def _group(self, widths: Widths) -> Iterator[tuple[str, str]]:
        rule = _GAP.join("-" * own for own in widths.values())
        heads = tuple(column.head for column in self.columns)
        yield from (("head", line) for line in self._row(heads, widths))
        yield "rule", rule
        first_total = len(self.rows) - self.totals
        for index, row in enumerate(self.rows):
            if self.totals and index == first_total:
                yield "rule", rule
            kind = "total" if index >= first_total else "row"
            yield from ((kind, line) for line in self._row(row, widths))

    def _row(self, cells: Sequence[str], widths: Widths) -> Iterator[str]:
        """A row as lines; what is short stands at the top."""
        folded = {index: wrapped(cells[index], own) for index, own in widths.items()}
        for number in range(max(map(len, folded.values()))):
            placed = []
            for index, own in widths.items():
                text = folded[index][number] if number < len(folded[index]) else ""
                placed.append(text.rjust(own) if self.columns[index].numeric else text.ljust(own))
            yield _GAP.join(placed).rstrip()

    def _groups(self, width: int | None) -> list[Widths]:
        """Columns that stand beside each other, by their widths, one group below the other."""
        full = {index: self._full(index) for index in range(len(self.columns))}
        if width is None or _total(full) <= width:
            return [full]
        least = {index: self._least(index, width) for index in full}
        keys = {index: least[index] for index in range(self.keys)}
        groups, group = [], dict(keys)
        for index in range(self.keys, len(self.columns)):
            if len(group) > len(keys) and _total(group | {index: least[index]}) > width:
                groups.append(group)
                group = dict(keys)
            group[index] = least[index]
        return [self._fitted(own, full, width) for own in (*groups, group)]

    def _fitted(self, group: Widths, full: Widths, width: int) -> Widths:
        """Spread a group over the width; if it is still too wide, press names and then intervals."""
        names_first = sorted(group, key=lambda index: self.columns[index].numeric)
        for index in names_first:
            excess = max(0, _total(group) - width)
            pressed = self._longest_word(index) if self.columns[index].numeric else _LEAST_NAME
            group[index] = max(min(pressed, group[index]), group[index] - excess)
        for index in names_first:
            group[index] += min(full[index] - group[index], max(0, width - _total(group)))
        return group

    def _texts(self, index: int) -> list[str]:
        return [self.columns[index].head, *(row[index] for row in self.rows)]

    def _full(self, index: int) -> int:
        return max(map(len, self._texts(index)))

    def _longest_word(self, index: int) -> int:
        return max(len(word) for text in self._texts(index) for word in text.split(" "))

    def _least(self, index: int, width: int) -> int:
        """Width that a column has where room is scarce: heads and names wrap, intervals do not."""
        head, *cells = self._texts(index)
        if self.columns[index].numeric:
            return max(map(len, (*head.split(" "), *cells)))
        return min(self._longest_word(index), max(_NARROW_NAME, width // 4))


def _total(widths: Widths) -> int:
    return sum(widths.values()) + len(_GAP) * (len(widths) - 1)


def wrapped(text: str, width: int) -> list[str]:
    """Return text in lines of at most `width` characters, at least one line.

    Lines break at spaces; a word that is too long breaks behind a slash or an underscore, else anywhere but
    inside a number. A number longer than the width stands on a line of its own, whole.

    >>> wrapped("0.0152 [0.00960, 0.0226]", 16)
    ['0.0152 [0.00960,', '0.0226]']
    >>> wrapped("model/conv2d_10/Relu", 9)
    ['model/', 'conv2d_', '10/Relu']
    """
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) <= width:
            line += f" {word}"
            continue
        if line:
            lines.append(line)
        line = ""
        for piece in _pieces(word, width):
            if line and len(line) + len(piece) > width:
                lines.append(line)
                line = ""
            line += piece
    return [*lines, line] if line or not lines else lines


def _pieces(word: str, width: int) -> list[str]:
    if len(word) <= width:
        return [word]
    return [
        atom
        for part in _PART.findall(word)
        for atom in ([part] if len(part) <= width else _ATOM.findall(part))
    ]
