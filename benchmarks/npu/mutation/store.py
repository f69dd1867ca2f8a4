# SPDX-License-Identifier: Apache-2.0
"""Verdicts on disk, a line each, so that a run that was ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from resil.rtl_harness.cache import content_key
from testkit.npu.mutation.sites import Mutation

OUTCOMES = ("killed", "missed", "open", "unseen", "harmless", "proven")


@dataclass(frozen=True)
class Result:
    """What became of a mutant.

    Attributes:
        block: Of its file.
        file: Its file's name.
        line: Line of the change.
        kind: "operator", "constant", "condition", "choice" or "reset".
        context: The whole line.
        change: What becomes what.
        outcome: One of `OUTCOMES`; "missed": only stimuli that no test runs found it.
        by: What found it: the suite and the rule that is broken. If harmless: why.
        formal: What the proof says of the module alone: "equal", "differs" or "open"; "" if not asked.
    """

    block: str
    file: str
    line: int
    kind: str
    context: str
    change: str
    outcome: str
    by: str
    formal: str


class Store:
    """Results by mutant, in a file or nowhere.

    Args:
        file: Lines of JSON; None: nothing is kept.
        parts: What else the verdicts depend on.
        sources: The RTL. A verdict holds for just these files.
    """

    def __init__(self, file: Path | None, sources: Sequence[Path], parts: Sequence[str | int]) -> None:
        self._file, self._key = file, content_key(list(sources), list(parts))
        self._found: dict[str, Result] = {}
        if file is not None and file.is_file():
            for line in file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                if entry["key"] == self._key:
                    self._found[entry["mutant"]] = Result(**entry["result"])

    def get(self, mutation: Mutation) -> Result | None:
        """Return the verdict of an earlier run."""
        return self._found.get(_name(mutation))

    def put(self, mutation: Mutation, result: Result) -> None:
        """Keep a verdict."""
        self._found[_name(mutation)] = result
        if self._file is not None:
            entry = {"key": self._key, "mutant": _name(mutation), "result": asdict(result)}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")


def _name(mutation: Mutation) -> str:
    return f"{mutation.file.name}:{mutation.start}:{mutation.end}:{mutation.text}"
