# SPDX-License-Identifier: Apache-2.0
"""RTL as synthesis reads it, where a simulator would take it for something else.

All front ends read copies of a target's files. In these copies, by one rule for all engines:

- A case statement marked `full_case`, by an attribute or a comment, that has no default gets one, in which
  all that it assigns is 0. To synthesis the values that it leaves out cannot come, so that there is no latch;
  a simulator would keep the old value, of a latch that no hardware has. An upset makes such values come.
- Of conditions that exclude each other by a promise alone (`parallel_case`, `unique if`, `unique case
  (1'b1)`) the first counts that holds, in the order of the text. An upset makes several hold; what hardware
  does then is open, and each synthesis does something else.
- The initial value of a variable that reads other signals (`logic x = a & b;`) is taken away. It would be
  evaluated once at the beginning of a simulation, and has no hardware.
- A function that several processes call has variables of its own in each call. To the language they are those
  of one function, and the netlist would have one net that all of these processes drive.

Lines keep their numbers. Text that comes from macros stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

# What a file must hold to be worth reading for this.
_CASES = re.compile(rb"full_case|parallel_case|\bunique0?\s+(?:if|case)\b")
_INITIAL = re.compile(rb"\b(?:logic|reg|bit)\b[^;=()]{0,200}=(?!=)")
_FUNCTION = re.compile(rb"\bfunction\b(?!\s+(?:automatic|static)\b)")
_AUTOMATIC = b" automatic"
_PROCESS = re.compile(
    r"(?:Always\w*|Initial|Final)Block|ContinuousAssign|FunctionDeclaration|TaskDeclaration"
)
_REPEATED = ("LoopGenerate", "FunctionDeclaration", "TaskDeclaration")
_PARALLEL, _PRIORITY = b"parallel_case", b"priority_case"
_ASSIGNMENTS = {"AssignmentExpression": "=", "NonblockingAssignmentExpression": "<="}
_COMMENT = re.compile(r"//[^\n]*full_case|/\*(?:(?!\*/).)*full_case", re.DOTALL)


class TextChange(NamedTuple):
    """A replacement of part of a text: from `first` to before `end`."""

    first: int
    end: int
    text: bytes


@lru_cache(maxsize=4096)
def as_synthesised(content: bytes, defines: tuple[tuple[str, str], ...] = ()) -> bytes:
    """Return the text of a file of RTL as the front ends shall read it.

    Args:
        content: The file's.
        defines: Macros of the target, with their values.

    >>> as_synthesised(b"module m(input a); logic x = a; endmodule")
    b'module m(input a); logic x    ; endmodule'
    """
    if not any(own.search(content) for own in (_CASES, _INITIAL, _FUNCTION)):
        return content
    changes = [*_changes(content, defines)]
    for change in sorted(set(changes), reverse=True):
        content = content[: change.first] + change.text + content[change.end :]
    return content


def _changes(content: bytes, defines: Iterable[tuple[str, str]]) -> Iterator[TextChange]:
    from pyslang import Bag, SourceManager, parsing, syntax

    # One character a byte, so that places in the tree are places in the file.
    text = content.decode("ascii", "replace").replace("\ufffd", "?")
    macros = parsing.PreprocessorOptions()
    macros.predefines = [f"{name}={value}" if value else name for name, value in defines]
    tree = syntax.SyntaxTree.fromText(text, SourceManager(), options=Bag([macros]))
    yield from _Rewriter(text, tree).changes()


class _Rewriter:
    """Finds changes in the tree of one file."""

    def __init__(self, text: str, tree: Any) -> None:  # noqa: ANN401
        self.text = text
        self.tree = tree
        self.manager = tree.sourceManager

    def changes(self) -> Iterator[TextChange]:
        """Yield all changes."""
        for node in _nodes(self.tree.root):
            kind = node.kind.name
            if kind == "CaseStatement":
                open_choice = str(node.expr).replace(" ", "").endswith("1'b1")
                yield from self._case(node)
                yield from self._promise(node, only_if=open_choice)
            elif kind == "ConditionalStatement":
                yield from self._promise(node, only_if=True)
            elif kind == "AttributeSpec" and node.name.valueText == "parallel_case":
                place = self._place(node.name)
                if place is not None:
                    yield TextChange(place, place + len(_PARALLEL), _PRIORITY)
            elif kind == "ModuleDeclaration":
                yield from self._initial(node)
                yield from self._functions(node)

    def _span(self, node: Any) -> tuple[int, int] | None:  # noqa: ANN401
        """Return where a node lies in the file; None if part of it comes from a macro or another file."""
        found = node.sourceRange
        for end in (found.start, found.end):
            if not self.manager.isFileLoc(end) or end.buffer != self.tree.root.sourceRange.start.buffer:
                return None
        return found.start.offset, found.end.offset

    def _place(self, token: Any) -> int | None:  # noqa: ANN401
        """Return where a token lies in the file; None if it comes from a macro or another file."""
        at = token.location
        return at.offset if self.manager.isFileLoc(at) else None

    def _promise(self, node: Any, *, only_if: bool) -> Iterator[TextChange]:  # noqa: ANN401
        """Take `unique` away, where it says that conditions exclude each other which the text leaves open."""
        token = node.uniqueOrPriority
        word = "" if token is None else str(token.valueText)
        place = None if not only_if or not word.startswith("unique") else self._place(token)
        if place is not None:
            yield TextChange(place, place + len(word), b" " * len(word))

    def _case(self, node: Any) -> Iterator[TextChange]:  # noqa: ANN401
        span = self._span(node)
        if span is None or not self._is_full(node, span[0]):
            return
        if any(item.kind.name == "DefaultCaseItem" for item in node.items):
            return
        inside = {name for own in _nodes(*node.items) for name in _declared(own)}
        targets: dict[str, str] = {}
        for own in _nodes(*node.items):
            if own.kind.name in _ASSIGNMENTS:
                names = [*_names(own.left)]
                place = self._span(own.left)
                left = names[0] if set(names) & inside or place is None else self.text[slice(*place)]
                if left not in inside:
                    targets[" ".join(left.split())] = _ASSIGNMENTS[own.kind.name]
        if targets:
            said = " ".join(f"{left} {sign} '0;" for left, sign in targets.items())
            closes = self._place(node.endcase)
            if closes is None:
                return
            yield TextChange(closes, closes, f"default: begin {said} end ".encode("latin-1"))

    def _is_full(self, node: Any, first: int) -> bool:  # noqa: ANN401
        word = node.uniqueOrPriority
        if word is not None and word.valueText == "unique" and str(node.expr).strip().endswith("1'b1"):
            return True
        if any("full_case" in str(own) for own in node.attributes):
            return True
        items = [*node.items]
        before = self._span(items[0]) if items else None
        return before is not None and _COMMENT.search(self.text[first : before[0]]) is not None

    def _functions(self, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
        nodes = [*_nodes(module)]
        callers: dict[str, set[int]] = {}
        for own in nodes:
            if own.kind.name == "InvocationExpression":
                for name in [*_names(own.left)][:1]:
                    callers.setdefault(name, set()).update(_processes(own))
        for own in nodes:
            if own.kind.name != "FunctionDeclaration" or str(own.prototype.lifetime).strip():
                continue
            name = str(own.prototype.name).strip()
            place = self._place(own.prototype.keyword)
            if place is not None and len(callers.get(name, ())) > 1:
                place += len("function")
                yield TextChange(place, place, _AUTOMATIC)

    def _initial(self, module: Any) -> Iterator[TextChange]:  # noqa: ANN401
        signals = {name for own in _nodes(module) for name in _declared(own)}
        for own in _nodes(*module.members):
            if own.kind.name != "DataDeclaration" or own.parent.kind.name not in (
                "ModuleDeclaration",
                "GenerateBlock",
                "SyntaxList",
            ):
                continue
            for declarator in own.declarators:
                value = getattr(declarator, "initializer", None)
                span = None if value is None else self._span(value)
                if span is None or not signals.intersection(_names(value)):
                    continue
                old = self.text[slice(*span)]
                yield TextChange(*span, "".join(c if c == "\n" else " " for c in old).encode("latin-1"))


def _nodes(*nodes: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield nodes of the tree and all below them, in the order of the text."""
    from pyslang.syntax import SyntaxNode

    waiting = [*reversed(nodes)]
    while waiting:
        own = waiting.pop()
        if isinstance(own, SyntaxNode):
            yield own
            waiting += reversed([*own])


def _processes(node: Any) -> set[int]:  # noqa: ANN401
    """Return where the process or assignment begins that a node lies in; two places if it may be several."""
    begins, several = 0, False
    while node.parent is not None:
        if _PROCESS.fullmatch(node.kind.name) and not begins:
            begins = int(node.sourceRange.start.offset)
        several |= node.kind.name in _REPEATED
        node = node.parent
    return {begins, -1} if several else {begins}


def _names(node: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the names that an expression holds, in the order of the text."""
    for own in _nodes(node):
        if own.kind.name in ("IdentifierName", "IdentifierSelectName"):
            yield str(own.identifier.value)


def _declared(node: Any) -> Iterator[str]:  # noqa: ANN401
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
