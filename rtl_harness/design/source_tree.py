# SPDX-License-Identifier: Apache-2.0
"""The syntax tree of one file of RTL, and changes of its text that keep the places of all else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

# Kinds of nodes that hold processes, and signs of assignments by kind.
MODULES = ("ModuleDeclaration", "InterfaceDeclaration")
ASSIGNMENTS = {"AssignmentExpression": "=", "NonblockingAssignmentExpression": "<="}


class TextChange(NamedTuple):
    """A replacement of part of a text: from `first` to before `end`."""

    first: int
    end: int
    text: bytes


class SourceTree:
    """A file of RTL, parsed by itself.

    Args:
        content: Of the file.
        defines: Macros of the target, with their values.

    Attributes:
        text: One character a byte, so that places in the tree are places in the file.
        root: Of the tree.
    """

    def __init__(self, content: bytes, defines: Iterable[tuple[str, str]]) -> None:
        from pyslang import Bag, SourceManager, parsing, syntax

        self.text = content.decode("ascii", "replace").replace("\ufffd", "?")
        macros = parsing.PreprocessorOptions()
        macros.predefines = [f"{name}={value}" if value else name for name, value in defines]
        tree = syntax.SyntaxTree.fromText(self.text, SourceManager(), options=Bag([macros]))
        self._tree = tree
        self.root = tree.root

    def span(self, node: Any) -> tuple[int, int] | None:  # noqa: ANN401
        """Return where a node lies in the file; None if part of it comes from a macro or another file."""
        found = node.sourceRange
        for end in (found.start, found.end):
            own = end.buffer == self.root.sourceRange.start.buffer
            if not self._tree.sourceManager.isFileLoc(end) or not own:
                return None
        return found.start.offset, found.end.offset

    def place(self, token: Any) -> int | None:  # noqa: ANN401
        """Return where a token lies in the file; None if it comes from a macro or another file."""
        at = token.location
        return at.offset if self._tree.sourceManager.isFileLoc(at) else None


def nodes(*begin: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield nodes of the tree and all below them, in the order of the text."""
    from pyslang.syntax import SyntaxNode

    waiting = [*reversed(begin)]
    while waiting:
        own = waiting.pop()
        if isinstance(own, SyntaxNode):
            yield own
            waiting += reversed([*own])


def names(node: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the names that an expression holds, in the order of the text."""
    for own in nodes(node):
        if own.kind.name in ("IdentifierName", "IdentifierSelectName"):
            yield str(own.identifier.value)


def declared(node: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the names of signals that a node declares."""
    kind = node.kind.name
    if kind in ("Declarator", "ForVariableDeclaration") and hasattr(node, "name"):
        if _constant(node):
            return
        yield str(node.name.value)


def _constant(node: Any) -> bool:  # noqa: ANN401
    parent = node.parent
    while parent is not None and parent.kind.name in ("SeparatedList", "SyntaxList"):
        parent = parent.parent
    return parent is not None and parent.kind.name.startswith(("Parameter", "TypeParameter", "Genvar"))
