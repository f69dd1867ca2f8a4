# SPDX-License-Identifier: Apache-2.0
"""What storage of a design has become in RTL that was made from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from resil.rtl_harness.errors import HarnessError


@dataclass(frozen=True, slots=True)
class Became:
    """What a register or memory has become.

    Attributes:
        bits: That it had, of all words; 0 if it has kept its name.
        plain: Paths of registers or of a memory that hold bits of it, and nothing else.
        copies: Paths of redundant registers that hold bits of it, copies and parity bits.
    """

    bits: int = 0
    plain: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()


@dataclass(frozen=True)
class StorageNames:
    """Names that storage had, with what it is called now.

    Attributes:
        became: By the old path; storage that is not among them has kept its name.
        alerts: Outputs of the top that rise only while redundant registers contradict each other, or a timer
            has expired, or stay after that. As long as all storage of the design is as in a run without a
            fault they stay as there, whatever data it works on.
        checked_when_used: Those of the copies that are looked at only when they are used, as the words of a
            memory with a code: an upset of one that is not used raises no alarm.
    """

    became: Mapping[str, Became] = field(default_factory=dict)
    alerts: tuple[str, ...] = ()
    checked_when_used: tuple[str, ...] = ()

    def matching(self, pattern: str, paths: Iterable[str]) -> Iterator[Became]:
        """Yield what the storage has become whose old name a pattern, as of `fnmatch`, names.

        Args:
            pattern: Of names of the design that the RTL was made from.
            paths: Of all storage of the RTL.
        """
        new = {path for found in self.became.values() for path in (*found.plain, *found.copies)}
        for path in paths:
            if path not in new and fnmatchcase(path, pattern):
                yield Became(plain=(path,))
        for old, found in self.became.items():
            if fnmatchcase(old, pattern):
                yield found

    def of(self, path: str) -> Became:
        """Return what the storage of one old path has become."""
        return self.became.get(path, Became(plain=(path,)))

    def text(self) -> str:
        """Return the content of a file of names."""
        became = {
            old: {"bits": found.bits, "plain": found.plain, "copies": found.copies}
            for old, found in sorted(self.became.items())
        }
        document = {"alerts": self.alerts, "checked_when_used": self.checked_when_used, "became": became}
        return json.dumps(document, indent=1) + "\n"


def read_storage_names(path: Path) -> StorageNames:
    """Read what `StorageNames.text` wrote.

    Raises:
        HarnessError: The file cannot be read, or is of another form.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        became = {
            old: Became(int(found["bits"]), *_paths(found, "plain", "copies"))
            for old, found in document["became"].items()
        }
        alerts, checked = _paths(document, "alerts", "checked_when_used")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise HarnessError(
            f"{path}: expected the names that storage had before protection, as resil writes them, found "
            f"{type(error).__name__}: {error}; build the protection again",
            "names",
        ) from None
    return StorageNames(became, alerts, checked)


def _paths(table: Mapping[str, Any], *keys: str) -> Iterator[tuple[str, ...]]:
    for key in keys:
        if not all(isinstance(path, str) for path in table[key]):
            raise TypeError(f"{key}: expected a list of paths")
        yield tuple(table[key])
