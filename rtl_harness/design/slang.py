# SPDX-License-Identifier: Apache-2.0
"""A design as slang reads it: its top, and which files it is made of."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resil.rtl_harness.design.parameter_values import ParameterValue, require_parameters
from resil.rtl_harness.errors import HarnessError

_ERRORS = 8


@dataclass(frozen=True)
class SlangSources:
    """What slang is given.

    Attributes:
        sources: Files to compile, in any order.
        include_dirs: For `include.
        defines: Macros.
        libraries: Files whose modules are taken if they are missing.
        library_dirs: Folders likewise, by the name of the module.
        suffixes: Of files there.
    """

    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[Path, ...] = ()
    library_dirs: tuple[Path, ...] = ()
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SlangDesign:
    """A design that was read.

    Attributes:
        top: Its top instance, a symbol of slang.
        files: That it is made of, in the order in which a simulator takes them: packages before who uses
            them.
        keeps: What must live as long as the symbols.
    """

    top: Any
    files: tuple[Path, ...]
    keeps: Any = field(repr=False)


@dataclass(frozen=True)
class SlangTops:
    """Modules that were read, each as a top.

    Attributes:
        tops: Top instances, symbols of slang, by name; without those that are not there.
        keeps: What must live as long as the symbols: slang's driver first.
    """

    tops: Mapping[str, Any]
    keeps: Any = field(repr=False)


def read_design(
    name: str, top: str, given: SlangSources, parameters: Mapping[str, ParameterValue]
) -> SlangDesign:
    """Read a design as far as its hierarchy goes.

    Args:
        name: Of the target, for messages.
        top: Module at the top.
        given: What is read.
        parameters: Of the top.

    Raises:
        HarnessError: It cannot be read, or has no such top, with the first errors of slang; or the top has
            no such parameter.
    """
    tool, compilation = _read((top,), given, parameters)
    tops = [] if compilation is None else [*compilation.getRoot().topInstances]
    found = next((own for own in tops if own.name == top), None)
    if found is None:
        raise HarnessError(
            f"target {name}: top: expected a module {top} in the sources, found none that slang can read; "
            f"correct the name, or the sources{_said(tool, compilation)}",
            "top",
        )
    require_parameters(name, found, parameters)
    manager = tool.sourceManager
    # Sources are one tree, as to simulators: macros hold from file to file. Each of a library has its own.
    files = [source.resolve() for source in given.sources]
    files += [Path(manager.getFullPath(tree.root.sourceRange.start.buffer)) for tree in tool.syntaxTrees]
    return SlangDesign(found, tuple(packages_first([*dict.fromkeys(files)])), (tool, compilation))


def read_tops(tops: Sequence[str], given: SlangSources) -> SlangTops:
    """Read modules, each as a design of its own.

    Args:
        tops: Their names.
        given: What is read.

    Raises:
        HarnessError: A file cannot be parsed, with the first errors of slang.
    """
    tool, compilation = _read(tops, given, {})
    wrong = [] if compilation is None else [d for d in compilation.getParseDiagnostics() if d.isError()]
    if compilation is None or wrong:
        files = ", ".join(str(source) for source in given.sources)
        raise HarnessError(f"{files}: expected Verilog that can be parsed{_listed(tool, wrong)}", "sources")
    found = compilation.getRoot().topInstances
    wanted = {*tops}
    return SlangTops({str(own.name): own for own in found if own.name in wanted}, (tool, compilation))


def _read(
    tops: Sequence[str], given: SlangSources, parameters: Mapping[str, ParameterValue]
) -> tuple[Any, Any]:
    """Return slang's driver and what it has compiled, None if it cannot parse what is given."""
    from pyslang import driver

    tool = driver.Driver()
    tool.addStandardArgs()
    words = ["slang", "--single-unit", "--allow-use-before-declare", "--allow-toplevel-iface-ports"]
    words += [part for top in tops for part in ("--top", top)]
    words += [f"-I{folder}" for folder in given.include_dirs]
    words += [f"-D{key}={value}" if value else f"-D{key}" for key, value in given.defines.items()]
    words += [f"-G{key}={value}" for key, value in parameters.items()]
    words += [part for file in given.libraries for part in ("-v", str(file))]
    words += [part for folder in given.library_dirs for part in ("-y", str(folder))]
    words += [part for suffix in given.suffixes for part in ("--libext", suffix)]
    words += [str(source) for source in given.sources]
    read = tool.parseCommandLine(shlex.join(words)) and tool.processOptions() and tool.parseAllSources()
    return tool, tool.createCompilation() if read else None


def _said(tool: Any, compilation: Any) -> str:  # noqa: ANN401
    """Return the first errors of slang, each with its place."""
    return "" if compilation is None else _listed(tool, compilation.getAllDiagnostics())


def _listed(tool: Any, found: Iterable[Any]) -> str:  # noqa: ANN401
    from pyslang import DiagnosticEngine

    manager = tool.sourceManager
    engine = DiagnosticEngine(manager)
    lines = []
    for own in found:
        if own.isError():
            where = f"{manager.getFileName(own.location)}:{manager.getLineNumber(own.location)}: "
            lines.append(f"\n{where}{engine.formatMessage(own)}")
    return "".join(lines[:_ERRORS])


_STRIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_PACKAGE = re.compile(r"\bpackage\s+(?:automatic\s+|static\s+)?(\w+)\s*;")
_USE = re.compile(r"\b(\w+)\s*::")


def packages_first(files: Sequence[Path]) -> list[Path]:
    """Return files in an order that a simulator takes: who defines a package before who uses it.

    What needs no other place keeps its order.
    """
    texts = {file: _STRIPPED.sub(" ", file.read_text(encoding="utf-8", errors="replace")) for file in files}
    owner = {name: file for file, text in texts.items() for name in _PACKAGE.findall(text)}
    ordered: dict[Path, None] = {}

    def place(file: Path, around: frozenset[Path]) -> None:
        if file in ordered or file in around:
            return
        for name in dict.fromkeys(_USE.findall(texts[file])):
            if name in owner and owner[name] != file:
                place(owner[name], around | {file})
        ordered[file] = None

    for file in files:
        place(file, frozenset())
    return [*ordered]
