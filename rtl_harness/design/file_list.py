# SPDX-License-Identifier: Apache-2.0
"""File lists as simulators take them: sources, libraries, include folders and macros."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resil.rtl_harness.design.list_options import NO_RTL, REFUSED, RTL, WITH_VALUE, is_harmless
from resil.rtl_harness.design.parameter_values import LITERALS, ParameterValue, parameter_value
from resil.rtl_harness.design.unreadable import LISTS, VHDL, require_no_vhdl, require_readable
from resil.rtl_harness.errors import HarnessError

# Not within a path, as in rtl//core.sv or rtl/*.sv.
_COMMENT = re.compile(r"(?<!\S)//[^\n]*|(?<!\S)/\*.*?\*/|(?<!\S)#[^\n]*", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
# Quotes keep blanks together. A backslash before one makes it part of the word.
_WORD = re.compile(r'(?:\\["\\]|"(?:\\.|[^"\\])*"|\S)+')
_TOPS = ("-top", "--top", "-top-module", "--top-module", "-s")
_PARAMETERS = ("+parameter+", "-pvalue+", "-defparam", "-G", "-P", "-g")
_DEFINED = ("-D", "-define", "--define")
_INCLUDED = ("-I", "-incdir", "--include-directory")


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
        parameters: Values of parameters (-G, -pvalue+, +parameter+), by name; behind the name of the module
            and a dot where the list names it, as in tb.Width.
        tops: Modules that the list calls its top.
        ignored: Options and files that say nothing of the design, with their values.
        left_out: Options that are not known, and not followed, with their values.
    """

    sources: list[Path] = field(default_factory=list)
    libraries: list[Path] = field(default_factory=list)
    library_dirs: list[Path] = field(default_factory=list)
    suffixes: list[str] = field(default_factory=list)
    include_dirs: list[Path] = field(default_factory=list)
    defines: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, ParameterValue] = field(default_factory=dict)
    tops: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_file_lists(files: Sequence[Path]) -> FileList:
    """Read file lists, and those that they name; the options of verilog simulators.

    Paths are looked for from the working folder, and then from the folder of the list that names them.
    Variables of the environment are filled in. An option that is not known takes the next word with it, if
    that is neither an option nor a file nor looks like RTL.

    Raises:
        HarnessError: A list or file is not there, lists name each other, a file is VHDL or encrypted, a macro
            or a parameter has two values or none that can be read, or an option makes another design.
    """
    found = FileList()
    for file in files:
        _ListReader(found, file.resolve(), []).read()
    if not found.sources:
        raise HarnessError(
            f"{', '.join(map(str, files))}: expected at least one source, found none; list the RTL", "-f"
        )
    return found


def named_parameter(given: str, where: str, error_field: str) -> tuple[str, ParameterValue]:
    """Return a parameter and its value, of NAME=VALUE that `where` gives; HarnessError if it is none."""
    name, _, text = given.partition("=")
    value = parameter_value(text)
    if value is None or not name:
        raise HarnessError(
            f"{where}: {given}: expected NAME=VALUE with a whole number or a literal ({LITERALS}), found "
            f'another form; a text is written {name or "NAME"}=\\"{text or "text"}\\" in a list, and -G '
            f"'{name or 'NAME'}=\"{text or 'text'}\"' on a command line",
            error_field,
        )
    return name, value


class _ListReader:
    """Reads one list into what is found; `around` are the lists that name it, from the outermost."""

    def __init__(self, found: FileList, file: Path, around: list[Path]) -> None:
        self.found, self.file, self.around = found, file, around
        self.words: list[str] = []
        self.options: dict[str, Callable[[str], None]] = {}
        self.options |= dict.fromkeys(("-f", "-file"), lambda name: self._list(self._path(name)))
        self.options["-F"] = lambda name: self._list(self._path(name, beside_first=True))
        self.options["-v"] = lambda name: found.libraries.append(self._source(name))
        self.options |= dict.fromkeys(("-y", "--libdir"), self._library_dir)
        self.options |= dict.fromkeys(("-Y", "--libext"), found.suffixes.append)
        self.options |= dict.fromkeys(_INCLUDED, self._include)
        self.options |= dict.fromkeys(_DEFINED, self._define)
        self.options |= dict.fromkeys(_TOPS, found.tops.append)
        self.options |= dict.fromkeys(("-G", "-defparam"), self._parameter)
        self.options["-P"] = self._parameter_or_table
        self.options["-U"] = self._undefine

    def read(self) -> None:
        if self.file in self.around:
            names = " names ".join(str(own) for own in [*self.around, self.file])
            raise HarnessError(f"{names}: expected lists that end, found a circle; remove one", "-f")
        try:
            text = self.file.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise HarnessError(
                f"{self.file}: expected a file list, found none ({error.strerror})", "-f"
            ) from None
        if self.file.name.lower().endswith(VHDL):
            require_no_vhdl("-f", str(self.file), "-f")
        self.words = [_plain(word) for word in _WORD.findall(self._filled(_COMMENT.sub(" ", text)))][::-1]
        while self.words:
            self._word(self.words.pop())

    def _filled(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            name = next(group for group in match.groups() if group)
            if name not in os.environ:
                raise HarnessError(
                    f"{self.file}: expected the variable {name} in the environment, found none; set it",
                    f"-f.{name}",
                )
            return os.environ[name]

        return _VARIABLE.sub(value, text)

    def _word(self, word: str) -> None:
        if word in REFUSED:
            raise HarnessError(
                f"{self.file}: {word}: expected options that leave the design as it is, found one that makes "
                f"another of it: {REFUSED[word]}",
                "-f.option",
            )
        if word in self.options:
            self.options[word](self._next(word))
        elif word.startswith(("+incdir+", "+define+", "+libext+", "+libdir+")):
            self._joined(word)
        elif (given := _parameter_in(word)) is not None:
            self._parameter(given)
        elif word[:2] in ("-I", "-D", "-U", "-y") and (word[:2] != "-y" or self._is_there(word[2:])):
            self.options[word[:2]](word[2:])
        elif word[:1] in ("+", "-"):
            self._without_meaning(word)
        elif word.lower().endswith(LISTS):
            self._list(self._path(word))
        elif word.lower().endswith(NO_RTL):
            self.found.ignored.append(word)
        else:
            own = self._source(word)
            if own not in self.found.sources:
                self.found.sources.append(own)

    def _next(self, option: str) -> str:
        if not self.words:
            raise HarnessError(
                f"{self.file}: {option}: expected its value behind it, found the end of the list; add it",
                "-f.option",
            )
        return self.words.pop()

    def _joined(self, word: str) -> None:
        kind, *values = word.strip("+").split("+")
        for value in filter(None, values):
            if kind == "libext":
                self.found.suffixes.append(value)
            else:
                taken = {"incdir": self._include, "define": self._define, "libdir": self._library_dir}
                taken[kind](value)

    def _without_meaning(self, option: str) -> None:
        """Pass over an option, and over its value."""
        said = option
        if option.lstrip("-") in WITH_VALUE:
            said = f"{option} {self._next(option)}"
        elif "=" not in option and option.startswith("-") and self.words and self._is_value(self.words[-1]):
            said = f"{option} {self.words.pop()}"
        (self.found.ignored if is_harmless(option) else self.found.left_out).append(said)

    def _is_value(self, word: str) -> bool:
        meant = word.lower().endswith((*RTL, *LISTS, *VHDL, *NO_RTL))
        return word[:1] not in ("+", "-") and not meant and not self._is_there(word)

    def _is_there(self, name: str) -> bool:
        return bool(name) and any((base / name).exists() for base in (Path.cwd(), self.file.parent))

    def _list(self, file: Path) -> None:
        _ListReader(self.found, file, [*self.around, self.file]).read()

    def _parameter(self, given: str) -> None:
        name, value = named_parameter(given, str(self.file), "-f.parameter")
        if self.found.parameters.setdefault(name, value) != value:
            raise HarnessError(
                f"{self.file}: expected one value of the parameter {name}, found "
                f"{self.found.parameters[name]} and {value}; remove one",
                "-f.parameter",
            )

    def _parameter_or_table(self, given: str) -> None:
        """Take what is behind -P: of Icarus a parameter, of VCS the table of a PLI."""
        if "=" in given:
            self._parameter(given)
        else:
            self.found.ignored.append(f"-P {given}")

    def _library_dir(self, name: str) -> None:
        self.found.library_dirs.append(self._path(name, folder=True))

    def _include(self, name: str) -> None:
        own = self._path(name, folder=True)
        if own not in self.found.include_dirs:
            self.found.include_dirs.append(own)

    def _define(self, given: str) -> None:
        name, _, text = given.partition("=")
        if self.found.defines.setdefault(name, text) != text:
            raise HarnessError(
                f"{self.file}: expected one value of the macro {name}, found {self.found.defines[name]!r} "
                f"and {text!r}; remove one",
                "-f.define",
            )

    def _undefine(self, name: str) -> None:
        self.found.defines.pop(name, None)

    def _path(self, name: str, *, folder: bool = False, beside_first: bool = False) -> Path:
        bases = [Path.cwd(), self.file.parent]
        for base in reversed(bases) if beside_first else bases:
            own = base / name
            if name and (own.is_dir() if folder else own.is_file()):
                return own.resolve()
        what = "a folder" if folder else "a file"
        raise HarnessError(
            f"{self.file}: expected {what} {name!r} in {bases[0]} or {bases[1]}, found none; correct the "
            "path",
            "-f.path",
        )

    def _source(self, name: str) -> Path:
        require_no_vhdl(str(self.file), name, "-f")
        own = self._path(name)
        require_readable(str(self.file), own, "-f")
        return own


def _plain(word: str) -> str:
    """Return a word without quotes around all of it, and without backslashes before quotes."""
    if len(word) > 1 and word[0] == word[-1] == '"':
        word = word[1:-1]
    return re.sub(r'\\(["\\])', r"\1", word)


def _parameter_in(word: str) -> str | None:
    """Return NAME=VALUE, if a word is an option that gives a parameter its value; else None."""
    for option in _PARAMETERS:
        rest = word.removeprefix(option)
        if rest != word and "=" in rest:
            return rest
    return None
