# SPDX-License-Identifier: Apache-2.0
"""File lists as simulators take them: sources, libraries, include folders and macros."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.errors import HarnessError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|(?<!\S)#[^\n]*", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_INTEGER = re.compile(r"(?:\d*'s?(?P<base>[bodh]))?(?P<digits>-?[0-9a-fA-F]+)")
_VHDL = (".vhd", ".vhdl")
_LISTS = (".f", ".fl", ".vc")
# Options with a value behind them that say nothing of what is read.
_WITH_VALUE = ("-timescale", "--timescale", "-top", "--top", "-l", "-o")


@dataclass
class FileList:
    """What a file list names, in its order.

    Attributes:
        sources: Files to compile.
        libraries: Files whose modules are taken if they are missing (-v).
        library_dirs: Folders in which a missing module is looked for by its name (-y).
        suffixes: Of files there (+libext+).
        include_dirs: Folders for `include.
        defines: Macros.
        parameters: Of the top (-G, -pvalue+), those that are integers.
        left_out: Options that are not known, and not followed.
    """

    sources: list[Path] = field(default_factory=list)
    libraries: list[Path] = field(default_factory=list)
    library_dirs: list[Path] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)
    include_dirs: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def read_file_lists(files: Sequence[Path]) -> FileList:
    """Read file lists, and those that they name; the options of verilog simulators.

    Paths are looked for from the working folder, and then from the folder of the list that names them.
    Variables of the environment are filled in.

    Raises:
        HarnessError: A list or file is not there, lists name each other, or a file is VHDL or encrypted.
    """
    found = FileList()
    for file in files:
        _read(found, file.resolve(), [])
    if not found.sources:
        raise HarnessError(
            f"{', '.join(map(str, files))}: expected at least one source, found none; list the RTL", "-f"
        )
    return found


def _read(found: FileList, file: Path, around: list[Path]) -> None:
    if file in around:
        names = " names ".join(str(own) for own in [*around, file])
        raise HarnessError(f"{names}: expected lists that end, found a circle; remove one", "-f")
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise HarnessError(f"{file}: expected a file list, found none ({error.strerror})", "-f") from None
    words = iter(_filled(file, _COMMENT.sub(" ", text)).split())
    for word in words:
        _word(found, file, word, words, [*around, file])


def _filled(file: Path, text: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        if name not in os.environ:
            raise HarnessError(
                f"{file}: expected the variable {name} in the environment, found none; set it", f"-f.{name}"
            )
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def _word(found: FileList, file: Path, word: str, words: Iterator[str], around: list[Path]) -> None:
    if word in ("-f", "-F"):
        _read(found, _path(file, next(words, ""), beside_first=word == "-F"), around)
    elif word == "-v":
        found.libraries.append(_source(file, next(words, "")))
    elif word == "-y":
        found.library_dirs.append(_path(file, next(words, ""), folder=True))
    elif word in ("-I", "-D", "-incdir", "--include-directory"):
        _joined(found, file, "-D" if word == "-D" else "-I", next(words, ""))
    elif word.startswith(("+incdir+", "+define+", "+libext+")):
        kind, *values = word.strip("+").split("+")
        for value in values:
            if kind == "libext":
                found.suffixes.append(value)
            else:
                _joined(found, file, "-I" if kind == "incdir" else "-D", value)
    elif word.startswith(("-G", "-pvalue+")):
        given = word.removeprefix("-pvalue+").removeprefix("-G") or next(words, "")
        if not add_parameter(found, given):
            found.left_out.append(f"-G{given}")
    elif word[:2] in ("-I", "-D"):
        _joined(found, file, word[:2], word[2:])
    elif word in _WITH_VALUE:
        next(words, "")
    elif word[:1] in "+-":
        found.left_out.append(word)
    elif word.endswith(_LISTS):
        _read(found, _path(file, word), around)
    else:
        own = _source(file, word)
        if own not in found.sources:
            found.sources.append(own)


def add_parameter(found: FileList, given: str) -> bool:
    """Note a parameter of the top, NAME=VALUE; False if the value is no integer."""
    name, _, value = given.partition("=")
    match = _INTEGER.fullmatch(value.replace("_", ""))
    if match is None or not name:
        return False
    base = {"b": 2, "o": 8, "h": 16}.get(match["base"] or "", 10)
    try:
        found.parameters[name] = int(match["digits"], base)
    except ValueError:
        return False
    return True


def _joined(found: FileList, file: Path, option: str, value: str) -> None:
    if option == "-I":
        own = _path(file, value, folder=True)
        if own not in found.include_dirs:
            found.include_dirs.append(own)
    else:
        name, _, text = value.partition("=")
        found.defines[name] = text


def _path(file: Path, name: str, *, folder: bool = False, beside_first: bool = False) -> Path:
    bases = [Path.cwd(), file.parent]
    for base in reversed(bases) if beside_first else bases:
        own = base / name
        if name and (own.is_dir() if folder else own.is_file()):
            return own.resolve()
    what = "a folder" if folder else "a file"
    raise HarnessError(
        f"{file}: expected {what} {name!r} in {bases[0]} or {bases[1]}, found none; correct the path",
        "-f.path",
    )


def _source(file: Path, name: str) -> Path:
    if name.lower().endswith(_VHDL):
        raise HarnessError(
            f"{file}: {name}: expected Verilog or SystemVerilog, found VHDL, which no front end here reads; "
            "convert it (ghdl synth --out=verilog does), and list what comes of it",
            "-f.vhdl",
        )
    own = _path(file, name)
    head = own.read_bytes()[:65536]
    if b"`pragma protect begin_protected" in head or b"`protected" in head:
        raise HarnessError(
            f"{own}: expected RTL that can be read, found encrypted source; ask for the source, or put a "
            "model of its ports in place of it",
            "-f.encrypted",
        )
    return own
