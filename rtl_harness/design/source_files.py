# SPDX-License-Identifier: Apache-2.0
"""Every file that the front ends may read for a target: sources, what they include, what their RTL reads.

A file counts if a string in the RTL, or in a macro of the target, names it in a folder that is searched. That
is more than is read, never less: what a front end reads beside these is an error of the build that meets it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from resil.rtl_harness.design.as_synthesised import as_synthesised
from resil.rtl_harness.design.netlist_text import with_plain_instances
from resil.rtl_harness.design.target import PACKAGE, Target
from resil.rtl_harness.errors import HarnessError

# Where RTL's relative names begin, in the folder of a target's data: so many steps up may a name take.
DATA_DEPTH = 4
_BELOW = "/".join("d" * DATA_DEPTH)

# Of files that may hold RTL.
RTL_SUFFIXES = (".v", ".sv", ".vh", ".svh", ".inc")
_NAMES = re.compile(rb'`include\s*["<]([^">\n]+)[">]|"((?:[^"\\\n]|\\.)*)"')


@dataclass(frozen=True)
class SourceFile:
    """A file that a target is made of.

    Attributes:
        path: Where it lies.
        content: Its bytes, of RTL of others as synthesis reads it.
        digest: SHA-256 of them.
        rewritten: Whether they are other bytes than those of the file.
    """

    path: Path
    content: bytes
    digest: str
    rewritten: bool


@dataclass
class SourceFiles:
    """All files of a target.

    Attributes:
        files: In the order in which they were found, sources first.
        includes: Those among them that may be RTL: sources and what is included.
        data: By place in the folder of data, which of them it holds.
        names: Who names what: reader (-1 for the target), name as written, where it was found, number of it.
    """

    files: list[SourceFile] = field(default_factory=list)
    includes: set[int] = field(default_factory=set)
    data: dict[str, int] = field(default_factory=dict)
    names: list[tuple[int, str, str, int]] = field(default_factory=list)


def data_place(name: str) -> str | None:
    """Return the place of a data file in the folder of data; None if RTL may not name a file so.

    >>> data_place("rom.hex")
    'd/d/d/d/rom.hex'
    >>> data_place("../mem/rom.hex")
    'd/d/d/mem/rom.hex'
    >>> data_place("/tmp/rom.hex") is None
    True
    """
    place = os.path.normpath(os.path.join(_BELOW, name))
    return None if os.path.isabs(name) or place.startswith("..") else place


def read_source_files(target: Target) -> SourceFiles:
    """Read all files of a target.

    Raises:
        HarnessError: A source is missing, or a name of data means two files.
    """
    return _SourceReader(target).read()


class _SourceReader:
    def __init__(self, target: Target) -> None:
        self.target = target
        self.found = SourceFiles()
        self.numbers: dict[Path, int] = {}
        self.beside: dict[str, int] = {}
        self.defines = tuple(sorted(target.defines.items()))
        self.include_dirs = [_plain(folder) for folder in target.include_dirs]
        self.data_dirs = [_plain(folder) for folder in target.data_dirs]

    def read(self) -> SourceFiles:
        missing = [str(path) for path in self.target.sources if not path.is_file()]
        if missing:
            raise HarnessError(
                f"target {self.target.name}: no such source file: {', '.join(missing)}", "sources"
            )
        for path in self.target.sources:
            self.found.includes.add(self._number(_plain(path)))
        for path in self.target.data_files:
            self._listed(_plain(path))
        for value in self.target.defines.values():
            self._named(-1, value.replace("\\", "").encode(), None)
        done = 0
        while done < len(self.found.files):
            file = self.found.files[done]
            self._named(done, file.content, file.path.parent)
            done += 1
        for place, number in self.beside.items():
            self.found.data.setdefault(place, number)
        return self.found

    def _number(self, path: Path) -> int:
        if path not in self.numbers:
            content = written = path.read_bytes()
            if path.suffix in RTL_SUFFIXES and PACKAGE not in path.parents:
                if self.target.cells is not None:
                    content = written = with_plain_instances(content)
                content = as_synthesised(content, self.defines)
            self.numbers[path] = len(self.found.files)
            digest = sha256(content).hexdigest()
            self.found.files.append(SourceFile(path, content, digest, content != written))
        return self.numbers[path]

    def _listed(self, path: Path) -> None:
        """Take a file that RTL reads under a name that it computes."""
        number = self._number(path)
        for kind, folders in (("data", self.data_dirs), ("include", self.include_dirs)):
            for folder in folders:
                if folder in path.parents:
                    name = str(path.relative_to(folder))
                    self.found.names.append((-1, name, f"listed {kind}", number))
                    self._place(name, number)

    def _named(self, reader: int, text: bytes, folder: Path | None) -> None:
        for name, included in _names(text):
            for where, searched in self._searched(folder, included):
                path = _plain(searched / name)
                try:
                    if not path.is_file():
                        continue
                except (OSError, ValueError):
                    continue
                number = self._number(path)
                self.found.names.append((reader, name, where, number))
                if where.startswith("data"):
                    self._place(name, number)
                else:
                    self.found.includes.add(number)
                    if not included and where == "beside":
                        self._place_beside(name, number)

    def _searched(self, folder: Path | None, included: bool) -> Iterator[tuple[str, Path]]:
        yield from ((f"include {i}", own) for i, own in enumerate(self.include_dirs))
        if not included:
            yield from ((f"data {i}", own) for i, own in enumerate(self.data_dirs))
        if folder is not None:
            yield "beside", folder

    def _place(self, name: str, number: int) -> None:
        if (place := data_place(name)) is not None:
            self.found.data.setdefault(place, number)

    def _place_beside(self, name: str, number: int) -> None:
        place = data_place(name)
        if place is None or place in self.found.data:
            return
        other = self.beside.setdefault(place, number)
        files = self.found.files
        if files[other].digest != files[number].digest:
            raise HarnessError(
                f"target {self.target.name}: {name!r} is {files[other].path} for one source and "
                f"{files[number].path} for another: a simulator has one folder from which RTL reads; rename "
                "one, or put the one that is meant into a folder of data_dirs",
                "data_dirs",
            )


def _names(text: bytes) -> Sequence[tuple[str, bool]]:
    """Return each relative name that a text holds in quotes, and whether an `include says it."""
    found: dict[tuple[str, bool], None] = {}
    for match in _NAMES.finditer(text):
        name = (match[1] or match[2]).decode(errors="surrogateescape")
        if name and not name.startswith("/") and "\0" not in name:
            found[name, match[1] is not None] = None
    return list(found)


def _plain(path: Path) -> Path:
    return Path(os.path.abspath(path))
