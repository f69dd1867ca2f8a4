# SPDX-License-Identifier: Apache-2.0
"""Waveforms of others, read back: a value change dump as the values of its variables at given times."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from pathlib import Path


class Waveform:
    """A value change dump.

    Args:
        file: The file.

    Attributes:
        names: Identifier of each variable, by its path: scopes and name, joined by dots, ranges left out.
    """

    def __init__(self, file: Path) -> None:
        self.names: dict[str, str] = {}
        self._times: defaultdict[str, list[int]] = defaultdict(list)
        self._values: defaultdict[str, list[str]] = defaultdict(list)
        scopes: list[str] = []
        time = 0
        with file.open(encoding="ascii") as lines:
            for line in lines:
                words = line.split()
                if not words:
                    continue
                if words[0] == "$scope":
                    scopes.append(words[2])
                elif words[0] == "$upscope":
                    scopes.pop()
                elif words[0] == "$var":
                    self.names[".".join([*scopes, words[4]])] = words[3]
                elif words[0].startswith("#"):
                    time = int(words[0][1:])
                elif words[0][0] in "b01" and not words[0].startswith("$"):
                    value, identifier = (
                        (words[0][1:], words[1]) if len(words) > 1 else (words[0][0], words[0][1:])
                    )
                    self._times[identifier].append(time)
                    self._values[identifier].append(value)

    def value(self, name: str, time: int) -> int:
        """Return what a variable is worth at a time; KeyError if there is no such variable."""
        identifier = self.names[name]
        place = bisect_right(self._times[identifier], time)
        return int(self._values[identifier][place - 1], 2) if place else 0
